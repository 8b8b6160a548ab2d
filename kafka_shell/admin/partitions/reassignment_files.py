"""Read and write reassignment files, in the JSON formats of kafka-reassign-partitions.

`{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}`. Files written by
this program also have the throttle and the earlier replicas, under a key of their own that Kafka's
tools ignore.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from kafka_shell.admin.partitions.log_dir_moves import Place
from kafka_shell.admin.partitions.log_dir_targets import Dirs
from kafka_shell.admin.partitions.model import Assignment, TopicPartition
from kafka_shell.admin.partitions.partition_files import (
    Number,
    PartitionFile,
    PartitionRow,
    Text,
    expected,
    read,
    unique,
)
from kafka_shell.common.files import bad_file
from kafka_shell.common.units import counted, to_path
from kafka_shell.errors import ShellError

_OURS = "kafka.sh"
_NEWEST = 100  # files: older reassignments have ended
_ANY = "any"  # the broker chooses the log directory


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


class _ReplicasRow(PartitionRow):
    replicas: tuple[Number, ...]
    log_dirs: tuple[Text, ...] | None = None


class _Ours(Struct):
    throttle: Annotated[int, Meta(ge=0, le=(1 << 63) - 1)] | None = None
    before: tuple[_ReplicasRow, ...] = ()
    batches: tuple[Number, ...] = ()
    cluster: str = ""


class _ReassignmentFile(PartitionFile[_ReplicasRow]):
    ours: _Ours = field(name=_OURS, default_factory=_Ours)


def read_moves(path: str) -> MoveFile:
    """Read a reassignment file. Raises ShellError if malformed or a partition is listed twice."""
    content = read(path, _ReassignmentFile, expected(',"replicas":[1,2]'))
    rows, ours = unique(path, content.partitions), content.ours
    target = {each: row.replicas for each, row in rows.items()}
    return MoveFile(
        target,
        _dirs(path, content.partitions),
        {row.topic_partition: row.replicas for row in ours.before},
        ours.throttle,
        _batches(target, ours.batches),
        ours.cluster,
    )


def _batches(target: Assignment, sizes: Sequence[int]) -> tuple[Assignment, ...]:
    """The partitions in groups of these sizes."""
    partitions = iter(target.items())
    return tuple(dict(islice(partitions, size)) for size in sizes)


def _dirs(path: str, rows: Sequence[_ReplicasRow]) -> dict[Place, str]:
    dirs = {}
    for row in rows:
        names = row.log_dirs if row.log_dirs is not None else (_ANY,) * len(row.replicas)
        if len(names) != len(row.replicas):
            has = counted(len(row.replicas), "replica")
            what = f"{row.topic_partition} has {has}, but log_dirs has {len(names)}"
            raise bad_file(path, what, hint=expected(',"replicas":[1,2],"log_dirs":["any","any"]'))
        for broker, name in zip(row.replicas, names, strict=True):
            if name != _ANY:
                dirs[broker, row.topic_partition] = name
    return dirs


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
