"""The scan of Metadata responses is compared with kafka-python's codec."""

from __future__ import annotations

import base64
import struct
import uuid
from collections.abc import Iterator
from itertools import cycle, repeat
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from kafka_shell.wire.frames import format_uuid, uuid_of
from kafka_shell.wire.metadata_scan import (
    HIGHEST_VERSION,
    LOWEST_VERSION,
    MetadataScan,
    encode_request,
)
from kafka_shell.wire.model import Broker, Partition, Topic

KIND = MetadataResponse.MetadataResponseTopic
PARTITION = KIND.MetadataResponsePartition
BROKER = MetadataResponse.MetadataResponseBroker

versions = st.integers(LOWEST_VERSION, HIGHEST_VERSION)
nodes = st.integers(0, 2**31 - 1)
node_lists = st.lists(st.integers(0, 300), unique=True, max_size=5)
# Names may be anything a string holds; long ones have lengths of two bytes.
names = st.text(min_size=1, max_size=20) | st.text("ab.-_", min_size=100, max_size=249)
tag_buffers = st.dictionaries(st.integers(0, 200), st.binary(max_size=200), max_size=2)


@st.composite
def partitions(draw: st.DrawFn, index: int) -> Any:
    return PARTITION(
        error_code=draw(st.sampled_from([0, 0, 0, 5, 9])),
        partition_index=index,
        leader_id=draw(st.just(-1) | st.integers(0, 300)),
        leader_epoch=draw(st.integers(-1, 1000)),
        replica_nodes=draw(st.lists(st.integers(0, 300), unique=True, min_size=1, max_size=5)),
        isr_nodes=draw(node_lists),
        offline_replicas=draw(node_lists),
    )


@st.composite
def topics(draw: st.DrawFn, name: str) -> Any:
    count = draw(st.integers(0, 4) | st.sampled_from([130, 300]))
    if count > 4:  # a length of two bytes; the partitions are all alike, to be quick
        one = draw(partitions(0))
        found = [alike(one, index) for index in range(count)]
    else:
        found = [draw(partitions(index)) for index in range(count)]
    return KIND(
        error_code=draw(st.sampled_from([0, 0, 0, 3, 17, 29])),
        name=name,
        topic_id=uuid.UUID(int=draw(st.integers(0, 2**128 - 1))),
        is_internal=draw(st.booleans()),
        partitions=draw(st.permutations(found)) if count <= 4 else found,
    )


@st.composite
def responses(draw: st.DrawFn) -> Any:
    return MetadataResponse(
        throttle_time_ms=draw(st.integers(0, 1000)),
        brokers=[
            BROKER(
                node_id=node,
                host=draw(st.text(max_size=10)),
                port=draw(st.integers(0, 65535)),
                rack=draw(st.none() | st.text(max_size=5)),
            )
            for node in draw(st.lists(nodes, unique=True, max_size=4))
        ],
        cluster_id=draw(st.none() | st.text(max_size=22)),
        controller_id=draw(st.integers(-1, 300)),
        topics=[draw(topics(name)) for name in draw(st.lists(names, unique=True, max_size=5))],
    )


def assemble(response: Any, version: int, tags: Iterator[bytes]) -> bytes:
    """What the codec writes, with tagged fields that nobody knows yet: it cannot write those.

    `tags` are the tag buffers, taken in the order in which the structures end.
    """
    brokers = [alone(broker, version)[:-1] + next(tags) for broker in response.brokers]
    topics = []
    for topic in response.topics:
        parts = [alone(p, version)[:-1] + next(tags) for p in topic.partitions]
        bare = KIND(
            error_code=topic.error_code,
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=topic.is_internal,
            partitions=[],
        )
        whole = alone(bare, version)  # ..., no partitions, 4 bytes, no tags
        topics.append(whole[:-6] + array(parts) + whole[-5:-1] + next(tags))
    out = struct.pack(">i", response.throttle_time_ms) + array(brokers)
    out += b"\0" if response.cluster_id is None else text(response.cluster_id)
    out += struct.pack(">i", response.controller_id) + array(topics)
    if version <= 10:
        out += struct.pack(">i", -(2**31))  # cluster_authorized_operations
    if version >= 13:
        out += struct.pack(">h", response.error_code)
    return out + next(tags)


def alone(item: Any, version: int) -> bytes:
    """One item of an array, as the codec writes it."""
    return bytes(item._struct.encode([item], version=version, compact=True, tagged=True))[1:]


def array(items: list[bytes]) -> bytes:
    return varint(len(items) + 1) + b"".join(items)


def text(value: str) -> bytes:
    return varint(len(value.encode()) + 1) + value.encode()


def varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def tag_buffer(fields: dict[int, bytes]) -> bytes:
    known = sorted(fields.items())
    return varint(len(known)) + b"".join(varint(t) + varint(len(v)) + v for t, v in known)


def alike(partition: Any, index: int) -> Any:
    return PARTITION(
        error_code=partition.error_code,
        partition_index=index,
        leader_id=partition.leader_id,
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replica_nodes,
        isr_nodes=partition.isr_nodes,
        offline_replicas=partition.offline_replicas,
    )


def id_text(topic: Any, version: int) -> str:
    if version < 10 or topic.topic_id.int == 0:
        return ""
    return base64.urlsafe_b64encode(topic.topic_id.bytes).decode().rstrip("=")


def as_topic(topic: Any, version: int) -> Topic:
    found = [
        Partition(
            topic.name,
            each.partition_index,
            None if each.leader_id < 0 else each.leader_id,
            each.leader_epoch,
            tuple(each.replica_nodes),
            tuple(each.isr_nodes),
            tuple(each.offline_replicas),
        )
        for each in topic.partitions
    ]
    found.sort(key=lambda partition: partition.partition)
    return Topic(topic.name, id_text(topic, version), topic.is_internal, tuple(found))


def good(response: Any, version: int) -> Iterator[Topic]:
    return (as_topic(topic, version) for topic in response.topics if not topic.error_code)


@given(responses(), versions)
def test_a_scan_finds_what_the_codec_wrote(response: Any, version: int) -> None:
    read = MetadataScan(bytes(response.encode(version=version)), version)
    expected = {topic.name: topic for topic in good(response, version)}
    assert read.names == list(expected)
    assert {name: read.topic(name) for name in read.names} == expected
    assert read.errors == {t.name: t.error_code for t in response.topics if t.error_code}
    assert read.cluster_id == (response.cluster_id or "")
    assert read.controller_id == response.controller_id
    assert read.brokers == tuple(
        sorted(
            (Broker(b.node_id, b.host, b.port, b.rack) for b in response.brokers),
            key=lambda broker: broker.id,
        )
    )
    assert len(read) == len(expected)
    assert all(name in read for name in expected)
    assert "no such topic" not in read


@given(responses(), versions, st.lists(tag_buffers, min_size=1, max_size=4))
def test_unknown_tagged_fields_are_skipped(
    response: Any, version: int, unknown: list[dict[int, bytes]]
) -> None:
    plain = bytes(response.encode(version=version))
    assert assemble(response, version, repeat(b"\0")) == plain, "the test assembles it wrongly"
    tags = cycle([tag_buffer(fields) for fields in unknown])
    told = MetadataScan(assemble(response, version, tags), version)
    known = MetadataScan(plain, version)
    assert told.names == known.names
    assert [told.topic(name) for name in told.names] == [known.topic(name) for name in known.names]
    assert told.summaries() == known.summaries()
    assert told.misplaced() == known.misplaced()
    assert told.replica_ids() == known.replica_ids()
    assert told.errors == known.errors
    assert told.brokers == known.brokers


@given(st.sampled_from([0, 129]))
def test_the_error_of_the_whole_response_is_kept(code: int) -> None:
    empty = {"throttle_time_ms": 0, "brokers": [], "cluster_id": "x", "topics": []}
    body = bytes(MetadataResponse(**empty, controller_id=1, error_code=code).encode(version=13))
    assert MetadataScan(body, 13).error_code == code


@given(responses(), versions)
def test_counts_and_health_agree_with_the_decoded_topics(response: Any, version: int) -> None:
    read = MetadataScan(bytes(response.encode(version=version)), version)
    decoded = [read.topic(name) for name in read.names]
    for topic in decoded:
        row = read.summary(topic.name)
        found = topic.partitions
        assert (row.name, row.id, row.internal) == (topic.name, topic.id, topic.internal)
        assert row.partitions == len(found)
        factors = (row.replication_factor, row.max_replication_factor)
        assert factors == topic.replication_factors
        assert row.under_replicated == sum(each.under_replicated for each in found)
        assert row.offline == sum(each.leader is None for each in found)
    everything = [each for topic in decoded for each in topic.partitions]
    assert read.partitions == len(everything)
    assert read.misplaced() == sorted(
        (each.topic, each.partition)
        for each in everything
        if each.leader is not None and not each.on_preferred_leader
    )
    assert read.replica_ids() == {node for each in everything for node in each.replicas}
    assert [row.name for row in read.summaries()] == sorted(read.names)


@given(versions, st.none() | st.lists(names, max_size=5))
def test_a_request_is_encoded_as_the_codec_encodes_it(
    version: int, asked: list[str] | None
) -> None:
    kind = MetadataRequest.MetadataRequestTopic
    request = MetadataRequest(
        topics=None if asked is None else [kind(topic_id=uuid.UUID(int=0), name=n) for n in asked],
        allow_auto_topic_creation=False,
    )
    assert encode_request(version, asked) == bytes(request.encode(version=version))


@given(st.uuids())
def test_topic_ids_are_converted_both_ways(topic_id: uuid.UUID) -> None:
    assert uuid_of(format_uuid(topic_id.bytes)) == topic_id
    assert len(format_uuid(topic_id.bytes)) == 22
