"""Words that name partitions and times: values and errors."""

from __future__ import annotations

import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Option
from kafka_shell.language.kinds import convert

PARTITIONS = Argument("topic", kinds.TOPIC_PARTITIONS, "Which.")
TIME = Option("--time", kinds.TIME, "When.")
TIME_OR_END = Option("--time", kinds.TIME, "When.", choices=("earliest", "latest"))


@pytest.mark.parametrize(
    ("text", "value", "spelled"),
    [
        ("orders", ("orders", None), "orders"),
        ("orders:0", ("orders", (0,)), "orders:0"),
        ("orders:0,3-5,4", ("orders", (0, 3, 4, 5)), "orders:0,3-5"),
        ("orders:1-2", ("orders", (1, 2)), "orders:1,2"),
        ("orders:5,4,3", ("orders", (5, 4, 3)), "orders:5,4,3"),
        ("a,b:0", ("a,b", (0,)), "a,b:0"),
        ("svc-*:7", ("svc-*", (7,)), "svc-*:7"),
        ("/^(?:a|b)/", ("/^(?:a|b)/", None), "/^(?:a|b)/"),
        ("/^(?:a|b)/:0", ("/^(?:a|b)/", (0,)), "/^(?:a|b)/:0"),
    ],
)
def test_partitions(text: str, value: tuple[str, object], spelled: str) -> None:
    assert convert(PARTITIONS, text)[0] == value
    assert PARTITIONS.kind.format(value) == spelled
    assert convert(PARTITIONS, spelled)[0] == value


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("orders:", ""), (":0", ""), ("orders:-1", ""), ("orders:5-3", ""), ("orders:0;1", ""),
        ("orders:0,invoices:1", "separately"), ("/(/:0", ""), ("/^a", ""),
    ],
)  # fmt: skip
def test_invalid_partitions(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        convert(PARTITIONS, text)
    assert hint in caught.value.hint


@pytest.mark.parametrize("text", ["now", "-1h", "2026-01-31T10:00", "1769860800000"])
def test_times_stay_as_they_are_typed(text: str) -> None:
    assert convert(TIME, text)[0] == text


def test_a_time_or_one_of_its_choices() -> None:
    assert convert(TIME_OR_END, "Latest")[0] == "latest"
    with pytest.raises(UsageError, match=r"or -1h, or one of earliest, latest, got 'soon'"):
        convert(TIME_OR_END, "soon")
    with pytest.raises(UsageError, match=r"such as 2026-01-31T10:00 or -1h, got 'latest'"):
        convert(TIME, "latest")
