"""Kafka's JSON files of partitions, for elections (KIP-4, KIP-183) and DeleteRecords (KIP-107).

{"partitions": [{"topic": "orders", "partition": 0}], "version": 1}; for the latter each item also
has an "offset".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.common.files import bad_file, read_json
from kafka_shell.errors import ShellError

_FORMAT = 'Expected {"partitions": [{"topic": "orders", "partition": 0%s}]}.'
_VERSION = 1
_INT32 = (1 << 31) - 1


def read_partitions(file: str) -> list[TopicPartition]:
    """The partitions of a file. Errors name the file and the item."""
    return [partition for partition, _ in _read(file, ("topic", "partition"))]


def read_offsets(file: str) -> dict[TopicPartition, int]:
    """The partitions of a file with their offsets; -1 is the end of the partition."""
    return {
        partition: _number(file, partition, row["offset"], "offset", -1, (1 << 63) - 1)
        for partition, row in _read(file, ("topic", "partition", "offset"))
    }


def _read(file: str, fields: tuple[str, ...]) -> list[tuple[TopicPartition, Mapping[str, Any]]]:
    data = read_json(file)
    expected = _FORMAT % (', "offset": 100' if "offset" in fields else "")
    if not isinstance(data, Mapping) or not isinstance(data.get("partitions"), list):
        raise _wrong(file, "has no list of partitions", expected)
    if data.get("version", _VERSION) != _VERSION:
        raise _wrong(file, f"has version {data['version']}, expected {_VERSION}")
    found: dict[TopicPartition, Mapping[str, Any]] = {}
    for number, row in enumerate(data["partitions"], 1):
        if not isinstance(row, Mapping) or any(field not in row for field in fields):
            raise _wrong(file, f"item {number} must have {', '.join(fields)}", expected)
        name = row["topic"]
        if not isinstance(name, str) or not name:
            raise _wrong(file, f"item {number} has an invalid topic: {str(name)[:60]!r}", expected)
        index = _number(file, f"item {number}", row["partition"], "partition", 0, _INT32)
        partition = TopicPartition(name, index)
        if partition in found:
            raise _wrong(file, f"lists partition {partition} twice")
        found[partition] = row
    if not found:
        raise _wrong(file, "lists no partitions", expected)
    return list(found.items())


def _number(file: str, where: object, value: Any, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _wrong(file, f"the {what} of {where} must be an integer, got {str(value)[:60]!r}")
    return value


def _wrong(file: str, what: str, hint: str = "") -> ShellError:
    return bad_file(file, what, hint=hint)
