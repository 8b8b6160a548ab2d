"""Commands that list and describe topics (KIP-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.topics.model import TopicDescription
from kafka_shell.base.command_results import LazyRows, Listing, NoRows
from kafka_shell.base.plans import Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.units import counted
from kafka_shell.commands import select
from kafka_shell.commands.progress import reported
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option, Short
from kafka_shell.wire.model import Partition, Topic, TopicSummary

if TYPE_CHECKING:
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster
    from kafka_shell.wire.metadata_scan import MetadataScan

_EXCLUDE_INTERNAL = Option("--exclude-internal", kinds.FLAG, "Exclude internal topics.")
_NO_TOPIC = NoRows("no topics (topics without DESCRIBE permission are hidden)")
_UNREAD = "reassignments could not be read, so replicas that are being added count as out of sync"
_REASSIGNMENTS = Resource("reassignments", "of the cluster")
_FILTERS = (
    "under-replicated-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "unavailable-partitions",
)


# -- list ------------------------------------------------------------------------------------------


def list_topics(invocation: Invocation, context: Context) -> Listing | NoRows:
    """The names of topics; with --long also their counts."""
    from kafka_shell.admin.topics.reassigned import scan_reassigned
    from kafka_shell.wire import metadata_scan

    found = metadata_scan.scan(context.cluster)
    if invocation["long"] or (invocation["output"] or context.settings.output) != "table":
        found = scan_reassigned(context.cluster, seen=found)
        _note_unread(found, context)
    names = select.listed(invocation["topic"], sorted(found.names), "topic", context)
    if isinstance(names, NoRows):
        return names
    if not names:
        return _NO_TOPIC
    if invocation["exclude-internal"]:
        names = [name for name in names if not found.summary(name).internal]
    return Listing(LazyRows(names, found.summary), long=invocation["long"])


def _note_unread(found: MetadataScan, context: Context) -> None:
    from kafka_shell.wire.failures import in_one_line

    if found.reassignments_unread is not None:
        context.note(f"{_UNREAD}: {in_one_line(found.reassignments_unread)}")


# -- describe --------------------------------------------------------------------------------------


def describe_topic(
    invocation: Invocation, context: Context
) -> Results[Resource, TopicDescription] | NoRows:
    """Partitions and overridden configs of topics, or only the partitions that match a filter."""
    from kafka_shell.admin.topics import read as topics
    from kafka_shell.admin.topics.reassigned import scan_reassigned

    cluster = context.cluster
    names, seen = select.topics_and_scan(invocation, cluster)
    filters = [name for name in _FILTERS if invocation[name]]
    if not names and not filters:
        return _NO_TOPIC
    seen = scan_reassigned(cluster, names, seen=seen)
    leave_out = invocation["exclude-internal"]
    found = topics.describe(
        cluster,
        names,
        seen=seen,
        only=lambda summary: (
            not (leave_out and summary.internal)
            and (not filters or any(_TOPIC_MAY_MATCH[which](summary) for which in filters))
        ),
    )
    if filters:
        described = _filtered(found, cluster, filters)
        if invocation["under-replicated-partitions"] and seen.reassignments_unread is not None:
            described.failures[_REASSIGNMENTS] = seen.reassignments_unread
    else:
        _note_unread(seen, context)
        described = _with_overrides(found, context, only=invocation["topics-with-overrides"])
    if described.ok and not described.values:
        return NoRows(f"no topic matches the filters ({counted(len(names), 'topic')} checked)")
    return described


def _of_topics(found: Results[str, Topic]) -> dict[Resource, Failure]:
    return found.keyed(partial(Resource, "topic")).failures


def _filtered(
    found: Results[str, Topic], cluster: Cluster, filters: Sequence[str]
) -> Results[Resource, TopicDescription]:
    """The partitions that match any of the filters, by topic; other topics are left out."""
    from kafka_shell.admin.cluster import probes as cluster_probe
    from kafka_shell.admin.topics import min_isr

    failures = _of_topics(found)
    stale = cluster_probe.why_out_of_date(cluster)
    if stale is not None:
        failures[Resource("metadata", "of the cluster")] = stale
    minimum: dict[str, int] = {}
    capped = False
    if any("min-isr" in name for name in filters) and found.values:
        read = min_isr.read(cluster, found.values)
        minimum, capped = read.values, min_isr.is_capped(cluster)
        failures |= {
            Resource(min_isr.KEY, f"of topic {name}"): failure
            for name, failure in read.failures.items()
        }
    described = {}
    for name, topic in found.values.items():
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


def _with_overrides(
    found: Results[str, Topic], context: Context, *, only: bool
) -> Results[Resource, TopicDescription]:
    from kafka_shell.admin.configs import read as configs

    resources = [ConfigResource(ResourceType.TOPIC, name) for name in found.values]
    parts = configs.in_parts(context.cluster, resources)
    read = Results.merge(reported(parts, len(resources), context))
    failures = _of_topics(found)
    for resource, failure in read.failures.items():
        failures[Resource("configs", f"of topic {resource.name}")] = failure
    described = {}
    for resource, (name, topic) in zip(resources, found.values.items(), strict=True):
        entries = read.values.get(resource, ())
        overrides = tuple(entry for entry in entries if entry.overridden)
        if overrides or not only:
            described[Resource("topic", name)] = TopicDescription(topic, overrides)
    return Results(described, failures)


COMMANDS = (
    Command(
        name="list-topics",
        summary="List topics.",
        family="topics",
        run=list_topics,
        arguments=(
            Argument("topic", kinds.TOPIC, "Only these topics: a,b  svc-*  /regex/", many=True,
                     required=False, option="--topic"),
        ),
        options=(
            _EXCLUDE_INTERNAL,
            Option("--long", kinds.FLAG, "Also show partitions, replication factor and health.",
                   aliases=("-l",)),
        ),
        shorts=(Short("topics", "list-topics"), Short("ls", "list-topics")),
        search=("show", "names"),
        apis=(46,),
        examples=(
            Example("list-topics", "list all topics, one name per line"),
            Example("list-topics --exclude-internal --long",
                    "include counts, exclude internal topics"),
            Example("list-topics 'payments.*' | wc -l",
                    "count the topics that start with payments"),
        ),
    ),
    Command(
        name="describe-topic",
        summary="Show partitions, replicas and overridden configs of topics.",
        family="topics",
        run=describe_topic,
        apis=(32, 46, 55),
        arguments=(
            Argument("topic", kinds.TOPIC, "Topics: a,b  svc-*  /regex/ (default: all)",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            Option("--under-replicated-partitions", kinds.FLAG,
                   "Only under-replicated partitions."),
            Option("--under-min-isr-partitions", kinds.FLAG,
                   "Only partitions with fewer in-sync replicas than min.insync.replicas."),
            Option("--at-min-isr-partitions", kinds.FLAG,
                   "Only partitions with exactly min.insync.replicas in-sync replicas."),
            Option("--unavailable-partitions", kinds.FLAG, "Only partitions without a leader."),
            Option("--topics-with-overrides", kinds.FLAG, "Only topics with overridden configs.",
                   excludes=tuple(f"--{name}" for name in _FILTERS)),
            _EXCLUDE_INTERNAL,
        ),
        shorts=(Short("topic", "describe-topic"),),
        search=("partitions", "replicas", "leader", "isr"),
        examples=(
            Example("describe-topic orders.placed", "describe one topic"),
            Example("describe-topic 'payments.*' --topics-with-overrides",
                    "describe the payments topics with overridden configs"),
            Example("describe-topic --under-replicated-partitions",
                    "find under-replicated partitions of all topics"),
            Example("describe-topic orders.placed --output json", "print JSON for a program"),
        ),
    ),
)  # fmt: skip
