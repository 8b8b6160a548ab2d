"""Progress of reads that arrive in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from kafka_shell.base.results import Results
from kafka_shell.context import Context

K = TypeVar("K")
V = TypeVar("V")


def reported(
    parts: Iterable[Results[K, V]], total: int, context: Context
) -> Iterator[Results[K, V]]:
    """The parts as they arrive, with their progress reported. `total` is the number of keys; with
    none, nothing is read."""
    if not total:
        return
    task, done = "reading configs", 0
    context.report(task, 0, total)
    try:
        for part in parts:
            done = min(done + len(part.values) + len(part.failures), total - 1)
            context.report(task, done, total)
            yield part
    finally:
        context.report(task, total, total)
