"""Batches that are small in the log and large in memory."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from uuid import uuid4

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import codecs
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, make_topic
from tests.support.crafted_batches import batch, produce, record, value, varint
from tests.support.program import Program, Run

MANY = 200_000
KEPT = (("retention.ms", "-1"),)  # their timestamps are of 1970
_LIMIT = """
import resource, sys
from kafka_shell.app import main
from tests.support import cluster_tables
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20), -1))
"""
_PROGRAM = "sys.exit(main(sys.argv[1:]))"
_TABLES = ("batches", "record_samples", "group_commits")
_AUDIT = f"""
import json
tables = cluster_tables.read(sys.argv[2], {_TABLES}).tables
rows = [tables[name].to_pylist() for name in ("record_samples", "collection_status")]
print(json.dumps(rows, default=str))
"""


@pytest.fixture(scope="module")
def where(sandbox: Sandbox) -> TopicPartition:
    """A record, a batch that is too large, one of many records, one of many headers, a record."""
    with connect(sandbox) as cluster:
        topic = make_topic(cluster, f"bombs-{uuid4().hex[:8]}", configs=KEPT)
        where = TopicPartition(topic, 0)
        headers = varint(-1) * 2 + varint(MANY) + b"\0\1" * MANY
        for records, count in (
            (value(b"before"), 1),
            (value(bytes(256 << 20)), 1),
            (b"".join(value(b"", number) for number in range(MANY)), MANY),
            (record(headers), 1),
            (value(b"after"), 1),
        ):
            produce(cluster, where, batch(records, count, codec=codecs.ZSTD))
    return where


def _limited(code: str, program: Program, *words: str) -> Run:
    """The code with 300 MiB more memory than it has at its start."""
    argv = ("--broker", program.broker, *words)
    done = subprocess.run(
        [sys.executable, "-c", _LIMIT + code, *argv], env=program.environment(), check=False,
        capture_output=True, timeout=120,
    )  # fmt: skip
    return Run(argv, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def ten(sandbox: Sandbox) -> str:
    """Ten partitions, each with a batch of one large record and one of 59 records, 60 MiB each."""
    with connect(sandbox) as cluster:
        topic = make_topic(cluster, f"ten-{uuid4().hex[:8]}", 10, configs=KEPT)
        one = batch(value(bytes(60 << 20)), 1, codec=codecs.ZSTD)
        many = b"".join(value(bytes(1 << 20), number) for number in range(59))
        both = one, batch(many, 59, codec=codecs.ZSTD)
        for number in range(10):
            for some in both:
                produce(cluster, TopicPartition(topic, number), some)
    return topic


@pytest.mark.parametrize(("options", "records"), [("--from earliest", 600), ("--last 591", 591)])
def test_partitions_share_the_memory_of_reading_in_order(
    kafka: Program, ten: str, options: str, records: int
) -> None:
    run = _limited(_PROGRAM, kafka, "read-records", ten, "--keys-only", *options.split())
    assert (run.status, run.stdout.count("\n")) == (0, records), run.stderr


@pytest.mark.parametrize(("size", "status"), [("60MiB", 1), ("61MiB", 0)])
def test_the_size_of_a_batch_can_be_chosen(
    kafka: Program, ten: str, size: str, status: int
) -> None:
    run = kafka("read-records", f"{ten}:0", "--count", "--grep", "x", "--max-batch-size", size)
    assert (run.status, "are larger than 60MiB when decompressed" in run.stderr) == (
        status, bool(status),
    ), str(run)  # fmt: skip


@pytest.fixture(scope="module")
def printed(sandbox: Sandbox) -> str:
    """Records of 30 MiB that are larger in a table: JSON with escapes, and the key of a header."""
    size = 30 << 20
    key = varint(-1) * 2 + varint(1) + varint(size) + b"\1" * size + varint(-1)
    with connect(sandbox) as cluster:
        topic = make_topic(cluster, f"printed-{uuid4().hex[:8]}", configs=KEPT)
        for each in (value(b'{"a":"' + rb"\u0001" * (size // 6) + b'"}'), record(key)):
            produce(cluster, TopicPartition(topic, 0), batch(each, codec=codecs.ZSTD))
    return topic


def test_printing_large_records_takes_little_memory(kafka: Program, printed: str) -> None:
    run = _limited(_PROGRAM, kafka, "read-records", printed)
    assert run.status == 0, run.stderr
    assert "\\u0001\\u0001" in run.stdout
    assert "\\x01\\x01" in run.stdout


LARGE = "{}: batch at offset 1: records are larger than 64MiB when decompressed"
BOTH = LARGE + "; 1 other batch cannot be read, either"
HEADERS = "{}: the batch at offset 200002 is corrupt: a record has 200,000 headers"


@pytest.mark.parametrize(
    ("options", "printed", "failure"),
    [
        ("--raw --from earliest", {"before": 1, "": MANY + 1, "after": 1}, LARGE),
        ("--raw --grep before|after", {"before": 1, "after": 1}, BOTH),
        ("--raw --last 2", {"": 1, "after": 1}, HEADERS),
        ("--raw --from 1 --to 2", {}, LARGE),
    ],
)
def test_reading_continues_behind_a_bomb_in_little_memory(
    kafka: Program, where: TopicPartition, options: str, printed: dict[str, int], failure: str
) -> None:
    run = _limited(_PROGRAM, kafka, "read-records", where.topic, *options.split())
    assert Counter(run.stdout.split("\n")[:-1]) == printed
    assert failure.format(f"partition {where}") in run.stderr
    assert run.status == 1


def test_an_audit_counts_the_records_of_bombs_as_unread(
    kafka: Program, where: TopicPartition, ten: str
) -> None:
    run = _limited(_AUDIT, kafka)
    assert run.status == 0, str(run)
    samples, status = run.json
    (row,) = (row for row in samples if row["topic"] == where.topic)
    assert row["unread"] >= 1
    assert row["records"] > 1
    ok = {each["table"] for each in status if each["status"] == "ok"}
    (lost,) = (each for each in status if each["resource"] == f"partition {where}")
    assert (ok, lost["table"], lost["error"]) == (set(_TABLES), "record_samples", "too-large")
