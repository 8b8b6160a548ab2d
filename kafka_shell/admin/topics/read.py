"""Topics: list and describe (Metadata, API key 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_shell.admin.topics.reassigned import scan_reassigned
from kafka_shell.admin.topics.similar import with_near_misses
from kafka_shell.base.results import Results
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.failures import failure
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Topic, TopicSummary


def describe(
    cluster: Cluster,
    names: Sequence[str],
    *,
    seen: MetadataScan | None = None,
    only: Callable[[TopicSummary], bool] | None = None,
) -> Results[str, Topic]:
    """The topics with their partitions, or why one cannot be described.

    `seen` is metadata that was just read; without it, it is requested. Topics that `only` rejects
    are left out, and never decoded. Replicas that a reassignment adds are marked as such.
    """
    requested = list(dict.fromkeys(names))
    results: Results[str, Topic] = Results()
    if not requested:
        return results
    found = scan_reassigned(cluster, requested, seen=seen)
    for name in requested:
        if name in found:
            if only is None or only(found.summary(name)):
                results.values[name] = found.topic(name)
        else:
            code = found.errors.get(name, 3)
            requires = f"DESCRIBE on topic {name}"
            results.failures[name] = failure(code, about=f"topic {name}", requires=requires)
    return Results(results.values, with_near_misses(cluster, results.failures, str))
