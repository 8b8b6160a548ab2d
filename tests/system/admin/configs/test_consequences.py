"""What altered configs mean for clients of topics, on real brokers."""

from __future__ import annotations

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import done, make_topic
from tests.support.config_alterations import set_, topic_of
from tests.support.outages import stopped
from tests.support.waiting import wait_for

KEY = "min.insync.replicas"


def test_more_required_than_are_in_sync_now(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    """Before: it was compared only with the replication factor, and there was no question."""
    placed = ((1, 2, 3), (2, 3, 1), (1, 2))
    make_topic(three, name, assignment=placed[:2], configs=((KEY, "1"),))
    other = make_topic(three, f"{name}.two", assignment=placed[2:], configs=((KEY, "2"),))
    resource = topic_of(name)
    assert not config_changes.plan_alter(three, {resource: [set_(KEY, "3")]}).advice.confirm
    with stopped(three_brokers, 3):
        wait_for("it is out of sync", lambda: scan(three, [name]).under_replicated == 2)
        plan = config_changes.plan_alter(three, {resource: [set_(KEY, "3")]})
        assert (
            plan.advice.confirm and plan.advice.stakes == "acks=all producers fail in 2 partitions"
        )
        assert plan.advice.warnings[-1] == (
            f"2 partitions of topic {name} have too few in-sync replicas for the new {KEY}:"
            " acks=all producers fail immediately"
        )
        both = {each: [set_(KEY, "3")] for each in (resource, topic_of(other))}
        assert (
            config_changes.plan_alter(three, both).advice.warnings[-1] == plan.advice.warnings[-1]
        )
        enough = config_changes.plan_alter(three, {resource: [set_(KEY, "2")]})
        assert not enough.advice.confirm and enough.advice.warnings == ()
    done(topic_changes.plan_delete(three, [name, other]), three)
