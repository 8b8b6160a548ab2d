"""Facts that a plan shows besides its changes. They have a time budget: what cannot be read within
it is reported as not checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import TypeVar

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import NotChecked
from kafka_shell.base.results import Failure, as_failure
from kafka_shell.base.units import counted
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import in_one_line

BUDGET_S = 4.0  # for the facts of one plan

T = TypeVar("T")


def in_time(cluster: Cluster) -> AbstractContextManager[None]:
    """The time for the facts of one plan, as the deadline of a block."""
    return cluster.within(BUDGET_S)


def time_is_over() -> float:
    """When the time for the facts of a plan is over that begins now (time.monotonic)."""
    return time.monotonic() + BUDGET_S


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
