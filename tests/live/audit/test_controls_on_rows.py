"""Every control evaluated on given rows: its faults, what is no fault, and its remedies."""

from __future__ import annotations

import re

import pytest

from kafka_shell.audit.engine import Engine
from kafka_shell.commands import REGISTRY
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from tests.live.audit.rows import access, brokers, data, groups, topics
from tests.support.control_rows import CONTROLS, Result, evaluated

CASES = [*topics.CASES, *brokers.CASES, *groups.CASES, *access.CASES, *data.CASES]
# Their age is unknown, so they are never alarms.
ONLY_INFO = {"B16", "B21"}


@pytest.fixture(scope="module")
def results(engine: Engine) -> list[Result]:
    """Return the results of all cases."""
    return evaluated(engine.session, CASES)


@pytest.mark.parametrize(
    "number", range(len(CASES)), ids=[f"{control} {about}" for control, about, _, _ in CASES]
)
def test_a_control_returns_the_expected_results(results: list[Result], number: int) -> None:
    assert results[number].why == ""


def test_every_control_has_an_alarm_and_an_ok_result(results: list[Result]) -> None:
    returned = {
        (control, row["status"])
        for (control, *_), result in zip(CASES, results, strict=True)
        for row in result.rows
    }
    wanted = {(name, status) for name in CONTROLS.keys() - ONLY_INFO for status in ("alarm", "ok")}
    assert wanted - returned == set()


def test_every_control_with_a_fix_has_a_remedy_that_is_a_command(results: list[Result]) -> None:
    with_remedy = set()
    for (control, *_), result in zip(CASES, results, strict=True):
        for row in result.rows:
            for line in filter(None, (row["remedy"], row["undo"])):
                parse(tokenize(line), REGISTRY)
                with_remedy.add(control)
    assert {name for name, control in CONTROLS.items() if control.fixes} == with_remedy


def test_a_change_of_a_config_has_one_risk_everywhere(results: list[Result]) -> None:
    risks: dict[str, set[str]] = {}
    for (control, *_), result in zip(CASES, results, strict=True):
        for row in result.rows:
            for key in re.findall(r"^alter-configs .* ([\w.]+)=\S+$", row["remedy"] or ""):
                risks.setdefault(key, set()).add(CONTROLS[control].risk)
    assert len(risks) > 10 and all(len(found) == 1 for found in risks.values()), risks
