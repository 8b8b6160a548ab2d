"""The effective quota by level, compared with what a real broker throttles."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas import read as quota_resolution
from kafka_shell.admin.quotas.model import (
    DEFAULT,
    QuotaAlteration,
    QuotaEntity,
)
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.requests import Node
from tests.support.changes import done, make_topic
from tests.support.quota_entities import USER, levels_of, resolved
from tests.support.waiting import wait_for

TINY, HUGE = 1.0, 1e12


@pytest.fixture(scope="module")
def config(sandbox: Sandbox) -> ConnectionConfig:
    return ConnectionConfig(parse_addresses(sandbox.bootstrap))


@pytest.fixture(scope="module")
def cluster(config: ConnectionConfig) -> Iterator[Cluster]:
    with Cluster(config) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def topic(cluster: Cluster) -> str:
    return make_topic(cluster, f"quota-{uuid4().hex[:8]}")


def test_an_address_has_levels_of_its_own(cluster: Cluster) -> None:
    ip = f"192.0.2.{Random().randrange(1, 250)}"
    limit = QuotaAlteration(QuotaEntity(ip=ip), "connection_creation_rate", 20.0)
    done(quota_changes.plan_alter(cluster, [limit]), cluster)
    try:
        (only,) = quota_resolution.resolve(cluster, ip=ip).resolutions
        assert (only.value, only.entity) == (20.0, QuotaEntity(ip=ip))
        assert [level.source.value for level in only.levels] == ["Ip", "Default ip"]
    finally:
        done(quota_changes.plan_alter(cluster, [replace(limit, value=None)]), cluster)


def test_kafka_decides_by_itself_here(cluster: Cluster) -> None:
    assert quota_resolution.callback(cluster) == ""


def throttled(config: ConnectionConfig, client: str, topic: str, key: str) -> bool:
    """Whether the broker slows this client down, by the answer to one request of it."""
    with Cluster(replace(config, client_id=client)) as cluster:
        request = _produce(topic) if key == "producer_byte_rate" else _fetch(topic)
        answer = cluster.send(request, Node(cluster.brokers()[0].id), highest=_HIGHEST[key])
        return bool(answer.throttle_time_ms)


_HIGHEST = {"producer_byte_rate": 9, "consumer_byte_rate": 12}  # beyond, topics go by their ids


def _produce(topic: str) -> Any:
    from kafka.protocol.producer import ProduceRequest
    from kafka.record.default_records import DefaultRecordBatchBuilder

    batch = DefaultRecordBatchBuilder(
        magic=2, compression_type=0, is_transactional=0, producer_id=-1, producer_epoch=-1,
        base_sequence=-1, batch_size=10_000,
    )  # fmt: skip
    batch.append(offset=0, timestamp=int(time.time() * 1000), key=b"k", value=b"v" * 4000,
                 headers=[])  # fmt: skip
    kind = ProduceRequest.TopicProduceData
    part = kind.PartitionProduceData(index=0, records=bytes(batch.build()))
    return ProduceRequest(
        transactional_id=None, acks=1, timeout_ms=10_000,
        topic_data=[kind(name=topic, partition_data=[part])],
    )  # fmt: skip


def _fetch(topic: str) -> Any:
    from kafka.protocol.consumer import FetchRequest

    kind = FetchRequest.FetchTopic
    part = kind.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=4000)
    return FetchRequest(
        replica_id=-1, max_wait_ms=100, min_bytes=1, max_bytes=4000, isolation_level=0,
        session_id=0, session_epoch=-1, topics=[kind(topic=topic, partitions=[part])],
        forgotten_topics_data=[], rack_id="",
    )  # fmt: skip


def sets_of_levels() -> list[tuple[int, ...]]:
    """Each level alone, each two of them, and some larger sets."""
    random = Random(55)
    some = [tuple(sorted(random.sample(range(8), size))) for size in (3, 4, 5, 6, 7) * 2]
    return [(level,) for level in range(8)] + list(combinations(range(8), 2)) + some


@pytest.mark.parametrize("key", ["producer_byte_rate", "consumer_byte_rate"])
def test_the_broker_throttles_by_the_level_that_wins(
    cluster: Cluster, config: ConnectionConfig, topic: str, key: str
) -> None:
    """The winner tiny and the others huge: throttled. The winner huge and the others tiny: not."""
    throttled(config, "warm-up", topic, "producer_byte_rate")  # there is something to fetch
    every = sets_of_levels()
    for chosen in every if key == "producer_byte_rate" else every[8:36:3]:
        client = f"c{uuid4().hex[:8]}"
        entities = [levels_of(client)[level] for level in chosen]
        try:
            for slow in (True, False):
                _set(cluster, key, entities, *((TINY, HUGE) if slow else (HUGE, TINY)))
                winner = resolved(quota_resolution.resolve(cluster, USER, client), key)
                assert winner.entity == entities[0]
                assert winner.value == (TINY if slow else HUGE)
                wait_for(
                    f"levels {chosen} {'throttle' if slow else 'let pass'}: {winner.entity}",
                    lambda: throttled(config, client, topic, key) is slow,  # noqa: B023
                    seconds=10,
                )
        finally:
            gone = [QuotaAlteration(entity, key, None) for entity in entities]
            done(quota_changes.plan_alter(cluster, gone), cluster)


def test_the_broker_holds_a_client_without_an_id_to_quotas_of_users(
    cluster: Cluster, config: ConnectionConfig, topic: str
) -> None:
    key = "producer_byte_rate"
    entities = [QuotaEntity(USER), QuotaEntity(USER, DEFAULT), QuotaEntity(None, DEFAULT)]
    try:
        for slow in (True, False):
            _set(cluster, key, entities, *((TINY, HUGE) if slow else (HUGE, TINY)))
            assert resolved(quota_resolution.resolve(cluster, USER, ""), key).entity == entities[0]
            wait_for(f"throttled is {slow}",
                     lambda: throttled(config, "", topic, key) is slow,  # noqa: B023
                     seconds=10)  # fmt: skip
    finally:
        gone = [QuotaAlteration(entity, key, None) for entity in entities]
        done(quota_changes.plan_alter(cluster, gone), cluster)


def _set(
    cluster: Cluster, key: str, entities: list[QuotaEntity], first: float, others: float
) -> None:
    """The first of the entities gets one value, all others another."""
    limits = [QuotaAlteration(entities[0], key, first)]
    limits += [QuotaAlteration(entity, key, others) for entity in entities[1:]]
    done(quota_changes.plan_alter(cluster, limits), cluster)
