"""What counts as a difference: numbers are compared as numbers, text literally."""

from __future__ import annotations

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.commands.state.compare import differences
from kafka_shell.commands.state.model import State

BROKER = ConfigResource(ResourceType.BROKER, "")


def states(one: str, other: str) -> tuple[State, State]:
    """Two clusters with different values of a number and of a text."""
    first, second = (
        State({"broker_configs": {BROKER: {"number": value, "text": value}}})
        for value in (one, other)
    )
    first.texts.add("text")
    return first, second


@pytest.mark.parametrize(
    ("one", "other"), [("007", "7"), ("3.10", "3.1"), ("TRUE", "true"), ("a, b", "a,b")]
)
def test_text_is_compared_as_it_is(one: str, other: str) -> None:
    assert [each.field for each in differences(*states(one, other))] == ["text"]
    assert list(differences(*states(one, one))) == []
