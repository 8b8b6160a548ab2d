"""Options of kafka-consumer-groups that name a target: each has one type."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_shell.admin.groups.model import ResetTarget, ResetTo
from kafka_shell.base.errors import UsageError
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.groups.changes import reset_target
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize

NOW = 1_769_860_800  # seconds
CONTEXT: Any = SimpleNamespace(clock=lambda: NOW)


@pytest.mark.parametrize(
    ("option", "to", "number"),
    [
        ("--to-datetime 2026-01-31T10:00:00.000", ResetTarget.TIME, 1_769_853_600_000),
        ("--to-datetime '2026-01-31 10:00'", ResetTarget.TIME, 1_769_853_600_000),
        ("--to-datetime 2026-01-31", ResetTarget.TIME, 1_769_817_600_000),
        ("--to-datetime 2026-01-31T10:00:00.000+01:00", ResetTarget.TIME, 1_769_850_000_000),
        ("--by-duration PT1H", ResetTarget.TIME, NOW * 1000 - 3_600_000),
        ("--to-offset 123456789012", ResetTarget.OFFSET, 123_456_789_012),
        ("--shift-by 1200", ResetTarget.SHIFT, 1200),
        ("--shift-by -5", ResetTarget.SHIFT, -5),
        ("--to-current", ResetTarget.CURRENT, 0),
        ("--to 1200", ResetTarget.OFFSET, 1200),
    ],
)
def test_each_option_has_one_type(option: str, to: ResetTarget, number: int) -> None:
    invocation = parse(tokenize(f"reset-offsets g {option}"), REGISTRY)
    assert reset_target(invocation, CONTEXT) == ResetTo(to, number)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--to-datetime 20260131", "a time such as 2026-01-31T10:00"),
        ("--to-datetime latest", "a time such as 2026-01-31T10:00"),
        ("--to-datetime group:other", "a time such as 2026-01-31T10:00"),
        ("--by-duration 1200", "a duration such as PT1H"),
        ("--by-duration=-PT1H", "at least 0"),
        ("--shift-by earliest", "an integer"),
    ],
)
def test_values_of_other_types_are_refused(option: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        parse(tokenize(f"reset-offsets g {option}"), REGISTRY)
