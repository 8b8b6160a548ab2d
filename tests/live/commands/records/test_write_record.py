"""write-record from the command line; the records are read by Kafka's own consumer."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.program import Program


@pytest.fixture
def topic(cluster: Cluster) -> str:
    return make_topic(cluster, f"w-{uuid4().hex[:8]}", 3)


def test_the_journal_has_offsets_and_no_contents(
    kafka: Program, sandbox: Sandbox, topic: str
) -> None:
    kafka.ok("produce", topic, "hidden-value", "--key", "hidden-key", "--header", "h=hidden-too")
    kafka.ok("produce", topic, "--from-file", "-", "--lines", stdin="hidden-line\n" * 500)
    shown = kafka.ok("journal", "--output", "json")
    one, many = shown.json
    assert "hidden" not in shown.stdout
    assert all("hidden" not in file.read_text() for file in kafka.home.rglob("*.json"))
    assert one["changes"][0]["after"] == 0
    assert sum(change["records"] for change in many["changes"]) == 500
    assert len(many["changes"]) <= 3
    undo = kafka("undo")
    assert undo.status == 1 and "irreversible" in undo.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "requires"),
        (("v", "--tombstone", "--key", "k"), "cannot be used"),
        (("--tombstone",), "--tombstone requires --key"),
        (("v", "--keep-timestamps"), "--keep-timestamps requires --from-file"),
        (("--from-file", "-", "--key", "k"), "--key cannot be used with rows"),
        (("--from-file", "-", "--lines", "--keep-partitions"), "not --lines"),
        (("v", "--partition", "-1"), "--partition"),
        (("--from-file", "/nosuch/file"), "cannot be read"),
    ],
)
def test_wrong_lines(kafka: Program, topic: str, words: tuple[str, ...], message: str) -> None:
    run = kafka("write-record", topic, *words)
    assert run.status == 2 and message in run.stderr, str(run)


def test_what_cannot_be_written(kafka: Program, topic: str) -> None:
    for words, message in {
        (topic, "v", "--partition", "3"): f"topic {topic} has no partition 3",
        (f"{topic}x", "v"): "Did you mean",
        ("__consumer_offsets", "v", "--key", "k"): "__consumer_offsets",
    }.items():
        run = kafka("write-record", *words)
        assert run.status == 1 and message in run.stderr, str(run)
    assert "no records" in kafka.ok("produce", topic, "--from-file", "-").stderr
