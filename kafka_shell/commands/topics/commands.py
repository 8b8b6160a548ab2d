"""Commands that list and describe topics (KIP-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.topics.model import Partition, Topic, TopicDescription, TopicSummary
from kafka_shell.answers import Lazy, Listing, Nothing
from kafka_shell.commands import select
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option, Short
from kafka_shell.language.selectors import is_pattern
from kafka_shell.plan.model import Resource
from kafka_shell.plan.results import Failure, Results

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

_EXCLUDE_INTERNAL = Option("--exclude-internal", Kind.FLAG, "Leave Kafka's own topics out.")
_NO_TOPIC = Nothing("no topic (it takes Describe on a topic to see it)")
_FILTERS = (
    "under-replicated-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "unavailable-partitions",
)


# -- list ------------------------------------------------------------------------------------------


def list_topics(invocation: Invocation, context: Context) -> Listing | Nothing:
    """Names of topics, or their counts too."""
    from kafka_shell.admin.wire import metadata_scan

    found = metadata_scan.scan(context.cluster)
    names: Sequence[str] = sorted(found.names)
    if invocation["topic"]:
        names = select.matching(invocation["topic"], names)
    if invocation["topic"] and not names:
        said = " ".join(invocation["topic"])
        patterns = any(is_pattern(word) for word in invocation["topic"])
        hint = "" if patterns else f"; a part of a name wants stars: '*{said}*'"
        return Nothing(f"no topic is {said}{hint}")
    if not names:
        return _NO_TOPIC
    if invocation["exclude-internal"]:
        names = [name for name in names if not found.summary(name).internal]
    return Listing(Lazy(names, found.summary), long=invocation["long"])


# -- describe --------------------------------------------------------------------------------------


def describe_topic(
    invocation: Invocation, context: Context
) -> Results[Resource, TopicDescription] | Nothing:
    """Partitions and overridden configs of topics, or the partitions a filter asks for."""
    from kafka_shell.admin.topics import read as topics

    cluster = context.cluster
    names, seen = select.seen_topics(invocation, cluster)
    if not names:
        return _NO_TOPIC
    filters = [name for name in _FILTERS if invocation[name]]
    leave_out = invocation["exclude-internal"]
    found = topics.describe(
        cluster,
        names,
        seen=seen,
        only=lambda summary: (
            not (leave_out and summary.internal)
            and (not filters or any(_MAY_HOLD[which](summary) for which in filters))
        ),
    )
    if filters:
        described = _filtered(found, cluster, filters)
    else:
        described = _with_overrides(found, cluster, only=invocation["topics-with-overrides"])
    if described.ok and not described.values:
        return Nothing(f"none of {len(names):,} topics")
    return described


def _of_topics(found: Results[str, Topic]) -> dict[Resource, Failure]:
    return {Resource("topic", name): why for name, why in found.failures.items()}


def _filtered(
    found: Results[str, Topic], cluster: Cluster, filters: Sequence[str]
) -> Results[Resource, TopicDescription]:
    """Only the partitions for which one of the filters holds, and topics that have such."""
    from kafka_shell.admin.cluster import quorum
    from kafka_shell.admin.topics import min_isr

    failures = _of_topics(found)
    stale = quorum.why_stale(cluster)
    if stale is not None:
        failures[Resource("metadata", "of the cluster")] = stale
    minimum: dict[str, int] = {}
    capped = False
    if any("min-isr" in name for name in filters) and found.values:
        read = min_isr.read(cluster, found.values)
        minimum, capped = read.values, min_isr.is_capped(cluster)
        failures |= {
            Resource(min_isr.KEY, f"of topic {name}"): why for name, why in read.failures.items()
        }
    described = {}
    for name, topic in found.values.items():
        shown = tuple(
            partition
            for partition in topic.partitions
            if any(
                _HOLDS[which](
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


# What the counts of a topic tell before its partitions are decoded.
_MAY_HOLD: dict[str, Callable[[TopicSummary], bool]] = {
    "under-replicated-partitions": lambda topic: bool(topic.under_replicated),
    "under-min-isr-partitions": lambda topic: True,
    "at-min-isr-partitions": lambda topic: True,
    "unavailable-partitions": lambda topic: bool(topic.offline),
}

# Of a partition and the in-sync replicas that it needs; None where that is not known.
_HOLDS: dict[str, Callable[[Partition, int | None], bool]] = {
    "under-replicated-partitions": lambda p, _: p.under_replicated,
    "under-min-isr-partitions": lambda p, least: least is not None and len(p.isr) < least,
    "at-min-isr-partitions": lambda p, least: len(p.isr) == least,
    "unavailable-partitions": lambda p, _: p.leader is None,
}


def _with_overrides(
    found: Results[str, Topic], cluster: Cluster, *, only: bool
) -> Results[Resource, TopicDescription]:
    from kafka_shell.admin.configs import read as configs

    resources = [ConfigResource(ResourceType.TOPIC, name) for name in found.values]
    read = configs.describe(cluster, resources) if resources else Results()
    failures = _of_topics(found)
    for resource, why in read.failures.items():
        failures[Resource("configs", f"of topic {resource.name}")] = why
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
        summary="Names of the topics.",
        family="topics",
        run=list_topics,
        arguments=(
            Argument("topic", Kind.TOPIC, "Only these: a,b  svc-*  /regex/", many=True,
                     required=False, option="--topic"),
        ),
        options=(
            _EXCLUDE_INTERNAL,
            Option("--long", Kind.FLAG, "Partitions, replication factor and health too.",
                   aliases=("-l",)),
        ),
        shorts=(Short("topics", "list-topics"), Short("ls", "list-topics")),
        search=("show", "names"),
        examples=(
            Example("list-topics", "every topic, one name a line"),
            Example("list-topics --exclude-internal --long", "with counts, without Kafka's own"),
            Example("list-topics 'payments.*' | wc -l", "how many topics payments has"),
        ),
    ),
    Command(
        name="describe-topic",
        summary="Partitions, replicas and overridden configs of topics.",
        family="topics",
        run=describe_topic,
        apis=(32, 55),
        arguments=(
            Argument("topic", Kind.TOPIC, "Which topics: a,b  svc-*  /regex/ (none: all)",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            Option("--under-replicated-partitions", Kind.FLAG,
                   "Only partitions with a replica that is not in sync."),
            Option("--under-min-isr-partitions", Kind.FLAG,
                   "Only partitions with fewer in-sync replicas than min.insync.replicas."),
            Option("--at-min-isr-partitions", Kind.FLAG,
                   "Only partitions with just min.insync.replicas in sync."),
            Option("--unavailable-partitions", Kind.FLAG, "Only partitions without a leader."),
            Option("--topics-with-overrides", Kind.FLAG,
                   "Only topics with configs of their own.",
                   excludes=tuple(f"--{name}" for name in _FILTERS)),
            _EXCLUDE_INTERNAL,
        ),
        shorts=(Short("topic", "describe-topic"),),
        search=("partitions", "replicas", "leader", "isr"),
        examples=(
            Example("describe-topic orders.placed", "one topic"),
            Example("describe-topic 'payments.*' --topics-with-overrides",
                    "the topics of payments that have configs of their own"),
            Example("describe-topic --under-replicated-partitions",
                    "what is not fully replicated, anywhere"),
            Example("describe-topic orders.placed --output json", "the same for a program"),
        ),
    ),
)  # fmt: skip
