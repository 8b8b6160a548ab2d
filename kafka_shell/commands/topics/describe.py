"""The command that describes topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from kafka_shell.admin.cluster import probes as cluster_probe
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.model import TopicDescription
from kafka_shell.admin.topics.read import scan_reassigned
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.plans import Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.units import counted
from kafka_shell.commands import select
from kafka_shell.commands.options import reported
from kafka_shell.commands.topics.run import NO_TOPIC, note_unread
from kafka_shell.commands.topics.spec import FILTERS
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.model import Partition, Topic, TopicSummary


def describe_topic(
    invocation: Invocation, context: Context
) -> Results[Resource, TopicDescription] | NoRows:
    """Partitions and overridden configs of topics, or only the partitions that match a filter."""
    cluster = context.cluster
    names, seen = select.topics_and_scan(invocation, cluster)
    filters = [name for name in FILTERS if invocation[name]]
    if not names and not filters:
        return NO_TOPIC
    seen = scan_reassigned(cluster, names, seen=seen)
    leave_out = invocation["exclude-internal"]
    listed = topics.describe(
        cluster,
        names,
        seen=seen,
        only=lambda summary: (
            not (leave_out and summary.internal)
            and (not filters or any(_TOPIC_MAY_MATCH[which](summary) for which in filters))
        ),
    )
    if filters:
        described = _filtered(listed, cluster, filters)
        if invocation["under-replicated-partitions"] and seen.reassignments_unread is not None:
            described.failures[_REASSIGNMENTS] = seen.reassignments_unread
    else:
        note_unread(seen, context)
        described = _with_overrides(listed, context, only=invocation["topics-with-overrides"])
    if described.ok and not described.values:
        return NoRows(f"no topic matches the filters ({counted(len(names), 'topic')} checked)")
    return described


def _of_topics(listed: Results[str, Topic]) -> dict[Resource, Failure]:
    return listed.keyed(partial(Resource, "topic")).failures


def _with_overrides(
    listed: Results[str, Topic], context: Context, *, only: bool
) -> Results[Resource, TopicDescription]:
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in listed.values]
    parts = configs.in_parts(context.cluster, resources)
    read = Results.merge(reported(parts, len(resources), context))
    failures = _of_topics(listed)
    for resource, failure in read.failures.items():
        failures[Resource("configs", f"of topic {resource.name}")] = failure
    described = {}
    for resource, (name, topic) in zip(resources, listed.values.items(), strict=True):
        entries = read.values.get(resource, ())
        overrides = tuple(entry for entry in entries if entry.overridden)
        if overrides or not only:
            described[Resource("topic", name)] = TopicDescription(topic, overrides)
    return Results(described, failures)


_REASSIGNMENTS = Resource("reassignments", "of the cluster")


def _filtered(
    listed: Results[str, Topic], cluster: Cluster, filters: Sequence[str]
) -> Results[Resource, TopicDescription]:
    """The partitions that match any of the filters, by topic; other topics are left out."""
    failures = _of_topics(listed)
    stale = cluster_probe.why_out_of_date(cluster)
    if stale is not None:
        failures[Resource("metadata", "of the cluster")] = stale
    minimum: dict[str, int] = {}
    capped = False
    if any("min-isr" in name for name in filters) and listed.values:
        read = min_isr.read(cluster, listed.values)
        minimum, capped = read.values, min_isr.is_capped(cluster)
        failures |= {
            Resource(min_isr.KEY, f"of topic {name}"): failure
            for name, failure in read.failures.items()
        }
    described = {}
    for name, topic in listed.values.items():
        shown = tuple(
            partition
            for partition in topic.partitions
            if any(
                _PARTITION_MATCHES[which](
                    partition,
                    min_isr.needed(partition, minimum[name], capped=capped)
                    if name in minimum
                    else None,
                )
                for which in filters
            )
        )
        if shown:
            described[Resource("topic", name)] = TopicDescription(topic, shown=shown)
    return Results(described, failures)


# Filter -> whether a topic can match, judged by its counts before its partitions are decoded.
_TOPIC_MAY_MATCH: dict[str, Callable[[TopicSummary], bool]] = {
    "under-replicated-partitions": lambda topic: bool(topic.under_replicated),
    "under-min-isr-partitions": lambda topic: True,
    "at-min-isr-partitions": lambda topic: True,
    "unavailable-partitions": lambda topic: bool(topic.offline),
}


# Filter -> whether a partition matches; the second argument is its min.insync.replicas, if known.
_PARTITION_MATCHES: dict[str, Callable[[Partition, int | None], bool]] = {
    "under-replicated-partitions": lambda p, _: p.under_replicated,
    "under-min-isr-partitions": lambda p, least: least is not None and len(p.isr) < least,
    "at-min-isr-partitions": lambda p, least: len(p.isr) == least,
    "unavailable-partitions": lambda p, _: p.leader is None,
}
