"""The examples of the commands of audits, with a few controls."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from kafka_shell.audit.engine import Engine
from kafka_shell.commands import REGISTRY
from kafka_shell.context import Resources
from kafka_shell.language.command import Command, Example
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.requests import api_name, as_request
from kafka_shell.wire.runner import Runner
from tests.live.audit.conftest import keep_few_controls
from tests.support import api_table as apis
from tests.support.in_process_shell import Answer, Shell

SERVER = {"spark start", "spark stop", "spark status"}  # run in system/audit/test_server
EXAMPLES = [
    (command, example)
    for command in REGISTRY
    for example in command.examples
    if command.family == "audit" and command.name not in SERVER
]


def test_commands_of_the_server_are_known() -> None:
    assert {command.name for command in REGISTRY} >= SERVER


class Played(NamedTuple):
    """What an example printed, and the APIs that it used."""

    answer: Answer
    apis: frozenset[int]


@pytest.fixture(scope="module")
def played(
    demo_sandbox: Sandbox, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Played]:
    """All examples, run in the order of the registry: trends are those of the snapshot before."""
    home = tmp_path_factory.mktemp("examples")
    shell = Shell(home, demo_sandbox.bootstrap, Resources(spark=engine))
    sent: set[int] = set()
    job = Runner.job

    def recorded(self, call, deadline):  # type: ignore[no-untyped-def]
        if call.request is not None:
            sent.add(as_request(call.request).api_key)
        return job(self, call, deadline)

    found: dict[str, Played] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runner, "job", recorded)
        keep_few_controls(patch, home)
        (home / "change.kafka").write_text("alter-configs orders.placed retention.ms=7d\n")
        for _, example in EXAMPLES:
            sent.clear()
            answer = shell(example.line.replace("/tmp/", f"{home}/"))
            found[example.line] = Played(answer, frozenset(sent))
    return found


@pytest.mark.parametrize(
    ("command", "example"), EXAMPLES, ids=[example.line for _, example in EXAMPLES]
)
def test_an_example_works_and_sends_what_its_command_declares(
    played: dict[str, Played], command: Command, example: Example
) -> None:
    run, sent = played[example.line]
    assert run.status == example.status, str(run)
    extra = sent - set(command.apis) - set(apis.COMMON)
    assert not extra, f"{command.name} does not declare {[api_name(key) for key in extra]}"
