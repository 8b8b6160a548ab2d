"""The tables, columns and controls that `spark tables` and `spark controls` show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_shell.audit.control import Control
from kafka_shell.audit.model import AuditColumn, AuditControl, AuditTable, ExplainedControl
from kafka_shell.audit.table import DDL, Table
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.base.structs import fields


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


def explained(control: AuditControl, query: str) -> ExplainedControl:
    """Return a control for a page of its own."""
    return ExplainedControl(query=query, **{key: getattr(control, key) for key in fields(control)})


def controls_of(controls: Iterable[Control]) -> tuple[AuditControl, ...]:
    """Return what users should know of these controls."""
    return tuple(
        AuditControl(
            each.id, each.title, each.severity.name.lower(), each.family, each.description,
            each.source, each.tags, each.needs, each.parameters, each.dynamic, each.risk,
            str(each.path),
        )
        for each in controls
    )  # fmt: skip
