"""Files of a group's offsets, as Kafka's own tool writes and reads them: topic,partition,offset."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafka_shell.errors import ShellError
from kafka_shell.nouns import Change
from kafka_shell.values import to_path

if TYPE_CHECKING:
    from kafka_shell.nouns.partitions import TopicPartition

_LARGEST = (1 << 63) - 1


def write_offsets(file: str, changes: Iterable[Change]) -> None:
    """Write the offset that each partition is to have. Raises ShellError."""
    rows = [
        (topic, int(partition), change.after)
        for change in changes
        if change.after is not None
        for topic, _, partition in [change.field.rpartition(":")]
    ]
    try:
        with to_path(file).open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(sorted(rows))
    except OSError as error:
        raise _wrong(file, f"cannot be written: {error.strerror}") from None


def read_offsets(file: str, group: str) -> dict[TopicPartition, int]:
    """The offsets of a file; of one with a column for the group before, those of this group.

    Raises ShellError, which names the line.
    """
    try:
        text = to_path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(file, f"cannot be read: {getattr(error, 'strerror', error)}") from None
    offsets: dict[TopicPartition, int] = {}
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        if row and (len(row) != 4 or row[0] == group):
            each, offset = _row(file, number, row[-3:])
            if each in offsets:
                raise _wrong(file, f"line {number}: {each} is there twice")
            offsets[each] = offset
    if not offsets:
        raise _wrong(file, f"holds no offsets of group {group}")
    return offsets


def _row(file: str, number: int, row: list[str]) -> tuple[TopicPartition, int]:
    from kafka_shell.nouns.partitions import TopicPartition

    words = [word.strip() for word in row]
    numbers = words[1:]
    if len(words) != 3 or not all(each.isascii() and each.isdigit() for each in numbers):
        said = f"line {number}: topic,partition,offset is wanted; got '{','.join(row)}'"
        raise _wrong(file, said)
    if int(words[2]) > _LARGEST:
        raise _wrong(file, f"line {number}: {words[2]} is no offset")
    return TopicPartition(words[0], int(words[1])), int(words[2])


def _wrong(file: str, what: str) -> ShellError:
    return ShellError(f"{file} {what}", code="bad-file")
