"""A broker whose second disk breaks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.cluster import health
from kafka_shell.admin.cluster.model import Finding, Severity
from kafka_shell.admin.partitions import log_dir_moves, log_dirs, sizes
from kafka_shell.admin.partitions.model import LogReplica, TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.advice import advise
from kafka_shell.base.results import Failure
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire.cluster import Cluster
from tests.support import cluster_tables
from tests.support.changes import connect, make_topic
from tests.support.group_data import commit
from tests.support.in_process_shell import Shell
from tests.support.waiting import wait_for


def where(cluster: Cluster, partition: TopicPartition) -> dict[str, LogReplica]:
    """The log dirs that have the partition, by path. A new one is in none for a moment."""

    def look() -> dict[str, LogReplica]:
        found = log_dirs.describe(cluster, [1], [partition])
        return {dir.path: dir.replicas[0] for dir in found[1] if dir.replicas}

    wait_for(f"{partition} is in a log dir", lambda: bool(look()))
    return look()


@pytest.fixture
def expendable(tmp_path: Path) -> Iterator[Sandbox]:
    """A broker of its own, whose second disk may break."""
    try:
        yield start(SandboxOptions(tmp_path / "expendable", brokers=1, port=0))
    finally:
        wipe(tmp_path / "expendable")


def test_a_disk_that_broke_is_offline(expendable: Sandbox, tmp_path: Path) -> None:
    with connect(expendable) as cluster:
        paths = [dir.path for dir in log_dirs.describe(cluster)[1]]
        topic = make_topic(cluster, "t", 4)
        commit(cluster, "g", topic, 0)
        partitions = [TopicPartition(topic, number) for number in range(4)]
        homes = {each: next(iter(where(cluster, each))) for each in partitions}
        lost, kept = paths[1], paths[0]
        safe = next(each for each, path in homes.items() if path == kept)
        gone = Path(lost).rename(tmp_path / "gone")  # at once: the broker writes into it
        shutil.rmtree(gone)
        move = log_dir_moves.LogDirMove(1, safe, kept, lost, 0)
        sent = log_dir_moves.AlterReplicaLogDirs((move,)).send(cluster, validate_only=False)
        [why] = sent.failures.values()
        assert why.name == "KAFKA_STORAGE_ERROR", "the broker's own refusal"
        assert why.message.startswith(f"replica {safe} on broker 1: ")

        def error() -> Failure | None:
            return next(d.error for d in log_dirs.describe(cluster)[1] if d.path == lost)

        wait_for("a dir is offline", lambda: (e := error()) is not None and e.code == 56)
        dirs = {dir.path: dir for dir in log_dirs.describe(cluster)[1]}
        assert lost in str(dirs[lost].error), "which dir is offline is not said"
        assert dirs[lost].total is None and not dirs[lost].replicas
        assert dirs[kept].error is None and dirs[kept].replicas
        refused = log_dir_moves.plan_move(cluster, [(1, safe)], lost).refused
        [why] = refused.failures.values()
        assert "is offline" in why.message

        def look() -> dict[str, Finding]:
            return {each.check: each for each in health.health(cluster).findings}

        wait_for("health tells", lambda: {"offline", "log-dirs"} <= look().keys())
        found = look()["log-dirs"]
        assert (found.severity, found.summary) == (
            Severity.CRITICAL, "broker 1 has 1 offline log directory",
        )  # fmt: skip
        assert found.examples == (f"1:{lost}",)
        lacking = sum(home == lost for home in homes.values())
        run = Shell(tmp_path, expendable.bootstrap)(f"describe-log-dirs {topic} --by topic")
        assert run.status == 1 and f"{lost} of broker 1" in run.err, str(run)
        assert f" {4 - lacking}+ " in run.out, str(run)
        assert sizes.read_disks(cluster, [1]).not_read.keys() == {1}, "it gets no replicas"
        assert sizes.read_disks(cluster, [1]).sizes.on(1) is None
        plan = advise(topic_changes.plan_delete(cluster, [topic]), cluster)
        (used,) = plan.advice.figures
        assert [each.unread_replicas for each in used.topics] == [4]
    run = Shell(tmp_path, expendable.bootstrap)(f"describe-log-dirs --log-dir {lost}")
    assert "offline" in run.out and " 0 B" not in run.out, str(run)
    assert run.status == 1 and f"{lost} of broker 1" in run.err, str(run)
    run = Shell(tmp_path, expendable.bootstrap)(
        f"alter-topic {topic} --config retention.ms=1h --dry-run"
    )
    assert "the size of replicas on 1 broker" in run.out + run.err, str(run)
    tables = cluster_tables.read(
        expendable.bootstrap, ["log_dirs", "disk_replicas", "group_commits"]
    )
    [row] = [row for row in tables.rows("log_dirs") if row["path"] == lost]
    assert (row["replicas"], row["incoming"], row["size"]) == (None, None, None), row
    not_read = {each["table"]: each["reason"] for each in tables.failures}
    assert not_read.keys() == {"disk_replicas", "group_commits"}
    assert f"log directory {lost} of broker 1" in not_read["disk_replicas"]
    assert "the partition has no leader" in not_read["group_commits"]
