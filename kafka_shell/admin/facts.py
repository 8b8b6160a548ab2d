"""Facts that a plan shows besides its changes. They have a time budget: what cannot be read within
it is reported as not checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import NotChecked
from kafka_shell.base.results import Failure, as_failure
from kafka_shell.base.units import counted
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.failures import in_one_line
from kafka_shell.wire.rounds import in_slices

BUDGET_S = 4.0
"""The time for the facts of one plan."""

T = TypeVar("T")
Item = TypeVar("Item")


class Budget:
    """The time for the facts of a plan, which begins now."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._began = time.monotonic()

    @contextmanager
    def until(self, share: float) -> Iterator[None]:
        """Requests in this block end before this share of the time is over, so that one broker that
        does not respond leaves time for the facts after it."""
        left = self._began + share * BUDGET_S - time.monotonic()
        with self._cluster.within(max(0.0, left)):
            yield

    def over(self, share: float = 1.0) -> bool:
        """Whether this share of the time is over, for what is computed without requests."""
        return time.monotonic() - self._began >= share * BUDGET_S


def not_checked(what: str, failure: Failure) -> NotChecked:
    """Why something was not checked, in one line: the missing right, if that is the reason."""
    why = f"requires {failure.requires}" if failure.requires else in_one_line(failure)
    return NotChecked(what, why)


def not_checked_of(what: str, failures: Collection[Failure], noun: str) -> list[NotChecked]:
    """One line for all of these failures, with the first reason (`the records of 3 partitions`);
    none without failures."""
    if not failures:
        return []
    return [not_checked(f"{what} {counted(len(failures), noun)}", next(iter(failures)))]


def attempt(read: Callable[[], T]) -> T | Failure:
    """What `read` returns, or why it failed."""
    try:
        return read()
    except ShellError as error:
        return as_failure(error)


def in_batches(
    items: Sequence[Item], size: int, read: Callable[[Sequence[Item]], T]
) -> tuple[list[T], list[Failure]]:
    """What `read` returns for each batch of the items. If it fails, for example because the time is
    over, also the failure, once for each item that is left."""
    found: list[T] = []
    done = 0
    for batch in in_slices(items, size):
        try:
            found.append(read(batch))
        except ShellError as error:
            return found, [as_failure(error)] * (len(items) - done)
        done += len(batch)
    return found, []
