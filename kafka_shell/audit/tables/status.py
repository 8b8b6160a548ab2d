"""How the collection itself went: what could not be read is not ok."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_shell.audit.table import Column, Slice, Table

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster


def _nothing(cluster: Cluster, part: Slice) -> Iterator[tuple[Any, ...]]:
    """Its rows come from reading the others."""
    return iter(())


TABLES = (
    Table(
        "collection_status",
        "One row a table and slice: how many rows it gave, or why it could not be read.",
        (
            Column("table", "string", "The table."),
            Column("slice", "string", "Which part of it: a range of topics, a broker; or empty."),
            Column("status", "string", "ok or error."),
            Column("rows", "long", "How many rows it gave."),
            Column("seconds", "double", "How long reading took."),
            Column("resource", "string", "What could not be read; empty for the whole slice.",
                   required=False),
            Column("error", "string", "Kafka's name of the error, or ours.", required=False),
            Column("reason", "string", "Why, as a sentence.", required=False),
        ),
        _nothing,
        by="none",
    ),
)  # fmt: skip
