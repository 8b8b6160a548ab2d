"""Near misses."""

import pytest

from kafka_shell.language.near import did_you_mean, nearest

pytestmark = pytest.mark.quick

NAMES = ("list-topics", "describe-topic", "alter-configs", "retention.ms", "--topic", "help")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("lst-topics", "list-topics"), ("topics-list", "list-topics"), ("LIST_TOPICS", "list-topics"),
     ("retention.mss", "retention.ms"), ("--topics", "--topic"), ("descr", "describe-topic"),
     ("zebra", None), ("", None), ("x" * 100, None)],
)  # fmt: skip
def test_nearest(typed: str, meant: str | None) -> None:
    assert nearest(typed, NAMES) == meant


def test_the_hint() -> None:
    assert did_you_mean("lst-topics", NAMES) == "did you mean list-topics?"
    assert did_you_mean("zebra", NAMES) == ""
