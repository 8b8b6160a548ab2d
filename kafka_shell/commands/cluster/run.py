"""Commands on the cluster as a whole."""

from __future__ import annotations

from kafka_shell.admin.cluster import features, quorum, unregister
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.cluster.model import (
    ApiSupport,
    BrokerDescription,
    ClusterMetadata,
    Quorum,
)
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.plans import Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.commands import select
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


def cluster_metadata(invocation: Invocation, context: Context) -> ClusterMetadata | Quorum:
    """Brokers, controller, cluster ID, counts and features; or the metadata quorum."""
    if invocation["quorum"]:
        return quorum.describe(context.cluster)
    return cluster_reads.metadata(context.cluster)


def api_versions(
    invocation: Invocation, context: Context
) -> Results[str, tuple[ApiSupport, ...]] | NoRows:
    """The API versions that brokers support, and where they differ."""
    only = None
    if invocation["broker-id"]:
        only = [int(id) for id in select.brokers(invocation, context.cluster)]
    supports, failed = features.api_versions(context.cluster, only)
    requested = invocation["api"]
    rows = tuple(
        row
        for row in supports
        if (not requested or any(_matches(word, row) for word in requested))
        and (row.differs or not invocation["differences"])
    )
    if not rows and not failed:
        return NoRows("no broker supports these APIs" if requested else "no differences")
    if not rows:
        compared = [broker.broker for row in supports for broker in row.brokers]
        others = ", ".join(map(str, sorted(set(compared))))
        if others and invocation["differences"]:
            context.note(f"no differences found; brokers compared: {others}")
    values = {"brokers": rows} if rows else {}
    return Results(values, {f"broker {broker}": failure for broker, failure in failed.items()})


def _matches(word: str, row: ApiSupport) -> bool:
    return word == str(row.key) or word.lower() in row.name.lower()


def describe_broker(
    invocation: Invocation, context: Context
) -> Results[Resource, BrokerDescription]:
    """The selected brokers, including fenced, absent and unresponsive ones."""
    known = cluster_reads.brokers(context.cluster)
    chosen = select.brokers_among(invocation, known.by_id)
    brokers = cluster_reads.describe(known, map(int, chosen))
    failures: dict[Resource, Failure] = {
        Resource(what, f"of broker {description.broker.id}"): failure
        for description in brokers
        for what, failure in description.not_read
    }
    return Results({Resource("broker", str(row.broker.id)): row for row in brokers}, failures)


def unregister_broker(invocation: Invocation, context: Context) -> Plan:
    """Unregister brokers that were shut down for good; asks for confirmation."""
    return unregister.plan_unregister(context.cluster, _ids(invocation))


def _ids(invocation: Invocation) -> list[int]:
    """The broker IDs as given; patterns would match running brokers, too."""
    return [
        select.broker_id(word, invocation.span("broker-id", index))
        for index, words in enumerate(invocation["broker-id"])
        for word in words.split(",")
    ]
