"""The number of in-sync replicas that acks=all producers require, and warnings about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.facts import attempt, in_time, not_checked
from kafka_shell.admin.partitions.model import Move, TopicPartition
from kafka_shell.admin.topics.model import named_topics
from kafka_shell.base.plans import NotChecked, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.model import Partition, Topic

KEY = "min.insync.replicas"
_CAPPED_SINCE = (3, 7)  # KAFKA-15583


def read(cluster: Cluster, topics: Iterable[str]) -> Results[str, int]:
    """min.insync.replicas of each topic (DescribeConfigs)."""
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in topics]
    if not resources:
        return Results()
    return of_configs(configs.describe(cluster, resources, [KEY]))


def of_configs(results: configs.Entries) -> Results[str, int]:
    """min.insync.replicas of each topic, of these configs."""
    values: dict[str, int] = {}
    failures = {resource.name: failure for resource, failure in results.failures.items()}
    for resource, entries in results.values.items():
        value = next((entry.value for entry in entries if entry.name == KEY), None)
        if value is not None:
            values[resource.name] = int(value)
        else:
            failures[resource.name] = Failure(
                "UNKNOWN", f"{resource}: the broker did not return {KEY}"
            )
    return Results(values, failures)


def is_capped(cluster: Cluster) -> bool:
    """Whether brokers cap min.insync.replicas at the number of replicas (since Kafka 3.7).

    Older brokers refuse acks=all writes to a topic with fewer replicas than min.insync.replicas.
    """
    return tuple(map(int, cluster.release().split("."))) >= _CAPPED_SINCE


def needed(partition: Partition, minimum: int, *, capped: bool) -> int:
    """The in-sync replicas that acks=all requires, given the topic's min.insync.replicas."""
    return min(minimum, len(partition.replicas)) if capped else minimum


def below(
    topics: Iterable[Topic], minimum: Mapping[str, int], *, capped: bool
) -> Iterator[Partition]:
    """The partitions with a leader whose in-sync replicas are too few for acks=all."""
    for topic in topics:
        for partition in topic.partitions:
            few = len(partition.isr) < needed(partition, minimum[topic.name], capped=capped)
            if partition.leader is not None and few:
                yield partition


def at(topics: Iterable[Topic], minimum: Mapping[str, int], *, capped: bool) -> Iterator[Partition]:
    """The partitions with a replica that is not in sync whose in-sync replicas are just enough for
    acks=all."""
    for topic in topics:
        for partition in topic.partitions:
            just = len(partition.isr) == needed(partition, minimum[topic.name], capped=capped)
            if partition.leader is not None and partition.under_replicated and just:
                yield partition


def partitions_below(cluster: Cluster, scans: Iterable[MetadataScan]) -> frozenset[TopicPartition]:
    """The partitions that acks=all producers cannot write to in any of these metadata: too few
    replicas are in sync, or there is no leader. Those that are not fully in sync and whose minimum
    cannot be read count as such."""
    sick = [one.topic(name) for one in scans for name in one.unhealthy()]
    if not sick:
        return frozenset()
    minimum = read(cluster, {topic.name for topic in sick}).values
    known = [topic for topic in sick if topic.name in minimum]
    unknown = [row for topic in sick if topic.name not in minimum for row in topic.partitions]
    partitions = [
        *below(known, minimum, capped=is_capped(cluster)),
        *(row for topic in known for row in topic.partitions if row.leader is None),
        *(row for row in unknown if row.under_replicated or row.leader is None),
    ]
    return frozenset(TopicPartition(row.topic, row.partition) for row in partitions)


# -- warnings of plans -----------------------------------------------------------------------------


class Requirement(Struct, frozen=True):
    """The min.insync.replicas that a topic would have, and its replication factor: the smallest of
    its partitions."""

    topic: str
    minimum: int
    factor: int


def warnings(after: Iterable[Requirement], *, capped: bool) -> list[str]:
    """A warning for each combination with which acks=all producers fail, or fail as soon as one
    broker is down. `capped`: brokers cap min.insync.replicas at the number of replicas."""
    groups: dict[tuple[int, int], list[str]] = {}
    for state in after:
        if state.minimum > 1 and state.minimum >= state.factor > 0:
            groups.setdefault((state.minimum, state.factor), []).append(state.topic)
    return [
        _warning(minimum, factor, sorted(topics), capped)
        for (minimum, factor), topics in sorted(groups.items())
    ]


def unreplicated(factors: Mapping[str, int]) -> Iterator[str]:
    """A warning about topics with one replica. `factors` is the smallest replication factor of each
    topic that is created or loses replicas."""
    topics = sorted(topic for topic, factor in factors.items() if factor == 1)
    if topics:
        yield (
            f"{named_topics(topics)} would have a single replica: reads and writes fail while its"
            " broker is down, and a lost disk loses the records"
        )


def _warning(minimum: int, factor: int, topics: Sequence[str], capped: bool) -> str:
    names = named_topics(topics)
    if minimum > factor == 1 and capped:
        return f"{KEY}={minimum} has no effect on {names} with a single replica"
    when = "while a broker is down" if capped or minimum == factor else "at once"
    why = f"{KEY}={minimum}, {counted(factor, 'replica')}"
    return f"producers with acks=all to {names} will fail {when} ({why})"


class MoveWarnings(Struct, frozen=True):
    """What min.insync.replicas means for topics that are moved: warnings about the time `during`
    the move and `after` it, and what could not be checked."""

    during: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()


def of_moves(
    cluster: Cluster, moves: Sequence[Move], factors: Mapping[str, int], metadata: MetadataScan
) -> MoveWarnings:
    """The warnings about these moves. `factors` are the new replication factors of topics that get
    fewer replicas."""
    adding = [move for move in moves if move.adding and move.leader is not None]
    topics = sorted({*factors, *(move.partition.topic for move in adding)})
    if not topics:
        return MoveWarnings()
    with in_time(cluster):
        minimum = attempt(lambda: read(cluster, topics))
    if isinstance(minimum, Failure):
        minimum = Results({}, dict.fromkeys(topics, minimum))
    after = [Requirement(topic, minimum[topic], factors[topic]) for topic in minimum.values
             if topic in factors]  # fmt: skip
    missing = list(minimum.failures.values())
    about = f"{KEY} of {counted(len(missing), 'topic')}"
    return MoveWarnings(
        tuple(_during(cluster, adding, minimum.values, metadata)),
        tuple(warnings(after, capped=is_capped(cluster))),
        (not_checked(about, missing[0]),) if missing else (),
    )


def _during(
    cluster: Cluster, adding: Sequence[Move], minimum: Mapping[str, int], metadata: MetadataScan
) -> Iterator[str]:
    """Brokers cap the requirement at the number of replicas, and count those that are added: it
    rises when the move starts, and what is in sync may be too little until a copy is complete."""
    rising = [move for move in adding if minimum.get(move.partition.topic, 0) > len(move.before)]
    if not rising or not is_capped(cluster):
        return
    names = {move.partition.topic for move in rising}
    topics = [metadata.topic(name) for name in names if name in metadata]
    now = {(each.topic, each.partition): each for topic in topics for each in topic.partitions}
    groups: dict[tuple[int, int], set[str]] = {}
    for move in rising:
        topic, number = move.partition.topic, move.partition.partition
        new = Partition(topic, number, move.leader, 0, move.before, move.before)
        each = now.get((topic, number), new)  # a partition that is created first is all in sync
        during = replace(each, replicas=tuple({*each.replicas, *move.before, *move.after}))
        required = needed(during, minimum[topic], capped=True)
        if needed(each, minimum[topic], capped=True) <= len(each.isr) < required:
            groups.setdefault((required, len(each.isr)), set()).add(topic)
    for (required, isr), affected in sorted(groups.items()):
        until = counted(required - isr, "more replica")
        are = "is" if required - isr == 1 else "are"
        yield (
            f"producers with acks=all to {named_topics(sorted(affected))} fail during this move"
            f" until {until} {are} in sync; to avoid this, set {KEY}={isr} until then"
        )


def set_too_early(
    cluster: Cluster, requested: Mapping[str, tuple[str, int]]
) -> dict[Resource, Failure]:
    """Why topics cannot get this min.insync.replicas and this replication factor at once: the
    config would apply before the added replicas are in sync. Topics that can are left out."""
    wanted = {
        name: (int(value), factor) for name, (value, factor) in requested.items()
        if value.isdecimal()
    }  # fmt: skip
    if not wanted:
        return {}
    metadata, refused = scan(cluster, sorted(wanted)), dict[str, Failure]()
    for name in metadata.names:
        topic, (minimum, factor) = metadata.topic(name), wanted[name]
        isr = min((len(partition.isr) for partition in topic.partitions), default=0)
        if topic.replication_factors[0] < factor and minimum > isr:
            refused[name] = Failure(
                "too-few-in-sync",
                f"topic {name} has {counted(isr, 'in-sync replica')}: with {KEY}={minimum},"
                " producers with acks=all would fail until the added replicas are in sync",
                hint=f"Raise the replication factor first, and {KEY} when the reassignment is"
                " complete.",
            )
    current = read(cluster, refused).values
    return {
        Resource("topic", name): why
        for name, why in refused.items()
        if current.get(name, 0) < wanted[name][0]
    }
