"""Read and write reassignment files, in the JSON formats of kafka-reassign-partitions.

`{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}`. Files written by
this program also have the throttle and the earlier replicas, under a key of their own that Kafka's
tools ignore.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kafka_shell.common.files import bad_file, read_json
from kafka_shell.common.units import counted, to_path
from kafka_shell.errors import ShellError

from .log_dir_moves import Place
from .log_dir_targets import Dirs
from .model import Assignment, TopicPartition

_OURS = "kafka.sh"
_NEWEST = 100  # files: older reassignments have ended
_ANY = "any"  # the broker chooses the log directory
_FORMAT = 'Expected {"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}.'


class MoveFile(Struct, frozen=True):
    """The content of a reassignment file: the `target` replicas by partition.

    `dirs` are target log directories by broker and partition. Files written by this program also
    have the replicas `before`, the throttle (bytes per second), the ID of the `cluster`, and the
    target replicas of each of the `batches`, if there are several.
    """

    target: dict[TopicPartition, tuple[int, ...]]
    dirs: dict[Place, str] = field(default_factory=dict)
    before: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    throttle: int | None = None
    batches: tuple[Assignment, ...] = ()
    cluster: str = ""


# -- read ------------------------------------------------------------------------------------------


def read_moves(path: str) -> MoveFile:
    """Read a reassignment file. Raises ShellError if malformed or a partition is listed twice."""
    data = read_json(path)
    try:
        _check_version(data)
        target = _assignment(data["partitions"])
        if not target:
            raise ValueError("lists no partitions")
        ours = data.get(_OURS, {})
        throttle = ours.get("throttle")
        return MoveFile(
            target,
            _dirs(data["partitions"]),
            _assignment(ours.get("before", ())),
            None if throttle is None else _number(throttle, 1 << 63),
            _batches(target, ours.get("batches", ())),
            _text(ours["cluster"]) if "cluster" in ours else "",
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise bad_file(path, _reason(error), hint=_FORMAT) from None


def read_topics(path: str) -> list[str]:
    """Kafka's topics-to-move file: {"version":1,"topics":[{"topic":"orders"}]}."""
    data = read_json(path)
    try:
        _check_version(data)
        return [_text(row["topic"]) for row in data["topics"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        expected = 'Expected {"version":1,"topics":[{"topic":"orders"}]}.'
        raise bad_file(path, _reason(error), hint=expected) from None


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return str(error) if type(error) is ValueError else "has an unexpected structure"


def _check_version(data: Any) -> None:
    version = data.get("version", 1)
    if version != 1:
        raise ValueError(f"has version {version}, expected 1")


def _assignment(rows: Any) -> dict[TopicPartition, tuple[int, ...]]:
    target: dict[TopicPartition, tuple[int, ...]] = {}
    for row in rows:
        each = TopicPartition(_text(row["topic"]), _number(row["partition"]))
        replicas = tuple(_number(broker) for broker in row["replicas"])
        if each in target:
            raise ValueError(f"lists {each} twice")
        target[each] = replicas
    return target


def _batches(target: Assignment, sizes: Any) -> tuple[Assignment, ...]:
    """The partitions in groups of these sizes."""
    partitions = iter(target.items())
    return tuple(dict(islice(partitions, _number(size))) for size in sizes)


def _dirs(rows: Any) -> dict[Place, str]:
    dirs = {}
    for row in rows:
        each, replicas = TopicPartition(row["topic"], row["partition"]), row["replicas"]
        names = row.get("log_dirs", [_ANY] * len(replicas))
        if len(names) != len(replicas):
            has = counted(len(replicas), "replica")
            raise ValueError(f"{each} has {has}, but log_dirs has {len(names)}")
        for broker, name in zip(replicas, names, strict=True):
            if _text(name) != _ANY:
                dirs[broker, each] = name
    return dirs


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"topics and log directories must be strings, got {value!r}")
    return value


def _number(value: Any, above: int = 1 << 31) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < above:
        raise ValueError(f"partitions and brokers must be integers, got {value!r}")
    return value


# -- write -----------------------------------------------------------------------------------------


def to_json(assignment: Assignment, dirs: Dirs | None = None, **ours: Any) -> str:
    """Kafka's format, one partition per line; `ours` is stored under this program's key."""
    named = dirs or {}
    rows = [
        row | {"log_dirs": [named.get((broker, each), _ANY) for broker in replicas]}
        for row, (each, replicas) in zip(rows_of(assignment), assignment.items(), strict=True)
    ]
    partitions = ",\n".join(map(_dumped, rows))
    own = f',"{_OURS}":{_dumped(ours)}' if ours else ""
    return f'{{"version":1,"partitions":[\n{partitions}\n]{own}}}\n'


def rows_of(assignment: Assignment) -> list[dict[str, Any]]:
    return [
        {"topic": each.topic, "partition": each.partition, "replicas": list(replicas)}
        for each, replicas in assignment.items()
    ]


def _dumped(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


def export(path: str, assignment: Assignment) -> None:
    """Write an assignment to a file. Raises ShellError."""
    try:
        to_path(path).write_text(to_json(assignment), encoding="utf-8")
    except OSError as error:
        raise ShellError(
            f"cannot write {path}: {error.strerror}",
            hint="Nothing was changed. Name another file.",
            code="no-file",
        ) from None


class MovePaths(Struct, frozen=True):
    """The paths of the files of a reassignment: the move, its rollback, and how far it is if it is
    moved in batches."""

    move: Path
    rollback: Path
    batches: Path

    @property
    def id(self) -> str:
        """The ID of the reassignment."""
        return self.move.name.split("-")[-2]

    @classmethod
    def new(cls, folder: Path, now: float) -> MovePaths:
        """Unique paths: 20260131-101500-0123abcd-move.json, -rollback.json and -batches.json."""
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
        return cls.named(folder, f"{stamp}-{os.urandom(4).hex()}")

    @classmethod
    def named(cls, folder: Path, name: str) -> MovePaths:
        """The paths of a reassignment with this stamp and ID."""
        files = (f"{name}-{what}.json" for what in ("move", "rollback", "batches"))
        return cls(*(folder / file for file in files))

    @classmethod
    def of_file(cls, path: Path) -> MovePaths | None:
        """The paths of the reassignment that this file is one of; None if it is another file."""
        name, _, what = path.name.rpartition("-")
        return cls.named(path.parent, name) if what in ("move.json", "rollback.json") else None

    @classmethod
    def newest(cls, folder: Path) -> Iterator[MovePaths]:
        """The last reassignments that were started, the newest first."""
        files = sorted(folder.glob("*-move.json"), reverse=True)[:_NEWEST]
        return (cls.named(folder, file.name.removesuffix("-move.json")) for file in files)

    @classmethod
    def unfinished(cls, folder: Path) -> list[MovePaths]:
        """The reassignments in batches that have not ended, oldest first."""
        files = sorted(folder.glob("*-batches.json"))
        return [cls.named(folder, file.name.removesuffix("-batches.json")) for file in files]
