"""Queries of the user: validation, execution, and rows as plain values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from kafka_shell.audit.session import WITHHELD, is_remote
from kafka_shell.base.errors import ShellError, UsageError


class InvalidQuery(ShellError):
    """Spark rejected the query."""


def check(text: str) -> None:
    """Raise UsageError if the text does not begin like a query."""
    if not re.match(r"(?is)\s*(--[^\n]*\n\s*)*(\(|(select|with|values|from|table)\b)", text):
        raise UsageError(
            "a query must start with select or with",
            hint="Example: spark sql 'select * from topics'. Run spark tables to list the tables.",
            code="no-select",
        )


def select(session: Any, text: str) -> Any:
    """Return the data frame of a query of the user. Raises InvalidQuery if it would run a program.

    Spark's grammar has no statement but a query in a subquery, so nothing else is run. Functions
    that run code or open files do not exist in sessions that this program starts
    (`session.withhold`), as the analysis of a query already evaluates some of its functions.
    Programs (`TRANSFORM(...) USING 'command'`) are not run before the query, so its plan is
    checked.
    """
    frame = session.sql(f"SELECT * FROM (\n{text}\n)")
    if is_remote():
        plan = frame._explain_string(extended=True)
    else:
        plan = frame._jdf.queryExecution().logical().toString()
    if _PROGRAM.search(plan):
        raise InvalidQuery("a query cannot run a program (TRANSFORM ... USING)", code="runs-code")
    return frame


_PROGRAM = re.compile(r"(?m)^[ :+-]*'?ScriptTransformation\b")  # a node of a plan
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


def write(session: Any, text: str, folder: str) -> int:
    """Let executors write all rows of the query to a new folder, and return their number. The
    format is the one of its name: .csv, .json, .jsonl or .parquet. Raises InvalidQuery."""
    from pyspark.errors import PySparkException
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    seen = Observation()
    try:
        frame = select(session, text)
        frame = frame.toDF(*_unique(frame.columns))
        as_text = {}
        for column in frame.schema:
            kind = column.dataType.typeName()
            named = f.col("`" + column.name.replace("`", "``") + "`")
            if kind == "void":  # of no format
                as_text[column.name] = named.cast("string")
            elif kind in ("array", "map", "struct") and folder.endswith(".csv"):
                as_text[column.name] = f.to_json(named)
        frame = frame.withColumns(as_text)
        writer = frame.observe(seen, f.count(f.lit(1)).alias("rows")).write
        if folder.endswith(".csv"):
            writer.csv(folder, header=True)
        elif folder.endswith(".parquet"):
            writer.parquet(folder)
        else:
            writer.json(folder, ignoreNullFields=False)
    except PySparkException as error:
        raise _invalid(error) from None
    return int(seen.get["rows"])


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
    message = re.sub(r"^\[[A-Z0-9_.]+\]\s*|\s*SQLSTATE:.*", "", text)
    # Not the search path of names.
    message = re.sub(r"(?<= cannot be found).*| on search path \[.*", "", message)
    hint = ""
    if "TABLE_OR_VIEW_NOT_FOUND" in text:
        hint = "Run spark tables to list the tables."
    elif any(f"`{name}`" in message.lower() for name in WITHHELD):
        hint = "A query cannot use functions that can run code or open files."
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
