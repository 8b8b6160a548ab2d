"""A badly configured cluster. Each fault is made by commands of the shell."""

# ruff: noqa: E501 - lines of the shell are as long as they are
from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from kafka import KafkaProducer

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.requests import Coordinator, CoordinatorKind
from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Shell
from tests.support.waiting import wait_for

DAY = 86_400_000

# topics first: everything else of them is as it should be (two copies wanted, segments of a day)
LINES = """
alter-configs --broker-default min.insync.replicas=2 log.roll.ms=86400000
create-topic fine --partitions 3 --replication-factor 3
create-topic one.copy --partitions 2 --replication-factor 1
create-topic two.copies --partitions 3 --replication-factor 2 --config min.insync.replicas=1
create-topic blocked --partitions 3 --replication-factor 3 --config min.insync.replicas=3
create-topic one.suffices --partitions 3 --replication-factor 3 --config min.insync.replicas=1
create-topic unclean --partitions 3 --replication-factor 3 --config unclean.leader.election.enable=true
create-topic turned --replica-assignment 1:2:3,1:2:3
create-topic forever --partitions 3 --replication-factor 3 --config retention.ms=-1
create-topic endless --partitions 3 --replication-factor 3 --config cleanup.policy=
create-topic brief --partitions 3 --replication-factor 3 --config retention.ms=60000 --config segment.ms=10000
create-topic long --partitions 3 --replication-factor 3 --config retention.ms=7776000000
create-topic late --partitions 3 --replication-factor 3 --config segment.ms=1209600000
create-topic single --partitions 1 --replication-factor 3
create-topic dirty --partitions 3 --replication-factor 3 --config cleanup.policy=compact --config min.cleanable.dirty.ratio=0.95
create-topic forgetful --partitions 3 --replication-factor 3 --config cleanup.policy=compact --config delete.retention.ms=1000
create-topic repacked --partitions 3 --replication-factor 3 --config compression.type=gzip
create-topic huge --partitions 3 --replication-factor 3 --config max.message.bytes=20000000
create-topic prophetic --partitions 3 --replication-factor 3 --config message.timestamp.after.max.ms=9223372036854775807
create-topic flushed --partitions 3 --replication-factor 3 --config flush.messages=1
create-topic throttled --partitions 3 --replication-factor 3
alter-configs throttled leader.replication.throttled.replicas=0:1,0:2
create-topic alike.one_two --partitions 3 --replication-factor 3
create-topic repeats --partitions 3 --replication-factor 3 --config max.message.bytes=1048588
create-topic uneven --partitions 3 --replication-factor 3
create-topic kept --partitions 2 --replication-factor 3 --config retention.ms=2160000000
create-topic keyed --partitions 2 --replication-factor 3
create-topic heavy --replica-assignment 1:2:3,1:3:2,1:2:3,1:3:2,1:2:3,1:3:2
alter-configs --broker-default log.cleaner.threads=2
alter-configs --broker-id 1 log.cleaner.threads=1
alter-configs --logger 1 kafka.log.LogCleaner=DEBUG
update-features streams.version=0 --yes
scram-credentials --username idle --add SCRAM-SHA-512 --iterations 4096 --generate
scram-credentials --username maker --add SCRAM-SHA-512 --iterations 8192 --generate
alter-acls --add 'allow User:* Write on topic fine'
alter-acls --add 'allow User:maker All on group *'
alter-acls --add 'allow User:maker Create on topic fine'
alter-acls --add 'allow User:maker Read on prefixed topic f'
alter-acls --add 'allow User:maker Describe on topic fine'
alter-acls --add 'allow User:maker Read on topic long.gone'
alter-quotas --user-default request_percentage=200
alter-quotas --client-id reports request_percentage=50
alter-quotas --user ghost consumer_byte_rate=1000000
alter-quotas --user maker producer_byte_rate=100 request_percentage=5000
alter-client-configs --user maker acks=1 session.timeout.ms=12000 heartbeat.interval.ms=9000 --yes
"""


def lines() -> list[str]:
    """The commands."""
    return [line for line in LINES.splitlines() if line]


def spoil(sandbox: Sandbox, shell: Shell) -> None:
    """Set every fault that a cluster can be given."""
    for line in lines():
        shell.ok(line)
    with connection(sandbox) as cluster:
        _records(sandbox.bootstrap)
        _groups(sandbox.bootstrap, cluster)
    shell.ok("alter-configs keyed cleanup.policy=compact --yes")  # it has a record without a key
    shell.ok("create-topic gone.by.now")
    with connection(sandbox) as cluster:
        commit(cluster, "orphan", "gone.by.now", 0)
    shell.ok("delete-topic gone.by.now --yes")
    shell.ok("alter-configs __consumer_offsets min.insync.replicas=1")
    _turn(shell)


def connection(sandbox: Sandbox) -> Cluster:
    """A connection."""
    from kafka_shell.admin.wire.endpoint import ConnectionConfig, parse_addresses

    return Cluster(ConnectionConfig(bootstrap=parse_addresses(sandbox.bootstrap)))


def _turn(shell: Shell) -> None:
    """Another preferred replica; who leads stays."""
    file = shell.home / "turned.json"
    file.write_text(
        '{"version": 1, "partitions": [{"topic": "turned", "partition": 0, "replicas": [2, 1, 3]}]}'
    )
    shell.ok(f"reassign-partitions --reassignment-json-file {file} --wait")


def produce(
    bootstrap: str,
    topic: str,
    keys: Sequence[bytes | None],
    *,
    partition: int | None = None,
    at: int | None = None,
    size: int = 20,
    idempotent: bool = True,
    alone: bool = False,
) -> None:
    """A record a key; `alone` sends each in a batch of its own."""
    producer = KafkaProducer(
        bootstrap_servers=bootstrap, acks="all", enable_idempotence=idempotent,
        linger_ms=0 if alone else 60_000,  # a batch is sent by the flush, however slow the sends
    )  # fmt: skip
    try:
        for key in keys:
            sent = producer.send(
                topic, value=b"x" * size, key=key, partition=partition, timestamp_ms=at
            )
            if alone:
                sent.get(timeout=30)
        producer.flush(timeout=30)
    finally:
        producer.close()


def _records(bootstrap: str) -> None:
    now = int(time.time() * 1000)
    some = [None] * 10
    produce(bootstrap, "fine", some)
    produce(bootstrap, "uneven", [None] * 200, partition=0, size=500)
    produce(bootstrap, "uneven", some, partition=1)
    produce(bootstrap, "uneven", some, partition=2)
    produce(bootstrap, "single", [None] * 40, alone=True)
    produce(bootstrap, "prophetic", some, at=now + 2 * DAY)
    produce(bootstrap, "kept", some, partition=0, at=now - 20 * DAY)
    produce(bootstrap, "kept", some, partition=0)
    produce(bootstrap, "kept", some, partition=1)
    produce(bootstrap, "kept", some, partition=1, at=now - 20 * DAY)
    produce(bootstrap, "keyed", [None, b"1", b"2"], partition=0)
    produce(bootstrap, "forgetful", [b"same"] * 150, idempotent=False)


_NOT_YET = (3, 14, 15, 16)  # the coordinator starts, or does not know a new topic


def commit(cluster: Cluster, group: str, topic: str, offset: int, partition: int = 0) -> None:
    """One commit of a group that has no members."""
    from kafka.protocol.consumer import OffsetCommitRequest

    kind = OffsetCommitRequest.OffsetCommitRequestTopic
    request: Any = OffsetCommitRequest(
        group_id=group, generation_id_or_member_epoch=-1, member_id="", group_instance_id=None,
        topics=[kind(name=topic, partitions=[
            kind.OffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_metadata="",
            )])],
    )  # fmt: skip
    answer: Any = None

    def told() -> bool:
        nonlocal answer
        to = Coordinator(CoordinatorKind.GROUP, group)
        answer = cluster.send(request, to, highest=8, check=False)
        return answer.topics[0].partitions[0].error_code not in _NOT_YET

    wait_for(f"the coordinator of {group} answers", told)
    assert answer.topics[0].partitions[0].error_code == 0, answer


def _groups(bootstrap: str, cluster: Cluster) -> None:
    for group, topic, offsets in (
        ("up-to-date", "uneven", (198, 199, 200)),
        ("stalled", "uneven", (7, 7, 7)),
        ("rewound", "uneven", (50, 80, 30)),
        ("slow", "uneven", (190, 191)),
        ("archive", "kept", (20,)),
        ("lost", "uneven", (5_000,)),
    ):
        for offset in offsets:
            commit(cluster, group, topic, offset)
            time.sleep(0.005)  # commits are told apart by their time
    produce(bootstrap, "uneven", [None] * 50, partition=0, size=500)
    commit(cluster, "up-to-date", "uneven", 250)
    commit(cluster, "slow", "uneven", 192)
