"""A task of a collection, run by an executor: reads the tables of a slice over one connection.

Failures become rows of `collection_status`. They are not raised, because a single exception would
fail the whole Spark job.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kafka_shell.errors import ShellError

from .table import Table, Trouble, trouble
from .work import CURRENT, Target, Work

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
    work: Work, tables: Mapping[str, Table], snapshot_id: str, open_cluster: Opener
) -> Iterator[Read]:
    """Yield the rows of each table of this task in batches, and a status row per table."""
    try:
        cluster = open_cluster(work.target)
    except ShellError as error:
        for name in work.tables:
            why = trouble("", error)
            yield _status(name, work, snapshot_id, 0, 0.0, why)
        return
    CURRENT.set(work)
    with cluster, cluster.within(DEADLINE_S):
        for name in work.tables:
            yield from _of_table(tables[name], work, cluster, snapshot_id)


def _of_table(table: Table, work: Work, cluster: Cluster, snapshot_id: str) -> Iterator[Read]:
    started = time.time()
    common = (work.target.name, int(started * 1000), snapshot_id)
    rows: list[tuple[Any, ...]] = []
    troubles: list[Trouble] = []
    count = 0
    try:
        for row in table.read(cluster, work.names):
            if isinstance(row, Trouble):
                troubles.append(row)
                continue
            rows.append((*common, *row))
            count += 1
            if len(rows) >= ROWS_PER_BATCH:
                yield Read(table.name, rows)
                rows = []
    except ShellError as error:
        troubles.append(trouble("", error))
    except (
        Exception
    ) as error:  # an internal error must not fail the whole job; its text could contain a secret
        troubles.append(Trouble("", "internal", type(error).__name__))
    if rows:
        yield Read(table.name, rows)
    seconds = time.time() - started
    for each in troubles:
        yield _status(table.name, work, snapshot_id, 0, seconds, each)
    if not troubles or count:
        yield _status(table.name, work, snapshot_id, count, seconds, None)


def _status(
    table: str, work: Work, snapshot_id: str, rows: int, seconds: float, why: Trouble | None
) -> Read:
    return Read("collection_status", [status_row(table, work, snapshot_id, rows, seconds, why)])


def status_row(
    table: str, work: Work, snapshot_id: str, rows: int, seconds: float, why: Trouble | None
) -> tuple[Any, ...]:
    """Return the collection_status row of reading a table of this task."""
    names = work.names
    part = "" if not names else names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}"
    return (
        work.target.name, int(time.time() * 1000), snapshot_id,
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
