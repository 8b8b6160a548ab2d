"""How far a reassignment in batches is: what has been started, and its throttle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from kafka_shell.admin.partitions.model import Assignment


class Batch(Struct, frozen=True):
    """The target replicas of the partitions that are moved together; the first batch is 1."""

    number: int
    target: Assignment


class Started(Struct, frozen=True):
    """How many batches of a reassignment have been started, and its throttle (bytes per second).
    `cluster` is the ID of its cluster."""

    cluster: str
    batches: int = 0
    throttle: int | None = None


class BatchState:
    """The state of a reassignment in batches, in memory. It is removed when all is moved."""

    def __init__(self) -> None:
        self._started: Started | None = None

    def read(self) -> Started | None:
        """The state; None if the reassignment has ended, or was cancelled."""
        return self._started

    def update(self, change: Callable[[Started | None], Started | None]) -> None:
        """Replace the state with what `change` returns for it; None removes it. Other sessions
        cannot change it meanwhile. Raises ShellError if it cannot be written."""
        self._started = change(self._started)

    def remove(self) -> None:
        """Forget the reassignment."""
        self.update(lambda started: None)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Only one session at a time moves the batches. Raises ShellError (code `in-use`) if
        another one does."""
        yield
