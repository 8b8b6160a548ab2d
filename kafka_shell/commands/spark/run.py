"""Commands that list the tables and controls of audits, without Spark."""

from __future__ import annotations

from kafka_shell.audit import (
    control,
    describe,
)
from kafka_shell.audit.describe import columns_of, tables_of
from kafka_shell.audit.model import (
    AuditColumn,
    AuditControl,
    AuditTable,
    ExplainedControl,
)
from kafka_shell.audit.select_controls import select_controls
from kafka_shell.base.errors import UsageError
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


def tables(
    invocation: Invocation, context: Context
) -> tuple[AuditTable, ...] | tuple[AuditColumn, ...]:
    """All tables, or the columns of the named tables."""
    if not invocation["table"]:
        return tables_of()
    return columns_of(invocation["table"])


def controls(
    invocation: Invocation, context: Context
) -> tuple[AuditControl, ...] | ExplainedControl:
    """The chosen controls; one control as a page."""
    known = control.controls_of(context.paths.config / "controls")
    words = [name for word in invocation["control"] for name in word.split(",") if name]
    try:
        chosen = select_controls(known, words, invocation["severity"] or "")
    except UsageError as error:
        error.span = invocation.span("control")
        raise
    found = describe.controls_of(chosen)
    one = len(found) == 1 and [word.upper() for word in words] == [found[0].control]
    return describe.explained(found[0], chosen[0].sql) if one else found
