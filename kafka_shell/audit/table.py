"""Audit tables: typed columns and a function that reads a slice.

Executors import this module, so it imports neither Spark nor Arrow at module level.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import Resource

if TYPE_CHECKING:
    from kafka_shell.admin.configs.model import ConfigEntry
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.base.results import Failure, Results
    from kafka_shell.wire.cluster import Cluster
    from kafka_shell.wire.metadata_scan import MetadataScan

K = TypeVar("K")
V = TypeVar("V")

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


class ReadFailure(Struct, frozen=True):
    """A resource of a slice that could not be read: name of the error, and the reason."""

    resource: str
    error: str
    reason: str


def read_failure(resource: str, why: ShellError | Failure) -> ReadFailure:
    """What an error or a failure says, with the permission that is missing."""
    from kafka_shell.base.results import as_failure
    from kafka_shell.wire.failures import in_one_line

    failure = as_failure(why) if isinstance(why, ShellError) else why
    return ReadFailure(resource, failure.name, in_one_line(failure))


# The part of a table that one task reads: topics, broker IDs or groups; none for a whole cluster.
Names = Sequence[str]
Rows = Iterator[tuple[Any, ...] | ReadFailure]
Read = Callable[["Cluster", Names], Rows]


class Table(Struct, frozen=True):
    """A table. `by` is how it is sliced: "cluster", "topics", "brokers" or "groups".

    `read(cluster, names)` yields rows with a value for each of `columns`, without the common
    columns, and a `ReadFailure` for each resource that could not be read. It raises ShellError if
    nothing can be read.
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


def table(name: str, about: str, columns: str, *, by: str = "cluster") -> Callable[[Read], Table]:
    """Return a decorator that makes a reader a Table.

    `columns` has a line for each column: its name, its type (with `?` if it may be null), and what
    it is.
    """
    rows = (line.split(maxsplit=2) for line in columns.strip().splitlines())
    named = tuple(
        Column(column, kind.removesuffix("?"), text, required=not kind.endswith("?"))
        for column, kind, text in rows
    )
    return lambda read: Table(name, about, named, read, by)


def readable(
    found: Results[K, V], what: str = "", *, besides: str = ""
) -> Generator[ReadFailure, None, dict[K, V]]:
    """Yield what could not be read, of this kind (`topic`), and return the values. A failure of
    another resource is keyed by it.

    Failures of the name `besides` do not count: the resource was deleted since it was listed, or an
    old broker does not return it.
    """
    for about, why in found.failures.items():
        if why.name != besides:
            named = isinstance(about, Resource) or not what
            yield read_failure(str(about) if named else f"{what} {about}", why)
    return found.values


def with_leaders(
    found: MetadataScan,
) -> Generator[ReadFailure, None, dict[TopicPartition, int]]:
    """Yield the partitions that have no leader, so that their records cannot be read, and return
    the leaders of the others."""
    from kafka_shell.admin.partitions.model import TopicPartition

    leaders: dict[TopicPartition, int] = {}
    for each in (each for name in found.names for each in found.topic(name).partitions):
        where = TopicPartition(each.topic, each.partition)
        if each.leader is None:
            reason = "the partition has no leader"
            yield ReadFailure(f"partition {where}", "LEADER_NOT_AVAILABLE", reason)
        else:
            leaders[where] = each.leader
    return leaders


# -- The configs that several tables read ----------------------------------------------------------


def config_entries(
    cluster: Cluster, kind: str, names: Names, *, synonyms: bool = False, besides: str = ""
) -> Generator[ReadFailure, None, list[tuple[str, tuple[ConfigEntry, ...]]]]:
    """Yield what could not be read, and return the configs of each resource of this ResourceType
    (DescribeConfigs, API key 32)."""
    from kafka_shell.admin.configs import read as configs
    from kafka_shell.admin.configs.model import ConfigResource, ResourceType

    resources = [ConfigResource(ResourceType[kind], name) for name in names]
    described = configs.describe(cluster, resources, synonyms=synonyms)
    found = yield from readable(described, besides=besides)
    return [(resource.name, entries) for resource, entries in found.items()]
