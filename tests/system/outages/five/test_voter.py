"""A dead broker that is a voter is decommissioned, and does not come back."""

from __future__ import annotations

from uuid import uuid4

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.changes import make_topic
from tests.support.decommission_process import STOP_IT, assert_removed
from tests.support.program import Program
from tests.support.sandbox_brokers import stop_broker
from tests.support.waiting import wait_for


def test_a_voter_is_removed_and_a_dead_broker_is_decommissioned(
    five: Cluster, five_brokers: Sandbox, kafka_on_five: Program
) -> None:
    kafka = kafka_on_five
    name = make_topic(five, f"retire.{uuid4().hex[:8]}", assignment=((3, 1), (2, 3)))
    stop_broker(five_brokers.folder, 3)
    wait_for("broker 3 is out", lambda: 3 not in {each.id for each in five.brokers(refresh=True)})
    checked = kafka.ok("decommission", "3", "--dry-run", "--output", "json").json
    assert checked["verdict"] == "risky"
    assert {row["name"]: row["state"] for row in checked["steps"]}["voter"] == "to do"

    ended = kafka.ok("decommission", "3", "--keep-configs", "--yes")
    assert STOP_IT not in ended.stderr
    assert_removed(five, 3)
    assert {len(set(each)) for each in reassigned_topics.replicas(five, name)} == {2}
