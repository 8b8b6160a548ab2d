"""The scan of Metadata responses is compared with kafka-python's codec."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import (
    HIGHEST_VERSION,
    LOWEST_VERSION,
    MetadataScan,
    encode_request,
    scan,
)
from kafka_shell.wire.model import Partition
from kafka_shell.wire.requests import RawRequest
from tests.support.changes import make_topic

# Names may be anything a string holds; long ones have lengths of two bytes.
names = st.text(min_size=1, max_size=20) | st.text("ab.-_", min_size=100, max_size=249)


@pytest.mark.parametrize("version", range(LOWEST_VERSION, HIGHEST_VERSION + 1))
def test_every_version_is_read_from_a_real_broker(
    cluster: Cluster, name: str, version: int
) -> None:
    make_topic(cluster, name, 3)
    names = [name, f"{name}-not"]
    request = RawRequest(3, (version, version), lambda _: encode_request(version, names), 9)
    read = MetadataScan(cluster.send(request), version)
    assert read.names == [name]
    assert read.errors == {f"{name}-not": 3}
    assert read.topic(name).partitions == tuple(
        Partition(name, index, 1, 0, (1,), (1,)) for index in range(3)
    )
    assert bool(read.topic(name).id) == (version >= 10)


def test_asking_for_a_topic_does_not_create_it(cluster: Cluster, name: str) -> None:
    assert scan(cluster, [name]).errors == {name: 3}
    assert name not in scan(cluster)


def test_an_empty_list_of_topics_returns_none(cluster: Cluster, topic: str) -> None:
    nothing = scan(cluster, [])
    assert nothing.names == []
    assert [broker.id for broker in nothing.brokers] == [1]
    assert topic in scan(cluster)
