"""Classes of the parts of a line for highlighting."""

import pytest
from hypothesis import given

from kafka_shell.language.cursor import classify
from tests.pure.language.test_cursor import SOUP
from tests.support.declared_commands import REGISTRY


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("list-topics --long", [("list-topics", "command"), ("--long", "option")]),
        ("lst-topics --long", [("lst-topics", "unknown-command")]),
        ("spark", [("spark", "command")]),
        ("spark audit", [("spark", "command"), ("audit", "command")]),
        ("list-topics --lng x", [("list-topics", "command"), ("--lng", "unknown-option"),
                                 ("x", "error")]),
        ("create-topic t --partitions 3", [("create-topic", "command"), ("t", "value"),
                                           ("--partitions", "option"), ("3", "number")]),
        ("create-topic t --partitions=x", [("create-topic", "command"), ("t", "value"),
                                           ("--partitions", "option"), ("=", "operator"),
                                           ("x", "error")]),
        ("alter-configs 'a b' retention.ms=7d", [("alter-configs", "command"), ("'a b'", "string"),
                                                 ("retention.ms", "value"), ("=", "operator"),
                                                 ("7d", "number")]),
        ("topic svc-* /a.b/ 'x*'", [("topic", "command"), ("svc-*", "pattern"),
                                    ("/a.b/", "pattern"), ("'x*'", "pattern")]),
        ("topics --output jsn", [("topics", "command"), ("--output", "option"), ("jsn", "error")]),
        ("topics > f # x", [("topics", "command"), (">", "operator"), ("f", "value"),
                            ("# x", "comment")]),
        ("topics | grep a", [("topics", "command"), ("|", "operator"), ("grep a", "shell")]),
        ("!ls -l", [("!", "operator"), ("ls -l", "shell")]),
        ("topics || x", [("topics", "command"), ("||", "operator"), ("x", "unknown-command")]),
        ("topics --long;topic a | sort && !ls; topics",
         [("topics", "command"), ("--long", "option"), (";", "operator"), ("topic", "command"),
          ("a", "value"), ("|", "operator"), ("sort", "shell"), ("&&", "operator"),
          ("!", "operator"), ("ls; topics", "shell")]),
        ("topics & x", [("topics", "command"), ("&", "error"), ("x", "error")]),
        ("watch 5 topics --long", [("watch", "command"), ("5", "number"), ("topics", "command"),
                                   ("--long", "option")]),
        ("spark sql select 1", [("spark", "command"), ("sql", "command"), ("select 1", "value")]),
        ("--list-topics --long", [("--list-topics", "command"), ("--long", "option")]),
        ("delete-topic -- -t", [("delete-topic", "command"), ("--", "operator"), ("-t", "value")]),
    ],
)  # fmt: skip
def test_classes(text: str, parts: list[tuple[str, str]]) -> None:
    assert [(text[slice(*span)], name) for span, name in classify(text, REGISTRY)] == parts


@given(SOUP)
def test_parts_are_in_order_and_never_overlap(text: str) -> None:
    end = 0
    for (start, stop), _ in classify(text, REGISTRY):
        assert end <= start < stop <= len(text)
        end = stop


def test_lines_within_lines_have_an_end() -> None:
    assert classify("watch 5 " * 1000, REGISTRY)
    assert classify("x" * 10_000_000, REGISTRY) == []
