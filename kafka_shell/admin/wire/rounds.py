"""Rounds of requests, until no item is left whose broker was the wrong one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Results

K = TypeVar("K")
V = TypeVar("V")

_RETRY_S = 5.0  # leaders and coordinators that change do so within seconds


def ask_in_rounds(
    cluster: Cluster,
    wanted: Iterable[K],
    ask: Callable[[Sequence[K], Results[K, V]], Iterable[K]],
) -> Results[K, V]:
    """The outcome of each item, in this order. `ask` adds outcomes to the results, and returns the
    items to retry: they are sent again for some seconds. If a later round fails as a whole, they
    keep the outcome of the previous round: the reason for the retry."""
    requested = tuple(dict.fromkeys(wanted))
    found: Results[K, V] = Results()
    left = requested
    for round_ in cluster.attempts(_RETRY_S):
        try:
            left = tuple(ask(left, found))
        except ShellError:
            if round_ == 0:  # the items have no outcome yet
                raise
            break
        if not left:
            break
    return Results(
        {each: found.values[each] for each in requested if each in found.values},
        {each: found.failures[each] for each in requested if each not in found.values},
    )
