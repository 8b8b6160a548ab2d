"""Plans that create, alter and delete topics (KIP-4; API keys 19, 20, 37)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.checks import Refusals, checked_for_create
from kafka_shell.admin.steps import refused_of
from kafka_shell.admin.topics.model import (
    NewTopic,
    format_assignment,
    named_topics,
)
from kafka_shell.admin.topics.read import describe
from kafka_shell.admin.topics.steps import (
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    Growth,
    records_of,
)
from kafka_shell.base.plans import Advice, Change, Effect, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, times
from kafka_shell.base.waits import CHANGE_MS
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.model import Topic
from kafka_shell.wire.rounds import in_requests

_INVALID_PARTITIONS = ("INVALID_PARTITIONS", 37)
_INVALID_FACTOR = ("INVALID_REPLICATION_FACTOR", 38)
_INVALID_ASSIGNMENT = ("INVALID_REPLICA_ASSIGNMENT", 39)
_INVALID_REQUEST = ("INVALID_REQUEST", 42)
_INT16, _INT32 = (1 << 15) - 1, (1 << 31) - 1


def plan_create(topics: Sequence[NewTopic], *, timeout_ms: int = CHANGE_MS) -> Plan:
    """Create topics. A name given twice is refused; the other topics are created (KIP-4)."""
    count = Counter(new.name for new in topics)
    refused: Results[Resource, Any] = Results()
    wanted = []
    for new in {new.name: new for new in topics}.values():
        wrong = (
            _duplicates(new.name, count[new.name]) if count[new.name] > 1 else _invalid_numbers(new)
        )
        if wrong is None:
            wanted.append(new)
        else:
            refused.failures[Resource("topic", new.name)] = wrong
    return Plan(
        Effect.CHANGE,
        tuple(CreateTopics(request, timeout_ms) for request in in_requests(wanted, records_of)),
        advice=Advice(warnings=tuple(_same_in_metrics(wanted))),
        refused=refused,
    )


def _same_in_metrics(topics: Sequence[NewTopic]) -> Iterator[str]:
    """Warnings about new topics whose names differ only in . and _, which are the same in metrics.
    Brokers refuse a topic like an existing one, but not two in one request."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(new.name for new in topics):
        groups.setdefault(name.replace(".", "_"), []).append(name)
    for names in groups.values():
        if len(names) > 1:
            yield f"{named_topics(names)} have the same name in metrics, which replace '.' with '_'"


def with_checked_configs(cluster: Cluster, topics: Sequence[NewTopic]) -> list[NewTopic]:
    """The topics to create with checked configs, units converted. Raises ConfigRefused."""
    known = configs.topic_types(cluster) if any(new.configs for new in topics) else {}
    refusals = Refusals()
    checked = [
        replace(new, configs=checked_for_create(new.name, new.configs, known, refusals))
        for new in topics
    ]
    refusals.check()
    return checked


def _duplicates(name: str, count: int) -> Failure:
    return _failure(_INVALID_REQUEST, f"topic {name} is specified {times(count)}")


def _invalid_numbers(new: NewTopic) -> Failure | None:
    """Why a topic cannot be created: numbers that the request cannot hold or that mean the default
    (-1)."""
    count, factor = new.partitions, new.replication_factor
    if count is not None and not 0 < count <= _INT32:
        message = f"topic {new.name} cannot have {count} partitions"
        return _failure(_INVALID_PARTITIONS, message, "Use at least 1, or omit it.")
    if factor is not None and not 0 < factor <= _INT16:
        message = f"topic {new.name} cannot have a replication factor of {factor}"
        return _failure(_INVALID_FACTOR, message, "Use at least 1, or omit it.")
    return _no_brokers(new.name, new.assignment)


def _no_brokers(name: str, assignment: Sequence[Sequence[int]]) -> Failure | None:
    wrong = [node for replicas in assignment for node in replicas if not 0 <= node <= _INT32]
    if not wrong:
        return None
    return _failure(
        _INVALID_ASSIGNMENT,
        f"the replica assignment of topic {name} contains {wrong[0]}, which is not a broker ID",
    )


def plan_delete(cluster: Cluster, names: Sequence[str], *, timeout_ms: int = CHANGE_MS) -> Plan:
    """Delete topics by their IDs (API key 20; by name before Kafka 2.8).

    A name given twice is sent once; a topic that does not exist is refused.
    """
    topics = describe(cluster, names)
    return Plan(
        Effect.DESTROY,
        tuple(
            DeleteTopics(request, timeout_ms)
            for request in in_requests(topics, lambda topic: 1 + len(topic.partitions))
        ),
        refused=refused_of("topic", topics.failures),
    )


Growing = tuple[int, tuple[tuple[int, ...], ...]]  # partitions, replicas of each or nothing


def plan_partitions(
    cluster: Cluster,
    names: Sequence[str],
    count: int,
    *,
    assignment: Sequence[Sequence[int]] = (),
    timeout_ms: int = CHANGE_MS,
) -> Plan:
    """Raise the number of partitions of topics to `count` (API key 37).

    A topic that has that many is not changed. `assignment` lists the replicas of every partition,
    as for Kafka's tool: existing partitions with their current replicas, then the new ones.
    """
    placed = tuple(tuple(replicas) for replicas in assignment)
    return plan_growth(cluster, dict.fromkeys(names, (count, placed)), timeout_ms=timeout_ms)


def plan_growth(
    cluster: Cluster, wanted: Mapping[str, Growing], *, timeout_ms: int = CHANGE_MS
) -> Plan:
    """The same with a number of partitions and an assignment (or none) for each topic."""
    topics = describe(cluster, list(wanted))
    refused = refused_of("topic", topics.failures)
    growths, unchanged = [], []
    for topic in topics:
        count, placed = wanted[topic.name]
        have = len(topic.partitions)
        now = tuple(partition.replicas for partition in topic.partitions)
        if count == have and placed in ((), now):
            unchanged.append(
                Change(
                    Resource("topic", topic.name), "alter", "partitions", have, have,
                    note="no change",
                )
            )  # fmt: skip
            continue
        wrong = _growth_refusal(topic, count, placed)
        if wrong is None:
            growths.append(Growth(topic.name, have, count, placed[have:]))
        else:
            refused.failures[Resource("topic", topic.name)] = wrong
    return Plan(
        Effect.CHANGE,
        tuple(
            CreatePartitions(request, timeout_ms)
            for request in in_requests(growths, lambda growth: growth.after - growth.before)
        ),
        refused=refused,
        unchanged=tuple(unchanged),
    )


def _growth_refusal(
    topic: Topic, count: int, assignment: tuple[tuple[int, ...], ...]
) -> Failure | None:
    have = len(topic.partitions)
    existing = counted(have, "partition")
    now = tuple(partition.replicas for partition in topic.partitions)
    if assignment and len(assignment) != count:
        listed = counted(len(assignment), "partition")
        message = f"the replica assignment of topic {topic.name} lists {listed}, expected {count}"
        return _failure(_INVALID_ASSIGNMENT, message, "List every partition, existing ones first.")
    if count < have:
        message = f"topic {topic.name} already has {existing}"
        hint = f"Specify more than {existing}; the number cannot be reduced."
        return _failure(_INVALID_PARTITIONS, message, hint)
    if count == have:
        message = f"topic {topic.name} has {existing} with other replicas: {format_assignment(now)}"
        hint = (
            "To add partitions, list the new ones as well. To move replicas, use a partition"
            " reassignment."
        )
        return _failure(_INVALID_ASSIGNMENT, message, hint)
    if count > _INT32:
        return _failure(_INVALID_PARTITIONS, f"topic {topic.name} cannot have {count} partitions")
    if not assignment:
        return None
    if assignment[:have] != now:
        return _failure(
            _INVALID_ASSIGNMENT,
            f"the replica assignment changes existing partitions of topic {topic.name}, expected"
            f" {format_assignment(now)} for the first {have}",
            "List every partition: existing ones with their current replicas, then the new ones.",
        )
    return _no_brokers(topic.name, assignment)


def _failure(error: tuple[str, int], message: str, hint: str = "") -> Failure:
    return Failure(error[0], message, error[1], hint)
