"""write-record from the command line; the records are read by Kafka's own consumer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.write import partition_of
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import java_consumer
from tests.support.changes import make_topic
from tests.support.in_process_shell import Shell
from tests.support.program import Process, Program
from tests.support.waiting import wait_for


@pytest.fixture
def topic(cluster: Cluster) -> str:
    return make_topic(cluster, f"w-{uuid4().hex[:8]}", 3)


def read(sandbox: Sandbox, topic: str) -> list[Record]:
    return java_consumer.read(sandbox.bootstrap, topic)


def test_one_record(kafka: Program, sandbox: Sandbox, topic: str) -> None:
    run = kafka.ok("write-record", topic, "größe", "--key", "k1", "--header", "a=1",
                   "--header", "a=", "--output", "json")  # fmt: skip
    where = partition_of(b"k1", 3)
    (change,) = run.json["changes"]
    assert (change["resource"], change["after"]) == (f"partition {topic}:{where}", 0)
    (record,) = read(sandbox, topic)
    assert (record.key, record.value) == (b"k1", "größe".encode())
    assert record.headers == (("a", b"1"), ("a", b"")) and record.partition == where


def test_a_tombstone_an_empty_value_and_a_partition(
    kafka: Program, sandbox: Sandbox, topic: str
) -> None:
    kafka.ok("produce", topic, "--key", "k", "--tombstone", "--partition", "2")
    kafka.ok("produce", topic, "", "--partition", "1")
    assert [(each.partition, each.key, each.value) for each in read(sandbox, topic)] == [
        (1, None, b""),
        (2, b"k", None),
    ]


def test_rows_are_written_back(kafka: Program, sandbox: Sandbox, topic: str) -> None:
    """Key, value and headers; partition and timestamp only if they are to be kept."""
    rows = [
        {"topic": "x", "partition": 2, "offset": 7, "timestamp": "2026-11-01T10:00:00.123Z",
         "timestamp_type": "CreateTime", "key": "a", "value": {"n": 1},
         "headers": [{"key": "h", "value": "1"}, {"key": "n", "value": None}]},
        {"partition": 2, "timestamp": 1, "key": None, "value": "?", "value_base64": "/w=="},
        {"partition": 2, "timestamp": None, "key": "t", "value": None},
    ]  # fmt: skip
    text = "\n\n".join(map(json.dumps, rows))
    run = kafka.ok("write-record", topic, "--from-file", "-", "--keep-partitions",
                   "--keep-timestamps", stdin=text)  # fmt: skip
    assert run.stdout == f"wrote 3 records to partition {topic}:2: offsets 0, 1, 2\n"
    found = read(sandbox, topic)
    assert [(r.partition, r.key, r.value, r.headers) for r in found] == [
        (2, b"a", b'{"n":1}', (("h", b"1"), ("n", None))),
        (2, None, b"\xff", ()),
        (2, b"t", None, ()),
    ]
    assert found[0].timestamp == 1_793_527_200_123 and found[1].timestamp == 1
    before = time.time() * 1000 - 1
    kafka.ok("write-record", topic, "--from-file", "-", stdin=text)
    moved = [r for r in read(sandbox, topic) if r.key == b"a"]
    assert partition_of(b"a", 3) in {r.partition for r in moved}
    assert max(r.timestamp for r in moved) > before


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_many_lines(kafka: Program, sandbox: Sandbox, topic: str, codec: str) -> None:
    text = "".join(f"value {number}\n" for number in range(2_000))
    run = kafka.ok("produce", topic, "--from-file", "-", "--lines", "--partition", "1", "--key",
                   "same", "--compression-type", codec, stdin=text)  # fmt: skip
    assert run.stdout == f"wrote 2,000 records to partition {topic}:1: offsets 0-1999\n"
    found = read(sandbox, topic)
    assert [each.value for each in found] == text.encode().splitlines()
    assert {each.key for each in found} == {b"same"}


def test_an_invalid_line_of_a_file_is_found_before_anything_is_written(
    kafka: Program, sandbox: Sandbox, topic: str, tmp_path: Path
) -> None:
    rows = ['{"value":1}'] * 60_000 + ['{"value":', ""]
    (tmp_path / "rows").write_text("\n".join(rows))
    run = kafka("write-record", topic, "--from-file", str(tmp_path / "rows"))
    assert run.status == 2 and "rows:60001: not a row of a record" in run.stderr, str(run)
    assert read(sandbox, topic) == []


def test_a_record_that_the_broker_refuses_is_data(
    kafka: Program, cluster: Cluster, sandbox: Sandbox
) -> None:
    topic = make_topic(cluster, f"w-{uuid4().hex[:8]}", configs=(("max.message.bytes", "500"),))
    lines = "\n".join(["small", "x" * 1_000, "small too"])
    run = kafka("produce", topic, "--from-file", "-", "--lines", stdin=lines)
    assert run.status == 1
    assert "error: line 2: " in run.stderr and "MESSAGE_TOO_LARGE" in run.stderr
    assert run.stdout == f"wrote 2 records to partition {topic}:0: offsets 0, 1\n"
    assert [each.value for each in read(sandbox, topic)] == [b"small", b"small too"]
    (entry,) = kafka.ok("journal", "--output", "json").json
    assert entry["status"] == "failed" and len(entry["changes"]) == 3


def test_a_guard_asks_once_and_no_guard_never(sandbox: Sandbox, topic: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path, sandbox.bootstrap)
    shell.ok(f"write-record {topic} v")
    shell.profile("prod", sandbox.bootstrap, guard="confirm")
    refused = shell(f"write-record {topic} v --profile prod", answer="n")
    assert refused.status == 1 and "not confirmed" in refused.err
    no_terminal = shell(f"write-record {topic} v --profile prod")
    assert no_terminal.status == 2 and "--yes" in no_terminal.err
    assert shell(f"write-record {topic} v --profile prod", answer="y").status == 0
    assert len(read(sandbox, topic)) == 2


def test_standard_input_is_written_as_it_arrives(
    sandbox: Sandbox, topic: str, tmp_path: Path
) -> None:
    """As of `tail -f`; after Ctrl-C, what was written is known."""
    home = Process(tmp_path, sandbox.bootstrap)
    command = [sys.executable, "-m", "kafka_shell", "--broker", sandbox.bootstrap, "produce",
               topic, "--from-file", "-", "--lines", "--partition", "0"]  # fmt: skip
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=home.environment(), text=True
    ) as running:
        assert running.stdin is not None and running.stderr is not None
        for number in range(2):
            running.stdin.write(f"line {number}\n")
            running.stdin.flush()
            wait_for(f"{number + 1} records", lambda n=number: len(read(sandbox, topic)) == n + 1)  # type: ignore[misc]
        os.kill(running.pid, signal.SIGINT)
        err = running.stderr.read()
    assert running.returncode == 130, err
    assert "2 records written" in err, err
    (entry,) = home.ok("journal", "--output", "json").json
    assert [change["after"] for change in entry["changes"]] == [0, 1]


def test_a_stream_without_pauses_is_written_as_it_arrives(
    sandbox: Sandbox, topic: str, tmp_path: Path
) -> None:
    home = Process(tmp_path, sandbox.bootstrap)
    command = [sys.executable, "-m", "kafka_shell", "--broker", sandbox.bootstrap, "produce",
               topic, "--from-file", "-", "--lines"]  # fmt: skip
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=home.environment(), text=True
    ) as running:
        stream = running.stdin
        assert stream is not None

        def next_line() -> bool:
            stream.write("line\n")
            stream.flush()
            return bool(read(sandbox, topic))

        wait_for("a record is written while more arrive", next_line)
        stream.close()
        assert running.wait(60) == 0
