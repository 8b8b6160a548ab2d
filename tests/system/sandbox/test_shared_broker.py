"""The shared sandboxes of the tests respond, log to their file, and have loggers."""

from __future__ import annotations

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.cluster import start, status
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from tests.support.jvm_tools import run_tool
from tests.support.sandbox_clients import admin
from tests.support.sandbox_loggers import check_loggers


def test_starting_it_again_returns_the_same(sandbox: Sandbox) -> None:
    assert start(sandbox.options) == sandbox
    assert start(SandboxOptions(sandbox.folder, port=0)) == sandbox
    assert status(sandbox.folder) == sandbox


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"brokers": 3}, "brokers: 1, not 3"),
        ({"kafka_version": "3.9"}, "Kafka 4.3.1, not 3.9.2"),
        ({"secure": True}, "secure: no, not yes"),
        ({"port": 1}, "not 1"),
    ],
)
def test_other_options_are_refused(
    sandbox: Sandbox, other: dict[str, object], difference: str
) -> None:
    with pytest.raises(ShellError, match=difference) as refused:
        start(SandboxOptions(sandbox.folder, **{"port": 0} | other))
    assert "sandbox stop" in refused.value.hint or "sandbox wipe" in refused.value.hint


def test_loggers_of_kafka_3_are_listed_and_altered(old_sandbox: Sandbox) -> None:
    check_loggers(old_sandbox)


def test_kafka_3_has_no_newer_features(old_sandbox: Sandbox) -> None:
    with admin(old_sandbox) as client:
        assert "share.version" not in client.describe_features()


def test_kafkas_own_tools_run(sandbox: Sandbox) -> None:
    done = run_tool(
        "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", sandbox.bootstrap, "--list"
    )
    assert (done.returncode, done.stderr) == (0, "")
