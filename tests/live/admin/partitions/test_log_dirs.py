"""Log directories: described, replicas moved between them, moves canceled, an offline disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.admin.partitions import log_dir_moves, log_dirs
from kafka_shell.admin.partitions.model import LogReplica, TopicPartition
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic, refusals
from tests.support.produced_records import fill
from tests.support.waiting import wait_for


@pytest.fixture
def partition(cluster: Cluster, name: str) -> TopicPartition:
    make_topic(cluster, name)
    return TopicPartition(name, 0)


def where(cluster: Cluster, partition: TopicPartition) -> dict[str, LogReplica]:
    """The log dirs that have the partition, by path. A new one is in none for a moment."""

    def look() -> dict[str, LogReplica]:
        found = log_dirs.describe(cluster, [1], [partition])
        return {dir.path: dir.replicas[0] for dir in found[1] if dir.replicas}

    wait_for(f"{partition} is in a log dir", lambda: bool(look()))
    return look()


def other(cluster: Cluster, partition: TopicPartition) -> str:
    """The log dir that has it not."""
    where(cluster, partition)
    [dir] = [dir for dir in log_dirs.describe(cluster, [1], [partition])[1] if not dir.replicas]
    return dir.path


def test_dirs_with_their_replicas_and_room(cluster: Cluster, partition: TopicPartition) -> None:
    fill(",".join(map(str, cluster.config.bootstrap)), partition.topic, 10, size=1000)
    found = log_dirs.describe(cluster)
    assert found.ok and list(found.values) == [1]
    dirs = found[1]
    assert [Path(dir.path).name for dir in dirs] == ["data-a", "data-b"]
    for dir in dirs:
        assert dir.error is None and not dir.cordoned
        assert dir.total and dir.usable and dir.usable < dir.total
        assert dir.size == sum(replica.size for replica in dir.replicas)
    [mine] = [r for dir in dirs for r in dir.replicas if r.topic_partition == partition]
    assert mine.size > 10_000
    assert not mine.future and mine.offset_lag == 0


def test_only_some_partitions(cluster: Cluster, partition: TopicPartition) -> None:
    where(cluster, partition)
    dirs = log_dirs.describe(cluster, [1], [partition])[1]
    assert len(dirs) == 2, "a dir without any of them is there all the same"
    assert [r.topic_partition for dir in dirs for r in dir.replicas] == [partition]


def test_a_move_followed_to_its_end_and_taken_back(
    cluster: Cluster, partition: TopicPartition
) -> None:
    [before] = where(cluster, partition)
    path = other(cluster, partition)
    plan = log_dir_moves.plan_move(cluster, [(1, partition)], path, wait=True)
    [change] = plan.changes
    assert (change.before, change.after) == (before, path)
    done(plan, cluster)
    assert list(where(cluster, partition)) == [path], "it was said to be done and is not"
    assert undo_lines(plan.changes) == (
        f"alter-log-dirs {partition} --broker-id 1 --log-dir {before}",
    )
    again = log_dir_moves.plan_move(cluster, [(1, partition)], path)
    assert not again.steps
    assert [change.note for change in again.unchanged] == ["no change: already there"]


def test_what_cannot_be_moved(cluster: Cluster, partition: TopicPartition) -> None:
    here = next(iter(where(cluster, partition)))
    stranger = TopicPartition(partition.topic, 7)
    plan = log_dir_moves.plan_move(cluster, [(1, partition), (1, stranger)], "/no/such/dir")
    assert not plan.steps
    refused = refusals(plan)
    assert refused[f"{partition} on broker 1"].name == "LOG_DIR_NOT_FOUND"
    assert here in refused[f"{partition} on broker 1"].hint, "the dirs it has are not named"
    assert refused[f"{stranger} on broker 1"].name == "REPLICA_NOT_AVAILABLE"
