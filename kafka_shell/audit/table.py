"""What a table of an audit is: columns with exact types, and how one slice of it is read.

Executors import this and the readers; neither Spark nor Arrow is imported at its head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster

# Every row of every table says where it is from, when it was read, and in which collection.
COMMON = ("cluster", "collected_at", "snapshot_id")

# A column's type -> Spark's name of it. Times are milliseconds since the epoch on the wire here,
# and timestamps in the tables.
DDL = {
    "string": "STRING",
    "int": "INT",
    "long": "BIGINT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "time": "TIMESTAMP",
    "ints": "ARRAY<INT>",
    "strings": "ARRAY<STRING>",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `type` is a key of DDL; a `required` one is never null."""

    name: str
    type: str
    about: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a table's work that one task does: a range of topics, a broker, some groups.

    `names` are topics, broker ids or groups, by the table's `by`; empty for a whole cluster.
    """

    cluster: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something of a slice that could not be read: `resource`, Kafka's error name, and why."""

    resource: str
    error: str
    reason: str


Read = Callable[["Cluster", Slice], Iterator[tuple[Any, ...] | Trouble]]


@dataclass(frozen=True)
class Table:
    """A table. `by` says what slices its work: "cluster", "topics", "brokers" or "groups".

    `read(cluster, slice)` yields rows: a value for each of `columns`, in their order, without the
    common ones. It raises ShellError where the slice cannot be read; what of it fails alone is
    yielded as a `Trouble`.
    """

    name: str
    about: str
    columns: tuple[Column, ...]
    read: Read
    by: str = "cluster"

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The common columns, then its own."""
        return (*_COMMON, *self.columns)

    @property
    def ddl(self) -> str:
        """The schema as Spark reads it."""
        return ", ".join(
            f"`{column.name}` {DDL[column.type]}" + (" NOT NULL" if column.required else "")
            for column in self.all_columns
        )


_COMMON = (
    Column("cluster", "string", "The profile's name, or the bootstrap address."),
    Column("collected_at", "time", "When the slice was read."),
    Column("snapshot_id", "string", "Which collection the row belongs to."),
)


def arrow_schema(table: Table) -> Any:
    """The table's schema for Arrow record batches."""
    import pyarrow

    kinds = {
        "string": pyarrow.string(),
        "int": pyarrow.int32(),
        "long": pyarrow.int64(),
        "double": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", tz="UTC"),
        "ints": pyarrow.list_(pyarrow.int32()),
        "strings": pyarrow.list_(pyarrow.string()),
    }
    return pyarrow.schema(
        [
            pyarrow.field(column.name, kinds[column.type], nullable=not column.required)
            for column in table.all_columns
        ]
    )


def by_name(tables: Sequence[Table]) -> dict[str, Table]:
    """The tables by name."""
    return {table.name: table for table in tables}
