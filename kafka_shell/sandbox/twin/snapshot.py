"""A snapshot of the metadata log, which a controller loads when it starts (KIP-630)."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from kafka_shell.admin.records.encode import encode_batch
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.common.private import private_folder

EPOCH = 1
_BATCH_BYTES = 256 << 10
_HEADER, _FOOTER = 3, 4  # types of control records
_OFFSET = struct.Struct(">q").pack
_TIME = 0  # of all records, so that the same metadata is the same snapshot


def write_snapshot(log_dir: Path, records: Iterable[bytes]) -> None:
    """Write the records as the snapshot of the metadata log in this log directory."""
    folder = private_folder(log_dir / "__cluster_metadata-0")
    unfinished = folder / "snapshot.part"
    end = 0
    with open(unfinished, "wb", opener=_private) as file:
        for batch, count in _batches(records):
            file.write(_OFFSET(end) + batch[8:])
            end += count
    unfinished.rename(folder / f"{end:020d}-{EPOCH:010d}.checkpoint")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _batches(records: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """The batches, each with its number of records; their base offsets are not set."""
    yield _control(_HEADER, struct.pack(">hqb", 0, _TIME, 0)), 1
    waiting: list[NewRecord] = []
    size = 0
    for value in records:
        waiting.append(NewRecord(None, value))
        size += len(value)
        if size > _BATCH_BYTES:
            yield encode_batch(waiting, now=_TIME), len(waiting)
            waiting, size = [], 0
    if waiting:
        yield encode_batch(waiting, now=_TIME), len(waiting)
    yield _control(_FOOTER, struct.pack(">hb", 0, 0)), 1


def _control(kind: int, message: bytes) -> bytes:
    record = NewRecord(struct.pack(">hh", 0, kind), message)
    return encode_batch([record], now=_TIME, control=True)
