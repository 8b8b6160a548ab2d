"""State that a test leaves on the three shared brokers is reported and removed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.partitions.throttle_configs import FOLLOWER_REPLICAS
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.sandbox.state import Sandbox
from tests.support import shared_cluster
from tests.support.frozen_process import freeze
from tests.support.program import Program
from tests.support.reassigned_topics import HELD, fill, placed
from tests.support.sandbox_brokers import stop_broker


def test_what_is_left_behind_is_told_and_repaired(
    three_brokers: Sandbox, three: Cluster, state_of_three: Mapping[str, str], tmp_path: Path
) -> None:
    assert shared_cluster.restore(three_brokers, state_of_three) == []
    kafka = Program(tmp_path, three_brokers.bootstrap)
    topic, throttled = placed(three, (1, 2)), placed(three, (1, 2))
    fill(three_brokers, topic, HELD)
    file = tmp_path / "move.json"
    row = f'{{"topic": "{topic}", "partition": 0, "replicas": [2, 3]}}'
    file.write_text(f'{{"version": 1, "partitions": [{row}]}}')
    kafka.ok("reassign-partitions", "--reassignment-json-file", str(file), "--throttle", "1")
    kafka.ok("alter-configs", throttled, f"{FOLLOWER_REPLICAS}=0:1")
    kafka.ok("alter-configs", "--broker-default", "log.cleaner.threads=2")
    kafka.ok("alter-quotas", "--client-id-default", "consumer_byte_rate=1000000000")
    kafka.ok("alter-acls", "--topic", "left", "--add", "allow User:left Read")
    kafka.ok("scram-credentials", "--add", "SCRAM-SHA-256", "--username", "left", "--generate")
    kafka.ok("update-features", "streams.version=0", "--yes")
    leader = quorum.describe(three).leader
    other, third = (id for id in (1, 2, 3) if id != leader)
    # Not the voter that is stopped: Kafka 4.3.1 does not start a removed one that voted for itself.
    kafka.ok("alter-quorum", "--remove", str(third), "--yes")
    stop_broker(three_brokers.folder, other)
    freeze(shared_cluster.processes(three_brokers)[third] or 0)

    left = shared_cluster.restore(three_brokers, state_of_three)
    assert set(left) >= {
        f"broker {other}: stopped",
        f"broker {third}: frozen",
        f"voter {third}: missing",
        f"reassignment of {topic}:0: in progress",
        "config broker-default log.cleaner.threads: 2",
        f"config topic {throttled} {FOLLOWER_REPLICAS}: 0:1",
        "quota client-id-default consumer_byte_rate: 1000000000.0",
        "ACL allow User:left Read on topic left: set",
        "credential left SCRAM_SHA_256: set",
        "feature streams.version: 0",
    }, left
    assert shared_cluster.restore(three_brokers, state_of_three) == []
