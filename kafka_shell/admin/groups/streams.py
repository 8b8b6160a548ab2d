"""Internal topics and local state of Kafka Streams applications, besides their group."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.common.units import some

_ENDINGS = ("-changelog", "-repartition")
_NAMED = 5  # topics that a warning names


def _internal_topics(names: Iterable[str], group: str) -> tuple[str, ...]:
    """The internal topics of the application whose application.id is this group, by Kafka Streams'
    naming convention; none for other groups."""
    return tuple(name for name in names if name.startswith(f"{group}-"))


def warnings(cluster: Cluster, groups: Iterable[str], operation: str) -> tuple[str, ...]:
    """A warning for each group of a Streams application. `operation` ('deleting the group') leaves
    its other data."""
    requested = list(groups)
    if not requested:
        return ()
    internal = [name for name in scan(cluster).names if name.endswith(_ENDINGS)]
    found = []
    for group in requested:
        if topics := _internal_topics(internal, group):
            found.append(
                f"group {group} is a Kafka Streams application: {operation} does not change its"
                f" internal topics ({some(topics, _NAMED)}) and local state"
                " (state.dir); reset them too, or the application continues with the old state"
            )
    return tuple(found)
