"""Stand-ins that take part in partition reassignments: new replicas are in sync at once.

A controller completes a reassignment when the leader reports that the new replicas are in sync
(AlterPartition, API key 56). The leaders of a twin have no process, so this reports it for them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kafka_shell.admin.partitions.model import Reassignment, TopicPartition
from kafka_shell.admin.partitions.progress import under_way
from kafka_shell.admin.partitions.stalls import waits_for
from kafka_shell.admin.topics.model import Partition
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan, uuid_of
from kafka_shell.admin.wire.requests import Call
from kafka_shell.admin.wire.schemas.brokers import AlterPartitionRequest
from kafka_shell.errors import ShellError
from kafka_shell.sandbox.state import Sandbox

from .build import connect, connection

_PAUSE_S = 0.05
_SETTLE_S = 20.0
_EPOCHS = 100  # changes of a partition on a twin, at most


@contextmanager
def following(sandbox: Sandbox, epochs: Mapping[int, int]) -> Iterator[None]:
    """Complete the reassignments on a twin while the block runs. `epochs` are those of the
    brokers."""
    ended = threading.Event()
    thread = threading.Thread(target=_follow, args=(sandbox, epochs, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def settle(cluster: Cluster) -> None:
    """Wait until all reassignments on a twin are complete that can be; 20 s at most."""
    for _ in cluster.attempts(_SETTLE_S):
        moving = under_way(cluster).values
        found = scan(cluster, sorted({each.topic for each in moving}))
        leaders = {
            TopicPartition(each.topic, each.partition): each.leader
            for name in found.names
            for each in found.topic(name).partitions
        }
        running = {broker.id for broker in found.brokers}
        if all(waits_for(move, leaders.get(e), running) is not None for e, move in moving.items()):
            return


def _follow(sandbox: Sandbox, epochs: Mapping[int, int], ended: threading.Event) -> None:
    port = sandbox.brokers[0].controller_port
    with connect(sandbox) as cluster, Cluster(connection(port)) as controller:
        while not ended.wait(_PAUSE_S):
            try:
                complete(cluster, controller, epochs)
            except ShellError:
                continue  # the next round tries again, or the twin is stopped


def complete(cluster: Cluster, controller: Cluster, epochs: Mapping[int, int]) -> None:
    """Report that all replicas of all partitions that are being reassigned are in sync."""
    moving = under_way(cluster).values
    if not moving:
        return
    found = scan(cluster, sorted({each.topic for each in moving}))
    calls: list[Call] = []
    for move in moving.values():
        if move.topic not in found:  # it was deleted meanwhile
            continue
        topic = found.topic(move.topic)
        partition = next(each for each in topic.partitions if each.partition == move.partition)
        if partition.leader is not None and partition.leader in epochs:
            calls += _calls(move, topic.id, partition, epochs[partition.leader])
    controller.send_all(calls)


def _calls(move: Reassignment, topic_id: str, partition: Partition, epoch: int) -> Iterator[Call]:
    """One request for each epoch that the partition may have: only that of the right one counts.
    Metadata does not contain it."""
    kind = AlterPartitionRequest.TopicData
    in_sync = [id for id in move.replicas if id in {*partition.isr, *move.adding}]
    for number in range(partition.leader_epoch, partition.leader_epoch + _EPOCHS):
        row = kind.PartitionData(
            partition_index=move.partition,
            leader_epoch=partition.leader_epoch,
            new_isr=in_sync,
            partition_epoch=number,
        )
        topic = kind(topic_id=uuid_of(topic_id), partitions=[row])
        request = AlterPartitionRequest(
            broker_id=partition.leader, broker_epoch=epoch, topics=[topic]
        )
        yield Call(request, check=False)
