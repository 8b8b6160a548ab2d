"""Keys and values of Kafka's internal topics, with the fields and names of Kafka's own formatters.

A key is `{"type": 1, "data": {...}}` and a value `{"version": 4, "data": {...}}`. Bytes are base64,
and UUIDs as Kafka prints them.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from kafka_shell.wire.frames import MalformedError, Reader, format_uuid

# The schemas of the records in Kafka's internal topics, as of Kafka 4.3.
#
# Each line is `NAME VERSIONS [flexible VERSION]: FIELDS`, and a field is `name type [versions]
# [<tag>]`. A type in parentheses is a structure; `[]` is an array, and `?(` a structure that may be
# null. The type of a key, its first two bytes, decides between the schemas of a topic.

_OFFSETS = {
    0: "LegacyOffsetCommit",
    1: "OffsetCommit",
    2: "GroupMetadata",
    3: "ConsumerGroupMetadata",
    4: "ConsumerGroupPartitionMetadata",
    5: "ConsumerGroupMemberMetadata",
    6: "ConsumerGroupTargetAssignmentMetadata",
    7: "ConsumerGroupTargetAssignmentMember",
    8: "ConsumerGroupCurrentMemberAssignment",
    10: "ShareGroupMemberMetadata",
    11: "ShareGroupMetadata",
    12: "ShareGroupTargetAssignmentMetadata",
    13: "ShareGroupTargetAssignmentMember",
    14: "ShareGroupCurrentMemberAssignment",
    15: "ShareGroupStatePartitionMetadata",
    16: "ConsumerGroupRegularExpression",
    17: "StreamsGroupMetadata",
    19: "StreamsGroupMemberMetadata",
    20: "StreamsGroupTargetAssignmentMetadata",
    21: "StreamsGroupTargetAssignmentMember",
    22: "StreamsGroupCurrentMemberAssignment",
    23: "StreamsGroupTopology",
}
RECORD_TYPES = {
    "__consumer_offsets": _OFFSETS,
    "__transaction_state": {0: "TransactionLog"},
    "__share_group_state": {0: "ShareSnapshot", 1: "ShareUpdate"},
}

_COMMIT = "group string, topic string, partition int32"
_GROUP = "groupId string"
_MEMBER = "groupId string, memberId string"
_ASSIGNED = "[](topicId uuid, partitions []int32)"
_TASKS = "[](subtopologyId string, partitions []int32)"
_TASKS_WITH_EPOCHS = "[](subtopologyId string, partitions []int32, assignmentEpochs []int32 <0>)"
_PARTITIONS_WITH_EPOCHS = "[](topicId uuid, partitions []int32, assignmentEpochs []int32 <0>)"
_CONFIGS = "[](key string, value string)"
_TOPIC = f"(name string, partitions int32, replicationFactor int16, topicConfigs {_CONFIGS})"
_SHARE = "groupId string, topicId uuid, partition int32"
_STATE_BATCHES = (
    "stateBatches [](firstOffset int64, lastOffset int64, deliveryState int8, deliveryCount int16)"
)

KEYS = {
    "LegacyOffsetCommit": _COMMIT,
    "OffsetCommit": _COMMIT,
    "GroupMetadata": "group string",
    "ConsumerGroupMetadata": _GROUP,
    "ConsumerGroupPartitionMetadata": _GROUP,
    "ConsumerGroupMemberMetadata": _MEMBER,
    "ConsumerGroupTargetAssignmentMetadata": _GROUP,
    "ConsumerGroupTargetAssignmentMember": _MEMBER,
    "ConsumerGroupCurrentMemberAssignment": _MEMBER,
    "ConsumerGroupRegularExpression": "groupId string, regularExpression string",
    "ShareGroupMemberMetadata": _MEMBER,
    "ShareGroupMetadata": _GROUP,
    "ShareGroupTargetAssignmentMetadata": _GROUP,
    "ShareGroupTargetAssignmentMember": _MEMBER,
    "ShareGroupCurrentMemberAssignment": _MEMBER,
    "ShareGroupStatePartitionMetadata": _GROUP,
    "StreamsGroupMetadata": _GROUP,
    "StreamsGroupMemberMetadata": _MEMBER,
    "StreamsGroupTargetAssignmentMetadata": _GROUP,
    "StreamsGroupTargetAssignmentMember": _MEMBER,
    "StreamsGroupCurrentMemberAssignment": _MEMBER,
    "StreamsGroupTopology": _GROUP,
    "TransactionLog": "transactionalId string",
    "ShareSnapshot": _SHARE,
    "ShareUpdate": _SHARE,
}

_MEMBERS = (
    "members [](memberId string, groupInstanceId string 3+, clientId string, clientHost string,"
    " rebalanceTimeout int32 1+, sessionTimeout int32, subscription bytes, assignment bytes)"
)
_CLASSIC = (
    "classicMemberMetadata"
    " ?(sessionTimeoutMs int32, supportedProtocols [](name string, metadata bytes)) <0>"
)

VALUES = {
    "LegacyOffsetCommit": "0: offset int64, metadata string, commitTimestamp int64",
    "OffsetCommit": "0-4 flexible 4: offset int64, leaderEpoch int32 3+, metadata string,"
    " commitTimestamp int64, expireTimestamp int64 1, topicId uuid 4+ <0>",
    "GroupMetadata": "0-4 flexible 4: protocolType string, generation int32, protocol string,"
    f" leader string, currentStateTimestamp int64 2+, {_MEMBERS}",
    "ConsumerGroupMetadata": "0 flexible 0: epoch int32, metadataHash int64 <0>",
    "ConsumerGroupPartitionMetadata": "0 flexible 0: topics [](topicId uuid, topicName string,"
    " numPartitions int32, partitionMetadata [](partition int32, racks []string))",
    "ConsumerGroupMemberMetadata": "0 flexible 0: instanceId string, rackId string,"
    " clientId string, clientHost string, subscribedTopicNames []string,"
    f" subscribedTopicRegex string, rebalanceTimeoutMs int32, serverAssignor string, {_CLASSIC}",
    "ConsumerGroupTargetAssignmentMetadata": "0 flexible 0: assignmentEpoch int32,"
    " assignmentTimestamp int64 <0>",
    "ConsumerGroupTargetAssignmentMember": f"0 flexible 0: topicPartitions {_ASSIGNED}",
    "ConsumerGroupCurrentMemberAssignment": "0 flexible 0: memberEpoch int32,"
    f" previousMemberEpoch int32, state int8, assignedPartitions {_PARTITIONS_WITH_EPOCHS},"
    f" partitionsPendingRevocation {_PARTITIONS_WITH_EPOCHS}",
    "ConsumerGroupRegularExpression": "0 flexible 0: topics []string, version int64,"
    " timestamp int64",
    "ShareGroupMemberMetadata": "0 flexible 0: rackId string, clientId string, clientHost string,"
    " subscribedTopicNames []string",
    "ShareGroupMetadata": "0 flexible 0: epoch int32, metadataHash int64",
    "ShareGroupTargetAssignmentMetadata": "0 flexible 0: assignmentEpoch int32,"
    " assignmentTimestamp int64 <0>",
    "ShareGroupTargetAssignmentMember": f"0 flexible 0: topicPartitions {_ASSIGNED}",
    "ShareGroupCurrentMemberAssignment": "0 flexible 0: memberEpoch int32,"
    f" previousMemberEpoch int32, state int8, assignedPartitions {_ASSIGNED}",
    "ShareGroupStatePartitionMetadata": "0 flexible 0:"
    " initializingTopics [](topicId uuid, topicName string, partitions []int32),"
    " initializedTopics [](topicId uuid, topicName string, partitions []int32),"
    " deletingTopics [](topicId uuid, topicName string)",
    "StreamsGroupMetadata": "0 flexible 0: epoch int32, metadataHash int64,"
    f" validatedTopologyEpoch int32 <0>, lastAssignmentConfigs {_CONFIGS} <1>",
    "StreamsGroupMemberMetadata": "0 flexible 0: instanceId string, rackId string,"
    " clientId string, clientHost string, rebalanceTimeoutMs int32, topologyEpoch int32,"
    " processId string, userEndpoint ?(host string, port uint16),"
    f" clientTags {_CONFIGS}",
    "StreamsGroupTargetAssignmentMetadata": "0 flexible 0: assignmentEpoch int32,"
    " assignmentTimestamp int64 <0>",
    "StreamsGroupTargetAssignmentMember": f"0 flexible 0: activeTasks {_TASKS},"
    f" standbyTasks {_TASKS}, warmupTasks {_TASKS}",
    "StreamsGroupCurrentMemberAssignment": "0 flexible 0: memberEpoch int32,"
    f" previousMemberEpoch int32, state int8, activeTasks {_TASKS_WITH_EPOCHS},"
    f" standbyTasks {_TASKS_WITH_EPOCHS}, warmupTasks {_TASKS_WITH_EPOCHS},"
    f" activeTasksPendingRevocation {_TASKS_WITH_EPOCHS},"
    f" standbyTasksPendingRevocation {_TASKS_WITH_EPOCHS},"
    f" warmupTasksPendingRevocation {_TASKS_WITH_EPOCHS}",
    "StreamsGroupTopology": "0 flexible 0: epoch int32, subtopologies [](subtopologyId string,"
    f" sourceTopics []string, sourceTopicRegex []string, stateChangelogTopics []{_TOPIC},"
    f" repartitionSinkTopics []string, repartitionSourceTopics []{_TOPIC},"
    " copartitionGroups [](sourceTopics []int16, sourceTopicRegex []int16,"
    " repartitionSourceTopics []int16))",
    "TransactionLog": "0-1 flexible 1: producerId int64, producerEpoch int16,"
    " transactionTimeoutMs int32, transactionStatus int8,"
    " transactionPartitions [](topic string, partitionIds []int32),"
    " transactionLastUpdateTimestampMs int64, transactionStartTimestampMs int64,"
    " previousProducerId int64 1+ <0>, nextProducerId int64 1+ <1>,"
    " clientTransactionVersion int16 1+ <2>, nextProducerEpoch int16 1+ <3>",
    "ShareSnapshot": "0 flexible 0: snapshotEpoch int32, stateEpoch int32, leaderEpoch int32,"
    " startOffset int64, createTimestamp int64, writeTimestamp int64,"
    f" {_STATE_BATCHES}, deliveryCompleteCount int32 <0>",
    "ShareUpdate": "0 flexible 0: snapshotEpoch int32, leaderEpoch int32, startOffset int64,"
    f" {_STATE_BATCHES}, deliveryCompleteCount int32 <0>",
}


Read = Callable[[Reader], Any]
TOPICS = frozenset(RECORD_TYPES)


class Unreadable(Exception):
    """Bytes that are not a record of the topic, or of a newer Kafka; the text says why."""


def read_key(topic: str, key: bytes) -> tuple[str, dict[str, Any]]:
    """The name of the record's type, and its decoded key. Raises Unreadable."""
    reader = Reader(key)
    try:
        number = reader.int16()
        name = _name(topic, number)
        return name, {"type": number, "data": _key_reader(name)(reader)}
    except MalformedError as error:
        raise Unreadable(f"the key {error}") from None


def read_value(topic: str, key: bytes, value: bytes) -> tuple[str, dict[str, Any]]:
    """The name of the record's type, and its decoded value. Raises Unreadable."""
    try:
        name = _name(topic, Reader(key).int16())
        reader = Reader(value)
        version = reader.int16()
        return name, {"version": version, "data": _value_reader(name, version)(reader)}
    except MalformedError as error:
        raise Unreadable(f"the value {error}") from None


def _name(topic: str, number: int) -> str:
    name = RECORD_TYPES[topic].get(number)
    if name is None:
        raise Unreadable(f"unknown record type {number}")
    return name


@cache
def _key_reader(name: str) -> Read:
    return _structure(_parse(KEYS[name]), 0, flexible=False)


@cache
def _value_reader(name: str, version: int) -> Read:
    head, _, fields = VALUES[name].partition(":")
    versions, _, flexible = head.partition(" flexible ")
    lowest, _, highest = versions.partition("-")
    if not int(lowest) <= version <= int(highest or lowest):
        raise Unreadable(f"version {version} of {name} is not supported")
    return _structure(_parse(fields), version, flexible=bool(flexible) and version >= int(flexible))


# -- schemas ---------------------------------------------------------------------------------------


class _Field(Struct, frozen=True):
    """A field of a schema. `type` is a scalar's name, or the fields of a structure."""

    name: str
    type: str | tuple[_Field, ...]
    array: bool
    nullable: bool
    versions: str
    tag: int | None

    def is_in(self, version: int) -> bool:
        """Whether it is in this version."""
        first, plus, _ = self.versions.partition("+")
        return not first or version == int(first) or (bool(plus) and version > int(first))


_TOKEN = re.compile(r"\s*(<\d+>|\d+\+?|\[\]|[A-Za-z]\w*|[?(),])")


def _parse(source: str) -> tuple[_Field, ...]:
    return _fields(_TOKEN.findall(source)[::-1])


def _fields(tokens: list[str]) -> tuple[_Field, ...]:
    """The fields up to the end or `)`; `tokens` are in reverse order and consumed."""
    found = []
    while tokens:
        name, array, nullable, versions, tag = tokens.pop(), False, False, "", None
        if tokens[-1] == "[]":
            array = bool(tokens.pop())
        if tokens[-1] == "?":
            nullable = bool(tokens.pop())
        opening = tokens.pop()
        kind = _fields(tokens) if opening == "(" else opening
        if tokens and tokens[-1][0].isdigit():
            versions = tokens.pop()
        if tokens and tokens[-1][0] == "<":
            tag = int(tokens.pop()[1:-1])
        found.append(_Field(name, kind, array, nullable, versions, tag))
        if tokens and tokens.pop() == ")":
            break
    return tuple(found)


# -- readers ---------------------------------------------------------------------------------------


def _structure(fields: Sequence[_Field], version: int, *, flexible: bool) -> Read:
    kept = [field for field in fields if field.is_in(version)]
    readers = [(f.name, _reader(f, version, flexible)) for f in kept if f.tag is None]
    tagged = {f.tag: (f.name, _reader(f, version, flexible)) for f in kept if f.tag is not None}

    def read(reader: Reader) -> dict[str, Any]:
        found = {name: read_field(reader) for name, read_field in readers}
        for _ in range(reader.varint() if flexible else 0):
            tag, size = reader.varint(), reader.varint()
            content = reader.take(size)
            if tag in tagged:
                name, read_field = tagged[tag]
                found[name] = read_field(Reader(content))
        return found

    return read


def _reader(field: _Field, version: int, flexible: bool) -> Read:
    if isinstance(field.type, str):
        read = _SCALARS[field.type](flexible)
    else:
        read = _structure(field.type, version, flexible=flexible)
    if field.nullable and field.tag is not None:
        return lambda reader: read(reader) if reader.varint() > 0 else None
    if field.nullable:
        return lambda reader: read(reader) if reader.int8() >= 0 else None
    return _array(read, flexible) if field.array else read


def _array(read: Read, flexible: bool) -> Read:
    def read_all(reader: Reader) -> list[Any] | None:
        size = reader.varint() - 1 if flexible else reader.int32()
        if size < 0:
            return None
        if size > len(reader.rest()):  # an item has at least one byte
            raise MalformedError("ends too early")
        return [read(reader) for _ in range(size)]

    return read_all


def _string(flexible: bool) -> Read:
    return lambda reader: reader.string(flexible)


def _bytes(flexible: bool) -> Read:
    def read(reader: Reader) -> str | None:
        size = reader.varint() - 1 if flexible else reader.int32()
        return None if size < 0 else b64encode(reader.take(size)).decode()

    return read


def _uuid(reader: Reader) -> str:
    return format_uuid(reader.take(16))


_SCALARS: dict[str, Callable[[bool], Read]] = {
    "int8": lambda _: Reader.int8,
    "int16": lambda _: Reader.int16,
    "uint16": lambda _: lambda reader: reader.int16() & 0xFFFF,
    "int32": lambda _: Reader.int32,
    "int64": lambda _: Reader.int64,
    "uuid": lambda _: _uuid,
    "string": _string,
    "bytes": _bytes,
}
