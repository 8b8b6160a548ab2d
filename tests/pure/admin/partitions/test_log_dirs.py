"""Log directories of reassignments: where replicas go, where they are, and which copies are
cancelled."""

from __future__ import annotations

import pytest

from kafka_shell.admin.partitions import log_dir_moves, log_dirs
from kafka_shell.admin.partitions.log_dir_targets import plan, plan_revert, with_dir_status
from kafka_shell.admin.partitions.model import (
    LogDir,
    LogReplica,
    MoveState,
    MoveStatus,
    PartitionMove,
    ReplicaOnDisk,
    TopicPartition,
)
from kafka_shell.admin.partitions.reassignment import misplaced
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.commands.partitions import log_dirs as command
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig

EACH = TopicPartition("orders", 0)
OFFLINE = Failure("KAFKA_STORAGE_ERROR", "disk error", 56)
SILENT = Failure("deadline", "broker 1 has not responded", hint="Retry.")
NOBODY = Cluster(ConnectionConfig())  # sends nothing
Found = Results[int, tuple[LogDir, ...]]


def found(shown: str, size: int = 100) -> Found:
    """The directories /a, /b and /c of broker 1: `a` has the replica, `b+` its future replica, and
    `c!` is offline. `silent`: the broker does not respond, `down`: it is not there."""
    if shown in ("silent", "down"):
        return Results({}, {1: SILENT} if shown == "silent" else {})
    marks = {each[0]: each[1:] for each in shown.split()}
    dirs = []
    for name in "abc":
        mark = marks.get(name)
        held = () if mark in (None, "!") else (LogReplica("orders", 0, size, 0, mark == "+"),)
        dirs.append(LogDir(1, f"/{name}", OFFLINE if mark == "!" else None, 500, 300, held))
    return Results({1: tuple(dirs)})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """What the broker returns."""
    monkeypatch.setattr(log_dirs, "describe", lambda *_: found(request.param))


def row(status: MoveStatus = MoveStatus.COMPLETED) -> PartitionMove:
    return PartitionMove("orders", 0, status, int(status), (1,), (1,))


@pytest.mark.parametrize(
    ("shown", "started"),
    [
        ({"/a": False}, False),
        ({"/a": False, "/b": True}, True),
        ({"/a": False, "/b": False}, True),  # shown while the new replica replaces the old one
        ({"/b": False}, True),
        ({"/b": False, "/c": True}, False),
        ({}, False),
    ],
)
def test_whether_a_move_has_started(shown: dict[str, bool], started: bool) -> None:
    move = log_dir_moves.LogDirMove(1, EACH, "/a", "/b", 0)
    rows = [ReplicaOnDisk(1, path, "orders", 0, 0, 0, future) for path, future in shown.items()]
    assert log_dir_moves.is_started(move, {move.place: rows}) is started


@pytest.mark.parametrize(
    ("shown", "path", "outcome"),
    [
        ("a", "/b", "/a -> /b 100 B"),
        ("a", "/a", ""),
        ("", "/b", "None -> /b for the new replica"),
        ("a b+", "/b", "in progress"),
        ("a b+", "/a", "/b -> /a cancels the move in progress"),
        ("a b+", "/c", "/b -> /c 100 B"),
        ("a", "/no", "broker 1 has no log directory /no"),
        ("a b!", "/b", "log directory /b of broker 1 is offline"),
        ("silent", "/b", "broker 1 has not responded"),
        ("down", "/b", "broker 1 is down, so its log directories cannot be read"),
    ],
    indirect=["shown"],
)
@pytest.mark.usefixtures("shown")
def test_where_a_replica_goes(path: str, outcome: str) -> None:
    planned, refused = plan(NOBODY, {(1, EACH): path})
    said = [f"{change.before} -> {change.after} {change.note}" for change in planned.changes]
    said += [why.message for why in refused.values()]
    said += ["in progress"] * bool(planned.in_progress)
    assert said == [outcome] * bool(outcome)
    for why in refused.values():
        assert why.hint or why.see, "nothing says what to do"


@pytest.mark.parametrize(
    ("shown", "path", "outcome"),
    [
        ("a", "/b", "/a -> /b"),
        ("a", "/a", "no change: already there"),
        ("a b+", "/b", "no change: already being moved there"),
        ("", "/b", "broker 1 has no replica of partition orders:0"),
        ("a", "/no", "broker 1 has no log directory /no"),
        ("a b!", "/b", "log directory /b of broker 1 is offline"),
        ("silent", "/b", "broker 1 has not responded"),
    ],
    indirect=["shown"],
)
@pytest.mark.usefixtures("shown")
def test_a_replica_that_is_moved_by_itself(path: str, outcome: str) -> None:
    planned = log_dir_moves.plan_move(NOBODY, [(1, EACH)], path)
    said = [f"{change.before} -> {change.after}" for change in planned.changes]
    said += [change.note for change in planned.unchanged]
    said += [why.message for why in planned.refused.failures.values()]
    assert said == [outcome]


@pytest.mark.parametrize(
    ("shown", "status", "note"),
    [
        ("b", MoveStatus.COMPLETED, ""),
        ("a b+", MoveStatus.IN_PROGRESS, "broker 1 copies it to /b"),
        ("a", MoveStatus.FAILED, "broker 1 has it in /a, not in /b"),
        ("b c+", MoveStatus.FAILED, "broker 1 has it in /c, not in /b"),
        ("", MoveStatus.FAILED, "broker 1 has no replica"),
        ("silent", MoveStatus.IN_PROGRESS, "broker 1 has not responded"),  # nobody knows
    ],
    indirect=["shown"],
)
@pytest.mark.usefixtures("shown")
def test_whether_a_replica_is_where_the_file_says(status: MoveStatus, note: str) -> None:
    dirs = {(1, EACH): "/b"}
    (checked,) = with_dir_status(NOBODY, dirs, [row()])
    assert (checked.status, checked.code) == (status, int(status))
    assert checked.note.endswith(note)
    moving = row(MoveStatus.IN_PROGRESS)
    assert with_dir_status(NOBODY, dirs, [moving]) == [moving], "it is not there yet"
    steps = misplaced(NOBODY, MoveState((checked,), (), ()), dirs)
    assert bool(steps) == (status is MoveStatus.FAILED), "--finish sends what a broker forgot"
    assert [change.after for step in steps for change in step.changes] == ["/b"] * bool(steps)
    elsewhere = replace(checked, replicas=(2,))
    assert not misplaced(NOBODY, MoveState((elsewhere,), (), ()), dirs)


@pytest.mark.parametrize(
    ("shown", "path", "back"),
    [
        ("a b+", "/b", "/a"),
        ("a b+", "/a", None),  # the copy of somebody else
        ("a b+", "/c", None),
        ("b", "/b", None),  # it is complete
        ("silent", "/b", "failed"),
    ],
    indirect=["shown"],
)
@pytest.mark.usefixtures("shown")
def test_only_copies_of_the_file_are_cancelled(path: str, back: str | None) -> None:
    moves, failures = plan_revert(NOBODY, {(1, EACH): path})
    assert [move.after for move in moves] + ["failed"] * len(failures) == [back] * bool(back)


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("topic", [(None, "orders", None, 2, 250, 150, 1), (None, "late", None, 0, 0, 0, 1)]),
        ("partition", [(None, "orders", 0, 2, 250, 150, 1), (None, "late", 0, 0, 0, 0, 1)]),
        ("broker", [(1, None, None, 2, 250, 150, 0), (2, None, None, 0, 0, 0, 2)]),
    ],
)
def test_disk_usage_counts_replicas_that_were_not_read(
    by: str, rows: list[tuple[object, ...]]
) -> None:
    """Largest first; a broker that is down is named with what it lacks."""
    dirs = [*found("a", 100)[1], *found("a", 150)[1]]
    unread = [(2, "orders", 0), (2, "late", 0)]
    uses = command._use(dirs, unread, command._KEYS[by])
    assert [
        (use.broker, use.topic, use.partition, use.replicas, use.size, use.largest,
         use.unread_replicas)
        for use in uses
    ] == rows  # fmt: skip
