"""A min.insync.replicas that is more than are in sync now, on real brokers."""

from __future__ import annotations

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.advice import advise
from kafka_shell.base.plans import Plan
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import done, make_topic
from tests.support.config_alterations import set_, topic_of
from tests.support.outages import stopped
from tests.support.waiting import wait_for

KEY = "min.insync.replicas"


def test_more_required_than_are_in_sync_now(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    make_topic(three, name, assignment=((1, 2, 3), (2, 3, 1)), configs=((KEY, "1"),))

    def require(count: int) -> Plan:
        plan = config_changes.plan_alter(three, {topic_of(name): [set_(KEY, str(count))]})
        return advise(plan, three)

    assert not require(3).advice.confirm
    with stopped(three_brokers, 3):
        wait_for("it is out of sync", lambda: scan(three, [name]).under_replicated == 2)
        plan = require(3)
        assert (
            plan.advice.confirm
            and plan.advice.stakes == "producers with acks=all fail in 2 partitions"
        )
        enough = require(2)
        assert not enough.advice.confirm and enough.advice.warnings == ()
    done(topic_changes.plan_delete(three, [name]), three)
