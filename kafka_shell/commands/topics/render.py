"""Tables and pages of topics and their partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_shell.admin.topics.model import (
    Partition,
    Topic,
    TopicDescription,
    TopicSummary,
    TopicsUse,
)
from kafka_shell.commands.configs.render import OVERRIDE
from kafka_shell.commands.topics.use_render import use_page
from kafka_shell.common.units import counted
from kafka_shell.output.page import summary
from kafka_shell.output.renderers import Page
from kafka_shell.output.tables import Cell, Column, draw_table
from kafka_shell.output.text import Role, Text, join, text


def _brokers(ids: Iterable[int], role_of: dict[int, Role] | None = None) -> Text | None:
    """Broker IDs in their order, `1,2,3`; None for no IDs."""
    roles = role_of or {}
    return join(",", (text(str(broker), roles.get(broker, "")) for broker in ids)) or None


def _replicas(partition: Partition) -> Text | None:
    roles: dict[int, Role] = {
        broker: "bad" if broker in partition.offline else "warning"
        for broker in partition.replicas
        if broker not in partition.isr
    }
    return _brokers(partition.replicas, roles)


def _isr(partition: Partition) -> Text | None:
    role: Role = "warning" if partition.under_replicated else ""
    return _brokers(partition.isr, dict.fromkeys(partition.isr, role))


def _leader(partition: Partition) -> Cell:
    if partition.leader is None:
        return text("-", "bad")
    return text(str(partition.leader), "" if partition.on_preferred_leader else "warning")


def _offline(partition: Partition) -> Text | None:
    return _brokers(partition.offline, dict.fromkeys(partition.offline, "bad"))


def _not_negative(number: int) -> int | None:
    return None if number < 0 else number


PARTITION = (
    Column("PARTITION", lambda p: p.partition, "right"),
    Column("LEADER", _leader, "right"),
    Column("EPOCH", lambda p: _not_negative(p.leader_epoch), "right"),
    Column("REPLICAS", _replicas),
    Column("ISR", _isr),
    Column("OFFLINE", _offline),
    Column("ADDING", lambda p: _brokers(p.adding)),
    Column("REMOVING", lambda p: _brokers(p.removing)),
)
COLUMNS: dict[type, tuple[Column, ...]] = {
    TopicSummary: (
        Column("NAME", lambda t: t.name, role="name"),
        Column("PARTITIONS", lambda t: t.partitions, "right"),
        Column(
            "REPLICAS",
            lambda t: replication_factor(t.replication_factor, t.max_replication_factor),
            "right",
        ),
        Column("UNDER-REPLICATED", lambda t: t.under_replicated or None, "right", "warning"),
        Column("OFFLINE", lambda t: t.offline or None, "right", "bad"),
        Column("INTERNAL", lambda t: "yes" if t.internal else None, overflow="drop"),
        Column("ID", lambda t: t.id, role="dim", overflow="drop"),
    ),
    Partition: (Column("TOPIC", lambda p: p.topic, role="name"), *PARTITION),
}


def replication_factor(least: int, most: int) -> str:
    """`3`, or `mixed (1-3)` if partitions differ."""
    return f"mixed ({least}-{most})" if least < most else str(least)


def topic_page(description: TopicDescription, width: int | None) -> Iterator[Text]:
    """Summary, partitions that matched the filter, and overridden configs of a topic."""
    yield from _topic_summary(description.topic, width)
    partitions = _partitions_of(description)
    if partitions:
        yield Text()
        yield from draw_table(PARTITION, partitions, width=width)
    if description.overrides:
        yield Text()
        yield from draw_table(OVERRIDE, description.overrides, width=width)


def _topic_summary(topic: Topic, width: int | None) -> Iterator[Text]:
    leaderless = sum(partition.leader is None for partition in topic.partitions)
    under = sum(partition.under_replicated for partition in topic.partitions)
    moving = sum(bool(each.adding or each.removing) for each in topic.partitions)
    yield from summary(
        width,
        text(f"topic {topic.name}", "heading"),
        counted(len(topic.partitions), "partition"),
        f"replication factor {replication_factor(*topic.replication_factors)}",
        "internal" if topic.internal else "",
        text(f"{leaderless} offline", "bad") if leaderless else "",
        text(f"{under} under-replicated", "warning") if under else "",
        f"{moving} being reassigned" if moving else "",
        text(f"id {topic.id}", "dim") if topic.id else "",
    )


def bare_topic_page(topic: Topic, width: int | None) -> Iterator[Text]:
    """A topic without its configs."""
    yield from topic_page(TopicDescription(topic), width)


PAGES: dict[type, Page] = {
    TopicDescription: topic_page,
    Topic: bare_topic_page,
    TopicsUse: use_page,
}


def _partitions_of(description: TopicDescription) -> Sequence[Partition]:
    shown = description.shown
    return description.topic.partitions if shown is None else shown


ROWS = {
    Topic: lambda topic: topic.partitions,
    TopicDescription: _partitions_of,
    TopicsUse: lambda use: use.topics,
}
