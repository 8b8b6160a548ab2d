"""Audit tables: typed columns and a function that reads a slice.

Executors import this module, so it imports neither Spark nor Arrow at module level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster

# Columns of every table: source, time of reading, and collection.
COMMON = ("cluster", "collected_at", "snapshot_id")

# Column type -> Spark type. Readers yield times as epoch milliseconds.
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


class Column(Struct, frozen=True):
    """A column. `type` is a key of DDL; a `required` column is never null."""

    name: str
    type: str
    about: str
    required: bool = True


class Slice(Struct, frozen=True):
    """The part of a table that one task reads: a range of topics, a broker, or some groups.

    `names` are topics, broker IDs or groups, depending on `Table.by`; empty for a whole cluster.
    """

    cluster: str
    names: tuple[str, ...] = ()


class Trouble(Struct, frozen=True):
    """A resource of a slice that could not be read: name of the error, and the reason."""

    resource: str
    error: str
    reason: str


Read = Callable[["Cluster", Slice], Iterator[tuple[Any, ...] | Trouble]]


class Table(Struct, frozen=True):
    """A table. `by` is how it is sliced: "cluster", "topics", "brokers" or "groups".

    `read(cluster, slice)` yields rows with a value for each of `columns`, without the common
    columns, and a `Trouble` for each resource that could not be read. It raises ShellError if the
    whole slice cannot be read.
    """

    name: str
    about: str
    columns: tuple[Column, ...]
    read: Read
    by: str = "cluster"

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The common columns, then those of the table."""
        return (*_COMMON, *self.columns)

    @property
    def ddl(self) -> str:
        """The schema as Spark DDL."""
        return ", ".join(
            f"`{column.name}` {DDL[column.type]}" + (" NOT NULL" if column.required else "")
            for column in self.all_columns
        )


_COMMON = (
    Column("cluster", "string", "The name of the profile, or the bootstrap address."),
    Column("collected_at", "time", "When the slice was read."),
    Column("snapshot_id", "string", "The ID of the collection."),
)


def arrow_schema(table: Table) -> Any:
    """Return the Arrow schema of the table."""
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
    """Index the tables by name."""
    return {table.name: table for table in tables}
