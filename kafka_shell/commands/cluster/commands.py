"""Commands on the cluster as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.admin.cluster.model import (
    ClusterMetadata,
    Finding,
    Health,
    HealthDetails,
    Severity,
)
from kafka_shell.admin.groups.model import NOT_READY_STATES, REBALANCING_STATES
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.plans import Effect, Plan
from kafka_shell.base.results import Results
from kafka_shell.base.structs import fields
from kafka_shell.base.text import positional
from kafka_shell.base.waits import PROBE_S
from kafka_shell.commands import select
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option, Short

if TYPE_CHECKING:
    from kafka_shell.admin.cluster.model import ApiSupport, Quorum
    from kafka_shell.context import Context


_MOST_PROBE_MS = 3_000  # health answers within 10 seconds


def cluster_metadata(invocation: Invocation, context: Context) -> ClusterMetadata | Quorum:
    """Brokers, controller, cluster ID, counts and features; or the metadata quorum."""
    from kafka_shell.admin.cluster import quorum
    from kafka_shell.admin.cluster import read as cluster_reads

    if invocation["quorum"]:
        return quorum.describe(context.cluster)
    return cluster_reads.metadata(context.cluster)


def health(invocation: Invocation, context: Context) -> Health:
    """One screen of what is wrong, the worst first."""
    from kafka_shell.admin.cluster import health
    from kafka_shell.base.structs import replace
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    timeout = invocation["probe-timeout"]
    seconds = PROBE_S if timeout is None else timeout / 1000
    found = health.health(
        context.cluster,
        probe_timeout=seconds,
        report=context.report,
        throttles=lambda cluster: throttle_record(context, cluster).read(),
    )
    found = replace(found, findings=tuple(map(with_command, found.findings)))
    values = {name: getattr(found, name) for name in fields(Health)}
    return HealthDetails(**values) if invocation["verbose"] else found


def unregister_broker(invocation: Invocation, context: Context) -> Plan:
    """Unregister brokers that were shut down for good; asks for confirmation."""
    from kafka_shell.admin.cluster import unregister

    return unregister.plan_unregister(context.cluster, _ids(invocation))


def _ids(invocation: Invocation) -> list[int]:
    """The broker IDs as given; patterns would match running brokers, too."""
    return [
        select.broker_id(word, invocation.span("broker-id", index), invocation.text)
        for index, words in enumerate(invocation["broker-id"])
        for word in words.split(",")
    ]


def api_versions(
    invocation: Invocation, context: Context
) -> Results[str, tuple[ApiSupport, ...]] | NoRows:
    """The API versions that brokers support, and where they differ."""
    from kafka_shell.admin.cluster import features

    only = None
    if invocation["broker-id"]:
        only = [int(id) for id in select.brokers(invocation, context.cluster)]
    found, failed = features.api_versions(context.cluster, only)
    requested = invocation["api"]
    rows = tuple(
        row
        for row in found
        if (not requested or any(_matches(word, row) for word in requested))
        and (row.differs or not invocation["differences"])
    )
    if not rows and not failed:
        return NoRows("no broker supports these APIs" if requested else "no differences")
    if not rows:
        compared = [broker.broker for row in found for broker in row.brokers]
        others = ", ".join(map(str, sorted(set(compared))))
        if others and invocation["differences"]:
            context.note(f"no differences found; brokers compared: {others}")
    values = {"brokers": rows} if rows else {}
    return Results(values, {f"broker {broker}": failure for broker, failure in failed.items()})


def _matches(word: str, row: ApiSupport) -> bool:
    return word == str(row.key) or word.lower() in row.name.lower()


COMMANDS = (
    Command(
        name="cluster-metadata",
        summary="Show brokers, controller, cluster ID, counts and features.",
        family="cluster",
        run=cluster_metadata,
        options=(Option("--quorum", kinds.FLAG, "Show the metadata quorum, as describe-quorum."),),
        shorts=(Short("brokers", "cluster-metadata"), Short("cluster", "cluster-metadata")),
        search=("nodes", "racks", "version", "controller", "quorum"),
        examples=(
            Example("cluster-metadata", "show all brokers"),
            Example("cluster-metadata --quorum", "show voters and their lag"),
        ),
        apis=(35, 46, 55, 60),
    ),
    Command(
        name="health",
        summary="Check the cluster and show problems, worst first.",
        family="cluster",
        run=health,
        search=("status", "check", "offline", "under-replicated"),
        options=(
            Option("--probe-timeout", kinds.DURATION,
                   "Timeout for each broker and controller: 2s (100ms to 3s).",
                   least=100, most=_MOST_PROBE_MS),
            Option("--verbose", kinds.FLAG, "Also show what follows from each problem, and notes."),
        ),
        description=(
            "Probes every broker and controller, and checks partitions, the metadata quorum,"
            " partition reassignments and leftover throttles, log directories, groups and hanging"
            " transactions. What follows from a problem, such as offline partitions from a broker"
            " that is down, is counted in its line. Finishes within 10 seconds.\n"
            "Exit status: 0 if healthy; 1 if there are problems or a check could not run. Notes do"
            " not count."
        ),
        examples=(
            Example("health", "check the cluster"),
            Example("health --output json", "print JSON for monitoring"),
        ),
        apis=(16, 32, 35, 46, 55, 60, 61, 65, 66),
    ),
    Command(
        name="api-versions",
        summary="Show the API versions that brokers support, and differences.",
        family="cluster",
        run=api_versions,
        arguments=(
            Argument("api", kinds.TEXT, "Only these APIs: a key or part of a name.", many=True,
                     required=False),
        ),
        options=(
            Option("--broker-id", kinds.BROKER, "Only these brokers.", many=True),
            Option("--differences", kinds.FLAG, "Only APIs whose versions differ between brokers."),
        ),
        apis=(60,),
        search=("protocol", "compatibility", "rolling upgrade"),
        examples=(
            Example("api-versions", "show all APIs"),
            Example("api-versions ShareGroup Raft", "show APIs by part of their names"),
            Example("api-versions --differences", "show differences during a rolling upgrade"),
        ),
    ),
    Command(
        name="unregister-broker",
        summary="Unregister brokers that were shut down for good.",
        family="cluster",
        run=unregister_broker,
        effect=Effect.DESTROY,
        arguments=(
            Argument("broker-id", kinds.BROKER, "IDs of stopped brokers: 4 or 4,5.",
                     many=True, option="--broker-id"),
        ),
        search=("remove broker", "decommission"),
        description=(
            "First move the replicas away (reassign-partitions --drain), then stop the broker."
            " A running broker is rejected. First delete the dynamic configs of the broker"
            " (alter-configs --broker-id 4 --delete-config KEY): this is not possible after it is"
            " unregistered. decommission does all of this."
        ),
        examples=(
            Example("unregister-broker 1 --dry-run", "preview (a running broker is rejected)",
                    status=1),
        ),
        apis=(60, 64),
    ),
)  # fmt: skip


# The command that shows more about a finding of `health`.

# The check of a finding -> command.
_COMMANDS = {
    "partitions": "list-topics --long",
    "offline": "describe-topic --unavailable-partitions",
    "under-replicated": "describe-topic --under-replicated-partitions",
    "under-min-isr": "describe-topic --under-min-isr-partitions",
    "at-min-isr": "describe-topic --at-min-isr-partitions",
    "preferred-not-in-sync": "describe-topic --under-replicated-partitions",
    "off-preferred": "elect-leaders --all-topic-partitions --dry-run",
    "brokers": "cluster-metadata",
    "quorum": "describe-quorum",
    "controllers": "describe-quorum",
    "moves": "list-reassignments",
    "throttles": "verify-reassign-partitions",
    "log-dirs": "describe-log-dirs",
    "permissions": "list-topics",
    "groups": "list-groups --long",
    "transactions": "find-hanging-transactions",
}
_GROUP_STATES = {Severity.WARNING: NOT_READY_STATES, Severity.NOTE: REBALANCING_STATES}


class FindingWithCommand(Finding, frozen=True):
    """A finding and the command that shows more about it."""

    see: str = ""


def with_command(finding: Finding) -> FindingWithCommand:
    """The finding with its command."""
    values = {name: getattr(finding, name) for name in fields(Finding)}
    return FindingWithCommand(**values, see=command_of(finding))


def command_of(finding: Finding) -> str:
    """The command that shows more about a finding; empty if there is none."""
    if finding.check == "min-isr-above-replicas":
        topics = positional("--topic", ",".join(finding.examples))
        return f"describe-configs {topics} min.insync.replicas"
    states = _GROUP_STATES.get(finding.severity, ()) if finding.check == "groups" else ()
    return " ".join([_COMMANDS.get(finding.check, ""), *(f"--state {state}" for state in states)])
