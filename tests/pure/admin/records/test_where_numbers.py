"""Conditions on numbers that a double does not represent exactly."""

from __future__ import annotations

import pytest

from kafka_shell.admin.records.model import CREATE_TIME, Record
from kafka_shell.admin.records.where import RecordFilter

NUMBERS = (
    1234567890123456789, -9223372036854775808, 18446744073709551615, 123456789012345678901234567890,
)  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    ("operator", "below", "same", "above"),
    [("=", False, True, False), ("!=", True, False, True), ("<", True, False, False),
     ("<=", True, True, False), (">", False, False, True), (">=", False, True, True)],
)  # fmt: skip
def test_long_integers_are_compared_exactly(
    number: int, operator: str, below: bool, same: bool, above: bool
) -> None:
    found = RecordFilter([f"value.id{operator}{number}"], [])
    kept = []
    for each in (number - 1, number, number + 1):
        for shown in (f"{each}", f'"{each}"'):
            value = f'{{"id":{shown}}}'.encode()
            assert found.may_keep(value) or operator == "="
            kept.append(found.keeps(Record("t", 0, 0, 0, CREATE_TIME, None, value)))
    assert kept == [below, below, same, same, above, above]


@pytest.mark.parametrize("condition", [f"value.{'9' * 5_000}=1", f"value.a.{'0' * 5_000}!=1"])
def test_an_index_of_many_digits_is_that_of_no_element(condition: str) -> None:
    keeps = RecordFilter([condition], []).keeps
    for value in (b"[1]", b'{"a":[1]}'):
        assert keeps(Record("t", 0, 0, 0, CREATE_TIME, None, value)) is ("!" in condition)
