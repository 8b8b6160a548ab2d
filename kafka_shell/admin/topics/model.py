"""Topics and partitions (Metadata, API key 3)."""

from __future__ import annotations

import re
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


TOPIC_NAME = re.compile("[a-zA-Z0-9._-]{1,249}")
MAXIMUM = {"partitions": (1 << 31) - 1, "replication_factor": (1 << 15) - 1}
ASSIGNMENT_PATTERN = "[0-9]+(:[0-9]+)*( *, *[0-9]+(:[0-9]+)*)*"
_ASSIGNMENT = re.compile(ASSIGNMENT_PATTERN)


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


def read_assignment(text: str) -> tuple[tuple[int, ...], ...]:
    """The replicas of each partition of `1:2,2:3`. Raises ValueError."""
    if not _ASSIGNMENT.fullmatch(text):
        raise ValueError("not an assignment")
    assignment = tuple(tuple(int(id) for id in replicas.split(":")) for replicas in text.split(","))
    if any(id >= 1 << 31 for replicas in assignment for id in replicas):
        raise ValueError("not a broker ID")
    return assignment


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
