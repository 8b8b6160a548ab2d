"""How many in-sync replicas acks=all requires, compared with real brokers."""

from __future__ import annotations

from pathlib import Path

from kafka import KafkaProducer

from kafka_shell.admin.cluster import health
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.model import Partition
from tests.support.changes import done, make_topic
from tests.support.program import Program


def test_brokers_need_no_more_in_sync_replicas_than_there_are(
    sandbox: Sandbox, cluster: Cluster, name: str, tmp_path: Path
) -> None:
    """acks=all succeeds on one replica where min.insync.replicas is 2 (Kafka 3.7 and later)."""
    make_topic(cluster, name, configs=(("min.insync.replicas", "2"),))
    producer = KafkaProducer(bootstrap_servers=sandbox.bootstrap, acks="all")
    try:
        assert producer.send(name, b"x").get(30).offset == 0
    finally:
        producer.close()
    assert min_isr.is_capped(cluster)
    assert min_isr.read(cluster, [name]).values == {name: 2}
    found = {each.check: each for each in health.health(cluster).findings}
    assert "under-min-isr" not in found
    assert found["min-isr-above-replicas"].count >= 1
    program = Program(tmp_path, sandbox.bootstrap)
    run = program.ok("describe-topic", name, "--under-min-isr-partitions")
    assert run.stdout == "", "the filter and health say the same"
    assert f"topic {name}" in program.ok("describe-topic", name, "--at-min-isr-partitions").stdout


def test_older_brokers_take_min_insync_replicas_as_it_is() -> None:
    one = Partition("t", 0, 1, 0, (1,), (1,))
    assert min_isr.needed(one, 2, capped=False) == 2
    assert min_isr.needed(one, 2, capped=True) == 1
    three = Partition("t", 0, 1, 0, (1, 2, 3), (1,))
    assert min_isr.needed(three, 2, capped=True) == 2


def test_names_that_are_the_same_in_metrics(cluster: Cluster, name: str) -> None:
    """Brokers refuse a topic like an existing one, but create two in one request."""
    names = [f"{name}.a_b", f"{name}_a.b", f"{name}.c"]
    plan = topic_changes.plan_create([NewTopic(each, 1) for each in names])
    assert plan.advice.warnings == (
        f"2 topics ({names[0]}, {names[1]}) have the same name in metrics,"
        " which replace '.' with '_'",
    )
    done(plan, cluster)
    later = apply(topic_changes.plan_create([NewTopic(f"{name}_c", 1)]), cluster)
    (why,) = later.failures.values()
    assert why.name == "INVALID_TOPIC_EXCEPTION" and "collides with existing topic" in why.message
