"""Commands on the cluster as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.admin.cluster.model import ClusterMetadata, Health
from kafka_shell.answers import Nothing
from kafka_shell.commands import select
from kafka_shell.errors import UsageError
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option, Short
from kafka_shell.plan.model import Effect, Plan
from kafka_shell.plan.results import Results

if TYPE_CHECKING:
    from kafka_shell.admin.cluster.model import ApiSupport, Quorum
    from kafka_shell.context import Context


_MOST_PROBE_MS = 3_000  # health answers within 10 seconds


def cluster_metadata(invocation: Invocation, context: Context) -> ClusterMetadata | Quorum:
    """Brokers, controller, cluster id, counts and features; or the metadata quorum."""
    from kafka_shell.admin.cluster import quorum
    from kafka_shell.admin.cluster import read as cluster_reads

    if invocation["quorum"]:
        return quorum.describe(context.cluster)
    return cluster_reads.metadata(context.cluster)


def health(invocation: Invocation, context: Context) -> Health:
    """One screen of what is wrong, the worst first."""
    from kafka_shell.admin.cluster import health

    timeout = invocation["probe-timeout"]
    seconds = health.PROBE_S if timeout is None else timeout / 1000
    return health.health(context.cluster, probe_timeout=seconds, report=context.report)


def unregister_broker(invocation: Invocation, context: Context) -> Plan:
    """Forget brokers that are gone for good, after a question."""
    from kafka_shell.admin.cluster import unregister

    return unregister.plan_unregister(context.cluster, _ids(invocation))


def _ids(invocation: Invocation) -> list[int]:
    """Ids as they stand: a selector could only mean brokers that are up."""
    ids = []
    for index, words in enumerate(invocation["broker-id"]):
        for word in words.split(","):
            if not word.isdecimal() or int(word) >= 1 << 31:
                raise UsageError(
                    f"'{word}' is no broker id",
                    hint="Brokers that are gone have to be named one by one: 4 or 4,5",
                    span=invocation.span("broker-id", index),
                    text=invocation.text,
                )
            ids.append(int(word))
    return ids


def api_versions(
    invocation: Invocation, context: Context
) -> Results[str, tuple[ApiSupport, ...]] | Nothing:
    """What brokers speak, and where they differ."""
    from kafka_shell.admin.cluster import features

    only = None
    if invocation["broker-id"]:
        only = [int(id) for id in select.brokers(invocation, context.cluster)]
    found, failed = features.api_versions(context.cluster, only)
    wanted = invocation["api"]
    rows = tuple(
        row
        for row in found
        if (not wanted or any(_means(word, row) for word in wanted))
        and (row.differs or not invocation["differences"])
    )
    if not rows and not failed:
        said = "no broker speaks that" if wanted else "all brokers speak the same"
        return Nothing(said)
    values = {"brokers": rows} if rows else {}
    return Results(values, {f"broker {broker}": why for broker, why in failed.items()})


def _means(word: str, row: ApiSupport) -> bool:
    return word == str(row.key) or word.lower() in row.name.lower()


COMMANDS = (
    Command(
        name="cluster-metadata",
        summary="Brokers with racks and versions, controller, cluster id, counts, features.",
        family="cluster",
        run=cluster_metadata,
        options=(Option("--quorum", Kind.FLAG, "The KRaft metadata quorum: describe-quorum."),),
        shorts=(Short("brokers", "cluster-metadata"), Short("cluster", "cluster-metadata")),
        search=("nodes", "racks", "version", "controller", "quorum"),
        examples=(
            Example("cluster-metadata", "who is there"),
            Example("cluster-metadata --quorum", "the voters, and how far behind they are"),
        ),
        apis=(55, 60),
    ),
    Command(
        name="health",
        summary="What is wrong with the cluster, worst first.",
        family="cluster",
        run=health,
        search=("status", "check", "offline", "under-replicated"),
        options=(
            Option("--probe-timeout", Kind.DURATION,
                   "How long a broker or controller may take to answer: 2s (100ms to 3s).",
                   metavar="DURATION", least=100, most=_MOST_PROBE_MS),
        ),
        description=(
            "Probes every broker and controller, and checks partitions, the metadata quorum,"
            " partition reassignments and leftover throttles, log directories, groups and hanging"
            " transactions. Each finding names the command that shows more. Answers within 10"
            " seconds whatever is broken.\n"
            "Exit status: 0 healthy; 1 something is wrong, or could not be checked. Notes do not"
            " count."
        ),
        examples=(
            Example("health", "one screen"),
            Example("health --output json", "for a monitor"),
        ),
        apis=(16, 32, 35, 46, 55, 61, 65, 66),
    ),
    Command(
        name="api-versions",
        summary="The API versions that brokers speak, and where they differ.",
        family="cluster",
        run=api_versions,
        arguments=(
            Argument("api", Kind.TEXT, "Only these: a key or a part of a name.", many=True,
                     required=False),
        ),
        options=(
            Option("--broker-id", Kind.BROKER, "Only these brokers.", many=True, metavar="ID"),
            Option("--differences", Kind.FLAG, "Only what not all brokers speak alike."),
        ),
        search=("protocol", "compatibility", "rolling upgrade"),
        examples=(
            Example("api-versions", "every API"),
            Example("api-versions ShareGroup Raft", "some, by a part of their names"),
            Example("api-versions --differences", "in the middle of a rolling upgrade"),
        ),
    ),
    Command(
        name="unregister-broker",
        summary="Let the cluster forget brokers that are gone for good.",
        family="cluster",
        run=unregister_broker,
        effect=Effect.DESTROY,
        arguments=(
            Argument("broker-id", Kind.BROKER, "Ids of brokers that are stopped: 4 or 4,5",
                     many=True, option="--broker-id"),
        ),
        search=("remove broker", "decommission"),
        description=(
            "Move its replicas away first (reassign-partitions --drain), then stop it."
            " A broker that is up is refused."
        ),
        examples=(
            Example("unregister-broker 1 --dry-run", "a broker that is up is refused", status=1),
        ),
        apis=(60, 64),
    ),
)  # fmt: skip
