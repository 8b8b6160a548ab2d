"""Every table of an audit."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.audit.model import AuditColumn, AuditTable
from kafka_shell.audit.table import DDL, Table
from kafka_shell.audit.tables import (
    access,
    batches,
    cluster,
    groups,
    listeners,
    topics,
    transactions,
)
from kafka_shell.base.errors import UsageError, did_you_mean

_MODULES = (
    cluster,
    topics,
    listeners,
    access,
    groups,
    transactions,
    batches,
)
TABLES: dict[str, Table] = {
    found.name: found
    for module in _MODULES
    for found in vars(module).values()
    if isinstance(found, Table)
}


def tables_of() -> tuple[AuditTable, ...]:
    """Return all tables, sorted by name."""
    return tuple(
        AuditTable(name, table.about, _columns(table)) for name, table in sorted(TABLES.items())
    )


def columns_of(names: Sequence[str]) -> tuple[AuditColumn, ...]:
    """Return the columns of these tables. Raises UsageError for an unknown table."""
    columns: list[AuditColumn] = []
    for name in (each for word in names for each in word.split(",") if each):
        if name not in TABLES:
            raise UsageError(
                f"unknown table {name!r}",
                hint=did_you_mean(name, TABLES, "Run spark tables to list the tables."),
                code="no-table",
            )
        columns += _columns(TABLES[name])
    return tuple(columns)


def _columns(table: Table) -> tuple[AuditColumn, ...]:
    return tuple(
        AuditColumn(
            table.name, column.name, DDL[column.type].lower(), column.required, column.about
        )
        for column in table.all_columns
    )
