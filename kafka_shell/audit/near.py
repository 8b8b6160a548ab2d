"""Read small clusters in this process, without waiting for Spark.

Only what is small is read so: Spark's executors read the rest, many slices at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .collect import Opener, Read, collect, open_target
from .survey import Surveyed
from .table import Table
from .threads import in_threads
from .work import Work

MOST_TOPICS = 2_000
MOST_PARTITIONS = 20_000
MOST_GROUPS = 2_000
_AT_ONCE = 16

Rows = dict[str, list[tuple[Any, ...]]]


def is_small(surveyed: Sequence[Surveyed]) -> bool:
    """Whether the clusters together are read in seconds, and fit into the memory of a program."""
    return (
        sum(each.topics for each in surveyed) <= MOST_TOPICS
        and sum(each.partitions for each in surveyed) <= MOST_PARTITIONS
        and sum(each.groups for each in surveyed) <= MOST_GROUPS
    )


def read(
    works: Sequence[Work],
    tables: Mapping[str, Table],
    snapshot_id: str,
    known: Sequence[Read] = (),
    done: Callable[[Work], None] = lambda work: None,
    stopped: Callable[[], bool] = lambda: False,
    open_cluster: Opener = open_target,
) -> Rows:
    """Read these tasks in threads, and return the rows of each table, with those of `known`.
    `done` is called after each task; no further one is begun once `stopped`."""

    def one(work: Work) -> list[Read]:
        if stopped():
            return []
        found = list(collect(work, tables, snapshot_id, open_cluster))
        done(work)
        return found

    rows: Rows = {}
    for each in (known, *in_threads(one, works, _AT_ONCE)):
        for part in each:
            rows.setdefault(part.table, []).extend(part.rows)
    return rows
