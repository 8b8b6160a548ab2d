"""Queries of the user: validation, execution, and rows as plain values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from kafka_shell.base.errors import ShellError, UsageError


class InvalidQuery(ShellError):
    """Spark rejected the query."""


def check(text: str) -> None:
    """Raise UsageError if the text is not a query, or could run other programs or open files.

    Spark runs shell commands in TRANSFORM, MAP and REDUCE ... USING 'command', and Java methods in
    reflect(), whose name could also be computed by IDENTIFIER(). Functions of Avro, Protobuf and
    XML open files of schemas. A plan would come too late: its analysis already evaluates VALUES
    and schemas, and no longer shows them. A query with these words is rejected, even in a literal.
    """
    if not re.match(r"(?is)\s*(--[^\n]*\n\s*)*(\(|(select|with|values|from|table)\b)", text):
        raise UsageError(
            "a query must start with select or with",
            hint="Example: spark sql 'select * from topics'. Run spark tables to list the tables.",
            code="no-select",
        )
    runs = _RUNS.search(text)
    if runs is not None:
        word = (runs["name"] or runs["script"]).lower()
        raise UsageError(
            f"a query cannot use {word}, which can run code or open files on the machine of Spark",
            hint="Write such a word in a literal as 'refl' || 'ect'.",
            code="runs-code",
        )


# Like Spark, IGNORECASE also matches letters such as the long s.
_RUNS = re.compile(
    r"\b(?P<name>(try_)?reflect|java_method|identifier|(from|to|schema_of)_(avro|protobuf|xml))\b"
    r"|\b(?P<script>transform|map|reduce)\b.*\busing\b(?!\s*\()",
    re.IGNORECASE | re.DOTALL,
)


def select(session: Any, text: str) -> Any:
    """Return the data frame of a query. Spark's grammar has no statement but a query in a subquery,
    so nothing else is run."""
    return session.sql(f"SELECT * FROM (\n{text}\n)")


MOST_ROWS = 10_000  # of a query, in the memory of this program


def rows(session: Any, text: str) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of the query, at most one more than MOST_ROWS. Raises InvalidQuery with the
    reason given by Spark."""
    from pyspark.errors import PySparkException

    try:
        frame = select(session, text)
        columns = _unique(frame.columns)
        found = frame.limit(MOST_ROWS + 1).collect()
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
    """Return the first sentence of a Spark error, without the query plan and the line, which is one
    of `select`."""
    text = str(error).strip().splitlines()[0]
    code = re.match(r"\[([A-Z0-9_.]+)\]\s*", text)
    message = text[code.end() :] if code else text
    message = re.sub(r"\s*SQLSTATE:.*", "", message)
    missing = code is not None and code[1].startswith("TABLE_OR_VIEW_NOT_FOUND")
    if missing:
        message = re.sub(r" (cannot be found).*", r" \1", message)
    hint = "Run spark tables to list the tables." if missing else ""
    return InvalidQuery(f"Spark: {message}", hint=hint, code="sql")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone().isoformat(timespec="milliseconds")
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, date):
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
