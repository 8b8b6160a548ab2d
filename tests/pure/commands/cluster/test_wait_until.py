"""The conditions of `wait-until`."""

from __future__ import annotations

import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.cluster.spec import WaitCondition
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import tokenize


def condition(text: str) -> WaitCondition:
    line = f'wait-until "{text}"'
    invocation = parse(tokenize(line), REGISTRY, text=line)
    again = render(invocation)
    assert parse(tokenize(again), REGISTRY, text=again).values == invocation.values
    found: WaitCondition = invocation["condition"]
    return found


@pytest.mark.parametrize(
    ("text", "groups", "most", "in_time"),
    [
        ("healthy", None, 0, False),
        ("lag billing < 1000", "billing", 999, False),
        ("lag billing <= 1000", "billing", 1000, False),
        (" lag  billing<1 ", "billing", 0, False),
        ("lag pay*,/b.+/ < 5m", "pay*,/b.+/", 299_999, True),
        ("lag a < b <= 1h < 30s", "a < b <= 1h", 29_999, True),
        ("lag '' <= 0", "", 0, False),
        ("lag 'two words ' < 2", "two words ", 1, False),
        ("lag healthy < 2", "healthy", 1, False),
    ],
)
def test_a_condition(text: str, groups: str | None, most: int, in_time: bool) -> None:
    found = condition(text)
    assert (found.groups, found.most, found.in_time) == (groups, most, in_time)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("sane", "sane"),
        ("lag billing", "lag billing"),
        ("lag < 5", "lag < 5"),
        ("lag billing > 5", "lag billing > 5"),
        ("lag billing < 5 records", "lag billing < 5 records"),
        ("lag billing < many", "many"),
        ("lag billing < 0", "0"),
        ("lag billing <= -5m", "-5m"),
    ],
)
def test_what_is_no_condition(text: str, marked: str) -> None:
    with pytest.raises(UsageError) as caught:
        condition(text)
    start, end = caught.value.span or (0, 0)
    assert f'wait-until "{text}"'[start:end].strip('"') == marked
