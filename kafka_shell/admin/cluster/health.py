"""What is wrong with the cluster now, the worst first.

First all brokers are probed, then all checks run at once, each with its own timeout and
connections, so that one that hangs does not delay the others. A check that could not run is a
finding, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from kafka_shell.admin.cluster import health_checks as checks
from kafka_shell.admin.cluster.cluster_probe import probe_cluster
from kafka_shell.admin.cluster.health_checks import Check, CheckInput
from kafka_shell.admin.cluster.metadata_findings import of_metadata
from kafka_shell.admin.cluster.model import Finding, Health
from kafka_shell.admin.partitions.throttle_configs import Record
from kafka_shell.admin.wire import parallel
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.common.units import some
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Report
from kafka_shell.plan.results import as_failure

PROBE_S = 2.0
_LIMIT_S = 9.5  # for everything
_ENTER_S = 6.5  # to probe the brokers and read the metadata
_QUORUM_S = 2.5  # to wait for the active controller
_CHECKS_S = 5.0


def _silent(task: str, done: int, total: int | None) -> None:
    """Ignores progress."""


def health(
    cluster: Cluster,
    *,
    probe_timeout: float = PROBE_S,
    report: Report = _silent,
    throttles: Callable[[str], Record] = lambda cluster: {},
) -> Health:
    """What is wrong with the cluster now, the worst first; within 10 s.

    `probe_timeout` is how long a broker or controller may take to respond (seconds). `throttles`
    returns the recorded replication throttles of the cluster with this ID. Raises ShellError only
    if no broker can be reached.
    """
    until = time.monotonic() + _LIMIT_S
    if cluster.deadline is not None:
        until = min(until, cluster.deadline)
    progress = _Waiting(report)
    with cluster.within(min(_ENTER_S, until - time.monotonic())):
        probe = probe_cluster(
            cluster,
            probe_timeout,
            _QUORUM_S,
            lambda left: progress([f"broker {id}" for id in left]),
        )
    found = probe.metadata
    given = CheckInput(probe, probe_timeout, partial(throttles, found.cluster_id))
    findings = list(of_metadata(probe))
    seconds = max(0.1, min(_CHECKS_S, until - time.monotonic() - parallel.GRACE_S))
    kraft = probe.quorum is not None or probe.unread is not None
    wanted = [check for check in checks.CHECKS if kraft or check.name != "quorum"]
    outcomes = parallel.run_within(
        probe.config, {check: partial(_run, check, given) for check in wanted}, seconds,
        lambda left: progress([check.what for check in left]),
    )  # fmt: skip
    progress.end()
    for check, outcome in outcomes.items():
        if isinstance(outcome, ShellError):
            findings.append(check.if_failed(check, as_failure(outcome)))
        else:
            findings += outcome
    return Health(
        cluster_id=found.cluster_id,
        brokers=len(found.brokers),
        topics=len(found),
        partitions=found.partitions,
        findings=tuple(sorted(checks.combined(findings), key=lambda finding: finding.severity)),
    )


def _run(check: Check, given: CheckInput, cluster: Cluster) -> list[Finding]:
    """The findings of a check, also if it fails halfway."""
    findings: list[Finding] = []
    try:
        findings.extend(check.find(cluster, given))
    except ShellError as error:
        findings.append(check.if_failed(check, as_failure(error)))
    return findings


class _Waiting:
    """Reports what `health` is waiting for: one task for each set."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._task = ""

    def __call__(self, pending: list[str]) -> None:
        task = f"waiting for {some(pending, 3)}"
        if task != self._task:
            self.end()
            self._task = task
        self._report(task, 0, None)

    def end(self) -> None:
        """End the current task."""
        if self._task:
            self._report(self._task, 1, 1)
        self._task = ""
