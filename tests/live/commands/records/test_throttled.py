"""A quota that holds clients back for longer than the deadline."""

from __future__ import annotations

from uuid import uuid4

from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.program import Program


def test_a_quota_is_named_when_the_deadline_is_exceeded(kafka: Program, cluster: Cluster) -> None:
    """Before: "deadline exceeded", and "deadline exceeded after waiting 0.0 s for broker 1"."""
    topic = make_topic(cluster, f"quota-{uuid4().hex[:8]}")
    limits = ("producer_byte_rate=20000", "consumer_byte_rate=20000")
    kafka.ok("alter-quotas", *limits, "--client-id", topic, "--yes")
    lines = "".join(f"{'x' * 900}\n" for _ in range(3_000))
    held_back = ("--adminclient-property", f"client.id={topic}", "--deadline", "3s")
    write = (*held_back, "write-record", topic, "--from-file", "-", "--lines")
    read = (*held_back, "read-records", topic, "--from", "earliest", "--count")
    for run in (kafka(*write, stdin=lines), kafka(*read)):
        assert run.status == 1, str(run)
        assert "a quota throttled the responses until the deadline" in run.stderr, str(run)
