"""`check-restart`: whether brokers can be stopped, and the order of a rolling restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.base.errors import UsageError
from kafka_shell.commands import select
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.admin.cluster.restart.judge import BackInSync, RestartChecks, RestartOrder
    from kafka_shell.context import Context


def check_restart(
    invocation: Invocation, context: Context
) -> RestartChecks | RestartOrder | BackInSync:
    """The verdict for brokers, the order of a rolling restart, or the wait for brokers."""
    from kafka_shell.admin.cluster import read as cluster_reads
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


COMMANDS = (
    Command(
        name="check-restart",
        summary="Check whether brokers can be stopped, and plan a rolling restart.",
        family="cluster",
        run=check_restart,
        arguments=(
            Argument("broker-id", kinds.BROKER,
                     "Brokers to stop together: 1  1,2  (default: each broker alone).",
                     many=True, required=False, option="--broker-id"),
        ),
        options=(
            Option("--each", kinds.FLAG, "Check the brokers one by one instead of together."),
            Option("--plan", kinds.FLAG,
                   "Show an order for a rolling restart: batches of brokers that can be down"
                   " together."),
            Option("--wait", kinds.FLAG,
                   "Wait until the brokers are back and all their replicas are in sync."),
        ),
        search=("rolling restart", "stop broker", "maintenance", "shutdown", "upgrade"),
        description=(
            "unsafe: a partition would have no leader or too few in-sync replicas for producers"
            " with acks=all, or the metadata quorum would lose its majority. risky: nothing fails,"
            " but a reassignment or recovery should complete first, or one in-sync replica would"
            " be left. unknown: something could not be read. safe: none of these. Replicas that are"
            " not in sync count as unavailable.\n"
            "The batches of --plan assume that the brokers of a batch are back in sync before the"
            " next batch is stopped. The active controller is in the last batch.\n"
            "Exit status: 0 if all brokers are safe, else 1."
        ),
        examples=(
            Example("check-restart 1", "check whether broker 1 can be stopped", status=1),
            Example("check-restart --plan", "show an order for a rolling restart", status=1),
            Example("check-restart 1 --wait", "wait until broker 1 is back in sync"),
        ),
        apis=(3, 32, 35, 46, 55, 60),
    ),
)  # fmt: skip
