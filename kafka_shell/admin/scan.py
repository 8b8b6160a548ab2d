"""A Metadata response (API key 3) read without decoding every partition.

Walking the bytes once gives every topic's name, counts and health; a topic is decoded when it is
asked for. On a cluster of 25,000 topics that is some fifty times faster than objects for all.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from uuid import UUID

from kafka_shell.nouns import Broker, Partition, Topic, TopicSummary

API_KEY = 3
LOWEST_VERSION = 9  # the first flexible version: Kafka 2.4
HIGHEST_VERSION = 13

_INT16 = struct.Struct(">h").unpack_from
_INT32 = struct.Struct(">i").unpack_from
_NO_ID = bytes(16)


def encode_request(version: int, topics: Sequence[str] | None) -> bytes:
    """The body of a MetadataRequest for these topics, none (empty), or all (None).

    Topics are never created by asking for them.
    """
    out = bytearray(_unsigned_varint(0 if topics is None else len(topics) + 1))
    for name in topics or ():
        if version >= 10:
            out += _NO_ID
        out += _compact_string(name) + b"\0"
    out.append(0)  # allow_auto_topic_creation
    if version <= 10:
        out.append(0)  # include_cluster_authorized_operations
    out += b"\0\0"  # include_topic_authorized_operations, tagged fields
    return bytes(out)


class MetadataScan:
    """One Metadata response, versions 9 to 13. Immutable once read."""

    def __init__(self, body: bytes, version: int) -> None:
        self._data = body
        self._version = version
        self._rows: dict[str, tuple[int, int, int, int, int]] = {}
        self.errors: dict[str, int] = {}
        self.error_code = 0
        self._walk()

    @property
    def names(self) -> list[str]:
        """Names of the topics that could be read, in the broker's order."""
        return list(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def summary(self, name: str) -> TopicSummary:
        """Counts of one topic, without decoding its partitions."""
        start, partitions, factor, under, offline = self._rows[name]
        topic_id, internal, _ = self._head(start)
        return TopicSummary(name, topic_id, internal, partitions, factor, under, offline)

    def summaries(self) -> list[TopicSummary]:
        """Every topic, by name."""
        return [self.summary(name) for name in sorted(self._rows)]

    def topic(self, name: str) -> Topic:
        """One topic, decoded."""
        start = self._rows[name][0]
        topic_id, internal, position = self._head(start)
        count, position = self._varint(position)
        partitions = []
        for _ in range(count - 1):
            partition, position = self._partition(name, position)
            partitions.append(partition)
        partitions.sort(key=lambda partition: partition.partition)
        return Topic(name, topic_id, internal, tuple(partitions))

    @property
    def partitions(self) -> int:
        """Partitions of all topics."""
        return sum(row[1] for row in self._rows.values())

    # -- walking ---------------------------------------------------------------------------------

    def _walk(self) -> None:
        position = self._brokers_from(4)  # throttle_time_ms comes first
        cluster_id, position = self._string(position)
        self.cluster_id = cluster_id or ""
        self.controller_id: int = _INT32(self._data, position)[0]
        count, position = self._varint(position + 4)
        for _ in range(count - 1):
            position = self._walk_topic(position)
        if self._version >= 13:
            self.error_code = _INT16(self._data, position)[0]

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

    def _walk_topic(self, position: int) -> int:
        error: int = _INT16(self._data, position)[0]
        name, position = self._string(position + 2)
        start = position
        position += 17 if self._version >= 10 else 1  # topic id, is_internal
        count, position = self._varint(position)
        factor, under, offline, position = self._walk_partitions(count - 1, position)
        position = self._skip_tags(position + 4)  # topic_authorized_operations
        if error:
            self.errors[name or ""] = error
        else:
            self._rows[name or ""] = (start, count - 1, factor, under, offline)
        return position

    def _walk_partitions(self, count: int, position: int) -> tuple[int, int, int, int]:
        """(factor, under-replicated, offline, next position). The hot loop: no calls in it.

        A partition is 14 fixed bytes (error, index, leader, leader epoch) and three arrays of
        int32. Arrays of 127 or more replicas do not happen; their one-byte lengths are assumed.
        """
        data = self._data
        factor = under = offline = 0
        for _ in range(count):
            replicas = data[position + 14]
            at = position + 11 + 4 * replicas
            in_sync = data[at]
            away = at - 3 + 4 * in_sync
            tags = away - 3 + 4 * data[away]
            if in_sync < replicas:
                under += 1
            if data[position + 6] & 0x80:  # a negative leader: none
                offline += 1
            factor = factor or replicas - 1
            position = tags + 1 if not data[tags] else self._skip_tags(tags)
        return factor, under, offline, position

    # -- decoding --------------------------------------------------------------------------------

    def _head(self, position: int) -> tuple[str, bool, int]:
        topic_id = ""
        if self._version >= 10:
            raw = self._data[position : position + 16]
            topic_id = "" if raw == _NO_ID else str(_base64(raw))
            position += 16
        return topic_id, bool(self._data[position]), position + 1

    def _partition(self, topic: str, position: int) -> tuple[Partition, int]:
        _, index, leader, epoch = struct.unpack_from(">hiii", self._data, position)
        replicas, position = self._ints(position + 14)
        in_sync, position = self._ints(position)
        offline, position = self._ints(position)
        position = self._skip_tags(position)
        known = None if leader < 0 else leader
        return Partition(topic, index, known, epoch, replicas, in_sync, offline), position

    def _ints(self, position: int) -> tuple[tuple[int, ...], int]:
        count, position = self._varint(position)
        count = max(count - 1, 0)
        return struct.unpack_from(f">{count}i", self._data, position), position + 4 * count

    def _string(self, position: int) -> tuple[str | None, int]:
        length, position = self._varint(position)
        if length == 0:
            return None, position
        end = position + length - 1
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


def uuid_of(topic_id: str) -> UUID:
    """The UUID behind Kafka's 22-letter spelling of a topic id."""
    import base64

    return UUID(bytes=base64.urlsafe_b64decode(topic_id + "=="))


def _base64(raw: bytes) -> str:
    import base64

    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _unsigned_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _compact_string(text: str) -> bytes:
    raw = text.encode()
    return _unsigned_varint(len(raw) + 1) + raw
