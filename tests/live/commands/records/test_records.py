"""list-offsets and delete-records from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.produced_records import fill
from tests.support.program import Program
from tests.support.transactional_producer import hang

NOON = 1_769_860_800_000  # 2026-01-31T12:00Z


@pytest.fixture
def topic(cluster: Cluster, sandbox: Sandbox) -> str:
    """Two partitions; in the second five records, one a minute from noon on."""
    name = make_topic(cluster, f"rec-{uuid4().hex[:8]}", 2, configs=(("retention.ms", "-1"),))
    times = [NOON + 60_000 * minute for minute in range(5)]
    fill(sandbox.bootstrap, name, 5, partition=1, times=times)
    return name


def test_what_partitions_hold(kafka: Program, topic: str) -> None:
    run = kafka.ok("list-offsets", topic)
    assert run.lines[0].split() == ["TOPIC", "PARTITION", "EARLIEST", "LATEST", "MAX-RECORDS"]
    assert [line.split()[1:] for line in run.lines[1:]] == [
        ["0", "0", "0", "0"],
        ["1", "0", "5", "5"],
    ]
    [row] = kafka.ok("list-offsets", f"{topic}:1", "--output", "json").json
    assert row == {"topic": topic, "partition": 1, "earliest": 0, "latest": 5, "max_records": 5}


@pytest.mark.parametrize(
    ("time", "offset", "at"),
    [
        ("2026-01-31T12:00:30Z", 1, "2026-01-31T12:01:00+00:00"),
        (str(NOON + 1), 1, "2026-01-31T12:01:00+00:00"),
        ("max-timestamp", 4, "2026-01-31T12:04:00+00:00"),
        ("earliest", 0, None),
        ("LATEST", 5, None),
        ("earliest-local", 0, None),
        ("latest-tiered", None, None),
        ("2030-01-01", None, None),
        ("-1", 5, None),  # Kafka's own numbers
        ("-2", 0, None),
        ("-3", 4, "2026-01-31T12:04:00+00:00"),
    ],
)
def test_where_a_time_is(
    kafka: Program, topic: str, time: str, offset: int | None, at: str | None
) -> None:
    run = kafka.ok("list-offsets", f"{topic}:1", f"--time={time}", "--output", "json")
    [row] = run.json
    assert row["offset"] == offset, str(run)
    if at:
        assert at in kafka.ok("list-offsets", f"{topic}:1", "--time", time).stdout


def test_committed_records_end_where_an_open_transaction_begins(
    kafka: Program, cluster: Cluster, topic: str
) -> None:
    hang(cluster, TopicPartition(topic, 1), f"{topic}-open")
    words = ("list-offsets", f"{topic}:1", "--output", "json")
    [row] = kafka.ok(*words).json
    [committed] = kafka.ok(*words, "--isolation", "read_committed").json
    assert (row["latest"], committed["latest"], committed["max_records"]) == (6, 5, 5)
    [at] = kafka.ok(*words, "--isolation", "read_committed", "--time", "latest").json
    assert at["offset"] == 5
    run = kafka("list-offsets", topic, "--isolation", "read-committed")
    assert run.status == 2 and "read_committed" in run.stderr, "Kafka's spelling, and no other"
    done(topic_changes.plan_delete(cluster, [topic]), cluster)


def test_a_relative_time_needs_no_quoting(kafka: Program, topic: str) -> None:
    assert kafka.ok("list-offsets", topic, "--time", "-1h", "--output", "json").json[1][
        "offset"
    ] in (None, 0)


def test_some_are_there_and_some_are_not(kafka: Program, topic: str) -> None:
    run = kafka("list-offsets", f"{topic}:0,7", f"{topic}x", "--time", "latest")
    assert run.status == 1
    assert len(run.lines) == 2, "what is there is shown all the same"
    assert f"topic {topic} has no partition 7" in run.stderr
    assert f"Did you mean {topic}?" in run.stderr


def test_internal_topics_can_be_left_out(kafka: Program, topic: str) -> None:
    rows = kafka.ok("list-offsets", "--exclude-internal", "--output", "json").json
    names = {row["topic"] for row in rows}
    assert topic in names
    assert not names & {"__consumer_offsets", "__transaction_state", "__share_group_state"}


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        (("list-offsets", "t", "--time", "soon"), 2, "2026-01-31T10:00 or -1h, or one of"),
        (("list-offsets", "t:x"), 2, "a topic and partitions such as orders:0,3-5"),
        (("list-offsets", "t:0,u:1"), 2, "must be a single topic"),
        (("list-offsets", "/t(/"), 2, "invalid regular expression"),
        (("list-offsets", "nothing-like-it-*"), 1, "no topic matches 'nothing-like-it-*'"),
        (("delete-records", "t"), 2, "--to"),
        (("delete-records", "--to", "1"), 2, "TOPIC"),
        (("delete-records", "t", "--to", "soon"), 2, "an offset, a time"),
        (("delete-records", "t", "--offset-json-file", "f"), 2, "cannot be used with"),
        (("delete-records", "--offset-json-file", "/no/such/file"), 2, "cannot be read"),
    ],
)
def test_invalid_arguments_are_reported(
    kafka: Program, line: tuple[str, ...], status: int, said: str
) -> None:
    run = kafka(*line)
    assert run.status == status, str(run)
    assert said in run.stderr, str(run)


def test_records_go_after_a_yes(kafka: Program, topic: str) -> None:
    planned = kafka.ok("delete-records", f"{topic}:1", "--to", "2", "--dry-run")
    assert "first offset: 0 -> 2 (deletes up to 2 records) (irreversible)" in planned.stdout
    every = kafka.ok("delete-records", topic, topic, "--to", "latest", "--dry-run")
    assert "no change: empty" in every.stdout and "deletes up to 5 records" in every.stdout
    unasked = kafka("delete-records", f"{topic}:1", "--to", "2")
    assert unasked.status == 2
    assert "deletes up to 2 records" in unasked.stderr and "--yes" in unasked.stderr
    done = kafka.ok("delete-records", f"{topic}:1", "--to", "2026-01-31T12:02:30Z", "--yes")
    assert done.lines == [f"altered partition {topic}:1: first offset 0 -> 3"], str(done)
    again = kafka.ok("delete-records", topic, "--to", "latest", "--yes", "--output", "json")
    [change] = [row for row in again.json["changes"] if row["status"] == "done"]
    assert (change["resource"], change["before"], change["after"]) == (
        f"partition {topic}:1", 3, 5,
    )  # fmt: skip


def test_a_hint_about_many_partitions_is_printed_once(kafka: Program, cluster: Cluster) -> None:
    name = make_topic(cluster, f"hints.{uuid4().hex[:8]}", partitions=6)
    run = kafka("delete-records", name, "--to", "99999", "--dry-run")
    assert run.status == 1 and "out of range 0 to 0" in run.stderr, str(run)
    assert "the same for 5 more partitions" in run.stderr, str(run)
    assert run.stderr.count("hint: ") == 1 and "were deleted" not in run.stderr, str(run)


def test_records_go_by_kafkas_own_file(kafka: Program, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    rows = [{"topic": topic, "partition": 1, "offset": 2}, {"topic": topic, "partition": 0, "offset": -1}]  # fmt: skip  # noqa: E501
    file.write_text(json.dumps({"partitions": rows, "version": 1}))
    done = kafka.ok("delete-records", "--offset-json-file", str(file), "--yes")
    assert f"altered partition {topic}:1: first offset 0 -> 2" in done.lines, str(done)
    assert f"unchanged partition {topic}:0: first offset 0" in done.stderr, (
        "nothing is said of the other"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("[]", "the file must be an object, got array"),
        ('{"partitions": []}', "lists no partitions"),
        ('{"partitions": [{"topic": "t", "partition": 0}]}', "partitions[0] has no offset"),
        ('{"partitions": [{"topic": "t", "partition": -1, "offset": 1}]}',
         "partitions[0].partition is out of range"),
        ('{"partitions": [{"topic": "t", "partition": 0, "offset": "1"}]}',
         "partitions[0].offset must be an integer, got str"),
        ('{"partitions": [{"topic": "t", "partition": 0, "offset": 1},'
         ' {"topic": "t", "partition": 0, "offset": 2}]}', "lists partition t:0 twice"),
        ('{"partitions": [], "version": 2}', "version 2"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong(kafka: Program, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "offsets.json"
    file.write_text(text)
    run = kafka("delete-records", "--offset-json-file", str(file), "--yes")
    assert run.status == 2, str(run)
    assert said in run.stderr and str(file) in run.stderr, str(run)
