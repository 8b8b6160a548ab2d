"""Rounds of requests, until no item is left whose broker was the wrong one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Results
from kafka_shell.base.waits import LEADERS_S, PROGRESS_S
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import THROTTLING_QUOTA_EXCEEDED
from kafka_shell.wire.failures import failure_of_rest

K = TypeVar("K")
V = TypeVar("V")


def ask_in_rounds(
    cluster: Cluster,
    wanted: Iterable[K],
    ask: Callable[[Sequence[K], Results[K, V]], Iterable[K]],
    seconds: float = LEADERS_S,
) -> Results[K, V]:
    """The outcome of each item, in this order. `ask` adds outcomes to the results, and returns the
    items to retry: they are sent again for `seconds`, as are those whose broker has just left the
    cluster. If a later round fails as a whole, they keep the outcome of the previous round: the
    reason for the retry."""
    left = requested = tuple(dict.fromkeys(wanted))
    results: Results[K, V] = Results()
    for round_ in cluster.attempts(seconds):
        try:
            again = {*ask(left, results)}
            # In later rounds, a refused connection means that the leader has just stopped: the
            # metadata was read again.
            gone = ("unknown-broker", "refused" if round_ else "")
            again |= {each for each, why in results.failures.items() if why.name in gone}
            again -= results.values.keys()
            left = tuple(key for key in left if key in again)
        except ShellError:
            if round_ == 0:  # the items have no outcome yet
                raise
            break
        if not left:
            break
    return Results(
        {key: results.values[key] for key in requested if key in results.values},
        {key: results.failures[key] for key in requested if key not in results.values},
    )


# Changes to many items: requests of a size and at a rate that the controller accepts.

MANY = 100
"""For more items than this, all items of the cluster are read: brokers scan all for each one."""


# A controller accepts 10,000 metadata records per request: for topics, partitions and configs.
_MAX_RECORDS = 9_000
_MAX_ITEMS = 1_000  # per request, so that Ctrl-C works and progress is shown
_MIN_PAUSE_S = 0.1

T = TypeVar("T")
Rows = list[Any]


def in_slices(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in slices of this size; the last may be shorter."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def in_requests(
    items: Iterable[T], records: Callable[[T], int] = lambda _: 1
) -> Iterator[tuple[T, ...]]:
    """The items in batches for one request each. `records` is how many metadata records an item
    needs."""
    batch: list[T] = []
    total = 0
    for item in items:
        size = records(item)
        if batch and (total + size > _MAX_RECORDS or len(batch) == _MAX_ITEMS):
            yield tuple(batch)
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield tuple(batch)


class RestInterrupted(KeyboardInterrupt):
    """Ctrl-C after some outcomes were received. `rows` are the response row or the Failure of each
    item, by name."""

    def __init__(self, rows: dict[str, Any]) -> None:
        super().__init__()
        self.rows = rows


def send_within_quota(
    cluster: Cluster,
    items: Sequence[T],
    name_of: Callable[[T], str],
    ask: Callable[[Sequence[T]], tuple[int, Rows]],
) -> dict[str, Any]:
    """The response row or the Failure of each item, by name. `ask` sends items and returns the
    throttle time (ms) and rows.

    Items that exceed a quota (`controller_mutation_rate`, KIP-599) are sent again after the
    throttle time, until the deadline, or until no item has succeeded for a minute. Raises
    RestInterrupted at Ctrl-C, unless the first request is in flight.
    """
    rows: dict[str, Any] = {}  # an item that is sent again has its last row until the next one
    left, progress_at = list(items), time.monotonic()
    in_flight: Sequence[T] = left
    try:
        while True:
            try:
                throttle_ms, response = ask(left)
            except ShellError as error:
                why = failure_of_rest(error, received=len(left) < len(items))
                return rows | dict.fromkeys(map(name_of, left), why)
            rows |= {row.name: row for row in response}
            in_flight = ()
            throttled = {
                row.name for row in response if row.error_code == THROTTLING_QUOTA_EXCEEDED
            }
            retry = [item for item in left if name_of(item) in throttled]
            if len(retry) < len(left):
                progress_at = time.monotonic()
            retry_at = time.monotonic() + max(throttle_ms / 1000, _MIN_PAUSE_S)
            too_late = cluster.deadline is not None and retry_at > cluster.deadline
            if not retry or too_late or retry_at > progress_at + PROGRESS_S:
                return rows
            done = len(items) - len(retry)
            cluster.report_wait(
                f"the controller_mutation_rate quota ({done:,} of {len(items):,} changes applied)"
            )
            time.sleep(max(0.0, retry_at - time.monotonic()))
            in_flight = left = retry
    except KeyboardInterrupt as interrupt:
        if not rows:
            raise
        why = failure_of_rest(interrupt, received=True)
        raise RestInterrupted(rows | dict.fromkeys(map(name_of, in_flight), why)) from None
