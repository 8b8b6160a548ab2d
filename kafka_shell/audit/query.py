"""Queries of the user: validation, execution, and rows as plain values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from kafka_shell.errors import ShellError, UsageError


class InvalidQuery(ShellError):
    """Spark rejected the query."""


def check(text: str) -> None:
    """Raise UsageError unless the query only reads."""
    if not re.match(r"(?is)\s*(--[^\n]*\n\s*)*(\(|select\b|with\b|values\b|from\b|table\b|"
                    r"explain\b|describe\b|show\b)", text):  # fmt: skip
        raise UsageError(
            "a query must start with select or with",
            hint="Example: spark sql 'select * from topics'. Run spark tables to list the tables.",
            code="no-select",
        )


def rows(session: Any, text: str) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of the query. Raises InvalidQuery with the reason given by Spark."""
    from pyspark.errors import PySparkException

    try:
        if re.search(r"(?i)\binsert\b", text):  # with x as (...) insert ... would write
            session.sql(f"EXPLAIN SELECT * FROM (\n{text}\n)").collect()
        frame = session.sql(text)
        columns = _unique(frame.columns)
        found = frame.collect()
    except PySparkException as error:
        raise _invalid(error) from None
    return tuple(
        {name: _plain(value) for name, value in zip(columns, row, strict=True)} for row in found
    )


def _unique(names: Sequence[str]) -> list[str]:
    """The names of columns, numbered where one occurs twice: `topic`, `topic (2)`."""
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def _invalid(error: Any) -> InvalidQuery:
    """Return the first sentence of a Spark error, without the query plan."""
    text = str(error).strip().splitlines()[0]
    code = re.match(r"\[([A-Z0-9_.]+)\]\s*", text)
    message = text[code.end() :] if code else text
    message = re.sub(r"\s*SQLSTATE:\s*\w+$", "", message)
    missing = code is not None and code[1].startswith("TABLE_OR_VIEW_NOT_FOUND")
    if missing:
        message = re.sub(r" (cannot be found).*", r" \1", message)
    hint = "Run spark tables to list the tables." if missing else ""
    return InvalidQuery(f"Spark: {message}", hint=hint, code="sql")


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
