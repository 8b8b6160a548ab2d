"""Failures of a collection: batched by task and error, and counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from kafka_shell.audit.collection import COLUMNS, STATUS, summed, unread_tables
from kafka_shell.audit.table import Column, ReadFailure, Table
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import ReadTask, Target, collect


class Broken:
    """A cluster of which no partition has a leader."""

    within = staticmethod(lambda seconds: nullcontext())
    __enter__ = __exit__ = lambda *_: None


def read(cluster: Any, names: Any) -> Iterator[Any]:
    yield ("orders",)
    for number in range(5000):
        yield ReadFailure(f"partition orders:{number}", "LEADER_NOT_AVAILABLE", "no leader")
    yield ReadFailure("broker 2", "REQUEST_TIMED_OUT", "broker 2 did not answer")


def test_an_error_of_many_resources_is_one_row_with_a_count_and_examples() -> None:
    table = Table("topics", "Topics.", (Column("topic", "string", "The topic."),), read)
    task = ReadTask(Target("c"), ("topics",), ("orders",))
    found = [*collect(task, {"topics": table}, "id", lambda target: Broken())]  # type: ignore[arg-type,return-value]
    names = [column.name for column in TABLES[STATUS].all_columns]
    rows = [
        dict(zip(names, row, strict=True)) for part in found if part.table == STATUS
        for row in part.rows
    ]  # fmt: skip
    assert [(row["error"], row["failures"], row["rows"]) for row in rows] == [
        ("LEADER_NOT_AVAILABLE", 5000, 0), ("REQUEST_TIMED_OUT", 1, 0), (None, 0, 1)
    ]  # fmt: skip
    examples = ", ".join(f"partition orders:{number}" for number in range(10))
    assert rows[0]["resource"] == examples
    status = summed(tuple(row[name] for name in COLUMNS) for row in rows)
    assert unread_tables(status) == {
        ("c", "topics"): "LEADER_NOT_AVAILABLE: no leader (and 5000 more)"
    }
