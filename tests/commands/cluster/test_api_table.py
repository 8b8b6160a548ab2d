"""What commands declare of Kafka's APIs is all that a broker has, and all that they send."""

from __future__ import annotations

import io
from collections import defaultdict
from pathlib import Path

import pytest

from kafka_shell.admin.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.admin.wire.requests import as_request
from kafka_shell.admin.wire.runner import Runner
from kafka_shell.admin.wire.versions import api_name
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.cluster import api_table as apis
from kafka_shell.context import Context, Paths
from kafka_shell.dispatch import run_text
from kafka_shell.language.command import Command
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.settings import Settings
from tests.admin.helpers import connect

pytestmark = pytest.mark.quick

# Audits are tried in tests/audit, where a session of Spark is shared.
SPEAKING = [
    command
    for command in REGISTRY
    if command.needs_cluster and command.examples and command.family != "audit"
]
# Their examples are what other commands do, or they go on until Ctrl-C.
_OTHERS = {"watch", "source"}


def test_every_api_of_a_broker_has_a_command_or_a_reason(sandbox: Sandbox) -> None:
    with connect(sandbox) as cluster:
        advertised = set(cluster.api_versions())
    known = set(apis.spoken(REGISTRY)) | set(apis.COMMON) | set(apis.EXCLUDED)
    without = [f"{api_name(key)} ({key})" for key in sorted(advertised - known)]
    assert not without, "no command speaks these, and no reason is given"


def test_a_reason_is_given_only_for_what_no_command_speaks() -> None:
    both = set(apis.EXCLUDED) & (set(apis.spoken(REGISTRY)) | set(apis.COMMON))
    assert not both, "commands speak these by now"


@pytest.mark.parametrize("command", SPEAKING, ids=lambda command: command.name)
def test_a_command_sends_only_what_it_declares(
    command: Command,
    own_demo: Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if command.name in _OTHERS:
        pytest.skip("runs other commands")
    sent: dict[int, set[str]] = defaultdict(set)
    job = Runner.job

    def recorded(self, call, deadline):  # type: ignore[no-untyped-def]
        if call.request is not None:
            sent[as_request(call.request).api_key].add(line)
        return job(self, call, deadline)

    monkeypatch.setattr(Runner, "job", recorded)
    monkeypatch.chdir(tmp_path)
    settings = Settings(
        connection=ConnectionConfig(parse_addresses(own_demo.bootstrap)), profile="demo"
    )
    paths = Paths(tmp_path / "config", tmp_path / "cache", tmp_path / "state")
    out, err = io.StringIO(), io.StringIO()
    context = Context(settings, paths, out=out, err=err, environ={}, ask=None)
    context.run_line = lambda text, here: int(run_text(text, here))
    try:
        for line in (example.line for example in command.examples):
            run_text(line, context)
    finally:
        context.close()
    extra = set(sent) - set(command.apis) - set(apis.COMMON)
    told = {f"{api_name(key)} ({key})": sorted(sent[key]) for key in extra}
    assert not told, f"{command.name} does not declare what it sends"
