"""Plans that move replicas while a broker is down."""

from __future__ import annotations

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.sandbox.state import Sandbox
from tests.support.outages import stopped
from tests.support.program import Program
from tests.support.reassigned_topics import placed
from tests.support.waiting import wait_for


def test_a_plan_names_the_rack_of_a_broker_that_is_down_and_out_of_sync_replicas(
    kafka_on_three: Program, three: Cluster, three_brokers: Sandbox
) -> None:
    topic = placed(three, (1, 3), (2, 3))
    racks = {broker.id: broker.rack for broker in scan(three).brokers}
    with stopped(three_brokers, 3):
        wait_for("replicas are out of sync", lambda: scan(three).under_replicated > 0)
        balanced = kafka_on_three.ok("rebalance", "--dry-run")
        assert "the cluster is not healthy: " in balanced.stdout, str(balanced)
        assert "under-replicated; copying replicas adds load" in balanced.stdout
        drained = kafka_on_three.ok(
            "reassign-partitions", "--drain", "3", "--topics", topic, "--dry-run"
        )
        (row,) = [line.split() for line in drained.lines if line.split()[:1] == ["3"]]
        assert row[1] == racks[3], str(drained)
