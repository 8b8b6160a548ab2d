"""Read small clusters in this process, without waiting for Spark.

Only what is small is read so: Spark's executors read the rest, many slices at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka_shell.audit.table import Table
from kafka_shell.audit.tasks import ClusterTasks, Opener, Read, ReadTask, collect, open_target
from kafka_shell.audit.threads import in_threads

MOST_TOPICS = 2_000
MOST_PARTITIONS = 20_000
MOST_GROUPS = 2_000
_AT_ONCE = 16

Rows = dict[str, list[tuple[Any, ...]]]


def is_small(listed: Sequence[ClusterTasks]) -> bool:
    """Whether the clusters together are read in seconds, and fit into the memory of a program."""
    return (
        sum(each.topics for each in listed) <= MOST_TOPICS
        and sum(each.partitions for each in listed) <= MOST_PARTITIONS
        and sum(each.groups for each in listed) <= MOST_GROUPS
    )


def read(
    tasks: Sequence[ReadTask],
    tables: Mapping[str, Table],
    snapshot_id: str,
    known: Sequence[Read] = (),
    done: Callable[[ReadTask], None] = lambda task: None,
    stopped: Callable[[], bool] = lambda: False,
    open_cluster: Opener = open_target,
) -> Rows:
    """Read these tasks in threads, and return the rows of each table, with those of `known`.
    `done` is called after each task; no further one is begun once `stopped`."""

    def one(task: ReadTask) -> list[Read]:
        if stopped():
            return []
        found = list(collect(task, tables, snapshot_id, open_cluster))
        done(task)
        return found

    rows: Rows = {}
    for each in (known, *in_threads(one, tasks, _AT_ONCE)):
        for part in each:
            rows.setdefault(part.table, []).extend(part.rows)
    return rows
