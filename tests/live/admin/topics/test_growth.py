"""What more partitions mean for records and state: the warnings of the plan."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import make_topic
from tests.support.group_data import commit, forget
from tests.support.program import Program

_OTHER = "new records with the same key may go to another partition than the existing ones"


def test_records_of_a_key(cluster: Cluster, name: str) -> None:
    compact = (("cleanup.policy", "compact"),)
    make_topic(cluster, f"{name}-plain", 2)
    make_topic(cluster, f"{name}-offsets", 2, configs=compact)
    make_topic(cluster, f"{name}-configs", 1, configs=compact)
    names = [f"{name}-plain", f"{name}-offsets", f"{name}-configs"]
    plan = topic_changes.plan_partitions(cluster, names, 3)
    assert not plan.advice.confirm and plan.advice.not_checked == ()
    assert plan.advice.warnings == (
        f"2 topics ({name}-offsets, {name}-configs): compacted; new records with an existing key"
        " may go to another partition; compaction then never removes the older records of that key",
        f"topic {name}-configs: compacted, with a single partition; Kafka Connect"
        " (config.storage.topic) and schema registries require exactly one",
        f"topic {name}-plain: {_OTHER}",
    )


def test_state_of_brokers(cluster: Cluster, sandbox: Sandbox, topic: str, tmp_path: Path) -> None:
    """Brokers accept it, so it is asked about first, although nothing is deleted."""
    group = f"g-{topic}"
    commit(cluster, group, topic, 0)  # which creates __consumer_offsets
    internal = "__consumer_offsets"
    before = scan(cluster, [internal]).summary(internal).partitions
    try:
        plan = topic_changes.plan_partitions(cluster, [internal, topic], before + 1)
        assert plan.advice.confirm
        assert plan.advice.warnings == (
            f"topic {internal}: after a restart, brokers look for the state of most groups in"
            " another partition: their committed offsets are lost",
            f"topic {topic}: {_OTHER}",
        )
        line = ("alter-topic", internal, "--partitions", str(before + 1))
        program = Program(tmp_path, sandbox.bootstrap)
        assert "the brokers accept the plan" in program.ok(*line, "--dry-run").stderr
        run = program(*line)
        assert run.status == 2 and "--yes" in run.stderr
        assert scan(cluster, [internal]).summary(internal).partitions == before
    finally:
        forget(cluster, group)
