"""A cluster that tests share is left as it was found: its brokers up, its replicas in sync."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

from kafka_shell.admin.cluster import health
from kafka_shell.admin.cluster.model import Severity
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.errors import ShellError
from kafka_shell.sandbox.cluster import start_broker, status
from kafka_shell.sandbox.state import Sandbox
from tests.admin.helpers import connect
from tests.freezing import thaw
from tests.program import Program

# What a stopped broker leaves for a while, by the checks of health.
BROKERS = ("brokers", "controllers", "quorum", "offline", "under-replicated", "under-min-isr")


def wait_until_well(
    cluster: Cluster, seconds: float = 60, checks: Collection[str] | None = None
) -> None:
    """Until health finds nothing wrong (by these checks); an error that says what it finds."""
    until = time.monotonic() + seconds
    while wrong := _wrong(cluster, checks):
        told = "\n  ".join(wrong)
        assert time.monotonic() < until, f"after {seconds:.0f} s the cluster is not well:\n  {told}"
        time.sleep(0.1)


def _wrong(cluster: Cluster, checks: Collection[str] | None) -> list[str]:
    try:
        findings = health.health(cluster).findings
    except ShellError as error:
        return [f"health cannot tell: {error}"]
    return [
        f"{each.severity.name} {each.check}: {each.summary} {', '.join(each.examples)}"
        for each in findings
        if each.severity is not Severity.NOTE and (checks is None or each.check in checks)
    ]


def processes(sandbox: Sandbox) -> dict[int, int | None]:
    """The process id of each broker; none where it does not run."""
    now = status(sandbox.folder)
    return {broker.id: broker.pid for broker in now.brokers} if now else {}


def restore(sandbox: Sandbox, home: Path, failed: bool) -> None:
    """Bring back what a test stopped, and wait until it is in sync.

    After a test that failed, moves are cancelled and throttles lifted as well: what one test leaves
    must not be what ten others fall over.
    """
    for broker, pid in processes(sandbox).items():
        if pid is None:
            start_broker(sandbox.folder, broker)
        else:
            thaw(pid)
    if failed:
        program = Program(home, sandbox.bootstrap)
        program("reassign-partitions", "--cancel", "--topics", "*", "--yes")
        program("verify-reassign-partitions", "--finish", "--yes")
    with connect(sandbox) as cluster:
        wait_until_well(cluster, checks=BROKERS)
