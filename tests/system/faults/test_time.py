"""Deadlines, timeouts, and sessions that are killed."""

from __future__ import annotations

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.faults import hinted, refused
from tests.support.outages import frozen
from tests.support.program import Program


@pytest.fixture(scope="module")
def sandbox(own_broker: Sandbox) -> Sandbox:
    """A broker that these tests may freeze."""
    return own_broker


@pytest.mark.parametrize("command", ["list-topics", "connect"])
def test_a_broker_that_has_stopped(kafka: Program, sandbox: Sandbox, command: str) -> None:
    with frozen(sandbox):
        run = kafka(command, "--deadline", "1s")
    hinted(refused(run, run.status, "deadline", sandbox.bootstrap))
    assert run.status in (1, 3)
