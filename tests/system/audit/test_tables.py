"""The audit tables of Kafka 3.9, and of a cluster with a stopped broker."""

from __future__ import annotations

from kafka_shell.audit.table import ReadFailure
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import Target, list_tasks
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from tests.support import cluster_tables
from tests.support.changes import make_topic
from tests.support.sandbox_brokers import stop_broker


def test_kafka_3_9_is_read_as_well(old_sandbox: Sandbox) -> None:
    tables = cluster_tables.read(old_sandbox.bootstrap)
    assert tables.failures == []
    assert tables.rows("quorum") and tables.rows("features")


def test_a_stopped_broker_is_unread_and_leads_no_partition(
    three_brokers: Sandbox, three: Cluster
) -> None:
    make_topic(three, "alone", assignment=((2,),))
    make_topic(three, "copied", assignment=((2, 1, 3),))
    stop_broker(three_brokers.folder, 2)
    target = Target("c", bootstrap=three_brokers.bootstrap, config_file="/no/config.toml")
    (listed,) = list_tasks([target], [TABLES["broker_configs"], TABLES["topics"]])
    why = ReadFailure("broker 2", "BROKER_NOT_AVAILABLE", "broker 2 is not running")
    assert listed.lost == (("broker_configs", why),)
    tables = cluster_tables.read(three_brokers.bootstrap, ["brokers", "partitions", "replicas"])
    assert [row["broker_id"] for row in tables.rows("brokers")] == [1, 3]
    rows = {row["topic"]: row for row in tables.rows("partitions")}
    assert rows["alone"]["leader"] is None and rows["alone"]["offline"] == [2]
    assert rows["copied"]["leader"] in (1, 3) and rows["copied"]["isr"] == [1, 3]
    assert [row["broker_id"] for row in tables.rows("replicas") if row["offline"]] == [2, 2]
