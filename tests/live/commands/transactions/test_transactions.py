"""The commands on transactions."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.program import Program
from tests.support.transactional_producer import HOUR_MS, Producer, hang


@pytest.fixture
def topic(cluster: Cluster) -> str:
    return make_topic(cluster, f"txn-{uuid4().hex[:8]}")


def test_what_hangs_is_found_shown_and_aborted(
    cluster: Cluster, kafka: Program, topic: str
) -> None:
    start = hang(cluster, TopicPartition(topic, 0), f"{topic}-lost", HOUR_MS)

    found = kafka("find-hanging-transactions", topic)
    assert found.status == 1, str(found)
    assert "1 hanging transaction" in found.stdout
    line = f"abort-transaction {topic}:0 --start-offset {start}"
    assert line in found.stdout
    rows = kafka("find-hanging-transactions", topic, "--output", "json").json["found"]
    assert [(row["topic"], row["start_offset"]) for row in rows] == [(topic, start)]
    patient = kafka.ok("find-hanging-transactions", topic, "--max-transaction-timeout", "90")
    assert "no hanging transaction" in patient.stdout, "90 are minutes"

    unasked = kafka(*line.split())
    assert unasked.status == 2, "nobody is there to ask, and there is no --yes"
    planned = kafka.ok(*line.split(), "--dry-run")
    assert f"{topic}:0" in planned.stdout
    assert kafka("find-hanging-transactions", topic).status == 1, "a dry run aborts nothing"
    done = kafka.ok(*line.split(), "--yes")
    assert f"{topic}:0" in done.stdout + done.stderr
    assert kafka("find-hanging-transactions", topic).status == 0
    again = kafka(*line.split(), "--yes")
    assert again.status == 1
    assert "no open transaction" in again.stderr


def test_all_that_hangs_of_a_transactional_id(cluster: Cluster, kafka: Program, topic: str) -> None:
    hang(cluster, TopicPartition(topic, 0), f"{topic}-lost", HOUR_MS)
    other = kafka.ok("abort-transaction", "--hanging", "--topic", f"{topic}:0", "--dry-run")
    assert f"{topic}:0" in other.stdout
    kafka.ok("abort-transaction", "--transactional-id", f"{topic}-lost", "--yes")
    assert kafka("find-hanging-transactions", topic).status == 0


def test_a_live_transaction_is_fenced_and_not_aborted_by_markers(
    cluster: Cluster, kafka: Program, topic: str
) -> None:
    producer = Producer.start(cluster, topic)
    producer.add(TopicPartition(topic, 0))
    producer.write(TopicPartition(topic, 0))

    listed = kafka.ok("list-transactions", "--state", "Ongoing")
    assert any(line.split()[::3] == [topic, "Ongoing"] for line in listed.lines), str(listed)
    (told,) = kafka.ok("describe-transactions", topic, "--output", "json").json
    assert told["partitions"] == [{"topic": topic, "partition": 0}]
    refused = kafka("abort-transaction", "--transactional-id", topic, "--yes")
    assert refused.status == 1
    assert f"fence-producer {topic}" in refused.stderr
    kafka.ok("fence-producer", topic, "--yes")
    with pytest.raises(AssertionError):
        producer.write(TopicPartition(topic, 0))


def test_the_producers_of_a_partition(cluster: Cluster, kafka: Program, topic: str) -> None:
    empty = kafka.ok("describe-producers", f"{topic}:0")
    assert "no active producers" in empty.stderr
    producer = Producer.start(cluster, topic)
    producer.add(TopicPartition(topic, 0))
    producer.write(TopicPartition(topic, 0))
    one = kafka.ok("describe-producers", "--topic", topic, "--partition", "0", "--broker-id", "1")
    assert str(producer.producer_id) in one.stdout.split()
    producer.end(commit=True)


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("describe-transactions nobody-has-this", 1, "the transactional ID does not exist"),
        ("fence-producer nobody-has-this --yes", 1, "the transactional ID does not exist"),
        ("describe-producers not.there", 1, "not.there"),
        ("find-hanging-transactions not.there", 1, "not.there"),
        ("find-hanging-transactions --partition 0", 2, "--partition requires exactly one topic"),
        (
            "find-hanging-transactions --max-transaction-timeout soon",
            2,
            "minutes",
        ),
        ("abort-transaction --start-offset 5", 2, "requires exactly one partition"),
        ("abort-transaction orders:0", 2, "--start-offset"),
        ("list-transactions --state Open", 1, "Open"),
    ],
)
def test_invalid_arguments_are_reported(kafka: Program, line: str, status: int, said: str) -> None:
    run = kafka(*line.split())
    assert run.status == status, str(run)
    assert said in run.stdout + run.stderr, str(run)
