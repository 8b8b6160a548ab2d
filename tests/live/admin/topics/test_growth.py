"""What more partitions mean for records and state: the warnings of the plan."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.advice import advise
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import make_topic
from tests.support.group_data import commit, forget
from tests.support.program import Program

_OTHER = (
    "new records of an existing key may go to another partition, so their order is lost across the"
    " change"
)


def test_records_of_a_key(cluster: Cluster, name: str) -> None:
    make_topic(cluster, f"{name}-plain", 2)
    make_topic(cluster, f"{name}-configs", 1, configs=(("cleanup.policy", "compact"),))
    names = [f"{name}-plain", f"{name}-configs"]
    plan = advise(topic_changes.plan_partitions(cluster, names, 3), cluster)
    assert not plan.advice.confirm and plan.advice.not_checked == ()
    compacted, single, plain = plan.advice.warnings
    assert compacted.startswith(f"topic {name}-configs: new records of an existing key")
    assert single.endswith(f"must keep a single partition: topic {name}-configs")
    assert plain == f"topic {name}-plain: {_OTHER}"


def test_state_of_brokers(cluster: Cluster, sandbox: Sandbox, topic: str, tmp_path: Path) -> None:
    """Brokers accept it, so it is asked about first, although nothing is deleted."""
    group = f"g-{topic}"
    commit(cluster, group, topic, 0)  # which creates __consumer_offsets
    internal = "__consumer_offsets"
    before = scan(cluster, [internal]).summary(internal).partitions
    try:
        plan = topic_changes.plan_partitions(cluster, [internal, topic], before + 1)
        plan = advise(plan, cluster)
        assert plan.advice.confirm
        assert plan.advice.warnings[0].startswith(
            f"topic {internal}: after the next restart, coordinators"
        )
        assert plan.advice.warnings[1:] == (f"topic {topic}: {_OTHER}",)
        line = ("alter-topic", internal, "--partitions", str(before + 1))
        program = Program(tmp_path, sandbox.bootstrap)
        assert "the brokers accept the plan" in program.ok(*line, "--dry-run").stderr
        run = program(*line)
        assert run.status == 2 and "--yes" in run.stderr
        assert scan(cluster, [internal]).summary(internal).partitions == before
    finally:
        forget(cluster, group)
