"""What a Kafka Streams application keeps beside its group: internal topics and local state."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan

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


def warnings(cluster: Cluster, groups: Iterable[str], keeps: str) -> tuple[str, ...]:
    """For each group of a Streams application: what `keeps` its data. `keeps` says what is done."""
    found = []
    for group in groups:
        topics = internal_topics(cluster, group)
        if topics:
            more = f" and {len(topics) - _NAMED:,} more" if len(topics) > _NAMED else ""
            found.append(
                f"group {group} is a Kafka Streams application: {keeps} does not touch its internal"
                f" topics ({', '.join(topics[:_NAMED])}{more}) and local state stores (state.dir);"
                " reset them too, or the application continues with the old state"
            )
    return tuple(found)
