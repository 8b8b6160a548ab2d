"""Log directories: where replicas go, alone and in reassignments, and whether they are there."""

from __future__ import annotations

import pytest

from kafka_shell.admin.partitions import log_dir_moves, log_dirs
from kafka_shell.admin.partitions.log_dir_moves import follow, plan_dirs, with_dir_status
from kafka_shell.admin.partitions.model import (
    LogDir,
    LogReplica,
    MoveStatus,
    PartitionMove,
    TopicPartition,
)
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results
from kafka_shell.commands.partitions import run as command
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig

EACH = TopicPartition("orders", 0)
OFFLINE = Failure("KAFKA_STORAGE_ERROR", "disk error", 56)
SILENT = Failure("connection-lost", "broker 1 has not responded", hint="Retry.")
LATE = Failure("deadline", "deadline exceeded")
NOBODY = Cluster(ConnectionConfig())  # sends nothing
Found = Results[int, tuple[LogDir, ...]]


def found(shown: str, size: int = 100) -> Found:
    """The directories /a, /b and /c of broker 1: `a` has the replica, `b+` its future replica, and
    `c!` is offline. `silent` and `late`: the broker does not respond, `down`: it is not there."""
    if shown in ("silent", "late", "down"):
        return Results({}, {"silent": {1: SILENT}, "late": {1: LATE}}.get(shown, {}))
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
    ("shown", "path", "outcome"),
    [
        ("a", "/b", "/a -> /b 100 B"),
        ("a", "/a", ""),
        ("", "/b", "None -> /b for the new replica"),
        ("a b+", "/b", ""),
        ("a b+", "/a", "/b -> /a 0 B"),  # the copy is cancelled
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
    planned, refused = plan_dirs(NOBODY, {(1, EACH): path})
    said = [f"{change.before} -> {change.after} {change.note}" for change in planned.changes]
    said += [why.message for why in refused.values()]
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


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        ("b", ""),
        ("a b+, a b, b", ""),  # both are shown while the copy replaces the old replica
        ("a b+, silent, b", ""),
        ("a b+, a", "replica orders:0 on broker 1 is no longer being moved to /b"),
        ("a b+, a c+", "replica orders:0 on broker 1 is no longer being moved to /b"),
        ("a b+, a b!", "log directory /b of broker 1 is offline"),
        ("a b+, late", "deadline exceeded"),
    ],
)
def test_a_move_is_followed_to_its_end(
    shown: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = shown.split(", ")
    monkeypatch.setattr(log_dirs, "describe", lambda *_: found(answers.pop(0)))
    monkeypatch.setattr(Cluster, "pause", lambda *_: None)
    told: list[tuple[int, int | None]] = []
    try:
        follow(NOBODY, {(1, EACH): "/b"}, lambda _, done, total: told.append((done, total)))
    except ShellError as error:
        assert error.message == why
    else:
        assert why == "" and told[-1] == (100, 100)
    assert answers == [] and all(done < 100 for done, _ in told[:-1])


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
