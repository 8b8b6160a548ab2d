"""Tests of controls on given rows: `U01.test.toml` beside `U01.sql`.

    [[test]]
    name = "a topic without a team"
    thresholds = { separator = "." }                       # optional
    topics = [{ topic = "orders" }, { topic = "web.orders" }]   # rows of a table
    expect = [
      { resource = "orders", status = "alarm" },           # also reason, remedy, undo, cluster
      { resource = "web.orders", status = "ok" },
    ]

Columns that a row leaves out are null, or 0, "" and false where a table has no nulls. An alarm that
is not expected fails the test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_shell.audit.collection import mentioned
from kafka_shell.audit.control import Control, render
from kafka_shell.audit.evaluate import commands_of, query_of
from kafka_shell.audit.model import ControlTest
from kafka_shell.audit.query import select
from kafka_shell.audit.remedy import changes_of
from kafka_shell.audit.session import sentence
from kafka_shell.audit.snapshot import local_frame
from kafka_shell.audit.source import record_batch
from kafka_shell.audit.table import COMMON, Table
from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.base.files import read_toml

_KEYS = ("name", "thresholds", "expect")
_EXPECTED = ("resource", "cluster", "status", "reason", "remedy", "undo")
_ZERO: Mapping[str, Any] = {
    "string": "", "int": 0, "long": 0, "double": 0.0, "boolean": False, "ints": [], "strings": [],
}  # fmt: skip
CLUSTER = "test"

Test = Mapping[str, Any]


def tests_of(control: Control, tables: Mapping[str, Table]) -> list[Test]:
    """Return the tests in the file of a control; none without a file. Raises UsageError with the
    location of a mistake."""
    path = control.path.with_suffix(".test.toml")
    if not path.exists():
        return []
    _, data = read_toml(path)
    tests = data.get("test", [])
    if set(data) - {"test"} or not isinstance(tests, list):
        raise _wrong(path, "expected [[test]] entries only")
    for number, test in enumerate(tests, 1):
        _check(path, number, test, control, tables)
    return tests


def _check(
    path: Path, number: int, test: Test, control: Control, tables: Mapping[str, Table]
) -> None:
    where = f"[[test]] {number}"
    for key in test:
        if key not in _KEYS and key not in tables:
            hint = did_you_mean(key, (*_KEYS, *tables))
            raise _wrong(path, f"{where}: unknown key or table {key}", hint)
    for name in test.get("thresholds", {}):
        if name not in control.parameters:
            raise _wrong(path, f"{where}: {control.id} has no parameter {name}")
    if not test.get("expect"):
        raise _wrong(path, f"{where}: expect is missing")
    for entry in test["expect"]:
        if "resource" not in entry or set(entry) - set(_EXPECTED):
            raise _wrong(
                path, f"{where}: expect requires resource, and may have {', '.join(_EXPECTED[1:])}"
            )
    for name in tables.keys() & test.keys():
        columns = {column.name for column in tables[name].all_columns}
        for column in {key for row in test[name] for key in row} - columns:
            hint = did_you_mean(column, columns)
            raise _wrong(path, f"{where}: {name} has no column {column}", hint)


def _wrong(path: Path, what: str, hint: str = "") -> UsageError:
    return UsageError(f"{path}: {what}", hint=hint, code="bad-test")


def run(
    session: Any, control: Control, test: Test, number: int, tables: Mapping[str, Table]
) -> ControlTest:
    """Judge the rows of a test with the SQL of the control, and compare with what is expected."""
    query = query_of(control, {k: str(v) for k, v in test.get("thresholds", {}).items()})
    for name in mentioned(query, tables):
        given = test.get(name, [{}] if name == "clusters" else [])
        batch = record_batch(tables[name], [complete(tables[name], row) for row in given])
        frame = local_frame(session, tables[name], [batch] if given else [])
        frame.createOrReplaceTempView(name)
    label = str(test.get("name", f"test {number}"))
    try:
        found = [as_shown(row.asDict()) for row in select(session, query).collect()]
        why = difference(found, test["expect"])
    except Exception as error:
        return ControlTest(control.id, label, "error", f"query failed: {sentence(error)}")
    return ControlTest(control.id, label, "failed" if why else "passed", why)


def as_shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A result with the commands of its remedy."""
    remedy, undo = commands_of(changes_of(row["remedy"]))
    return {**row, "remedy": remedy, "undo": undo}


def complete(table: Table, given: Mapping[str, Any]) -> tuple[Any, ...]:
    now = datetime.now(UTC)
    common = {"cluster": CLUSTER, "collected_at": now, "snapshot_id": CLUSTER}
    values = []
    for column in table.all_columns:
        default = common.get(column.name) if column.name in COMMON else (
            (now if column.type == "time" else _ZERO[column.type]) if column.required else None
        )  # fmt: skip
        value = given.get(column.name, default)
        if isinstance(value, datetime):
            value = int(value.timestamp() * 1000)
        values.append(value)
    return tuple(values)


def difference(found: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]) -> str:
    """Return why the rows are not as expected, or an empty string."""
    rows = [{name: render(str(row.get(name) or "")) for name in _EXPECTED} for row in found]
    named = {(entry.get("cluster", CLUSTER), entry["resource"]) for entry in expected}
    for entry in expected:
        where = entry.get("cluster", CLUSTER), entry["resource"]
        of = [row for row in rows if (row["cluster"], row["resource"]) == where]
        if not of:
            return f"no result for resource {entry['resource']}"
        wanted = {name: str(entry[name]) for name in _EXPECTED if name in entry}
        if not any(wanted.items() <= row.items() for row in of):
            name = next(name for name in wanted if of[0][name] != wanted[name])
            return f"{entry['resource']}: {name} is {of[0][name]!r}, expected {wanted[name]!r}"
    for row in rows:
        if row["status"] in ("alarm", "error") and (row["cluster"], row["resource"]) not in named:
            return f"unexpected {row['status']}: {row['resource']}: {row['reason']}"
    return ""
