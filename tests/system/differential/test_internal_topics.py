"""Records of Kafka's internal topics are decoded as by Kafka's own formatters."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import read as log
from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.records.internal_topics import (
    KEYS,
    RECORD_TYPES,
    TOPICS,
    VALUES,
    _Field,
    _parse,
)
from kafka_shell.admin.records.model import CREATE_TIME, Record
from kafka_shell.admin.topics.read import describe
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.jvm_tools import java, run_tool
from tests.support.transactional_producer import Producer

PACKAGES = {
    "__consumer_offsets": "org.apache.kafka.coordinator.group.generated",
    "__transaction_state": "org.apache.kafka.coordinator.transaction.generated",
    "__share_group_state": "org.apache.kafka.coordinator.share.generated",
}
TOPIC_OF = {name: topic for topic, names in RECORD_TYPES.items() for name in names.values()}
CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"


def java_class(name: str, suffix: str) -> Any:
    return attrgetter(f"{PACKAGES[TOPIC_OF[name]]}.{name}{suffix}")(java())


# -- schemas ---------------------------------------------------------------------------------------


def field_of(thing: Any, name: str) -> Any:
    """The value of a field of a Java object, also a private one."""
    kind = thing.getClass()
    while kind is not None:
        found = [each for each in kind.getDeclaredFields() if each.getName() == name]
        if found:
            found[0].setAccessible(True)
            return found[0].get(thing)
        kind = kind.getSuperclass()
    raise AttributeError(name)


def kafkas(schema: Any) -> list[str]:
    """The fields of one version of Kafka's schema, each as `name type` with its tag."""
    found = []
    for bound in schema.fields():
        field = field_of(bound, "def")
        if field_of(field, "name") != "_tagged_fields":
            found.append(f"{field_of(field, 'name')} {kafkas_type(field_of(field, 'type'))}")
            continue
        for entry in field_of(field_of(field, "type"), "fields").entrySet():
            tagged = entry.getValue()
            name, kind = field_of(tagged, "name"), kafkas_type(field_of(tagged, "type"))
            found.append(f"{name} {kind} <{entry.getKey()}>")
    return found


def kafkas_type(kind: Any) -> str:
    name = kind.getClass().getSimpleName()
    if name in ("ArrayOf", "CompactArrayOf"):
        return "[]" + kafkas_type(kind.arrayElementType().get())
    if name in ("Schema", "NullableSchema"):
        return ("?" if name == "NullableSchema" else "") + f"({', '.join(kafkas(kind))})"
    return re.sub("COMPACT_|NULLABLE_", "", kind.typeName()).lower()


def ours(fields: tuple[_Field, ...], version: int) -> list[str]:
    """The same of our schemas."""
    kept = [field for field in fields if field.is_in(version)]
    return [
        _snake(field.name)
        + " "
        + _type(field, version)
        + (f" <{field.tag}>" if field.tag is not None else "")
        for field in sorted(kept, key=lambda each: each.tag is not None)
    ]


def _type(field: _Field, version: int) -> str:
    before = ("[]" if field.array else "") + ("?" if field.nullable else "")
    if isinstance(field.type, str):
        return before + field.type
    return f"{before}({', '.join(ours(field.type, version))})"


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda found: "_" + found[0].lower(), name)


@pytest.mark.parametrize("name", sorted(KEYS))
def test_schemas_are_kafkas(name: str) -> None:
    key, value = java_class(name, "Key"), java_class(name, "Value")
    assert ours(_parse(KEYS[name]), 0) == kafkas(key.SCHEMA_0)
    head, _, fields = VALUES[name].partition(":")
    versions = re.fullmatch(r"(\d)(?:-(\d))?(?: flexible (\d))?", head)
    assert versions is not None
    lowest, highest = int(versions[1]), int(versions[2] or versions[1])
    assert (lowest, highest) == (value.LOWEST_SUPPORTED_VERSION, value.HIGHEST_SUPPORTED_VERSION)
    for version in range(lowest, highest + 1):
        schema = getattr(value, f"SCHEMA_{version}")
        assert ours(_parse(fields), version) == kafkas(schema), version
        flexible = versions[3] is not None and version >= int(versions[3])
        tags = "_tagged_fields" in [field_of(field_of(f, "def"), "name") for f in schema.fields()]
        assert flexible is tags


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_all_types_of_kafka_are_known(topic: str) -> None:
    enum = attrgetter(f"{PACKAGES[topic]}.CoordinatorRecordType")(java())
    assert RECORD_TYPES[topic] == {
        each.id(): "".join(word.capitalize() for word in each.name().split("_"))
        for each in enum.values()
    }


# -- records ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def used(sandbox: Sandbox, cluster: Cluster) -> str:
    """A topic that groups of three kinds and a transaction have used."""
    name = make_topic(cluster, f"internal-{uuid4().hex[:8]}", 2)
    producer = Producer.start(cluster, name)
    producer.add(TopicPartition(name, 0))
    producer.write(TopicPartition(name, 0))
    producer.end(commit=True)
    address = ("--bootstrap-server", sandbox.bootstrap, "--topic", name)
    classic = (*address, "--from-beginning", "--max-messages", "1")
    run_tool(CONSUMER, *classic, "--group", f"{name}-classic")
    consumer = ("--consumer-property", "group.protocol=consumer")
    run_tool(CONSUMER, *classic, "--group", f"{name}-consumer", *consumer)
    share = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
    where = ConfigResource(ResourceType.GROUP, f"{name}-share")
    first = ConfigAlteration("share.auto.offset.reset", ConfigOp.SET, "earliest")
    done(config_changes.plan_alter(cluster, {where: [first]}), cluster)
    run_tool(share, *address, "--group", f"{name}-share", "--max-messages", "1")
    return name


def records(cluster: Cluster, topic: str) -> Iterator[Record]:
    for partition in describe(cluster, [topic])[topic].partitions:
        for each in log.read(cluster, topic, partition.partition):
            yield Record(
                topic, partition.partition, each.offset, each.timestamp, CREATE_TIME,
                each.key, each.value,
            )  # fmt: skip


def kafkas_json(name: str, suffix: str, raw: bytes) -> Any:
    """What Kafka's class of this record, and its JSON converter, make of the bytes."""
    kind, jvm = java_class(name, suffix), java()
    buffer = jvm.java.nio.ByteBuffer.wrap(raw)
    number = buffer.getShort()
    version = 0 if suffix == "Key" else number
    message = kind(jvm.org.apache.kafka.common.protocol.ByteBufferAccessor(buffer), version)
    data = json.loads(java_class(name, f"{suffix}JsonConverter").write(message, version).toString())
    return {"type" if suffix == "Key" else "version": number, "data": data}


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_records_are_decoded_as_kafka_does(cluster: Cluster, used: str, topic: str) -> None:
    formats, seen = Formats(), set[str]()
    for record in records(cluster, topic):
        assert record.key is not None
        key, value = formats.key(record), formats.value(record)
        name = key.kind.removesuffix("Key")
        assert key.data == kafkas_json(name, "Key", record.key)
        if record.value is not None:
            assert value.kind == f"{name}Value", (value, record.value)
            assert value.data == kafkas_json(name, "Value", record.value)
            seen.add(name)
    assert seen >= EXPECTED[topic]


EXPECTED = {
    "__consumer_offsets": {
        "OffsetCommit",
        "GroupMetadata",
        "ConsumerGroupMetadata",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupCurrentMemberAssignment",
        "ShareGroupMetadata",
        "ShareGroupMemberMetadata",
        "ShareGroupStatePartitionMetadata",
    },
    "__transaction_state": {"TransactionLog"},
    "__share_group_state": {"ShareSnapshot"},
}


def formatted(sandbox: Sandbox, topic: str, formatter: str, partition: int, most: int) -> list[Any]:
    """The objects that the console consumer prints of the first records of a partition, without
    line breaks between them."""
    run = run_tool(
        CONSUMER, "--bootstrap-server", sandbox.bootstrap, "--topic", topic,
        "--partition", str(partition), "--from-beginning", "--max-messages", str(most),
        "--formatter", f"org.apache.kafka.tools.consumer.{formatter}", "--timeout-ms", "15000",
    )  # fmt: skip
    text, decoder, at, rows = run.stdout, json.JSONDecoder(), 0, []
    while (at := text.find("{", at)) >= 0:
        found, at = decoder.raw_decode(text, at)
        rows.append(found)
    return rows


@pytest.mark.parametrize(
    ("topic", "formatter", "names"),
    [
        ("__consumer_offsets", "OffsetsMessageFormatter", {"OffsetCommit"}),
        ("__consumer_offsets", "GroupMetadataMessageFormatter", {"GroupMetadata"}),
        ("__transaction_state", "TransactionLogMessageFormatter", {"TransactionLog"}),
    ],
)
def test_the_console_consumer_prints_the_same(
    sandbox: Sandbox, cluster: Cluster, used: str, topic: str, formatter: str, names: set[str]
) -> None:
    formats, mine, counts = Formats(), list[str](), Counter[int]()
    of_it = set[int]()  # partitions
    for record in records(cluster, topic):
        counts[record.partition] += 1
        row = {"key": formats.key(record).data, "value": formats.value(record).data}
        text = json.dumps(row, sort_keys=True)
        if formats.key(record).kind.removesuffix("Key") in names and used in text:
            mine.append(text)
            of_it.add(record.partition)
    printed = [
        json.dumps(row, sort_keys=True)
        for partition in of_it
        for row in formatted(sandbox, topic, formatter, partition, counts[partition])
    ]
    assert mine
    assert sorted(row for row in printed if used in row) == sorted(mine)
