"""write-record while brokers fail or throttle it, and rows that are written back."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas.model import QuotaAlteration, QuotaEntity
from kafka_shell.admin.records import write
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.offsets import ranges
from kafka_shell.admin.records.write import WriteInterrupted, Writer
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import java_consumer
from tests.support.changes import done, make_topic
from tests.support.frozen_process import freeze, thaw
from tests.support.outages import processes, start_all, wait_until_back
from tests.support.program import Program
from tests.support.read_records import read_all
from tests.support.waiting import wait_for

LINES = 60_000
NOON = 1_769_860_800_000  # 2026-01-31T12:00Z


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_broker_fails_while_records_are_written(
    three_brokers: Sandbox,
    three: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: signal.Signals,
) -> None:
    """Each line is written once, and those of a partition in their order."""
    monkeypatch.setattr(write, "_RESPONSE_S", 5.0)  # how long a broker that hangs is waited for
    topic = make_topic(three, f"wf-{uuid4().hex[:8]}", 3, 3)
    victim = processes(three_brokers)[3] or 0
    file = tmp_path / "lines"
    file.write_text("".join(f"{number} {'x' * 500}\n" for number in range(LINES)))

    def fail() -> int:
        written = wait_for("something is written", lambda: _end(three, topic))
        os.kill(victim, how)
        return written

    try:
        with ThreadPoolExecutor(1) as pool:
            failing = pool.submit(fail)
            program = Program(tmp_path / "home", three_brokers.bootstrap)
            run = program("produce", topic, "--from-file", str(file), "--lines")
            written = failing.result()
    finally:
        thaw(victim)
        start_all(three_brokers)
        wait_until_back(three_brokers)
    assert written < LINES, "all was written before the broker failed"
    assert run.status == 0, str(run)
    found = _numbers(three, topic)
    assert sorted(number for some in found for number in some) == list(range(LINES))
    assert all(some == sorted(some) for some in found)


def test_ctrl_c_ends_a_write_to_a_broker_that_hangs(
    three_brokers: Sandbox, three: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within the few seconds for what is in flight, whose outcome is then unknown."""
    topic = make_topic(three, f"wi-{uuid4().hex[:8]}", assignment=((3,),))
    for limit in ("_RESPONSE_S", "_DELIVERY_S"):
        monkeypatch.setattr(write, limit, 3600)
    writer = Writer(three, topic)
    assert all(not each.failure for each in writer.write({0: [NewRecord(b"k", b"1")]}))
    victim = processes(three_brokers)[3] or 0
    freeze(victim)
    ctrl_c = threading.Timer(1, os.kill, [os.getpid(), signal.SIGINT])
    try:
        ctrl_c.start()
        with pytest.raises(WriteInterrupted) as caught:
            writer.write({0: [NewRecord(b"k", b"2")]})
    finally:
        ctrl_c.cancel()
        thaw(victim)
        wait_until_back(three_brokers)
    (written,) = caught.value.written
    assert written.unknown, written


def _end(cluster: Cluster, topic: str) -> int:
    return sum(
        each.max_records for each in ranges(cluster, [TopicPartition(topic, n) for n in range(3)])
    )


def _numbers(cluster: Cluster, topic: str) -> list[list[int]]:
    """The number at the head of each record, by partition."""
    found: list[list[int]] = [[], [], []]
    for record in read_all(cluster, topic):
        found[record.partition].append(int((record.value or b"").split()[0]))
    return found


@contextmanager
def _limited(cluster: Cluster, key: str) -> Iterator[None]:
    """Clients with the ID held-back may send or read 400 kB/s."""
    entity = QuotaEntity(client_id="held-back")
    done(quota_changes.plan_alter(cluster, [QuotaAlteration(entity, key, 400_000)]), cluster)
    try:
        yield
    finally:
        done(quota_changes.plan_alter(cluster, [QuotaAlteration(entity, key, None)]), cluster)


def test_a_quota_holds_writing_and_reading_back(kafka: Program, cluster: Cluster) -> None:
    """It takes longer, and nothing else."""
    topic = make_topic(cluster, f"wq-{uuid4().hex[:8]}")
    text = "".join(f"{number} {'x' * 500}\n" for number in range(12_000))
    held_back = ("--adminclient-property", "client.id=held-back")
    with _limited(cluster, "producer_byte_rate"):
        began = time.monotonic()
        run = kafka(*held_back, "write-record", topic, "--from-file", "-", "--lines", stdin=text)
        assert time.monotonic() - began > 3, "it was not held back"
    assert run.status == 0, str(run)
    assert run.stdout == f"wrote 12,000 records to partition {topic}:0: offsets 0-11999\n"
    with _limited(cluster, "consumer_byte_rate"):
        began = time.monotonic()
        run = kafka(*held_back, "read-records", topic, "--from", "earliest", "--raw")
        assert time.monotonic() - began > 3, "it was not held back"
    assert (run.status, run.stdout == text) == (0, True), run.stderr


def test_what_is_read_as_json_is_written_back_as_the_same_bytes(
    kafka: Program, cluster: Cluster, sandbox: Sandbox
) -> None:
    configs = (("retention.ms", "-1"),)
    first, second = (
        make_topic(cluster, f"wb-{uuid4().hex[:8]}", 2, configs=configs) for _ in range(2)
    )
    source = random.Random(5)
    values = [None, b"", b"text", b'{"a":1}', b'{"a": 1}', b"1e400", b"12345678901234567890",
              b'{"a":1,"a":2}', b"null", b'"x"', b"\xff\x00", b"[1, 2]", "größe\u202e".encode(),
              b"\x1b[31m", *(source.randbytes(30) for _ in range(100))]  # fmt: skip
    headers = (("h", b"\xff"), ("h", None), ("", b""), ("größe", b"1"))
    records: dict[int, list[NewRecord]] = {0: [], 1: []}
    for number, value in enumerate(values):
        key = source.choice(values)
        records[number % 2].append(NewRecord(key, value, headers, None, NOON + number))
    assert all(not each.failure for each in Writer(cluster, first).write(records))
    before = java_consumer.read(sandbox.bootstrap, first)
    rows = kafka.ok("read-records", first, "--from", "earliest", "--output", "json").stdout
    kafka.ok("write-record", second, "--from-file", "-", "--keep-partitions", "--keep-timestamps",
             stdin=rows)  # fmt: skip
    after = java_consumer.read(sandbox.bootstrap, second)
    assert [_rest(each) for each in after] == [_rest(each) for each in before]


def _rest(record: Record) -> tuple[object, ...]:
    return (record.partition, record.offset, record.timestamp, record.key, record.value,
            record.headers)  # fmt: skip
