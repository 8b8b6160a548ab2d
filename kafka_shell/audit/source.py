"""A Python data source of Spark that reads the audit tables.

Options (none is a secret): `table`, or `*` for the whole collection (see COLLECTION); `work`, the
tasks as JSON; `snapshot_id`, the ID of the collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, EqualTo, Filter, InputPartition

from .table import Table, arrow_schema
from .work import Work, from_json, to_json

FORMAT = "kafka_sh"
EVERYTHING = "*"
# One job reads all tables: each row contains a batch of one table as an Arrow stream.
COLLECTION = "`table` STRING NOT NULL, `cluster` STRING NOT NULL, `batch` BINARY NOT NULL"


class KafkaSource(DataSource):  # type: ignore[misc]
    """`spark.read.format("kafka_sh").option("table", "topics")...`."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> str:
        """The columns of the table."""
        table = self.options["table"]
        return COLLECTION if table == EVERYTHING else _tables()[table].ddl

    def reader(self, schema: Any) -> KafkaReader:
        """The reader of the table."""
        return KafkaReader(
            self.options["table"], from_json(self.options["work"]), self.options["snapshot_id"]
        )


class KafkaReader(DataSourceReader):  # type: ignore[misc]
    """Reads slices, each in its own Spark task."""

    def __init__(self, table: str, works: Sequence[Work], snapshot_id: str) -> None:
        self.table = table
        self.works = tuple(works)
        self.snapshot_id = snapshot_id

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:  # noqa: N802 - name given by Spark
        """Skip slices of other clusters or topics for `cluster = ...` and `topic = ...`."""
        for wanted in filters:
            if isinstance(wanted, EqualTo) and wanted.attribute == ("cluster",):
                self.works = tuple(w for w in self.works if w.target.name == wanted.value)
            elif isinstance(wanted, EqualTo) and wanted.attribute == ("topic",):
                self.works = _only(self.works, str(wanted.value))
            yield wanted  # Spark filters the rows as well

    def partitions(self) -> list[InputPartition]:
        """One partition per task."""
        return [InputPartition(to_json([work])) for work in self.works]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of the slice as Arrow record batches that match the schema exactly."""
        from .collect import collect, open_target

        tables = _tables()
        (work,) = from_json(partition.value)
        for found in collect(work, tables, self.snapshot_id, open_target):
            if self.table == EVERYTHING:
                yield _packed(tables[found.table], found.rows, work.target.name)
            elif found.table == self.table:
                yield record_batch(tables[found.table], found.rows)


def _only(works: Sequence[Work], topic: str) -> tuple[Work, ...]:
    """Return the tasks restricted to one topic, if they are sliced by topics."""
    from kafka_shell.structs import replace

    tables = _tables()
    kept = []
    for work in works:
        if all(tables[name].by == "topics" for name in work.tables):
            if topic in work.names:
                kept.append(replace(work, names=(topic,)))
        else:
            kept.append(work)
    return tuple(kept)


def record_batch(table: Table, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Convert rows to a record batch. Times are milliseconds in rows, microseconds in Arrow."""
    import pyarrow

    schema = arrow_schema(table)
    arrays = []
    for index, column in enumerate(table.all_columns):
        values = [row[index] for row in rows]
        if column.type == "time":
            values = [None if value is None or value < 0 else value * 1000 for value in values]
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
    from .tables import TABLES

    return TABLES
