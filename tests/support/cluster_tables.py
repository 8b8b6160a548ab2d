"""The audit tables of a real cluster, which tests can alter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow

from kafka_shell.admin.groups import read as groups
from kafka_shell.audit.collection import COLUMNS, STATUS, summed
from kafka_shell.audit.control import Control
from kafka_shell.audit.evaluate import evaluate
from kafka_shell.audit.model import AuditFinding
from kafka_shell.audit.run import tables_for
from kafka_shell.audit.source import record_batch
from kafka_shell.audit.table import arrow_schema
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import ClusterNames, ReadTask, Target, collect, open_target, split
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster


def read(bootstrap: str, names: Iterable[str] = (), config: Path | None = None) -> ClusterTables:
    """Every table of the cluster (or these), whose name is `c`, as Arrow tables."""
    target = Target("c", "secure" if config else "", bootstrap, str(config or "/no/config.toml"))
    with open_target(target) as cluster:
        found = _names(cluster)
    wanted = [*names] or [name for name in TABLES if name != STATUS]
    by: dict[str, list[str]] = {}
    for name in wanted:
        by.setdefault(TABLES[name].by, []).append(name)
    return of_tasks(split(target, found, by), wanted)


def of_tasks(tasks: Iterable[ReadTask], names: Iterable[str]) -> ClusterTables:
    """These tables as tasks read them."""
    batches: dict[str, list[Any]] = {name: [] for name in (*names, STATUS)}
    for task in tasks:
        for found in collect(task, TABLES, "now", open_target):
            batches[found.table].append(record_batch(TABLES[found.table], found.rows))
    return ClusterTables(
        {
            name: pyarrow.Table.from_batches(held, arrow_schema(TABLES[name]))
            for name, held in batches.items()
        }
    )


def _names(cluster: Cluster) -> ClusterNames:
    return ClusterNames(
        {topic.name: topic.partitions for topic in metadata_scan.scan(cluster).summaries()},
        tuple(str(broker.id) for broker in cluster.brokers()),
        tuple(groups.list_groups(cluster).values),
    )


@dataclass
class ClusterTables:
    """Tables by name."""

    tables: dict[str, Any] = field(default_factory=dict)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """A table's rows."""
        return list(self.tables[name].to_pylist())

    @property
    def failures(self) -> list[dict[str, Any]]:
        """What could not be read."""
        return [row for row in self.rows(STATUS) if row["status"] != "ok"]

    def altered(self, name: str, rows: list[dict[str, Any]]) -> ClusterTables:
        """The same with other rows of one table."""
        schema = arrow_schema(TABLES[name])
        return ClusterTables(self.tables | {name: pyarrow.Table.from_pylist(rows, schema)})

    def judge(
        self,
        session: Any,
        controls: Sequence[Control],
    ) -> list[AuditFinding]:
        """What the controls find that is not ok. Ok ones are left out."""
        own = session.newSession()  # views of its own
        for name in self.tables.keys() & (tables_for(controls, {}, TABLES) | {STATUS}):
            frame = own.createDataFrame(self.tables[name]).coalesce(1)
            frame.createOrReplaceTempView(name)
        status = summed(tuple(row[name] for name in COLUMNS) for row in self.rows(STATUS))
        return evaluate(own, controls, {}, status).findings
