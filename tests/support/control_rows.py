"""Rows for controls, and the evaluation of a control on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.audit import control_tests
from kafka_shell.audit.control import load
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.tables import TABLES

CONTROLS = load(Path(control_tests.__file__).parent / "controls")
NOW = datetime.now(UTC)
DAY = timedelta(days=1)
Rows = list[dict[str, Any]]
# Control, what is judged, rows by table, and what is found.
Case = tuple[str, str, Mapping[str, Rows], list[dict[str, str]]]

ORDERS: Rows = [{"topic": "orders", "partitions": 1}]
UNLIMITED = {"retention_ms": "-1", "retention_bytes": "-1", "cleanup_policy": "delete"}


def configs(topic: str, **values: str) -> Rows:
    """Configs of a topic: `retention_ms` is retention.ms."""
    return [{"topic": topic, "key": key.replace("_", "."), "value": value,
             "inherited": value} for key, value in values.items()]  # fmt: skip


def batch(place: str, base: int, last: int, age: timedelta, **values: Any) -> dict[str, Any]:
    """A batch of orders:0, of this age."""
    at = NOW - age
    own = {"topic": "orders", "place": place, "base_offset": base, "last_offset": last,
           "records": last - base + 1, "base_timestamp": at, "max_timestamp": at}  # fmt: skip
    return own | values


def found(resource: str, status: str, **values: str) -> dict[str, str]:
    """What a control must find."""
    return {"resource": resource, "status": status} | values


def assert_found(
    engine: Engine, control: str, rows: Mapping[str, Rows], expected: Sequence[Mapping[str, str]]
) -> None:
    """Evaluate a control on these rows by table; it must find what is expected."""
    test = {**rows, "expect": list(expected)}
    session = engine.session.newSession()  # views of its own
    result = control_tests.run(session, CONTROLS[control], test, 1, TABLES)
    assert result.status == "passed", result


def evaluating(cases: Sequence[Case]) -> Any:
    """A test that evaluates the control of each case on its rows."""

    @pytest.mark.parametrize(
        ("control", "rows", "expected"),
        [pytest.param(name, rows, expected, id=f"{name} {about}")
         for name, about, rows, expected in cases],
    )  # fmt: skip
    def test(
        engine: Engine, control: str, rows: Mapping[str, Rows], expected: list[dict[str, str]]
    ) -> None:
        assert_found(engine, control, rows, expected)

    return test
