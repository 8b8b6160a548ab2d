"""A transactional producer at protocol level, which can skip requests that a real one sends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.partitions import find
from kafka_shell.admin.transactions import producers
from kafka_shell.base.plans import apply
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import Coordinator, CoordinatorKind, Node
from tests.support.waiting import wait_for

_VERIFICATION = "transaction.partition.verification.enable"
_EVERY_BROKER = ConfigResource(ResourceType.BROKER, "")
_NOT_YET = (3, 6)  # UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER
_PRODUCE_VERSION = 9  # of a time when a producer had to add its partitions itself
HOUR_MS = 3_600_000


@dataclass
class Producer:
    """One transactional id, with the producer id and epoch it was given."""

    cluster: Cluster
    transactional_id: str
    producer_id: int
    epoch: int
    sequence: int = 0

    @classmethod
    def start(cls, cluster: Cluster, transactional_id: str, timeout_ms: int = 60_000) -> Producer:
        """InitProducerId, as often as the coordinator asks for patience."""
        from kafka.protocol.producer import InitProducerIdRequest

        request = InitProducerIdRequest(
            transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
        )
        for _ in cluster.attempts(20):
            answer = cluster.send(request, _coordinator(transactional_id), highest=4, check=False)
            if answer.error_code not in (14, 15, 16, 51):
                break
        assert answer.error_code == 0, f"InitProducerId: error {answer.error_code}"
        return cls(cluster, transactional_id, answer.producer_id, answer.producer_epoch)

    def add(self, *partitions: TopicPartition) -> None:
        """AddPartitionsToTxn: the coordinator knows of them from now on."""
        from kafka.protocol.producer import AddPartitionsToTxnRequest

        topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[
                topic(name=each.topic, partitions=[each.partition]) for each in partitions
            ],
        )
        for _ in self.cluster.attempts(20):
            answer = self.cluster.send(request, _coordinator(self.transactional_id), highest=3)
            codes = {
                row.partition_error_code
                for each in answer.results_by_topic_v3_and_below
                for row in each.results_by_partition
            }
            if not codes & {3, 51}:  # the broker may not know a new topic yet
                break
        assert codes == {0}, f"AddPartitionsToTxn: errors {codes}"

    def write(self, each: TopicPartition, *, ago_ms: int = 0) -> int:
        """Produce one record in the transaction; its offset, or an AssertionError."""
        from kafka.protocol.producer import ProduceRequest
        from kafka.record.default_records import DefaultRecordBatchBuilder

        batch = DefaultRecordBatchBuilder(
            magic=2, compression_type=0, is_transactional=1, producer_id=self.producer_id,
            producer_epoch=self.epoch, base_sequence=self.sequence, batch_size=10_000,
        )  # fmt: skip
        batch.append(
            offset=0, timestamp=int(time.time() * 1000) - ago_ms, key=b"k", value=b"v", headers=[]
        )
        topic = ProduceRequest.TopicProduceData
        request = ProduceRequest(
            transactional_id=self.transactional_id,
            acks=-1,
            timeout_ms=10_000,
            topic_data=[
                topic(
                    name=each.topic,
                    partition_data=[
                        topic.PartitionProduceData(
                            index=each.partition, records=bytes(batch.build())
                        )
                    ],
                )
            ],
        )
        row: Any = None

        def taken() -> bool:
            nonlocal row
            leader = find(self.cluster, [each])[each].leader
            assert leader is not None
            answer = self.cluster.send(request, Node(leader), highest=_PRODUCE_VERSION)
            (row,) = answer.responses[0].partition_responses
            return row.error_code not in _NOT_YET  # its topic is a moment old

        wait_for(f"broker leads {each}", taken)
        assert row.error_code == 0, f"Produce: error {row.error_code} {row.error_message}"
        self.sequence += 1
        return int(row.base_offset)

    def end(self, *, commit: bool) -> None:
        """EndTxn."""
        from kafka.protocol.producer import EndTxnRequest

        request = EndTxnRequest(
            transactional_id=self.transactional_id, producer_id=self.producer_id,
            producer_epoch=self.epoch, committed=commit,
        )  # fmt: skip
        answer = self.cluster.send(
            request, _coordinator(self.transactional_id), highest=3, check=False
        )
        assert answer.error_code == 0, f"EndTxn: error {answer.error_code}"


def _coordinator(transactional_id: str) -> Coordinator:
    return Coordinator(CoordinatorKind.TRANSACTION, transactional_id)


@contextmanager
def unverified(cluster: Cluster) -> Iterator[None]:
    """Brokers take transactional records without asking the coordinator, as before KIP-890."""
    _set(cluster, ConfigAlteration(_VERIFICATION, ConfigOp.SET, "false"))
    try:
        yield
    finally:
        _set(cluster, ConfigAlteration(_VERIFICATION, ConfigOp.DELETE))


def _set(cluster: Cluster, alteration: ConfigAlteration) -> None:
    results = apply(config_changes.plan_alter(cluster, {_EVERY_BROKER: [alteration]}), cluster)
    assert results.ok, results.failures


def hang(cluster: Cluster, each: TopicPartition, transactional_id: str, ago_ms: int = 0) -> int:
    """Leave a transaction open that no coordinator knows of; the offset where it starts."""
    with unverified(cluster):
        for attempt in cluster.attempts(10):
            try:
                offset = Producer.start(cluster, transactional_id).write(each, ago_ms=ago_ms)
                break
            except AssertionError:  # the broker has not heard of the setting yet
                if attempt > 20:
                    raise
    states = producers.describe(cluster, [each])[each]
    assert any(state.transaction_start == offset for state in states), "nothing hangs"
    return offset
