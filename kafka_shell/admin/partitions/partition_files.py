"""Kafka's JSON files of partitions: for reassignments (KIP-455), elections (KIP-4, KIP-183) and
DeleteRecords (KIP-107).

`{"version":1,"partitions":[{"topic":"orders","partition":0}]}`, with more fields in each item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct, field

from kafka_shell.admin.partitions.model import Assignment, Dirs, OfPartition, Place, TopicPartition
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import bad_file, read_json, read_text
from kafka_shell.base.units import counted, to_path

Text = Annotated[str, Meta(min_length=1)]
Number = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
Row = TypeVar("Row")
_VERSION = 1
_PROPOSED = "Proposed partition reassignment configuration"
_TYPES = {"int": "an integer", "str": "a string", "array": "a list", "object": "an object"}


class PartitionRow(Struct, OfPartition):
    """A partition of a file."""

    topic: Text
    partition: Number


class _OffsetRow(PartitionRow):
    offset: Annotated[int, Meta(ge=-1, le=(1 << 63) - 1)]


class _TopicRow(Struct):
    topic: Text


class PartitionFile(Struct, Generic[Row]):
    """The content of a file whose items are rows of this type."""

    partitions: list[Row]
    version: int = _VERSION


class _TopicFile(Struct):
    topics: list[_TopicRow]
    version: int = _VERSION


def read_partitions(file: str) -> list[TopicPartition]:
    """The partitions of a file. Raises ShellError if it is malformed or lists a partition twice."""
    return list(by_partition(file, PartitionFile[PartitionRow]))


def read_offsets(file: str) -> dict[TopicPartition, int]:
    """The partitions of a file with their offsets; -1 is the end of the partition."""
    rows = by_partition(file, PartitionFile[_OffsetRow], ',"offset":100')
    return {each: row.offset for each, row in rows.items()}


def read_topics(file: str) -> list[str]:
    """Kafka's topics-to-move file: {"version":1,"topics":[{"topic":"orders"}]}."""
    expected = 'Use {"version":1,"topics":[{"topic":"orders"}]}.'
    return [row.topic for row in read(file, _TopicFile, expected).topics]


def by_partition(file: str, kind: Any, fields: str = "") -> dict[TopicPartition, Any]:
    """The rows of a file by partition."""
    return unique(file, read(file, kind, expected(fields)).partitions)


def expected(fields: str = "") -> str:
    """The hint that shows what a file looks like, with these fields of an item."""
    item = f'{{"topic":"orders","partition":0{fields}}}'
    return f'Use {{"version":{_VERSION},"partitions":[{item}]}}.'


def unique(file: str, rows: list[Any]) -> dict[TopicPartition, Any]:
    """The rows by partition. Raises ShellError if there are none, or a partition is listed
    twice."""
    values: dict[TopicPartition, Any] = {}
    for row in rows:
        if row.topic_partition in values:
            raise bad_file(file, f"lists partition {row.topic_partition} twice")
        values[row.topic_partition] = row
    if not values:
        raise bad_file(file, "lists no partitions")
    return values


def read(file: str, kind: Any, hint: str) -> Any:
    """The content of a JSON file as this type, which has a `version`. Errors name the item."""
    try:
        data = read_json(file)
    except ShellError:
        before, heading, _ = read_text(file).partition(_PROPOSED)
        if not heading:
            raise
        raise bad_file(
            file,
            "contains two plans of kafka-reassign-partitions --generate: the proposed one begins"
            " here",
            hint="Save the proposed plan in a file of its own.",
            line=before.count("\n") + 2,
        ) from None
    version = data.get("version", _VERSION) if isinstance(data, dict) else _VERSION
    if version != _VERSION:
        raise bad_file(file, f"has version {version}, expected {_VERSION}")
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise bad_file(file, _reason(str(error)), hint=hint) from None


def _reason(text: str) -> str:
    """`partitions[3].replicas[0] must be an integer` for msgspec's "Expected `int`, got `str` - at
    `$.partitions[3].replicas[0]`"."""
    what, _, place = text.partition(" - at ")
    place = place.strip("`").removeprefix("$.") or "the file"
    if missing := re.fullmatch(r"Object missing required field `(.+)`", what):
        return f"{place} has no {missing[1]}"
    expected, comma, got = what.removeprefix("Expected ").partition(", got ")
    if comma:
        return f"{place} must be {_TYPES.get(expected.strip('`'), expected)}, got {got.strip('`')}"
    return f"{place} must not be empty" if "length" in what else f"{place} is out of range"


# Reassignment files, in the JSON formats of kafka-reassign-partitions.
#
# `{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}`. Rollback files
# also have the throttle, under a key of their own that Kafka's tools ignore.

_OURS = "kafka.sh"
_ANY = "any"  # the broker chooses the log directory


class MoveFile(Struct, frozen=True):
    """The content of a reassignment file."""

    target: dict[TopicPartition, tuple[int, ...]]  # replicas
    dirs: dict[Place, str] = field(default_factory=dict)  # log directories, unless the broker's
    throttle: int | None = None  # bytes per second, in rollback files


# -- read ------------------------------------------------------------------------------------------


class _ReplicasRow(PartitionRow):
    replicas: tuple[Number, ...]
    log_dirs: tuple[Text, ...] | None = None


class _Ours(Struct):
    throttle: Annotated[int, Meta(ge=0, le=(1 << 63) - 1)] | None = None


class _ReassignmentFile(PartitionFile[_ReplicasRow]):
    ours: _Ours = field(name=_OURS, default_factory=_Ours)


def read_moves(path: str) -> MoveFile:
    """Read a reassignment file. Raises ShellError if malformed or a partition is listed twice."""
    content = read(path, _ReassignmentFile, expected(',"replicas":[1,2]'))
    target = {each: row.replicas for each, row in unique(path, content.partitions).items()}
    return MoveFile(target, _dirs(path, content.partitions), content.ours.throttle)


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
    rows = (
        {
            "topic": each.topic,
            "partition": each.partition,
            "replicas": list(replicas),
            "log_dirs": [named.get((broker, each), _ANY) for broker in replicas],
        }
        for each, replicas in assignment.items()
    )
    partitions = ",\n".join(map(_dumped, rows))
    own = f',"{_OURS}":{_dumped(ours)}' if ours else ""
    return f'{{"version":1,"partitions":[\n{partitions}\n]{own}}}\n'


def _dumped(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


def export(path: str, assignment: Assignment) -> None:
    """Write an assignment to a file. Raises ShellError."""
    try:
        to_path(path).write_text(to_json(assignment), encoding="utf-8")
    except OSError as error:
        raise ShellError(
            f"cannot write {path}: {error.strerror}",
            hint="Use another file.",
            code="no-file",
        ) from None
