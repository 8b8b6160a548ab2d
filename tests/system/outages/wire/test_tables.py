"""The audit tables of Kafka 3.9, and what is read of a cluster with a stopped broker."""

from __future__ import annotations

from kafka_shell.audit.table import ReadFailure
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import Target, list_tasks
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import cluster_tables
from tests.support.changes import make_topic
from tests.support.outages import stopped
from tests.support.program import Program


def test_kafka_3_9_is_read_as_well(old_sandbox: Sandbox) -> None:
    tables = cluster_tables.read(old_sandbox.bootstrap)
    assert tables.failures == []
    assert tables.rows("quorum") and tables.rows("features")


def test_a_stopped_broker_is_unread_and_leads_no_partition(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program, name: str
) -> None:
    alone = make_topic(three, f"{name}-alone", assignment=((2,),))
    copied = make_topic(three, f"{name}-copied", assignment=((2, 1, 3),))
    own = ("alter-configs", "--broker-id", "2")
    kafka_on_three.ok(*own, "log.cleaner.threads=2")
    target = Target("c", bootstrap=three_brokers.bootstrap, config_file="/no/config.toml")
    with stopped(three_brokers, 2):
        (listed,) = list_tasks([target], [TABLES["broker_configs"], TABLES["topics"]])
        tables = cluster_tables.read(three_brokers.bootstrap, ["brokers", "partitions", "replicas"])
        exported = kafka_on_three("export", "--only", "broker-configs", "--deadline", "30s")
    kafka_on_three.ok(*own, "--delete-config", "log.cleaner.threads")
    why = ReadFailure("broker 2", "BROKER_NOT_AVAILABLE", "broker 2 is not running")
    assert listed.lost == (("broker_configs", why),)
    assert [row["broker_id"] for row in tables.rows("brokers")] == [1, 3]
    rows = {row["topic"]: row for row in tables.rows("partitions")}
    assert rows[alone]["leader"] is None and rows[alone]["offline"] == [2]
    assert rows[copied]["leader"] in (1, 3) and rows[copied]["isr"] == [1, 3]
    ours = [row for row in tables.rows("replicas") if row["topic"] in (alone, copied)]
    assert [row["broker_id"] for row in ours if row["offline"]] == [2, 2]
    assert exported.status == 1 and "broker 2" in exported.stderr, "it is not left out"
