"""A number is an offset, or a time if it has the digits of one; offset:N is always an offset."""

from __future__ import annotations

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.base.units import as_offset
from kafka_shell.commands.options import offset_or_time


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7", (7, None)),
        ("12345678901", (12_345_678_901, None)),
        ("1769860800000", (None, 1_769_860_800_000)),
        ("offset:1769860800000", (1_769_860_800_000, None)),
        ("offset:7", (7, None)),
    ],
)
def test_offsets_and_times_are_told_apart(text: str, found: tuple[int | None, int | None]) -> None:
    assert offset_or_time(text, now=0) == found


@pytest.mark.parametrize("text", ["offset:", "offset:x", "offset:-1", "offset:1h"])
def test_offset_must_be_a_number(text: str) -> None:
    with pytest.raises(ShellError):
        offset_or_time(text, now=0)


@pytest.mark.parametrize("number", [0, 12_345_678_901, 123_456_789_012, 2**63 - 1])
def test_offset_of_another_tool_stays_one(number: int) -> None:
    assert offset_or_time(as_offset(str(number)), now=0) == (number, None)
