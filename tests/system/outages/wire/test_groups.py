"""The commands on groups."""

from __future__ import annotations

from uuid import uuid4

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from tests.support.changes import make_topic
from tests.support.group_data import commit, forget
from tests.support.outages import silent, stopped
from tests.support.program import Program


def test_the_groups_of_a_broker_that_hangs_are_missing(
    three_brokers: Sandbox, kafka_on_three: Program
) -> None:
    with silent(three_brokers):
        run = kafka_on_three("list-groups", "--output", "json", "--deadline", "4s")
    failed = [row["resource"] for row in run.json if "error" in row]
    assert failed == ["groups of broker 3"], str(run)


def test_lag_without_a_leader_is_a_failure(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program
) -> None:
    """The sum of the other partitions alone must not look complete."""
    topic = make_topic(three, f"dark-{uuid4().hex[:8]}", assignment=((3,), (3,), (1,)))
    group = f"g-{topic}"
    commit(three, group, topic, 0, 0, 0)
    with stopped(three_brokers, 3):
        for words in (["lag"], ["describe-group", "--state"], ["lag", "--by", "group"]):
            run = kafka_on_three(*words, group)
            assert run.status == 1 and group in run.stdout, str(run)
            message = f"lag in {topic}:0, {topic}:1: LEADER_NOT_AVAILABLE: the partitions have no"
            assert message in run.stderr, str(run)
    forget(three, group)
