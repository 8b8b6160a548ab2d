"""Rendering of the prompt: colors of a line, documentation of a key, the banner."""

from __future__ import annotations

from itertools import product
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples, to_plain_text
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.utils import get_cwidth

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import ConfigType
from kafka_shell.language.command import Registry
from kafka_shell.language.cursor import classify
from kafka_shell.output.theme import available, load
from kafka_shell.settings import Setting, Settings
from kafka_shell.shell import lexer
from kafka_shell.shell import screen as banner
from kafka_shell.shell.completer import documentation_pane, lines_for
from kafka_shell.shell.lexer import UNSEEN, CommandLexer
from kafka_shell.shell.screen import menu_rows, style_of
from kafka_shell.view.view import ClusterView, ConfigDoc, Part
from kafka_shell.wire.endpoint import ConnectionConfig

COMMAND, UNKNOWN = "class:pygments.name.function.shell", "class:pygments.error.shell"
ORDERS = ConfigResource(ResourceType.TOPIC, "orders")
TEXT = "How long a log is kept. " * 40
VIEW = ClusterView(
    documentation=MappingProxyType(
        {
            ResourceType.TOPIC: Part(
                {"retention.ms": ConfigDoc("retention.ms", ConfigType.LONG, TEXT, "604800000")}
            )
        }
    ),
    configs=MappingProxyType(
        {
            ORDERS: Part(
                {
                    "retention.ms": ConfigEntry(
                        ORDERS,
                        "retention.ms",
                        "86400000",
                        ConfigSource.DYNAMIC_TOPIC,
                        type=ConfigType.LONG,
                    )
                }
            )
        }
    ),
)


def drawn(text: str) -> list[StyleAndTextTuples]:
    line = PygmentsLexer(CommandLexer).lex_document(Document(text))
    return [line(number) for number in range(text.count("\n") + 1)]


def styles(text: str) -> dict[str, str]:
    return {part: style for row in drawn(text) for style, part, *_ in row if part.strip()}


def test_each_word_in_its_colour() -> None:
    found = styles("alter-configs orders retention.ms=7d --dry-run | grep 7d # why")
    assert found["alter-configs"] == COMMAND
    assert found["--dry-run"] == "class:pygments.name.attribute.shell"
    assert found["|"] == "class:pygments.operator.shell"
    assert styles("alter-confgis orders")["alter-confgis"] == UNKNOWN
    assert styles("health --nope")["--nope"] == UNKNOWN
    assert (
        styles("describe-topic 'svc-*'")["'svc-*'"] == "class:pygments.literal.string.regex.shell"
    )


def test_pasted_lines_are_separate_commands() -> None:
    found = styles("health\ncluster-metadata --quorum\nno-such")
    assert found["health"] == found["cluster-metadata"] == COMMAND
    assert found["no-such"] == UNKNOWN


def test_a_query_is_colored_while_it_is_typed() -> None:
    found = styles('spark sql "select topic from topics where partitions > 3')
    assert found["select"] == found["where"] == "class:pygments.keyword"
    assert found["3"] == "class:pygments.literal.number.integer"
    assert found['"'] == "class:pygments.literal.string.shell"
    row = style_of(load("midnight")).get_attrs_for_style_str("class:pygments.keyword")
    assert row.color == "ff7b72"


@given(st.text())
def test_colours_change_no_letter(text: str) -> None:
    text = text.replace("\r", "")
    seen = "\n".join("".join(part for _, part, *_ in row) for row in drawn(text))
    assert len(seen) == len(text)
    pairs = list(zip(seen, text, strict=True))
    assert all(a == b or (a == UNSEEN and not b.isprintable()) for a, b in pairs)
    assert all(a == UNSEEN for a, b in pairs if b > "\x9f" and not b.isprintable())


def test_documentation_has_type_values_and_the_brokers_words() -> None:
    text = to_plain_text(
        documentation_pane(VIEW, ResourceType.TOPIC, ORDERS, "retention.ms", 100, 5)
    )
    head, *body = text.split("\n")
    assert head.strip() == (
        "retention.ms  long · now 1d (86400000), overridden · default 7d (604800000)"
    )
    assert body[0].startswith(" How long a log is kept.")
    assert body[-1].rstrip().endswith("…")


@pytest.mark.parametrize("key", ["retention.ms", "unknown.key"])
def test_documentation_has_always_its_lines_and_never_more_cells(key: str) -> None:
    for columns, lines in product([4, 10, 20, 60, 200], [1, 3, 5]):
        rows = to_plain_text(
            documentation_pane(VIEW, ResourceType.TOPIC, None, key, columns, lines)
        ).split("\n")
        assert len(rows) == lines, f"{columns} columns"
        assert all(get_cwidth(row) <= max(columns, 4) for row in rows), f"{columns} columns"


def test_there_is_always_a_row_for_the_prompt() -> None:
    for rows in range(1, 60):
        assert menu_rows(rows) + lines_for(rows) + 2 <= max(rows, 2), f"{rows} rows"


@pytest.mark.parametrize("info", available(), ids=lambda info: info.name)
@pytest.mark.parametrize("colour", [True, False])
def test_every_theme_makes_a_style(info: object, colour: bool) -> None:
    style = style_of(load(info.name), color=colour)  # type: ignore[attr-defined]
    suggestion = style.get_attrs_for_style_str("class:auto-suggestion")
    assert suggestion.color or suggestion.dim
    if not colour:
        for role in (
            COMMAND,
            "class:pygments.keyword",
            "class:toolbar",
            "class:completion-menu.completion.current",
        ):
            attrs = style.get_attrs_for_style_str(role)
            assert not attrs.color and not attrs.bgcolor


def test_a_mark_is_readable_on_the_highlighted_row() -> None:
    style = style_of(load("midnight"))
    row = style.get_attrs_for_style_str(
        "class:completion-menu.meta.completion.current class:override"
    )
    plain = style.get_attrs_for_style_str("class:completion-menu.meta.completion.current")
    assert (row.color, row.bgcolor) == (plain.color, plain.bgcolor)


def guarded(guard: str, **more: str) -> Settings:
    return Settings(
        ConnectionConfig(),
        profile="prod",
        guard=guard,
        sources={"guard": Setting("guard", guard, "config.toml:3")},
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("guard", "text", "role"),
    [
        ("confirm", "kafka:prod?> ", "prompt-confirm"),
        ("typed", "kafka:prod!> ", "prompt-typed"),
        ("read-only", "kafka:prod ro> ", "prompt-read-only"),
    ],
)
def test_the_prompt_follows_the_guard(guard: str, text: str, role: str) -> None:
    fragments = banner.prompt(guarded(guard), guard)
    assert to_plain_text(fragments) == text
    assert fragments[0][0].split()[0] == f"class:{role}"


def test_the_prompt_with_a_profile_and_a_color() -> None:
    assert to_plain_text(banner.prompt(Settings(), "")) == "kafka> "
    assert "fg:red" in banner.prompt(guarded("confirm", color="red"), "confirm")[0][0]
    assert "fg" not in banner.prompt(guarded("confirm", color="no color"), "confirm")[0][0]


def test_the_banner_has_two_lines_and_three_things_to_try() -> None:
    wide = to_plain_text(banner.lines(guarded("confirm"), 100))
    assert wide.split("\n")[0] == "kafka.sh at localhost:9092 (prod)"
    assert wide.split("\n")[1].startswith("Try health, topics, help")
    on_sandbox = to_plain_text(banner.lines(Settings(), 100, "sandbox, Kafka 4.3.1"))
    assert on_sandbox.split("\n")[0] == "kafka.sh at localhost:9092 (sandbox, Kafka 4.3.1)"
    assert all(len(line) <= 30 for line in to_plain_text(banner.lines(Settings(), 30)).split("\n"))
    for word in banner.TRY:
        assert styles(word)[word] == COMMAND


def test_help_without_a_broker() -> None:
    why = Failure("refused", "localhost:9092 refused", hint="Is it up? Else: kafka.sh --sandbox")
    text = to_plain_text(banner.unreachable(why))
    assert text.count("--sandbox") == 1
    assert "connect HOST:PORT" in text
    other = replace(why, hint="Check the password.")
    assert "Check the password." in to_plain_text(banner.unreachable(other))


def test_a_key_in_a_large_paste_classifies_only_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    classified: list[str] = []

    def counted(text: str, registry: Registry) -> Any:
        classified.append(text)
        return classify(text, registry)

    monkeypatch.setattr(lexer, "classify", counted)
    lexer._tokens.cache_clear()
    shell_lexer = PygmentsLexer(CommandLexer)
    pasted = "\n".join(f"describe-topic t{number}" for number in range(100))
    shell_lexer.lex_document(Document(pasted))(99)
    assert len(classified) == 100
    row = shell_lexer.lex_document(Document(f"{pasted}5"))(99)
    assert classified[100:] == ["describe-topic t995"]
    assert "".join(text for _, text, *_ in row) == "describe-topic t995"
