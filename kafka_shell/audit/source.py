"""A Python data source of Spark that reads the audit tables.

In a notebook, or in a program of your own:

    spark.dataSource.register(KafkaSource)
    reader = spark.read.format("kafka_sh").option("profile", "prod")
    reader.option("table", "topics").load().where("topic = 'orders'").show()

Options: `table`, and where it is read: `profile` (of config.toml; a,b for several), or `bootstrap`,
with `command_config` (a .properties file of clients) if there are credentials. `config_file` is
another config.toml. No option is a secret.

Audits set `tasks`, as JSON, and `snapshot_id`; the table `*` is the whole collection
(see COLLECTION).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_shell.audit import require_spark
from kafka_shell.audit.table import Table, arrow_schema
from kafka_shell.audit.tasks import (
    ReadTask,
    Target,
    collect,
    from_json,
    list_tasks,
    new_id,
    of_profiles,
    open_target,
    to_json,
)
from kafka_shell.base.errors import ShellError, did_you_mean
from kafka_shell.base.structs import replace

try:
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceReader,
        EqualTo,
        Filter,
        In,
        InputPartition,
        StringStartsWith,
    )
except ImportError:
    require_spark()
    raise

FORMAT = "kafka_sh"
EVERYTHING = "*"
# The last day that Python can represent in every time zone.
_LATEST_MS = 253_402_214_400_000
# One job reads all tables: each row contains a batch of one table as an Arrow stream.
COLLECTION = "`table` STRING NOT NULL, `cluster` STRING NOT NULL, `batch` BINARY NOT NULL"


class KafkaSource(DataSource):  # type: ignore[misc]
    """`spark.read.format("kafka_sh").option("table", "topics")...`."""

    options: Any

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> str:
        """The columns of the table."""
        name = self.options.get("table", "")
        return COLLECTION if name == EVERYTHING else _table(name).ddl

    def reader(self, schema: Any) -> KafkaReader:
        """The reader of the table."""
        given = dict(self.options)
        self.options = {}  # Spark sends this object to every task
        tasks = from_json(given["tasks"]) if "tasks" in given else None
        targets = () if tasks is not None else _targets(given)
        return KafkaReader(
            given.get("table", ""), tasks, targets, given.get("snapshot_id") or new_id(time.time())
        )


class KafkaReader(DataSourceReader):  # type: ignore[misc]
    """Reads slices, each in its own Spark task, of the tasks of a collection or of targets."""

    def __init__(
        self,
        table: str,
        tasks: Sequence[ReadTask] | None,
        targets: Sequence[Target],
        snapshot_id: str,
    ) -> None:
        self.table = table
        self.snapshot_id = snapshot_id
        self.tasks = tasks
        self.targets = tuple(targets)
        self.clusters: list[Filter] = []  # conditions
        self.topics: list[Filter] = []

    def __getstate__(self) -> dict[str, Any]:
        """What each task gets: not the slices of all others, which `partitions` returns."""
        return {**self.__dict__, "tasks": None, "targets": ()}

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:  # noqa: N802 - name given by Spark
        """Read only the clusters and topics that these conditions name, by `=`, `IN` or a
        prefix."""
        for wanted in filters:
            if isinstance(wanted, EqualTo | In | StringStartsWith):
                if wanted.attribute == ("cluster",):
                    self.clusters.append(wanted)
                elif wanted.attribute == ("topic",):
                    self.topics.append(wanted)
            yield wanted  # Spark filters the rows as well

    def partitions(self) -> list[InputPartition]:
        """One partition per task."""
        if self.tasks is None:
            targets = [each for each in self.targets if _meets(each.name, self.clusters)]
            tasks = _tasks_of(self.table, targets)
        else:
            tasks = [each for each in self.tasks if _meets(each.target.name, self.clusters)]
        if self.topics:
            tasks = list(_only(tasks, self.topics))
        return [InputPartition(to_json([task])) for task in tasks]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of the slice as Arrow record batches that match the schema exactly."""
        if partition.value is None:  # there is no partition
            return
        tables = _tables()
        (task,) = from_json(partition.value)
        for found in collect(task, tables, self.snapshot_id, open_target):
            if self.table == EVERYTHING:
                yield _packed(tables[found.table], found.rows, task.target.name)
            elif found.table == self.table:
                yield record_batch(tables[found.table], found.rows)
            elif error := _error(found.rows):
                raise error  # a query may not read collection_status


def _table(name: str) -> Table:
    tables = _tables()
    if name not in tables:
        known = did_you_mean(name, tables, "Run kafka.sh spark tables to list the tables.")
        what = f"unknown table {name!r}" if name else "option table is missing"
        raise ShellError(f"{what}. {known}", code="no-table")
    return tables[name]


def _targets(options: Mapping[str, str]) -> tuple[Target, ...]:
    """The clusters in the options of a notebook. Raises ShellError."""
    from kafka_shell.base.files import xdg_folder

    file = Path(options.get("config_file") or xdg_folder("config", os.environ) / "config.toml")
    if profiles := options.get("profile"):
        return of_profiles([name.strip() for name in profiles.split(",")], file)
    if bootstrap := options.get("bootstrap"):
        config = options.get("command_config", "")
        return (Target(bootstrap, "", bootstrap, str(file.absolute()), config),)
    raise ShellError("option profile or bootstrap is missing", code="no-cluster")


def _tasks_of(table: str, targets: Sequence[Target]) -> list[ReadTask]:
    """The tasks that read one table of these clusters. Raises ShellError if one cannot be read."""
    listed = list_tasks(targets, (_table(table),))
    for each in listed:
        for _, why in each.lost:
            raise ShellError(f"{each.target.name}: {why.reason}", code=why.error)
    return [task for each in listed for task in each.tasks]


def _error(rows: Sequence[tuple[Any, ...]]) -> ShellError | None:
    """What rows of collection_status say could not be read."""
    from kafka_shell.audit.tables.cluster import read_status

    columns = [column.name for column in read_status.all_columns]
    for row in rows:
        status = dict(zip(columns, row, strict=True))
        if status["status"] == "error":
            what = f"{status['cluster']}: {status['table']} {status['resource'] or ''}".rstrip()
            return ShellError(f"{what}: {status['reason']}", code=status["error"])
    return None


def _meets(name: str, conditions: Iterable[Filter]) -> bool:
    """Whether a name of a cluster or topic is wanted."""
    return all(
        name.startswith(each.value) if isinstance(each, StringStartsWith)
        else name in each.value if isinstance(each, In)
        else name == each.value
        for each in conditions
    )  # fmt: skip


def _only(tasks: Iterable[ReadTask], topics: Sequence[Filter]) -> Iterator[ReadTask]:
    """The tasks restricted to the topics of these conditions, if they are sliced by topics."""
    tables = _tables()
    for task in tasks:
        if any(tables[name].by != "topics" for name in task.tables):
            yield task
        elif names := tuple(name for name in task.names if _meets(name, topics)):
            yield replace(task, names=names)


def record_batch(table: Table, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Convert rows to a record batch. Times are milliseconds in rows, microseconds in Arrow: later
    ones than Python can represent, such as nanoseconds that a producer sent, become the last."""
    import pyarrow

    schema = arrow_schema(table)
    arrays = []
    for index, column in enumerate(table.all_columns):
        values = [row[index] for row in rows]
        if column.type == "time":
            values = [
                None if value is None or value < 0 else min(value, _LATEST_MS) * 1000
                for value in values
            ]
        arrays.append(pyarrow.array(values, type=schema.field(index).type))
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def pack(table: Table, rows: Sequence[tuple[Any, ...]], cluster: str) -> tuple[str, str, bytes]:
    """Pack rows of a table into one row of the collection."""
    import pyarrow

    batch = record_batch(table, rows)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return table.name, cluster, sink.getvalue().to_pybytes()


def _packed(table: Table, rows: Sequence[tuple[Any, ...]], cluster: str) -> Any:
    import pyarrow

    kinds = {"table": pyarrow.string(), "cluster": pyarrow.string(), "batch": pyarrow.binary()}
    # New versions of PySpark also compare nullability.
    schema = pyarrow.schema([pyarrow.field(*each, nullable=False) for each in kinds.items()])
    return pyarrow.RecordBatch.from_pylist(
        [dict(zip(kinds, pack(table, rows, cluster), strict=True))], schema=schema
    )


def unpack(batches: Iterator[Any]) -> Iterator[Any]:
    """Unpack the record batches of one table from rows of the collection (for `mapInArrow`)."""
    for batch in batches:
        yield from batches_of(packed.as_py() for packed in batch.column("batch"))


def batches_of(packed: Iterable[bytes]) -> Iterator[Any]:
    """Yield the record batches of Arrow streams."""
    import pyarrow

    for stream in packed:
        with pyarrow.ipc.open_stream(stream) as reader:
            yield from reader


def _tables() -> dict[str, Table]:
    from kafka_shell.audit.tables import TABLES

    return TABLES
