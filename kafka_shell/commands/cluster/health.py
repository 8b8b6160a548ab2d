"""Commands that judge a cluster: health, and whether brokers can be stopped."""

from __future__ import annotations

from collections import deque

from kafka_shell.admin.cluster import health as health_checks
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.cluster.model import Health, HealthDetails
from kafka_shell.admin.cluster.restart.judge import BackInSync, RestartChecks, RestartOrder
from kafka_shell.base.errors import UsageError
from kafka_shell.base.structs import fields, replace
from kafka_shell.base.waits import PROBE_S
from kafka_shell.commands import select
from kafka_shell.commands.cluster.render import with_command
from kafka_shell.commands.partitions.throttle_store import throttle_record
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


def health(invocation: Invocation, context: Context) -> Health:
    """One screen of what is wrong, the worst first."""
    timeout = invocation["probe-timeout"]
    seconds = PROBE_S if timeout is None else timeout / 1000
    found = health_checks.health(
        context.cluster,
        probe_timeout=seconds,
        report=context.report,
        throttles=lambda cluster: throttle_record(context, cluster).read(),
        kept=None if context.previous is None else context.previous.setdefault("health", deque()),
    )
    found = replace(found, findings=tuple(map(with_command, found.findings)))
    values = {name: getattr(found, name) for name in fields(Health)}
    return HealthDetails(**values) if invocation["verbose"] else found


def check_restart(
    invocation: Invocation, context: Context
) -> RestartChecks | RestartOrder | BackInSync:
    """The verdict for brokers, the order of a rolling restart, or the wait for brokers."""
    from kafka_shell.admin.cluster.restart import read

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
    given = [f"--{name}" for name in ("plan", "each", "wait") if invocation[name]]
    if len(given) > 1:
        raise UsageError(f"{given[0]} cannot be used with {given[1]}")
