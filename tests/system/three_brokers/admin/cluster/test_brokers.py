"""Broker descriptions, read from all brokers in parallel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.cluster import read as brokers
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Topic
from kafka_shell.wire.requests import Call, as_request
from tests.support.changes import make_topic

DESCRIBE_CONFIGS, DESCRIBE_LOG_DIRS, DESCRIBE_QUORUM = 32, 35, 55


def test_what_each_broker_has(three: Cluster, name: str) -> None:
    make_topic(three, name, assignment=((1, 2), (2, 3), (2, 1)))
    known = brokers.brokers(three)
    scan = known.metadata
    found = {each.broker.id: each for each in brokers.describe(known, [1, 2, 3])}
    roles = {replica.id: replica.role for replica in quorum.describe(three).replicas}
    partitions = [p for each in scan.names for p in scan.topic(each).partitions]
    for id, each in found.items():
        assert each.ok, each.not_read
        assert each.replicas == sum(id in p.replicas for p in partitions) > 0
        assert each.leaders == sum(p.leader == id for p in partitions)
        assert each.preferred == sum(p.replicas[0] == id for p in partitions)
        assert each.out_of_sync == sum(id in p.replicas and id not in p.isr for p in partitions)
        assert each.quorum_role == roles[id]
        assert {dir.broker for dir in each.log_dirs} == {id}
        assert {entry.resource.name for entry in each.configs} == {str(id)}


def test_they_are_described_together(three: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: all partitions were decoded, and the quorum was read, once for each broker."""
    known = brokers.brokers(three)
    sent: list[int] = []
    decoded: list[str] = []
    send_all, send_each, topic = Cluster.send_all, Cluster.send_each, MetadataScan.topic

    def counting(self: Cluster, calls: Iterable[Call]) -> list[object]:
        calls = list(calls)
        sent.append(as_request(calls[0].request).api_key)
        return send_all(self, calls)

    def counting_each(self: Cluster, calls: Iterable[Call], ahead: int) -> Iterator[object]:
        calls = list(calls)
        sent.append(as_request(calls[0].request).api_key)
        return send_each(self, calls, ahead)

    def counted(self: MetadataScan, name: str) -> Topic:
        decoded.append(name)
        return topic(self, name)

    monkeypatch.setattr(Cluster, "send_all", counting)
    monkeypatch.setattr(Cluster, "send_each", counting_each)
    monkeypatch.setattr(MetadataScan, "topic", counted)
    brokers.describe(known, [1, 2, 3])
    assert len(decoded) == len(set(decoded)) == len(known.metadata)
    assert sorted(sent) == [DESCRIBE_CONFIGS, DESCRIBE_LOG_DIRS]


def test_a_broker_that_is_not_there(three: Cluster, name: str) -> None:
    make_topic(three, name, assignment=((1, 2),))
    known = brokers.brokers(three)
    probed = Results({1: "4.3"}, {2: Failure("no-answer", "no answer")})
    silent = replace(known, probe=replace(known.probe, probed=probed))
    one, two = brokers.describe(silent, [1, 2])
    assert one.ok and one.log_dirs
    assert dict(two.not_read)["log directories and configs"].name == "no-answer"
    assert not two.log_dirs and two.replicas and two.quorum_role
