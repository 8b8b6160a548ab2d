"""Read and write offsets as CSV files of kafka-consumer-groups: topic,partition,offset."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafka_shell.common.files import bad_file, read_csv
from kafka_shell.common.units import to_path
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import TopicPartition

_MAX_OFFSET = (1 << 63) - 1
_MAX_PARTITION = (1 << 31) - 1


def write_offsets(file: str, changes: Iterable[Change]) -> int:
    """Write the new offset of each partition to a new file, and return how many these are. Raises
    ShellError; also if the file exists: it may be the only record of earlier offsets."""
    rows = [
        (topic, int(partition), change.after)
        for change in changes
        if change.after is not None
        for topic, _, partition in [change.field.rpartition(":")]
    ]
    try:
        with to_path(file).open("x", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(sorted(rows))
    except FileExistsError:
        raise ShellError(
            f"{file} already exists", hint="Nothing was changed. Name another file.",
            code="file-exists",
        ) from None  # fmt: skip
    except OSError as error:
        raise ShellError(f"{file}: cannot be written: {error.strerror}", code="bad-file") from None
    return len(rows)


def read_offsets(file: str, group: str) -> dict[TopicPartition, int]:
    """The offsets in a file; if it has a group column, those of `group`.

    Raises ShellError, which names the line.
    """
    offsets: dict[TopicPartition, int] = {}
    for line, row in read_csv(file):
        each, offset = _row(file, line, row[-3:] if len(row) == 4 else row)
        if len(row) == 4 and row[0] != group:
            continue
        if each in offsets:
            raise bad_file(file, f"{each} is listed twice", line=line)
        offsets[each] = offset
    if not offsets:
        raise bad_file(file, f"has no offsets of group {group}")
    return offsets


def _row(file: str, line: int, row: list[str]) -> tuple[TopicPartition, int]:
    from kafka_shell.admin.partitions.model import TopicPartition

    words = [word.strip() for word in row]
    numbers = words[1:]
    if len(words) != 3 or not all(each.isascii() and each.isdigit() for each in numbers):
        problem = f"expected topic,partition,offset, got '{','.join(row)[:60]}'"
        raise bad_file(file, problem, line=line)
    if not words[0] or any(len(each) > 19 for each in numbers):
        raise bad_file(file, "topic, partition or offset is out of range", line=line)
    partition, offset = map(int, numbers)
    if partition > _MAX_PARTITION or offset > _MAX_OFFSET:
        raise bad_file(file, "partition or offset is out of range", line=line)
    return TopicPartition(words[0], partition), offset
