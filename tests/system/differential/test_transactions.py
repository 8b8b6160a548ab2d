"""Transactions: the same as reported by kafka-transactions."""

from __future__ import annotations

from uuid import uuid4

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.transactions import (
    change as transaction_changes,
)
from kafka_shell.admin.transactions import (
    producers,
)
from kafka_shell.admin.transactions import (
    read as transactions,
)
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.jvm_tools import run_tool
from tests.support.transactional_producer import HOUR_MS, Producer, hang

MAIN = "org.apache.kafka.tools.TransactionsCommand"
Row = dict[str, str]


def tool(sandbox: Sandbox, *arguments: str) -> list[Row]:
    """The rows of the table that kafka-transactions prints."""
    run = run_tool(MAIN, "--bootstrap-server", sandbox.bootstrap, *arguments)
    assert run.returncode == 0, run.stdout + run.stderr
    heading, *rows = [line.split("\t") for line in run.stdout.splitlines() if line.strip()]
    names = [name.strip() for name in heading]
    found = (zip(names, map(str.strip, row), strict=False) for row in rows)
    return [{name: cell for name, cell in row if name} for row in found]


def test_a_transaction_under_way(sandbox: Sandbox, cluster: Cluster) -> None:
    name = make_topic(cluster, f"d-{uuid4().hex[:8]}", 2)
    producer = Producer.start(cluster, name)
    producer.add(TopicPartition(name, 0), TopicPartition(name, 1))
    producer.write(TopicPartition(name, 0))

    listed = transactions.list_transactions(cluster)
    ours = {
        (row.transactional_id, str(row.coordinator), str(row.producer_id), row.state)
        for rows in listed
        for row in rows
    }
    assert ours == {
        (row["TransactionalId"], row["Coordinator"], row["ProducerId"], row["TransactionState"])
        for row in tool(sandbox, "list")
    }
    (row,) = tool(sandbox, "describe", "--transactional-id", name)
    (told,) = transactions.describe(cluster, [name])
    assert row.pop("TransactionDurationMs").isdecimal()
    assert sorted(row.pop("TopicPartitions").split(",")) == [f"{name}-0", f"{name}-1"]
    assert [str(each) for each in told.partitions] == [f"{name}:0", f"{name}:1"]
    assert row == {
        "CoordinatorId": str(told.coordinator),
        "TransactionalId": name,
        "ProducerId": str(told.producer_id),
        "ProducerEpoch": str(told.producer_epoch),
        "TransactionState": told.state,
        "TransactionTimeoutMs": str(told.timeout_ms),
        "CurrentTransactionStartTimeMs": str(told.started),
    }
    (row,) = tool(sandbox, "describe-producers", "--topic", name, "--partition", "0")
    (state,) = producers.describe(cluster, [TopicPartition(name, 0)])[TopicPartition(name, 0)]
    assert row == {
        "ProducerId": str(state.producer_id),
        "ProducerEpoch": str(state.producer_epoch),
        "LatestCoordinatorEpoch": "-1",
        "LastSequence": str(state.last_sequence),
        "LastTimestamp": str(state.last_timestamp),
        "CurrentTransactionStartOffset": str(state.transaction_start),
    }
    producer.end(commit=True)


def test_what_hangs(sandbox: Sandbox, cluster: Cluster) -> None:
    name = make_topic(cluster, f"d-{uuid4().hex[:8]}", 2)
    each, other = TopicPartition(name, 0), TopicPartition(name, 1)
    hang(cluster, each, f"{name}-lost", HOUR_MS)
    hang(cluster, other, f"{name}-too", HOUR_MS)
    words = ("find-hanging", "--topic", name)
    found = {one.topic_partition: one for one in transactions.find_hanging(
        cluster, topics=[name]).found}  # fmt: skip
    rows = tool(sandbox, *words)
    assert {
        (row["Partition"], row["ProducerId"], row["StartOffset"], row["LastTimestamp"])
        for row in rows
    } == {
        (str(o.partition), str(o.producer_id), str(o.start_offset), str(o.last_timestamp))
        for o in found.values()
    }
    done(transaction_changes.plan_abort(cluster, [found[each]]), cluster)
    assert [row["Partition"] for row in tool(sandbox, *words)] == ["1"], "ours ended one"
    start = str(found[other].start_offset)
    tool_abort = run_tool(
        MAIN, "--bootstrap-server", sandbox.bootstrap,
        "abort", "--topic", name, "--partition", "1", "--start-offset", start,
    )  # fmt: skip
    assert tool_abort.returncode == 0, tool_abort.stderr
    assert transactions.find_hanging(cluster, topics=[name]).found == (), "theirs ended the other"
