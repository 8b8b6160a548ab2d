"""Topics and partitions (Metadata, API key 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.units import some
from kafka_shell.wire.model import Partition, Topic

if TYPE_CHECKING:
    from kafka_shell.admin.configs.model import ConfigEntry
    from kafka_shell.admin.groups.model import TopicReader

_NAMED = 3  # topics that a message names


# Topics whose configs and use are decided by Kafka Streams, Kafka Connect, MirrorMaker 2, Schema
# Registry and the like (which begin their names with _).
OF_OTHER_SYSTEMS = (
    r".*-(changelog|repartition)|.*-subscription-(registration|response)-topic"
    r"|(.*[-_.])?connect([-_.].*)?[-_.](configs?|offsets?|status(es)?)"
    r"|mm2-.*|(.*\.)?heartbeats|.*\.checkpoints\.internal|_.*"
)


class NewTopic(Struct, frozen=True):
    """A topic to create. None for partitions or factor means the broker's default.

    `assignment` lists the replicas of each partition, the preferred leader first.
    """

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: tuple[tuple[int, ...], ...] = ()
    configs: tuple[tuple[str, str], ...] = ()


def format_assignment(assignment: Iterable[Sequence[int]]) -> str:
    """An assignment as it is typed: `1:2,2:3`."""
    return ",".join(":".join(map(str, replicas)) for replicas in assignment)


def named_topics(topics: Sequence[str]) -> str:
    """`topic a`, `5 topics (a, b, c and 2 more)`."""
    if len(topics) == 1:
        return f"topic {topics[0]}"
    return f"{len(topics):,} topics ({some(topics, _NAMED)})"


class TopicDescription(Struct, frozen=True):
    """A topic and the configs set on it."""

    topic: Topic
    overrides: tuple[ConfigEntry, ...] = ()
    shown: tuple[Partition, ...] | None = None  # the partitions that match a filter; None is all


class TopicUse(Struct, frozen=True):
    """What a topic contains, and who uses it. None is unknown.

    `max_records` are offsets, `bytes` those of all replicas, without `unread_partitions` and
    `unread_replicas`: of brokers that are down or do not respond. `readers` are groups with members
    or committed offsets there. `producers` are those whose state the brokers remember (idempotent
    and transactional ones, for a day), and `last_written` is when the last of them wrote (epoch
    ms). `acls` are those on exactly this name.
    """

    topic: str
    max_records: int | None = None
    bytes: int | None = None
    readers: tuple[TopicReader, ...] | None = None
    producers: int | None = None
    last_written: int | None = None
    acls: tuple[str, ...] | None = None
    unread_partitions: int = 0
    unread_replicas: int = 0


class TopicsUse(Struct, frozen=True):
    """The use of the topics that a plan deletes."""

    topics: tuple[TopicUse, ...]
