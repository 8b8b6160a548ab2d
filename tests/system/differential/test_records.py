"""read-records and write-record compared with kcat and Kafka's console tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import KEPT, make_topic
from tests.support.jvm_tools import run_tool, tool_command
from tests.support.program import Program

KCAT = shutil.which("kcat") or shutil.which("kafkacat")
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
COUNT = 300

needs_kcat = pytest.mark.skipif(KCAT is None, reason="kcat is not installed here")


@pytest.fixture
def topic(cluster: Cluster) -> str:
    """Three partitions, one of which stays empty."""
    return make_topic(cluster, f"kc-{uuid4().hex[:8]}", 3, configs=KEPT)


def kcat(sandbox: Sandbox, *words: str, given: str | None = None) -> str:
    """What kcat prints."""
    assert KCAT is not None
    command = [KCAT, "-b", sandbox.bootstrap, "-q", *words]
    run = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return run.stdout


def by_place(rows: Iterator[dict[str, object]]) -> list[tuple[object, ...]]:
    """Partition, offset, time, key and value of each, in order."""
    return sorted(
        (row["partition"], row["offset"], row["ts"], row["key"], row["payload"]) for row in rows
    )


@needs_kcat
@pytest.mark.parametrize("codec", CODECS)
def test_what_kcat_writes_and_reads(
    sandbox: Sandbox, kafka: Program, topic: str, codec: str
) -> None:
    text = "".join(f"key {number}\tvalue {number} ü {'x' * 50}\n" for number in range(COUNT))
    for partition in ("0", "2"):
        kcat(sandbox, "-P", "-t", topic, "-p", partition, "-K", "\t", "-z", codec, "-H", "a=b=c",
             given=text)  # fmt: skip
    theirs = kcat(sandbox, "-C", "-t", topic, "-e", "-J").splitlines()
    ours = kafka.ok("read-records", topic, "--from", "earliest", "--output", "json").stdout
    rows = [json.loads(line) for line in ours.splitlines()]
    assert len(rows) == 2 * COUNT
    assert all(row["headers"] == [{"key": "a", "value": "b=c"}] for row in rows)
    found = [row | {"ts": _milliseconds(row["timestamp"]), "payload": row["value"]} for row in rows]
    assert by_place(iter(found)) == by_place(map(json.loads, theirs))


@needs_kcat
@pytest.mark.parametrize("codec", CODECS)
def test_kcat_reads_what_is_written(
    sandbox: Sandbox, kafka: Program, topic: str, codec: str
) -> None:
    lines = [f"{number} ü {'x' * 50}" for number in range(COUNT)]
    kafka.ok("write-record", topic, "--from-file", "-", "--lines", "--partition", "1",
             "--compression-type", codec, "--header", "h=1", stdin="\n".join(lines))  # fmt: skip
    read = [json.loads(line) for line in kcat(sandbox, "-C", "-t", topic, "-e", "-J").splitlines()]
    assert [row["payload"] for row in read] == lines
    assert {tuple(row["headers"]) for row in read} == {("h", "1")}
    assert {row["partition"] for row in read} == {1}


def test_the_console_tools_write_and_read_the_same(
    sandbox: Sandbox, kafka: Program, topic: str
) -> None:
    lines = [f"{number}:value {number}" for number in range(50)]
    produce = tool_command(
        "org.apache.kafka.tools.ConsoleProducer", "--bootstrap-server", sandbox.bootstrap,
        "--topic", topic, "--reader-property", "parse.key=true",
        "--reader-property", "key.separator=:",
    )  # fmt: skip
    subprocess.run(produce, input="\n".join(lines), text=True, check=True, capture_output=True)
    ours = kafka.ok("read-records", topic, "--from", "earliest", "--output", "json").stdout
    rows = [json.loads(line) for line in ours.splitlines()]
    assert sorted(f"{row['key']}:{row['value']}" for row in rows) == sorted(lines)

    kafka.ok("write-record", topic, "last", "--key", "k")
    theirs = run_tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server",
        sandbox.bootstrap, "--topic", topic, "--from-beginning", "--max-messages", "51",
        "--formatter-property", "print.key=true", "--formatter-property", "key.separator=:",
    )  # fmt: skip
    assert sorted(theirs.stdout.splitlines()) == sorted([*lines, "k:last"])


def _milliseconds(text: str) -> int:
    from datetime import datetime

    return round(datetime.fromisoformat(text).timestamp() * 1000)
