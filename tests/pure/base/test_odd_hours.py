"""Local times in an hour that a time zone skips or repeats."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kafka_shell.base.units import odd_hour, parse_time


@pytest.fixture(autouse=True)
def _berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("2026-03-29T02:30",
         "2026-03-29T02:30 is skipped (clock change), used: 2026-03-29T03:30:00+02:00"),
        ("2026-10-25 02:30",
         "2026-10-25 02:30 is ambiguous (clock change), first: 2026-10-25T02:30:00+02:00"),
        ("2026-03-29T01:30", ""),
        ("2026-10-25T03:30", ""),
        ("2026-10-25T02:30Z", ""),
        ("-1h", ""),
        ("1769860800000", ""),
    ],
)  # fmt: skip
def test_odd_hours_are_noted(text: str, note: str) -> None:
    assert odd_hour(text, parse_time(text, now=0), 0) == note


def test_the_night_of_yesterday_is_noted() -> None:
    now = parse_time("2026-10-26T09:00", now=0)
    note = "yesterday 2:30 is ambiguous (clock change), first: 2026-10-25T02:30:00+02:00"
    assert odd_hour("yesterday 2:30", parse_time("yesterday 2:30", now=now), now) == note


def test_a_blank_means_the_same_as_t() -> None:
    assert parse_time("2026-01-31 10:00", now=0) == parse_time("2026-01-31T10:00", now=0)
