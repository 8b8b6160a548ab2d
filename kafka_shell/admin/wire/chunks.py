"""Changes of very many things: cut into requests that a controller takes, as fast as it lets us."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from .connection import Cluster

MANY = 100
"""Beyond so many things, all there are are read at once: a broker walks all for each one."""

QUOTA_EXCEEDED = 89  # THROTTLING_QUOTA_EXCEEDED

# A controller takes 10,000 records in one request: of topics, partitions and configs.
_RECORDS = 9_000
_AT_ONCE = 1_000  # things, so that Ctrl-C and a progress bar have something to do
_STUCK_S = 60.0  # of a quota that lets nothing through
_LEAST_PAUSE_S = 0.1

T = TypeVar("T")
Rows = list[Any]


def in_requests(
    items: Iterable[T], records: Callable[[T], int] = lambda _: 1
) -> Iterator[tuple[T, ...]]:
    """The items, as many together as one request may hold; `records` of one are in the metadata."""
    batch: list[T] = []
    held = 0
    for item in items:
        size = records(item)
        if batch and (held + size > _RECORDS or len(batch) == _AT_ONCE):
            yield tuple(batch)
            batch, held = [], 0
        batch.append(item)
        held += size
    if batch:
        yield tuple(batch)


def in_turn(
    cluster: Cluster,
    items: Sequence[T],
    name_of: Callable[[T], str],
    ask: Callable[[Sequence[T]], tuple[int, Rows]],
) -> Rows:
    """The answer's row of each item; `ask` gives the throttle time (ms) with them.

    What a quota on changes holds up (`controller_mutation_rate`, KIP-599) is asked for again when
    the broker says, until the deadline, or until nothing has come through for a minute.
    """
    rows: Rows = []
    left, moved = list(items), time.monotonic()
    while True:
        throttle_ms, answer = ask(left)
        held = {row.name: row for row in answer if row.error_code == QUOTA_EXCEEDED}
        rows += [row for row in answer if row.name not in held]
        again = [item for item in left if name_of(item) in held]
        if len(again) < len(left):
            moved = time.monotonic()
        wakes = time.monotonic() + max(throttle_ms / 1000, _LEAST_PAUSE_S)
        late = cluster.deadline is not None and wakes > cluster.deadline
        if not again or late or wakes > moved + _STUCK_S:
            return rows + list(held.values())
        time.sleep(max(0.0, wakes - time.monotonic()))
        left = again
