"""Kafka's JSON files of partitions: for reassignments (KIP-455), elections (KIP-4, KIP-183) and
DeleteRecords (KIP-107).

`{"version":1,"partitions":[{"topic":"orders","partition":0}]}`, with more fields in each item.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.common.files import bad_file, read_json, read_text
from kafka_shell.errors import ShellError

Text = Annotated[str, Meta(min_length=1)]
Number = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
Row = TypeVar("Row")
_VERSION = 1
_PROPOSED = "Proposed partition reassignment configuration"
_TYPES = {"int": "an integer", "str": "a string", "array": "a list", "object": "an object"}


class PartitionRow(Struct):
    """A partition of a file."""

    topic: Text
    partition: Number

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


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
    expected = 'Expected {"version":1,"topics":[{"topic":"orders"}]}.'
    return [row.topic for row in read(file, _TopicFile, expected).topics]


def by_partition(file: str, kind: Any, fields: str = "") -> dict[TopicPartition, Any]:
    """The rows of a file by partition."""
    return unique(file, read(file, kind, expected(fields)).partitions)


def expected(fields: str = "") -> str:
    """The hint that shows what a file looks like, with these fields of an item."""
    item = f'{{"topic":"orders","partition":0{fields}}}'
    return f'Expected {{"version":{_VERSION},"partitions":[{item}]}}.'


def unique(file: str, rows: list[Any]) -> dict[TopicPartition, Any]:
    """The rows by partition. Raises ShellError if there are none, or a partition is listed
    twice."""
    found: dict[TopicPartition, Any] = {}
    for row in rows:
        if row.topic_partition in found:
            raise bad_file(file, f"lists partition {row.topic_partition} twice")
        found[row.topic_partition] = row
    if not found:
        raise bad_file(file, "lists no partitions")
    return found


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
            "contains two plans, as printed by kafka-reassign-partitions --generate: the current"
            " replicas, and from this line on the proposed ones",
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
