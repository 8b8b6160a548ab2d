"""`undo` on real brokers: every reversible kind of change, the choice of the change, and
conflicts."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Shell
from tests.support.undone_changes import entries

VALUES = st.sampled_from([None, 1, 2, 3])


@st.composite
def alterations(draw: st.DrawFn) -> str:
    """A line that alters something of two topics and two users, or creates a topic or an ACL."""
    number = draw(st.integers(0, 1))
    key, subject = draw(
        st.sampled_from(
            [
                ("flush.ms", f"alter-configs {{0}}.{number}"),
                ("flush.messages", f"alter-configs {{0}}.{number}"),
                ("flush.messages", "alter-configs '{0}.*'"),
                ("producer_byte_rate", f"alter-quotas --user {{0}}.{number}"),
                ("consumer_byte_rate", f"alter-quotas --user {{0}}.{number} --client-id app"),
                ("interval.ms", "alter-configs --client-metrics {0}"),
                ("topic", f"create-topic {{0}}.new{number} --config flush.ms=7000"),
                ("create", f"alter-acls --topic {{0}} --{{1}} 'allow User:u{number} Read'"),
            ]
        )
    )
    value = draw(VALUES)
    if key == "topic":
        return subject
    if key == "create":
        return subject.replace("{1}", "remove" if value is None else "add") + " --yes"
    if value is None:
        return f"{subject} --delete-config {key}"
    return f"{subject} {key}={value * 1000}"


def state(shell: Shell, name: str) -> list[str]:
    looks = (
        f"list-topics '{name}.*'", f"describe-configs '{name}.*' flush.ms flush.messages",
        f"describe-quotas --user {name}.0", f"describe-quotas --user {name}.1",
        f"describe-quotas --user {name}.0 --client-id app",
        f"describe-quotas --user {name}.1 --client-id app",
        f"describe-configs --client-metrics {name} interval.ms", f"list-acls --topic {name}",
    )  # fmt: skip
    return [shell(f"{look} --output json").out for look in looks]


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(st.lists(alterations(), min_size=1, max_size=8), st.booleans())
def test_any_sequence_of_changes_is_undone(
    sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory, lines: list[str], at_once: bool
) -> None:
    home, name = tmp_path_factory.mktemp("home"), f"undo-{uuid.uuid4().hex[:8]}"
    shell = Shell(home, sandbox.bootstrap)
    Shell(home / "other", sandbox.bootstrap).ok(f"create-topic {name}.0,{name}.1")
    try:
        first = state(shell, name)
        for line in lines:
            shell(line.replace("{0}", name))
        count = len([entry for entry in entries(shell) if any(
            row["status"] == "done" for row in entry["changes"])])  # fmt: skip
        for _ in range(1 if at_once else count):
            if count:
                shell.ok(f"undo --yes {f'--last {count}' if at_once else ''}")
        assert state(shell, name) == first, lines
        assert "no changes of cluster" in shell.ok("undo --yes").err
    finally:
        shell(f"delete-topic '{name}.*' --yes")
        shell(f"alter-configs --client-metrics {name} --delete-config interval.ms")
