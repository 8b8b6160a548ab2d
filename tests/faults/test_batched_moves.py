"""Brokers and the shell are killed and frozen during a move in batches, while records are written.

No acknowledged record is lost, no throttle is left, and the final replicas are the planned ones.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

from kafka_shell.admin.partitions.batch_state import Batch
from kafka_shell.admin.partitions.batched import InBatches
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.reassignment_files import MovePaths
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.commands.partitions.batch_store import BatchFile
from kafka_shell.sandbox.cluster import start_broker
from kafka_shell.sandbox.state import Sandbox
from tests import moving
from tests.admin.helpers import connect, wait_for
from tests.faults.common import timed
from tests.freezing import freeze, thaw
from tests.moving import Filled, replicas
from tests.program import Program
from tests.well import processes, wait_until_back

MARK = b"acked"


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def kafka(three_brokers: Sandbox, cluster: Cluster, tmp_path: Path) -> Iterator[Program]:
    yield Program(tmp_path / "home", three_brokers.bootstrap)
    moving.restore(cluster)


@pytest.fixture(scope="module")
def filled(three_brokers: Sandbox, cluster: Cluster) -> Filled:
    return Filled(three_brokers, cluster)


class Writer:
    """Writes numbered records to partition 0 of topics with acks=all, until it is stopped."""

    def __init__(self, sandbox: Sandbox, topics: Sequence[str]) -> None:
        from kafka import KafkaProducer

        self._bootstrap, self._topics = sandbox.bootstrap.split(","), topics
        self._producer = KafkaProducer(
            bootstrap_servers=self._bootstrap, acks="all", retries=1_000,
            delivery_timeout_ms=120_000, request_timeout_ms=5_000, max_block_ms=120_000,
        )  # fmt: skip
        self._stopped, self._acked = threading.Event(), dict[str, list[int]]()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        number = 0
        while not self._stopped.wait(0.02):
            for topic in self._topics:
                value = str(number).encode()
                sent = self._producer.send(topic, value, key=MARK, partition=0)
                sent.add_callback(
                    lambda _, n=number, t=topic: self._acked.setdefault(t, []).append(n)
                )
            number += 1

    def missing(self) -> dict[str, list[int]]:
        """Stops; by topic the acknowledged records that cannot be read."""
        self._stopped.set()
        self._thread.join()
        self._producer.flush(60)
        self._producer.close()
        assert all(len(self._acked.get(topic, ())) > 100 for topic in self._topics), self._acked
        return {topic: lost for topic in self._topics if (lost := self._lost(topic))}

    def _lost(self, topic: str) -> list[int]:
        from kafka import KafkaConsumer
        from kafka.structs import TopicPartition as Place

        consumer = KafkaConsumer(bootstrap_servers=self._bootstrap, group_id=None)
        place = Place(topic, 0)
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        end, found = consumer.end_offsets([place])[place], set[int]()
        while consumer.position(place) < end:
            for rows in consumer.poll(1_000).values():
                found.update(int(row.value) for row in rows if row.key == MARK)
        consumer.close()
        return sorted(set(self._acked[topic]) - found)


@contextmanager
def running(kafka: Program, line: str) -> Iterator[Popen[str]]:
    with Popen(
        [sys.executable, "-m", "kafka_shell", "--broker", kafka.broker, *line.split()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=kafka.environment(),
    ) as program:  # fmt: skip
        try:
            yield program
        finally:
            program.kill()


def kill(sandbox: Sandbox, cluster: Cluster, broker: int) -> None:
    """kill -9, and wait until the others know."""
    pid = processes(sandbox)[broker]
    assert pid is not None, f"broker {broker} is not up"
    os.kill(pid, signal.SIGKILL)
    wait_for(f"broker {broker} is down", lambda: broker not in up(cluster), 60)


@contextmanager
def hanging(sandbox: Sandbox, broker: int) -> Iterator[None]:
    """SIGSTOP. What is held by a throttle is not in sync afterwards."""
    pid = processes(sandbox)[broker]
    assert pid is not None, f"broker {broker} is not up"
    freeze(pid)
    try:
        yield
    finally:
        thaw(pid)


def up(cluster: Cluster) -> list[int]:
    return [broker.id for broker in cluster.brokers(refresh=True)]


def started(kafka: Program, cluster: Cluster, topics: Sequence[str], folder: Path) -> str:
    """The ID of a move of partition 0 of these topics to brokers 2 and 3, a topic at a time, whose
    first batch is held by its throttle."""
    rows = [{"topic": topic, "partition": 0, "replicas": [2, 3]} for topic in topics]
    file = folder / "wanted.json"
    file.write_text(json.dumps({"version": 1, "partitions": rows}))
    line = f"reassign-partitions --reassignment-json-file {file} --batch 1 --throttle 1"
    run = kafka.ok(*line.split())
    wait_for("the first batch moves", lambda: moving.moving(cluster, topics[0]) == {0: (3,)})
    found = re.search(r"reassign-partitions --resume ([0-9a-f]{8})", run.stderr)
    assert found is not None, str(run)
    return found[1]


def moves_now(kafka: Program) -> bool:
    """Whether a session moves the batches."""
    (paths,) = MovePaths.unfinished(kafka.home / "state" / "reassignments")
    return BatchFile(paths).in_use


def test_the_destination_is_killed_and_its_throttle_is_lifted_when_it_is_back(
    three_brokers: Sandbox, cluster: Cluster, kafka: Program, filled: Filled, tmp_path: Path
) -> None:
    topics = filled.topics(2)
    writer = Writer(three_brokers, topics)
    id = started(kafka, cluster, topics, tmp_path)
    try:
        kill(three_brokers, cluster, 3)
        waits = kafka("verify-reassign-partitions")
        assert "waiting for broker 3, which is down" in waits.stdout, str(waits)
        batch = Batch(2, {TopicPartition(topics[1], 0): (2, 3)})
        assert InBatches().problem(cluster, batch) == "broker 3 is down"
        ended, took = timed(kafka, "reassign-partitions", "--resume", id, "--deadline", "6s")
        assert ended.status == 1 and took < 7.5, f"{took:.1f} s: {ended}"
        assert "waiting for broker 3, which is down (1 partition)" in ended.stderr
        assert f"reassign-partitions --cancel --partitions {topics[0]}:0" in ended.stderr
        retarget = f"reassign-partitions --drain 3 --partitions {topics[0]}:0 --additional"
        assert retarget in ended.stderr, str(ended)
        cancelled = kafka.ok("reassign-partitions", "--cancel", "--resume", id)
        assert "the throttle of broker 3, which is down, stays set" in cancelled.stderr
        left = kafka("verify-reassign-partitions")
        assert left.status == 1 and "broker 3 is down; --finish removes it" in left.stdout
        assert "leftover throttles of brokers that are down" in kafka("health").stdout
        with running(kafka, "verify-reassign-partitions --finish") as finish:
            start_broker(three_brokers.folder, 3)
            _, err = finish.communicate(timeout=90)
        assert finish.returncode == 0, err
    finally:
        start_broker(three_brokers.folder, 3)
    assert kafka.ok("verify-reassign-partitions").stdout == "", "a throttle is left"
    assert moving.throttles(cluster, *topics) == {}, "a throttle is left"
    assert writer.missing() == {}, "acknowledged records are lost"
    wait_until_back(three_brokers)


def test_the_source_and_the_shell_are_killed_and_brokers_hang_during_a_resume(
    three_brokers: Sandbox, cluster: Cluster, kafka: Program, filled: Filled, tmp_path: Path
) -> None:
    topics = filled.topics(2)
    writer = Writer(three_brokers, topics)
    id = started(kafka, cluster, topics, tmp_path)
    with running(kafka, f"reassign-partitions --resume {id}") as shell:
        wait_for("it is resumed", lambda: moves_now(kafka))
        try:
            kill(three_brokers, cluster, 1)
            shell.kill()
        finally:
            start_broker(three_brokers.folder, 1)
    moving.wait_until_up(cluster)
    with running(kafka, f"reassign-partitions --resume {id}") as shell:
        wait_for("it is resumed again", lambda: moves_now(kafka))
        for broker in (3, 1):
            with hanging(three_brokers, broker):
                wait_for("it is noticed", lambda broker=broker: broker not in up(cluster), 60)
                assert shell.poll() is None, f"the shell gave up: {shell.communicate()}"
            moving.wait_until_up(cluster)
        kafka.ok("reassign-partitions", "--resume", id, "--throttle", "900MB/s")
        out, err = shell.communicate(timeout=120)
    assert shell.returncode == 0, f"{out}\n{err}"
    assert [replicas(cluster, topic)[0] for topic in topics] == [(2, 3), (2, 3)]
    assert moving.throttles(cluster, *topics) == {}, "a throttle is left"
    assert not list(kafka.home.glob("state/reassignments/*-batches.json"))
    assert writer.missing() == {}, "acknowledged records are lost"
    wait_until_back(three_brokers)
