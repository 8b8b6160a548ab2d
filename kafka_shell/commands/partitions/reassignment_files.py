"""Files of moves, in Kafka's own JSON formats: what is wanted, where it was, which topics.

`{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}`. What this program
writes has the throttle of the reassignment and the earlier replicas too, under a key of its own:
Kafka's tools ignore it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from kafka_shell.admin.partitions.log_dir_moves import Place
from kafka_shell.admin.partitions.log_dir_targets import Dirs
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttles import SetThrottle
from kafka_shell.errors import ShellError
from kafka_shell.files import bad_file, read_json
from kafka_shell.plan.model import Change, Resource
from kafka_shell.plan.results import Failure, Results
from kafka_shell.private import open_private
from kafka_shell.structs import replace
from kafka_shell.units import to_path

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

Assignment = Mapping[TopicPartition, tuple[int, ...]]

_OURS = "kafka.sh"
_ANY = "any"  # a log dir that the broker chooses
_FORM = (
    'A file of a move: {"version":1,"partitions":[{"topic":"orders","partition":0,'
    '"replicas":[1,2]}]}'
)


class MoveFile(Struct, frozen=True):
    """What a file says: where partitions are wanted.

    `dirs` are the log dirs that some of the replicas are wanted in, by broker and partition. One
    that this program wrote of a move knows where they were `before`, and the throttle of the move
    (bytes a second).
    """

    wanted: dict[TopicPartition, tuple[int, ...]]
    dirs: dict[Place, str] = field(default_factory=dict)
    before: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    throttle: int | None = None


# -- read ------------------------------------------------------------------------------------------


def read_moves(path: str) -> MoveFile:
    """Kafka's reassignment file. Raises ShellError for what is none, and for a partition twice."""
    data = read_json(path)
    try:
        _check_version(data)
        wanted = _assignment(data["partitions"])
        if not wanted:
            raise ValueError("it names no partition")
        ours = data.get(_OURS, {})
        throttle = ours.get("throttle")
        return MoveFile(
            wanted,
            _dirs(data["partitions"]),
            _assignment(ours.get("before", ())),
            None if throttle is None else _number(throttle, 1 << 63),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _no_file(path, _reason(error), _FORM) from None


def folder(context: Context) -> Path:
    """Where a shell keeps the files of its moves."""
    return context.paths.state / "reassignments"


def read_topics(path: str) -> list[str]:
    """Kafka's topics-to-move file: {"version":1,"topics":[{"topic":"orders"}]}."""
    data = read_json(path)
    try:
        _check_version(data)
        return [_text(row["topic"]) for row in data["topics"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        form = 'A file of topics: {"version":1,"topics":[{"topic":"orders"}]}'
        raise _no_file(path, _reason(error), form) from None


def _no_file(path: str, why: str, form: str) -> ShellError:
    return bad_file(path, why, hint=form)


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return str(error) if type(error) is ValueError else "something in it has another form"


def _check_version(data: Any) -> None:
    version = data.get("version", 1)
    if version != 1:
        raise ValueError(f"its version is {version}, and only 1 is known")


def _assignment(rows: Any) -> dict[TopicPartition, tuple[int, ...]]:
    wanted: dict[TopicPartition, tuple[int, ...]] = {}
    for row in rows:
        each = TopicPartition(_text(row["topic"]), _number(row["partition"]))
        replicas = tuple(_number(broker) for broker in row["replicas"])
        if each in wanted:
            raise ValueError(f"{each} stands in it twice")
        wanted[each] = replicas
    return wanted


def _dirs(rows: Any) -> dict[Place, str]:
    dirs = {}
    for row in rows:
        each, replicas = TopicPartition(row["topic"], row["partition"]), row["replicas"]
        names = row.get("log_dirs", [_ANY] * len(replicas))
        if len(names) != len(replicas):
            raise ValueError(f"{each} has {len(replicas)} replicas and {len(names)} log_dirs")
        for broker, name in zip(replicas, names, strict=True):
            if _text(name) != _ANY:
                dirs[broker, each] = name
    return dirs


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"topics and log dirs are words, not {value!r}")
    return value


def _number(value: Any, above: int = 1 << 31) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < above:
        raise ValueError(f"partitions and brokers are numbers, not {value!r}")
    return value


# -- write -----------------------------------------------------------------------------------------


def to_json(assignment: Assignment, dirs: Dirs | None = None, **ours: Any) -> str:
    """Kafka's format, a partition a line; `ours` is what this program keeps besides."""
    named = dirs or {}
    rows = [
        row | {"log_dirs": [named.get((broker, each), _ANY) for broker in replicas]}
        for row, (each, replicas) in zip(_rows(assignment), assignment.items(), strict=True)
    ]
    partitions = ",\n".join(map(_dumped, rows))
    own = f',"{_OURS}":{_dumped(ours)}' if ours else ""
    return f'{{"version":1,"partitions":[\n{partitions}\n]{own}}}\n'


def _rows(assignment: Assignment) -> list[dict[str, Any]]:
    return [
        {"topic": each.topic, "partition": each.partition, "replicas": list(replicas)}
        for each, replicas in assignment.items()
    ]


def _dumped(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


def export(path: str, assignment: Assignment) -> None:
    """Write an assignment where the user wants it."""
    try:
        to_path(path).write_text(to_json(assignment), encoding="utf-8")
    except OSError as error:
        raise ShellError(
            f"{path} cannot be written: {error.strerror}", hint="Nothing was sent.", code="no-file"
        ) from None


class MovePaths(Struct, frozen=True):
    """Where the two files of a move are: where it goes, and the way back."""

    move: Path
    rollback: Path

    @classmethod
    def new(cls, folder: Path, now: float) -> MovePaths:
        """Names of this plan alone: 20260131-101500-0123abcd-move.json and -rollback.json.

        Several plans may be made before the first writes its files.
        """
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
        name = f"{stamp}-{os.urandom(4).hex()}"
        return cls(folder / f"{name}-move.json", folder / f"{name}-rollback.json")


class RecordedMove(Struct, frozen=True):
    """A move whose files are written before it starts."""

    step: MoveReplicas
    paths: MovePaths
    throttle: int | None
    also: Assignment  # what is on its way already, and is followed too
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """The rollback file, then one change a partition."""
        return (self._written, *self.step.changes)

    @property
    def _written(self) -> Change:
        count = len(self.step.moves) + len(self.step.stay)
        held = f"{count:,} partition{'' if count == 1 else 's'} as now"
        return Change(Resource("rollback-file", str(self.paths.rollback)), "create", after=held)

    def reread(self, cluster: Cluster) -> RecordedMove:
        """The same move from where the replicas are now."""
        return replace(self, step=self.step.reread(cluster))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Write both files, then start the moves. Raises ShellError where a file cannot be."""
        try:
            self.write()
        except ShellError:
            self.step.remove_throttle(cluster)
            raise
        sent = self.step.send(cluster, validate_only=validate_only)
        results: Results[Change, Change] = Results(dict(sent.values), dict(sent.failures))
        if sent.values:
            results.values[self._written] = self._written
        else:
            results.failures[self._written] = Failure("UNUSED", "nothing was moved")
        return results

    def write(self) -> None:
        """Both files."""
        stay = dict(self.step.stay)
        before = {move.partition: move.before for move in self.step.moves} | stay
        after = {move.partition: move.after for move in self.step.moves} | stay | dict(self.also)
        placing = self.step.placing
        # The dirs that it leaves; where a replica stays, the broker may have moved it by then.
        dirs = placing.dirs
        left = {
            (broker, each): path
            for (broker, each), path in placing.held.items()
            if (broker, each) in dirs or broker not in after.get(each, ())
        }
        why = "Nothing was moved: without it there is no way back."
        _write(self.paths.rollback, to_json(before, left, **_told(self.throttle)), why)
        ours = _told(self.throttle) | {"before": _rows(before)}
        _write(self.paths.move, to_json(after, dirs, **ours), why)


class RecordedThrottle(Struct, frozen=True):
    """The throttle of a move whose files are written before it is set, too: who is interrupted
    between the two finds the file that the line to go on names."""

    step: SetThrottle
    move: RecordedMove
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        """Those of the throttle."""
        return self.step.changes

    def reread(self, cluster: Cluster) -> RecordedThrottle:
        """The same: the move's own step writes what it finds then."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Write the files, then set. Raises ShellError where one of these cannot be done."""
        if not validate_only:
            self.move.write()
        return self.step.send(cluster, validate_only=validate_only)


def _told(throttle: int | None) -> dict[str, Any]:
    return {} if throttle is None else {"throttle": throttle}


def _write(path: Path, text: str, why: str) -> None:
    try:
        with open_private(path, "w") as file:
            file.write(text)
    except OSError as error:
        raise ShellError(
            f"{path} cannot be written: {error.strerror}", hint=why, code="no-file"
        ) from None
