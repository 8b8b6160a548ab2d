"""Reads a state part by part: what cannot be read is a failure, and does not prevent the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure, as_failure

T = TypeVar("T")
READ_S = 10.0  # for each part, whatever hangs


class PartReader:
    """Reads parts of the state, and keeps the failures of those that could not be read."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.failures: dict[str, Failure] = {}

    def __call__(self, what: str, read: Callable[[Cluster], T]) -> T | None:
        """The part, or None if it could not be read. `what` names it in `failures`."""
        try:
            with self.cluster.within(READ_S):
                return read(self.cluster)
        except ShellError as error:
            self.failures[what] = as_failure(error)
            return None
