"""Commands on the cluster as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.language.command import Command, Example, Invocation, Kind, Option, Short
from kafka_shell.nouns import ClusterMetadata, Health, Quorum

if TYPE_CHECKING:
    from kafka_shell.context import Context


def cluster_metadata(invocation: Invocation, context: Context) -> ClusterMetadata | Quorum:
    """Brokers, controller, cluster id and counts; or the metadata quorum."""
    from kafka_shell.admin import cluster

    if invocation["quorum"]:
        return cluster.quorum(context.cluster)
    return cluster.metadata(context.cluster)


def health(invocation: Invocation, context: Context) -> Health:
    """One screen of what is wrong, the worst first."""
    from kafka_shell.admin import cluster

    return cluster.health(context.cluster)


COMMANDS = (
    Command(
        name="cluster-metadata",
        summary="Brokers with racks and versions, controller, cluster id, counts.",
        family="cluster",
        run=cluster_metadata,
        options=(Option("--quorum", Kind.FLAG, "The KRaft metadata quorum instead."),),
        shorts=(Short("brokers", "cluster-metadata"), Short("cluster", "cluster-metadata")),
        search=("nodes", "racks", "version", "controller", "quorum"),
        examples=(
            Example("cluster-metadata", "who is there"),
            Example("cluster-metadata --quorum", "the voters, and how far behind they are"),
        ),
    ),
    Command(
        name="health",
        summary="What is wrong with the cluster, worst first.",
        family="cluster",
        run=health,
        search=("status", "check", "offline", "under-replicated"),
        description="Ends with status 1 when something is wrong, for scripts and `watch`.",
        examples=(
            Example("health", "one screen"),
            Example("health --output json", "for a monitor"),
        ),
    ),
)
