"""Commands that judge a cluster: health, and whether brokers can be stopped."""

from __future__ import annotations

import time
from collections import deque

from kafka_shell.admin.cluster import health as health_checks
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.cluster.model import Health, HealthDetails
from kafka_shell.admin.cluster.restart import read
from kafka_shell.admin.cluster.restart.judge import BackInSync, RestartChecks, RestartOrder
from kafka_shell.admin.groups import read as groups
from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import fields, replace
from kafka_shell.base.text import named
from kafka_shell.base.units import approximate_duration, counted
from kafka_shell.base.waits import PART_S, PROBE_S
from kafka_shell.commands import select
from kafka_shell.commands.cluster.render import with_command
from kafka_shell.commands.cluster.spec import WaitCondition
from kafka_shell.commands.partitions.throttle_store import throttle_record
from kafka_shell.context import Context
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation
from kafka_shell.wire.failures import TEMPORARY, BrokerError, as_error, raise_first


def health(invocation: Invocation, context: Context) -> Health:
    """One screen of what is wrong, the worst first."""
    report = _check(context, invocation["probe-timeout"])
    report = replace(report, findings=tuple(map(with_command, report.findings)))
    values = {name: getattr(report, name) for name in fields(Health)}
    return HealthDetails(**values) if invocation["verbose"] else report


def _check(context: Context, probe_timeout: int | None = None) -> Health:
    return health_checks.health(
        context.cluster,
        probe_timeout=PROBE_S if probe_timeout is None else probe_timeout / 1000,
        report=context.report,
        throttles=lambda cluster: throttle_record(context, cluster).read(),
        kept=None if context.previous is None else context.previous.setdefault("health", deque()),
    )


_WAIT_POLL_S = 1.5
_MAY_PASS = TEMPORARY | {"unknown-host", "unreachable", "deadline", "ssh"}


def wait_until(invocation: Invocation, context: Context) -> str:
    """Wait until a condition is true; the value with which it is."""
    condition, cluster = invocation["condition"], context.cluster
    quiet = replace(context, previous=None, report=lambda task, done, total: None)
    last, reached = "", False
    while True:
        try:
            with cluster.within(PART_S):
                true, last = _evaluate(quiet, condition)
            reached = True
            if true:
                return last
        except ShellError as error:
            lost = error.status is Status.UNREACHABLE or error.code == "deadline"
            denied = isinstance(error, BrokerError) and error.requires
            if denied or error.code == "other-cluster" or (lost and error.code not in _MAY_PASS):
                raise
            reached = reached or not lost
            if not last or cluster.has_time(0.0):  # else keep what was known at the deadline
                last = error.message
        if not cluster.has_time(0.0):
            status = Status.FAILED if reached else Status.UNREACHABLE
            raise ShellError(f"deadline exceeded: {last}", code="deadline", status=status)
        context.report(f"waiting ({last})", 0, None)
        time.sleep(cluster.time_left(_WAIT_POLL_S))


def _evaluate(context: Context, condition: WaitCondition) -> tuple[bool, str]:
    """Whether the condition is true, and the worst finding or the largest lag of a group."""
    if condition.groups is None:
        health = _check(context)
        for finding in health.findings:
            if isinstance(finding, health_checks.NotPermitted):
                required = health_checks.permissions(finding.required)
                raise as_error(Failure(finding.check, finding.summary, requires=required))
        return health.ok, "healthy" if health.ok else f"not healthy: {health.findings[0].summary}"
    names = [condition.groups]
    if kinds.is_pattern(condition.groups):
        listed = groups.list_groups(context.cluster)
        raise_first(listed.failures)
        names = list(kinds.select(names, list(listed.values)).names)
        if not names:
            raise ShellError(f"no group matches '{condition.groups}'", code="no-match")
    described = groups.describe(context.cluster, names, offsets=True, times=condition.in_time)
    raise_first(described.failures)
    lags = []
    for group in described:
        lag = group.time_lag_ms if condition.in_time else group.lag
        if lag is None or any(row.known_lag is None for row in group.offsets or ()):
            return False, f"the lag of group {named(group.name)} is unknown"
        lags.append((lag, group.name))
    most, name = max(lags)
    shown = approximate_duration(most / 1000) if condition.in_time else counted(most, "record")
    return most <= condition.most, f"the lag of group {named(name)} is {shown}"


def check_restart(
    invocation: Invocation, context: Context
) -> RestartChecks | RestartOrder | BackInSync:
    """The verdict for brokers, the order of a rolling restart, or the wait for brokers."""
    cluster = context.cluster
    _refuse_combinations(invocation)
    if invocation["plan"]:
        return read.plan_order(cluster)
    if not invocation["broker-id"]:
        return read.check_each(cluster)
    known = cluster_reads.brokers(cluster)
    brokers = [int(id) for id in select.brokers_among(invocation, known.by_id)]
    if invocation["wait"]:
        return read.wait_in_sync(cluster, brokers, context.report)
    check = read.check_each if invocation["each"] else read.check_together
    return check(cluster, brokers)


def _refuse_combinations(invocation: Invocation) -> None:
    """Raise UsageError for options that exclude one another."""
    named = bool(invocation["broker-id"])
    if invocation["plan"] and named:
        raise UsageError("--plan is for all brokers", hint="Omit the broker IDs.")
    if invocation["wait"] and not named:
        raise UsageError("--wait requires broker IDs", hint="For example: check-restart 2 --wait")
