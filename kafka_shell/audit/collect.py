"""A task of a collection, run by an executor: reads the tables of a slice over one connection.

Failures become rows of `collection_status`. They are not raised, because a single exception would
fail the whole Spark job.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kafka_shell.audit.read_tasks import CURRENT, ReadTask, Target
from kafka_shell.audit.table import ReadFailure, Table, read_failure
from kafka_shell.errors import ShellError

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster

ROWS_PER_BATCH = 10_000
DEADLINE_S = 120.0  # per slice

Opener = Callable[[Target], "Cluster"]


class Read(Struct, frozen=True):
    """Rows of one table, including the common columns."""

    table: str
    rows: list[tuple[Any, ...]]


def collect(
    task: ReadTask, tables: Mapping[str, Table], snapshot_id: str, open_cluster: Opener
) -> Iterator[Read]:
    """Yield the rows of each table of this task in batches, and a status row per table."""
    try:
        cluster = open_cluster(task.target)
    except ShellError as error:
        for name in task.tables:
            why = read_failure("", error)
            yield _status(name, task, snapshot_id, 0, 0.0, why)
        return
    CURRENT.set(task)
    with cluster, cluster.within(DEADLINE_S):
        for name in task.tables:
            yield from _of_table(tables[name], task, cluster, snapshot_id)


def _of_table(table: Table, task: ReadTask, cluster: Cluster, snapshot_id: str) -> Iterator[Read]:
    started = time.time()
    common = (task.target.name, int(started * 1000), snapshot_id)
    rows: list[tuple[Any, ...]] = []
    failures: list[ReadFailure] = []
    count = 0
    try:
        for row in table.read(cluster, task.names):
            if isinstance(row, ReadFailure):
                failures.append(row)
                continue
            rows.append((*common, *row))
            count += 1
            if len(rows) >= ROWS_PER_BATCH:
                yield Read(table.name, rows)
                rows = []
    except ShellError as error:
        failures.append(read_failure("", error))
    except (
        Exception
    ) as error:  # an internal error must not fail the whole job; its text could contain a secret
        failures.append(ReadFailure("", "internal", type(error).__name__))
    if rows:
        yield Read(table.name, rows)
    seconds = time.time() - started
    for each in failures:
        yield _status(table.name, task, snapshot_id, 0, seconds, each)
    if not failures or count:
        yield _status(table.name, task, snapshot_id, count, seconds, None)


def _status(
    table: str, task: ReadTask, snapshot_id: str, rows: int, seconds: float, why: ReadFailure | None
) -> Read:
    return Read("collection_status", [status_row(table, task, snapshot_id, rows, seconds, why)])


def status_row(
    table: str, task: ReadTask, snapshot_id: str, rows: int, seconds: float, why: ReadFailure | None
) -> tuple[Any, ...]:
    """Return the collection_status row of reading a table of this task."""
    names = task.names
    part = "" if not names else names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}"
    return (
        task.target.name, int(time.time() * 1000), snapshot_id,
        table, part,
        "ok" if why is None else "error",
        rows, seconds,
        None if why is None else why.resource,
        None if why is None else why.error,
        None if why is None else why.reason,
    )  # fmt: skip


def open_target(target: Target) -> Cluster:
    """Connect to the target with the credentials of its profile on this host. Raises ShellError.

    Environment variables are ignored because executors have their own environment.
    """
    from pathlib import Path

    from kafka_shell import settings
    from kafka_shell.admin.wire.connection import Cluster

    flags: dict[str, object] = {
        "profile": target.profile,
        "broker": target.bootstrap,
        "command-config": target.command_config,
        "adminclient-property": list(target.properties),
    }
    flags = {name: value for name, value in flags.items() if value}
    found = settings.load(flags, {}, Path(target.config_file))
    return Cluster(found.connection)
