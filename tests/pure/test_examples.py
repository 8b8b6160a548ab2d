"""Every declared example and every line of the starter sessions runs and shows what it
describes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.commands import REGISTRY
from kafka_shell.language import kinds
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from tests.support.example_facts import FACTS
from tests.support.places import ROOT

# Those of audits run in tests/audit, where a session of Spark is shared.
EXAMPLES = [
    (command, example)
    for command in REGISTRY
    for example in command.examples
    if command.family != "audit"
]
SESSIONS = sorted((ROOT / "history").glob("*.kafka"))


def test_every_example_has_its_fact() -> None:
    assert [example.line for _, example in EXAMPLES if example.line not in FACTS] == []
    assert set(FACTS) <= {example.line for _, example in EXAMPLES}, "these examples are gone"


def test_every_command_has_an_example_unless_it_only_concerns_a_session() -> None:
    bare = {command.name for command in REGISTRY if not command.examples}
    of_a_session = {"refresh", "watch", "source", "clear", "exit"}
    assert bare <= of_a_session, "an example is how a command is learned"


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_each_line_of_a_starter_session_parses(session: Path) -> None:
    for text in session.read_text().splitlines():
        line = tokenize(text)
        if line.words:
            assert parse(line, REGISTRY).command.name


def test_every_argument_and_option_has_help_that_is_a_sentence() -> None:
    for command in REGISTRY:
        assert command.summary.endswith("."), command.name
        for each in (*command.arguments, *command.options):
            assert each.help, f"{command.name} {each.name}"
            if each.kind is kinds.CHOICE:
                assert each.choices, f"{command.name} {each.name} is one of nothing"
