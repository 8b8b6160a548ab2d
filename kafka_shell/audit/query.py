"""A query of the user's: checked, run, and its rows as plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from kafka_shell.errors import ShellError, UsageError


class Refused(ShellError):
    """Spark does not take the query."""


def check(text: str) -> None:
    """Only what reads: a query must not write a table or set something in the session."""
    if not re.match(r"(?is)\s*(--[^\n]*\n\s*)*(\(|select\b|with\b|values\b|from\b|table\b|"
                    r"explain\b|describe\b|show\b)", text):  # fmt: skip
        raise UsageError(
            "a query starts with select or with",
            hint="spark sql 'select * from topics'; spark tables lists the tables.",
            code="no-select",
        )


def rows(session: Any, text: str) -> tuple[Mapping[str, Any], ...]:
    """What the query answers. Raises Refused with Spark's reason."""
    from pyspark.errors import PySparkException

    try:
        frame = session.sql(text)
        columns = frame.columns
        found = frame.collect()
    except PySparkException as error:
        raise _refused(error) from None
    return tuple(
        {name: _plain(value) for name, value in zip(columns, row, strict=True)} for row in found
    )


def _refused(error: Any) -> Refused:
    """Spark's first sentence, without its plans."""
    said = str(error).strip().splitlines()[0]
    code = re.match(r"\[([A-Z0-9_.]+)\]\s*", said)
    message = said[code.end() :] if code else said
    message = re.sub(r"\s*SQLSTATE:\s*\w+$", "", message)
    lost = code is not None and code[1].startswith("TABLE_OR_VIEW_NOT_FOUND")
    if lost:
        message = re.sub(r" (cannot be found).*", r" \1", message)
    hint = "spark tables lists the tables." if lost else ""
    return Refused(f"Spark: {message}", hint=hint, code="sql")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone().isoformat(timespec="milliseconds")
    if isinstance(value, date | Decimal):
        return str(value)
    if isinstance(value, bytearray):
        return bytes(value)
    if hasattr(value, "asDict"):
        return {name: _plain(each) for name, each in value.asDict().items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return value
