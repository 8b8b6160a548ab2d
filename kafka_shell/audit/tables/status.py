"""The status of the collection: which tables could not be read, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_shell.audit.table import Column, Slice, Table

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster


def _nothing(cluster: Cluster, part: Slice) -> Iterator[tuple[Any, ...]]:
    """Yield nothing: rows are added while other tables are read."""
    return iter(())


TABLES = (
    Table(
        "collection_status",
        "One row per table and slice: the number of rows, or why it could not be read.",
        (
            Column("table", "string", "The table."),
            Column("slice", "string", "A range of topics, a broker, or empty for the whole table."),
            Column("status", "string", "ok or error."),
            Column("rows", "long", "Number of rows."),
            Column("seconds", "double", "Duration of the read in seconds."),
            Column(
                "resource",
                "string",
                "The resource that could not be read; empty for the whole slice.",
                required=False,
            ),
            Column("error", "string", "The error name, of Kafka or of kafka.sh.", required=False),
            Column("reason", "string", "The error message.", required=False),
        ),
        _nothing,
        by="none",
    ),
)
