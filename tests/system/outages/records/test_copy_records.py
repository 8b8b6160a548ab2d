"""copy-records copies exactly the planned records, once, also if a broker fails."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.offsets import ranges
from kafka_shell.admin.records.write import Writer, partition_of
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import java_consumer
from tests.support.changes import connect, make_topic
from tests.support.copied_records import KEPT, MANY, NOON, _topic, contents, fill
from tests.support.in_process_shell import Shell
from tests.support.outages import processes, start_all, wait_until_back
from tests.support.program import Process, Program
from tests.support.read_records import read_all
from tests.support.waiting import wait_for


def _end(cluster: Cluster, topic: str) -> int:
    return sum(
        each.max_records for each in ranges(cluster, [TopicPartition(topic, n) for n in (0, 1, 2)])
    )


@pytest.fixture
def source(cluster: Cluster) -> str:
    """Three partitions, of which one is empty."""
    topic = _topic(cluster)
    odd = [
        NewRecord(b"\xff\x00", b"\x80", (("h", b"1"), ("h", None), ("", b"")), 0, NOON),
        NewRecord(None, b"", (), 0, NOON + 1),
        NewRecord(b"t", None, (), 0, NOON + 2),
    ]
    more = [NewRecord(b"k%d" % n, b'{"n": %d}' % n, (), 2, NOON + 100 + n) for n in range(40)]
    Writer(cluster, topic).write({0: odd, 2: more})
    return topic


def test_records_are_copied_unchanged(
    kafka: Program, cluster: Cluster, sandbox: Sandbox, source: str
) -> None:
    target = _topic(cluster)
    kafka.ok("copy-records", source, "--to-topic", target, "--keep-timestamps")
    before, after = (java_consumer.read(sandbox.bootstrap, each) for each in (source, target))
    assert [(r.partition, r.offset, r.timestamp, r.key, r.value, r.headers) for r in after] == [
        (r.partition, r.offset, r.timestamp, r.key, r.value, r.headers) for r in before
    ]
    (entry,) = kafka.ok("journal", "--output", "json").json
    assert sum(change["records"] for change in entry["changes"]) == 43
    undo = kafka("undo")
    assert undo.status == 1 and "irreversible" in undo.stderr


def test_other_partitions_are_chosen_by_key_and_headers_added(
    kafka: Program, cluster: Cluster, sandbox: Sandbox, source: str
) -> None:
    target = _topic(cluster, 5)
    run = kafka.ok("copy-records", f"{source}:2", "--to-topic", target, "--add-source-headers",
                   "--where", "value.n>=30", "--output", "json")  # fmt: skip
    assert sum(change["records"] for change in run.json["changes"]) == 10
    found = java_consumer.read(sandbox.bootstrap, target)
    assert {r.key: r.partition for r in found} == {
        b"k%d" % n: partition_of(b"k%d" % n, 5) for n in range(30, 40)
    }
    assert all(
        dict(r.headers) == {"copied-from": f"{source}:2:{(r.key or b'')[1:].decode()}".encode()}
        for r in found
    )
    assert min(r.timestamp for r in found) > NOON + 1_000


def test_records_are_copied_to_the_cluster_of_another_profile(
    sandbox: Sandbox, old_sandbox: Sandbox, cluster: Cluster, source: str, tmp_path: Path
) -> None:
    """The guard that counts is that of the target."""
    shell = Shell(tmp_path, sandbox.bootstrap)
    shell.profile("old", old_sandbox.bootstrap)
    shell.profile("frozen", old_sandbox.bootstrap, guard="read-only")
    with connect(old_sandbox) as old:
        target = make_topic(old, source, 3, configs=KEPT)
        refused = shell(f"copy-records {source} --to-topic {target} --to-profile frozen")
        assert refused.status == 1 and "read-only" in refused.err
        shell.profile("free", old_sandbox.bootstrap, guard="none")
        run = shell(f"copy-records {source} --to-topic {target} --to-profile free")
        assert run.status == 0, str(run)
        assert contents(read_all(old, target)) == contents(read_all(cluster, source))
    (entry,) = shell.ok("journal --output json").json
    assert entry["bootstrap"] == old_sandbox.bootstrap


def test_a_broker_is_killed_during_a_copy(
    three_brokers: Sandbox, three: Cluster, tmp_path: Path
) -> None:
    source, target = _topic(three, factor=3), _topic(three, factor=3)
    fill(three, source, MANY, size=1_000)
    home = Process(tmp_path, three_brokers.bootstrap)
    command = [sys.executable, "-m", "kafka_shell", "--broker", three_brokers.bootstrap,
               "copy-records", source, "--to-topic", target, "--output", "json"]  # fmt: skip
    try:
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=home.environment(),
            text=True,
        ) as run:
            wait_for("something is copied", lambda: _end(three, target) > 0)
            victim = processes(three_brokers)[2]
            assert victim is not None
            subprocess.run(["kill", "-9", str(victim)], check=True)
            out, err = run.communicate(timeout=200)
    finally:
        start_all(three_brokers)
        wait_until_back(three_brokers)
    assert run.returncode == 0, err
    assert sum(change["records"] for change in json.loads(out)["changes"]) == MANY
    assert contents(read_all(three, target)) == contents(read_all(three, source))
