"""Internal topics and local state of Kafka Streams applications, besides their group."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.units import some

_ENDINGS = ("-changelog", "-repartition")
_NAMED = 5  # topics that a warning names


def internal_topics(cluster: Cluster, group: str) -> tuple[str, ...]:
    """The internal topics of the application whose application.id is this group, by Kafka Streams'
    naming convention; empty for other groups."""
    return tuple(
        name
        for name in scan(cluster).names
        if name.startswith(f"{group}-") and name.endswith(_ENDINGS)
    )


def warnings(cluster: Cluster, groups: Iterable[str], operation: str) -> tuple[str, ...]:
    """A warning for each group of a Streams application. `operation` ('deleting the group') leaves
    its other data."""
    found = []
    for group in groups:
        topics = internal_topics(cluster, group)
        if topics:
            found.append(
                f"group {group} is a Kafka Streams application: {operation} does not change its"
                f" internal topics ({some(topics, _NAMED)}) and local state"
                " (state.dir); reset them too, or the application continues with the old state"
            )
    return tuple(found)
