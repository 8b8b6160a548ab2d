"""`;`, `&&` and `||` between commands, as in a shell; nothing runs before the line is parsed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.commands import REGISTRY
from kafka_shell.language.command import Command
from kafka_shell.language.cursor import WordKind, completion_request
from kafka_shell.language.tokens import commands, logical_lines


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a; b ;c", [("", "a"), (";", "b"), (";", "c")]),
        ("a&&b||c", [("", "a"), ("&&", "b"), ("||", "c")]),
        ("a;", [("", "a"), (";", "")]),
        ("a ';' '&&' \"||\" \\; b", [("", "a ';' '&&' \"||\" \\; b")]),
        ("a # x; b && c", [("", "a # x; b && c")]),
        ("a > f && b >> 'g;h' ; c", [("", "a > f"), ("&&", "b >> 'g;h'"), (";", "c")]),
        ("a | sort -u && b", [("", "a | sort -u"), ("&&", "b")]),
        ("a | grep 'x;y' || b", [("", "a | grep 'x;y'"), ("||", "b")]),
        ("a | (x; y) && b", [("", "a | (x; y)"), ("&&", "b")]),
        ("a | while read t; do echo $t; done; b",
         [("", "a | while read t; do echo $t; done"), (";", "b")]),
        ("a | if x; then y; else z && w; fi | wc; b",
         [("", "a | if x; then y; else z && w; fi | wc"), (";", "b")]),
        ("a | case $x in p) q;; (r) s;; esac; b",
         [("", "a | case $x in p) q;; (r) s;; esac"), (";", "b")]),
        ("a | x $(y; z) `v; w` ${u:-;}; b", [("", "a | x $(y; z) `v; w` ${u:-;}"), (";", "b")]),
        ("a | grep done; b", [("", "a | grep done"), (";", "b")]),
        ("a | cat # x; b", [("", "a | cat # x; b")]),
        ("a && !ls; b | c", [("", "a"), ("&&", "!ls; b | c")]),
        ("!ls; b && c", [("", "!ls; b && c")]),
        ("a &&\n# why\nb", [("", "a"), ("&&", "# why\nb")]),
        ("a /x|y;z/", [("", "a /x|y"), (";", "z/")]),
    ],
)  # fmt: skip
def test_where_commands_end(text: str, parts: list[tuple[str, str]]) -> None:
    found = commands(text)
    assert [(line.joint, line.source) for line in found] == parts
    assert all(line.problem is None for line in found), found


def test_a_line_continues_after_an_operator() -> None:
    script = ["a &&\n", "\n", "# why\n", "b ||   # or\n", "c\n", "d '&&'\n", "e \\&&\n", "f\n"]
    assert [text for _, text in logical_lines(script)][:2] == [
        "a &&\n\n# why\nb ||   # or\nc", "d '&&'",
    ]  # fmt: skip


@given(st.text("ab ;&|'\"\\#>!\n", max_size=30))
def test_the_parts_are_the_text(text: str) -> None:
    found = commands(text)
    ends = [(line.joint_span or (0, 0))[1] for line in found]
    assert [line.span[0] for line in found] == ends
    assert "".join(line.joint + text[slice(*line.span)] for line in found) == text
    for line in found:
        assert all(text[slice(*word.span)] == word.raw for word in line.words)


@pytest.mark.parametrize(
    "before", ["list-topics; ", "list-topics | wc -l && ", "a || ", "watch 1 topics;"]
)
def test_completion_in_a_later_part(before: str) -> None:
    found = completion_request(before + "del", len(before) + 3, REGISTRY)
    assert (found.word_kind, found.prefix) == (WordKind.COMMAND, "del")
    text = before + "alter-configs --topic orders reten; topics"
    at = text.index("reten") + 5
    found = completion_request(text, at, REGISTRY)
    assert (found.word_kind, found.prefix, found.words["topic"]) == (
        WordKind.VALUE,
        "reten",
        ("orders",),
    )
    assert found.span == (at - 5, at)
    assert completion_request(before + "delete-topic > f", len(before) + 16, REGISTRY).prefix == "f"


@pytest.mark.parametrize("columns", [200, 140, 80, 60, 40])
def test_help_wraps_between_words(columns: int) -> None:
    from kafka_shell.commands.program.help import overview, page, program_page

    pages = [
        (overview(REGISTRY), overview(REGISTRY, columns)),
        (program_page(REGISTRY), program_page(REGISTRY, columns)),
        *((page(command), page(command, columns)) for command in REGISTRY),
    ]
    for unwrapped, wrapped in pages:
        text, sep, examples = wrapped.partition("EXAMPLES\n")
        assert text.split() == unwrapped.partition(sep)[0].split() if sep else True
        for row in text.split("\n"):
            assert len(row) <= columns or len(row.split()) == 1, row
        for row in examples.split("\n"):
            one_word = len(row.removesuffix(" \\").split()) <= 1
            assert len(row) <= columns or one_word or "'" in row, row


@pytest.mark.parametrize("command", REGISTRY, ids=lambda command: command.name)
def test_each_section_of_help_has_one_heading(command: Command) -> None:
    from kafka_shell.commands.program.help import page

    headings = [row for row in page(command, 80).split("\n") if row.isalpha() and row.isupper()]
    assert len(headings) == len(set(headings)), headings
    assert ("NOTES" in headings) == bool(command.description)
    assert page(command, None).count("\n- ") <= 5, "more belongs to the guide"


def test_help_lists_the_short_forms() -> None:
    from kafka_shell.commands.program.help import overview

    rows = [row.split() for row in overview(REGISTRY).split("\n")]
    for command in REGISTRY:
        words = [*command.name.split(), *", ".join(s.word for s in command.shorts).split()]
        assert any(row[: len(words)] == words for row in rows), command.name


def test_an_example_that_is_wrapped_reads_the_same() -> None:
    from kafka_shell.commands.program.help import page
    from kafka_shell.language.tokens import tokenize

    for command in REGISTRY:
        text = page(command, 60).partition("EXAMPLES\n")[2]
        rows = [row for row in text.split("\n") if row and not row.startswith(("  #", "    #"))]
        lines = [" ".join(w.text for w in tokenize(t).words) for _, t in logical_lines(rows)]
        assert lines == [
            " ".join(w.text for w in tokenize(each.line).words) for each in command.examples
        ]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("reassign-partitions --reassignment-json-file f --execute", "Omit it"),
        ("reassign-partitions --reassignment-json-file f --verify", "verify-reassign-partitions"),
        ("reassign-partitions --topics-to-move-json-file f --generate", "--dry-run"),
        ("describe-quorum --status", "Omit it"),
    ],
)
def test_options_of_kafka_s_tools_are_hinted(line: str, hint: str) -> None:
    from kafka_shell.base.errors import UsageError
    from kafka_shell.language.parse import parse
    from kafka_shell.language.tokens import tokenize

    with pytest.raises(UsageError) as caught:
        parse(tokenize(line), REGISTRY)
    assert hint in caught.value.hint
