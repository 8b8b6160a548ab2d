"""Metadata responses (API key 3), read without decoding every partition.

One scan of the bytes finds every topic's name, counts and health. Topics are decoded when needed.
On a cluster with 25,000 topics this is many times faster than decoding all of them.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

from kafka_shell.wire.error_codes import UNKNOWN_TOPIC_OR_PARTITION
from kafka_shell.wire.failures import as_error, failure
from kafka_shell.wire.frames import MalformedError, count, format_uuid, string
from kafka_shell.wire.model import INTERNAL_TOPICS, Broker, Partition, Topic, TopicSummary
from kafka_shell.wire.requests import ANY, RawRequest, Target

if TYPE_CHECKING:
    from kafka_shell.base.results import Failure
    from kafka_shell.wire.cluster import Cluster


# Patterns of healthy topics in Metadata responses: a match replaces the scan of a topic.

_MAX_PATTERNS = 100  # more would cost more to compile than they save
_MAX_REPLICAS = 16  # of partitions with a pattern
_NEVER = re.compile(b"(?!)").match

Match = Callable[[bytes, int], "re.Match[bytes] | None"]
PATTERNS: dict[int, Match] = {}
"""The compiled patterns, by `count << 8 | length`."""


def compile_pattern(count: int, length: int) -> Match:
    """A pattern of the rest of a healthy topic: all partitions have a leader and the same number of
    replicas, all in sync and none offline. Most topics are healthy, and a match is several times
    faster than a scan.

    `count` is the byte before the partitions and `length` the one before replicas, each a number
    plus one. Returns a pattern that matches nothing if a pattern would be too long.
    """
    if not (1 < count < 0x80 and 1 < length <= _MAX_REPLICAS) or len(PATTERNS) > _MAX_PATTERNS:
        return _NEVER
    # Error, index; a non-negative leader; epoch; replicas, in-sync and offline replicas; no tags.
    brokers = rb"\x%02x.{%d}" % (length, 4 * (length - 1))
    partition = rb".{6}[\x00-\x7f].{7}%s%s\x01\x00" % (brokers, brokers)
    # Then the authorized operations, and no tags.
    topic = rb"\x%02x(?:%s){%d}.{4}\x00" % (count, partition, count - 1)
    match = PATTERNS[count << 8 | length] = re.compile(topic, re.DOTALL).match
    return match


API_KEY = 3
LOWEST_VERSION = 9  # the first flexible version: Kafka 2.4
HIGHEST_VERSION = 13

_INT16 = struct.Struct(">h").unpack_from
_INT32 = struct.Struct(">i").unpack_from
_TWO_INT32 = struct.Struct(">ii").unpack_from
_NO_ID = bytes(16)
# Facts of a topic: position, partitions, smallest replication factor, under-replicated partitions,
# offline partitions, largest replication factor.
_FACTS = 6
_MOST_NAMED = 1_000  # topics in a request

Moving = Mapping[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]
"""The replicas that reassignments in progress add and remove, by topic and partition."""


def scan(cluster: Cluster, names: Sequence[str] | None = None, to: Target = ANY) -> MetadataScan:
    """The cluster's metadata with these topics, no topics (empty sequence), or all (None)."""
    metadata: MetadataScan = cluster.send(request(names), to)
    if metadata.error_code:
        raise as_error(failure(metadata.error_code, about="the cluster's metadata"))
    return metadata


def scan_at_least(cluster: Cluster, names: Collection[str]) -> MetadataScan:
    """The cluster's metadata with these topics, or with all if these are many."""
    return scan(cluster, list(names) if len(names) <= _MOST_NAMED else None)


def request(names: Sequence[str] | None) -> RawRequest:
    """A request for these topics, no topics (empty sequence), or all (None)."""
    return RawRequest(
        API_KEY,
        (LOWEST_VERSION, HIGHEST_VERSION),
        lambda version: encode_request(version, names),
        LOWEST_VERSION,
        lambda version, body: MetadataScan(body, version),
    )


def is_missing(cluster: Cluster, topic: str) -> bool:
    """Whether a topic certainly does not exist. One without DESCRIBE permission may exist.

    Metadata does not create topics; FindCoordinator (API key 10) creates those of coordinators.
    """
    return scan(cluster, [topic]).errors.get(topic) == UNKNOWN_TOPIC_OR_PARTITION


def encode_request(version: int, topics: Sequence[str] | None) -> bytes:
    """The body of a MetadataRequest for these topics, none (empty), or all (None). Creates none."""
    out = bytearray(count(None if topics is None else len(topics), flexible=True))
    for name in topics or ():
        if version >= 10:
            out += _NO_ID
        out += string(name, flexible=True) + b"\0"
    out.append(0)  # allow_auto_topic_creation
    if version <= 10:
        out.append(0)  # include_cluster_authorized_operations
    out += b"\0\0"  # include_topic_authorized_operations, tagged fields
    return bytes(out)


class MetadataScan:
    """A Metadata response v9 to v13. Immutable.

    The constructor scans all of it and raises if it is malformed, so decoding topics later cannot
    fail.
    """

    def __init__(self, body: bytes, version: int) -> None:
        self._data = body
        self._version = version
        self._head_size = 17 if version >= 10 else 1  # topic ID, is_internal
        # A flat array: a hundred thousand tuples would slow down Python's garbage collector.
        self._facts = array("q")
        self._rows: dict[str, int] = {}  # the index of a topic's facts
        self._moving: Moving = {}
        self.reassigned: frozenset[str] = frozenset()  # topics, as far as reassignments were read
        self.reassignments_read = False
        self.reassignments_unread: Failure | None = None
        self.errors: dict[str, int] = {}
        self.error_code = 0
        self._walk()

    def with_reassignments(self, moving: Moving, unread: Failure | None = None) -> MetadataScan:
        """The same with these reassignments in progress, or why they could not be read: replicas
        that are being added are not counted."""
        changed = copy(self)
        changed._moving = moving
        changed._facts = self._facts[:]
        changed.reassignments_read, changed.reassignments_unread = unread is None, unread
        changed.reassigned = frozenset(name for name, _ in changed._moving if name in self)
        for name in changed.reassigned:
            topic, row = changed.topic(name), self._rows[name]
            under = sum(partition.under_replicated for partition in topic.partitions)
            changed._facts[row + 2], changed._facts[row + 5] = topic.replication_factors
            changed._facts[row + 3] = under
        return changed

    @property
    def names(self) -> list[str]:
        """The names of the topics without error, in the broker's order."""
        return list(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def summary(self, name: str) -> TopicSummary:
        """The counts of a topic, without decoding its partitions."""
        row = self._rows[name]
        start, partitions, factor, under, offline, most = self._facts[row : row + _FACTS]
        topic_id, internal, _ = self._head(start)
        internal = internal or name in INTERNAL_TOPICS
        return TopicSummary(name, topic_id, internal, partitions, factor, under, offline, most)

    def summaries(self) -> list[TopicSummary]:
        """The counts of all topics, sorted by name."""
        return [self.summary(name) for name in sorted(self._rows)]

    def topic(self, name: str) -> Topic:
        """A topic with its partitions, decoded."""
        start = self._facts[self._rows[name]]
        topic_id, internal, position = self._head(start)
        count, position = self._varint(position)
        partitions = []
        for _ in range(count - 1):
            partition, position = self._partition(name, position)
            if moving := self._moving.get((name, partition.partition)):
                partition = partition.reassigned(*moving)
            partitions.append(partition)
        partitions.sort(key=lambda partition: partition.partition)
        return Topic(name, topic_id, internal or name in INTERNAL_TOPICS, tuple(partitions))

    def unhealthy(self) -> list[str]:
        """The topics with partitions that are under-replicated or without a leader, sorted."""
        return sorted(n for n, at in self._rows.items() if any(self._facts[at + 3 : at + 5]))

    def misplaced(self) -> list[tuple[str, int]]:
        """(topic, partition) of partitions not led by their preferred replica, sorted."""
        data, partitions = self._data, []
        for name, position in self._each_partition():
            # The leader, and the first of the replicas after their one-byte count.
            leader = data[position + 6 : position + 10]
            if leader != data[position + 15 : position + 19] and not leader[0] & 0x80:
                partitions.append((name, _INT32(data, position + 2)[0]))
        return sorted(partitions)

    def replica_ids(self) -> set[int]:
        """The IDs of all brokers that have a replica."""
        data = self._data
        lists = {data[at + 15 : at + 11 + 4 * data[at + 14]] for _, at in self._each_partition()}
        return {node for raw in lists for (node,) in struct.iter_unpack(">i", raw)}

    def led_by(self) -> Counter[int]:
        """The number of partitions that each broker leads; of -1, those without a leader."""
        leaders = Counter(raw for _, raw in self._leaders())
        return Counter({_INT32(raw, 0)[0]: number for raw, number in leaders.items()})

    def topics_by_leader(self) -> dict[int, list[str]]:
        """The topics of which each broker leads partitions."""
        names: dict[bytes, dict[str, None]] = {}
        for name, raw in self._leaders():
            names.setdefault(raw, {})[name] = None
        return {_INT32(raw, 0)[0]: [*topics] for raw, topics in names.items() if raw[0] < 0x80}

    def _leaders(self) -> Iterator[tuple[str, bytes]]:
        return ((name, self._data[at + 6 : at + 10]) for name, at in self._each_partition())

    def placements(self) -> Iterator[tuple[str, int, int, bytes, bytes]]:
        """(topic, partition, leader, replicas, in-sync replicas) as int32, of every partition."""
        data = self._data
        for name, at in self._each_partition():
            index, leader = _TWO_INT32(data, at + 2)
            end = at + 11 + 4 * data[at + 14]
            yield name, index, leader, data[at + 15 : end], data[end + 1 : end - 3 + 4 * data[end]]

    @property
    def partitions(self) -> int:
        """The number of partitions of all topics."""
        return self._sum(1)

    @property
    def under_replicated(self) -> int:
        """The number of under-replicated partitions of all topics."""
        return self._sum(3)

    @property
    def offline(self) -> int:
        """The number of partitions without leader of all topics."""
        return self._sum(4)

    def _sum(self, fact: int) -> int:
        return sum(self._facts[row + fact] for row in self._rows.values())

    # -- scanning --------------------------------------------------------------------------------

    def _walk(self) -> None:
        position = self._brokers_from(4)  # after throttle_time_ms
        cluster_id, position = self._string(position)
        self.cluster_id = cluster_id or ""
        self.controller_id: int = _INT32(self._data, position)[0]
        count, position = self._varint(position + 4)
        position = self._walk_topics(count - 1, position)
        if self._version >= 13:
            self.error_code = _INT16(self._data, position)[0]
        if position > len(self._data):
            raise MalformedError("ends too early")

    def _brokers_from(self, position: int) -> int:
        count, position = self._varint(position)
        brokers = []
        for _ in range(count - 1):
            node: int = _INT32(self._data, position)[0]
            host, position = self._string(position + 4)
            port: int = _INT32(self._data, position)[0]
            rack, position = self._string(position + 4)
            position = self._skip_tags(position)
            brokers.append(Broker(node, host or "", port, rack))
        self.brokers = tuple(sorted(brokers, key=lambda broker: broker.id))
        return position

    def _walk_topics(self, count: int, position: int) -> int:
        """The hot loop: healthy topics match a pattern, others are scanned by partition."""
        data, head, facts, rows = self._data, self._head_size, self._facts, self._rows
        end = len(data) - 16
        for _ in range(count):
            start = position + 2 + data[position + 2]  # after the name
            at = start + head
            match = None
            if at < end and position + 2 < start < position + 130 and not data[position + 1]:
                partitions, replicas = data[at], data[at + 15]  # each a number plus one
                healthy = PATTERNS.get(partitions << 8 | replicas)
                match = (healthy or compile_pattern(partitions, replicas))(data, at)
            if match and not data[position]:
                rows[str(data[position + 3 : start], "utf-8")] = len(facts)
                facts.extend((start, partitions - 1, replicas - 1, 0, 0, replicas - 1))
                position = match.end()
            else:
                position = self._walk_topic(position)
        return position

    def _walk_topic(self, position: int) -> int:
        data = self._data
        error: int = _INT16(data, position)[0]
        length = data[position + 2]
        if 0 < length < 0x80:  # names are mostly shorter than 127 bytes
            start = position + 2 + length
            name = str(data[position + 3 : start], "utf-8")
        else:
            text, start = self._string(position + 2)
            name = text or ""
        position = start + self._head_size
        count = data[position]
        if count < 0x80:
            position += 1
        else:
            count, position = self._varint(position)
        factor, most, under, offline, position = self._walk_partitions(count - 1, position)
        position += 4  # topic_authorized_operations
        position = position + 1 if not data[position] else self._skip_tags(position)
        if error:
            self.errors[name] = error
        else:
            self._rows[name] = len(self._facts)
            self._facts.extend((start, count - 1, factor, under, offline, most))
        return position

    def _walk_partitions(self, count: int, position: int) -> tuple[int, int, int, int, int]:
        """(smallest and largest replication factor, under-replicated, offline, next position).
        Without calls in the loop, because it is hot if many topics are not healthy.

        A partition has 14 fixed bytes (error, index, leader, leader epoch) and three arrays of
        int32. Arrays of 127 or more replicas do not occur, so their length is one byte.
        """
        data = self._data
        most = under = offline = 0
        least = 1 << 8
        for _ in range(count):
            replicas = data[position + 14]
            at = position + 11 + 4 * replicas
            in_sync = data[at]
            away = at - 3 + 4 * in_sync
            gone = data[away]
            if not (0 < replicas < 0x80 and 0 < in_sync < 0x80 and 0 < gone < 0x80):
                raise MalformedError("contains an invalid list of replicas")
            tags = away - 3 + 4 * gone
            if in_sync < replicas:
                under += 1
            if data[position + 6] & 0x80:  # negative: no leader
                offline += 1
            if replicas < least:
                least = replicas
            if replicas > most:
                most = replicas
            position = tags + 1 if not data[tags] else self._skip_tags(tags)
        if not most:
            return 0, 0, 0, 0, position
        return least - 1, most - 1, under, offline, position

    def _each_partition(self) -> Iterator[tuple[str, int]]:
        """(topic, position of the partition) of every partition of topics without error."""
        data = self._data
        for name, row in self._rows.items():
            start, partitions = self._facts[row : row + 2]
            _, position = self._varint(start + self._head_size)
            for _ in range(partitions):
                yield name, position
                position += 11 + 4 * data[position + 14]
                position += 4 * data[position] - 3
                position += 4 * data[position] - 3
                position = position + 1 if not data[position] else self._skip_tags(position)

    # -- decoding --------------------------------------------------------------------------------

    def _head(self, position: int) -> tuple[str, bool, int]:
        topic_id = ""
        if self._version >= 10:
            raw = self._data[position : position + 16]
            topic_id = "" if raw == _NO_ID else format_uuid(raw)
            position += 16
        return topic_id, bool(self._data[position]), position + 1

    def _partition(self, topic: str, position: int) -> tuple[Partition, int]:
        _, index, leader, epoch = struct.unpack_from(">hiii", self._data, position)
        replicas, position = self._ints(position + 14)
        in_sync, position = self._ints(position)
        offline, position = self._ints(position)
        position = self._skip_tags(position)
        leader_id = None if leader < 0 else leader
        return Partition(topic, index, leader_id, epoch, replicas, in_sync, offline), position

    def _ints(self, position: int) -> tuple[tuple[int, ...], int]:
        count, position = self._varint(position)
        count = max(count - 1, 0)
        return struct.unpack_from(f">{count}i", self._data, position), position + 4 * count

    def _string(self, position: int) -> tuple[str | None, int]:
        length, position = self._varint(position)
        if length == 0:
            return None, position
        end = position + length - 1
        if end > len(self._data):
            raise MalformedError("ends too early")
        return self._data[position:end].decode(), end

    def _skip_tags(self, position: int) -> int:
        count, position = self._varint(position)
        for _ in range(count):
            _, position = self._varint(position)
            size, position = self._varint(position)
            position += size
        return position

    def _varint(self, position: int) -> tuple[int, int]:
        byte = self._data[position]
        if byte < 0x80:
            return byte, position + 1
        value, shift = byte & 0x7F, 7
        while True:
            position += 1
            byte = self._data[position]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, position + 1
            shift += 7
            if shift > 28:
                raise MalformedError("contains a varint that is too long")
