"""Near misses in error messages."""

import pytest

from kafka_shell.base.errors import did_you_mean, near_miss

NAMES = ("list-topics", "describe-topic", "alter-configs", "retention.ms", "--topic", "help")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("lst-topics", "list-topics"), ("topics-list", "list-topics"), ("LIST_TOPICS", "list-topics"),
     ("retention.mss", "retention.ms"), ("--topics", "--topic"), ("descr", "describe-topic"),
     ("zebra", None), ("", None), ("x" * 100, None)],
)  # fmt: skip
def test_near_miss(typed: str, meant: str | None) -> None:
    assert near_miss(typed, NAMES) == meant


def test_the_hint() -> None:
    assert did_you_mean("lst-topics", NAMES) == "Did you mean list-topics?"
    assert did_you_mean("zebra", NAMES) == ""
