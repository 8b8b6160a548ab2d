"""Keys are assigned to the same partitions as by the Java producer."""

from __future__ import annotations

from random import Random

from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.write import Partitioner, partition_of
from kafka_shell.sandbox.state import Sandbox
from tests.support import java_consumer, java_records
from tests.support.changes import connect, make_topic
from tests.support.jvm_tools import java


def test_ten_thousand_keys_have_the_partitions_of_java(chance: Random) -> None:
    keys = [chance.randbytes(chance.randrange(0, 60)) for _ in range(10_000)]
    of_java = java().org.apache.kafka.clients.producer.internals.BuiltInPartitioner
    wrong = {
        key: count
        for key in keys
        if (count := chance.choice([1, 2, 3, 7, 12, 50, 1000]))
        and partition_of(key, count) != of_java.partitionForKey(key, count)
    }
    assert not wrong


def test_a_java_producer_writes_keys_to_these_partitions(sandbox: Sandbox, name: str) -> None:
    """Its partitioner is the one that it uses."""
    with connect(sandbox) as cluster:
        make_topic(cluster, name, 7)
    keys = [b"", b"order-1", "größe".encode(), b"\xff\x80\x00", *map(b"k%d".__mod__, range(50))]
    java_records.write(sandbox.bootstrap, name, [NewRecord(key, b"") for key in keys])
    found = {each.key: each.partition for each in java_consumer.read(sandbox.bootstrap, name)}
    assert found == {key: partition_of(key, 7) for key in keys}


def test_records_without_keys_go_where_they_can_be_written() -> None:
    choose = Partitioner(10, [2, 5, 7])
    chosen = [choose(NewRecord(None, b"x" * 1000)) for _ in range(5_000)]
    assert set(chosen) == {2, 5, 7}
    assert chosen[:60] == [chosen[0]] * 60, "a batch has one partition"
    assert choose(NewRecord(None, b"", partition=9)) == 9
    assert choose(NewRecord(b"key", b"")) == partition_of(b"key", 10)
