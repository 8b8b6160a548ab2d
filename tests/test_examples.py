"""Every declared example, and every line of the starter sessions, does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.commands import REGISTRY
from kafka_shell.language.command import Command, Example, Kind
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.sandbox.state import Sandbox
from tests.program import Program

pytestmark = pytest.mark.quick

# Those of audits run in tests/audit, where a session of Spark is shared.
EXAMPLES = [
    (command, example)
    for command in REGISTRY
    for example in command.examples
    if command.family != "audit"
]
SESSIONS = sorted((Path(__file__).parent.parent / "history").glob("*.kafka"))
# `watch` goes on until Ctrl-C; topics.yaml is the user's.
UNTIL_STOPPED = ("watch ", "create-topic --from-file")


@pytest.fixture
def kafka(own_demo: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path, own_demo.bootstrap)


@pytest.mark.parametrize(
    ("command", "example"), EXAMPLES, ids=[example.line for _, example in EXAMPLES]
)
def test_an_example_works_on_the_demo_company(
    kafka: Program, command: Command, example: Example
) -> None:
    run = kafka(stdin=example.line + "\n")
    assert run.status == example.status, str(run)
    # A filter that finds nothing prints nothing: that is the good news.
    quiet = not command.needs_cluster or "replicated-partitions" in example.line
    assert run.stdout or run.stderr or quiet, f"{example.line} says nothing at all"


def test_every_command_has_an_example_unless_it_only_concerns_a_session() -> None:
    bare = {command.name for command in REGISTRY if not command.examples}
    of_a_session = {"refresh", "watch", "source", "clear", "exit"}
    assert bare <= of_a_session, "an example is how a command is learned"


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_a_starter_session_runs_from_top_to_bottom(kafka: Program, session: Path) -> None:
    lines = [
        line for line in session.read_text().splitlines() if not line.startswith(UNTIL_STOPPED)
    ]
    script = "\n".join(lines).replace("> retention.json", f"> {kafka.home}/retention.json")
    run = kafka("--keep-going", stdin=script)
    assert "error" not in run.stderr, str(run)


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
            if isinstance(each.kind, Kind) and each.kind is Kind.CHOICE:
                assert each.choices, f"{command.name} {each.name} is one of nothing"
