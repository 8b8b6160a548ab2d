"""The toolbar on terminals of any width."""

from __future__ import annotations

import time

import pytest
from prompt_toolkit.formatted_text import fragment_list_width, to_plain_text
from prompt_toolkit.formatted_text.base import StyleAndTextTuples

from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.shell.screen import toolbar
from kafka_shell.view.cache import CacheState
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import ClusterView, Part, TopicIndex
from kafka_shell.wire.model import Broker

BROKERS = tuple(Broker(number, f"b{number}", 9092) for number in (1, 2, 3))
TOPICS = TopicIndex(NameIndex(f"t{number}" for number in range(1234)))
VIEW = ClusterView("prod", brokers=Part(BROKERS, 1e9), topics=Part(TOPICS, 1e9))
DOWN = CacheState(
    failure=Failure("refused", "b1:9092 refused the connection"), unreachable=True, since=1e9
)


def text(fragments: StyleAndTextTuples) -> str:
    return to_plain_text(fragments)


def test_a_wide_terminal_shows_everything() -> None:
    line = text(toolbar(VIEW, CacheState(), 140))
    for words in ("prod", "3 brokers", "1,234 topics", "as of ", "F1 help", "^R search"):
        assert words in line


def test_problems_have_priority() -> None:
    sick = replace(VIEW, topics=Part(replace(TOPICS, offline=2, under_replicated=1), 1e9))
    assert "2 offline" in text(toolbar(sick, CacheState(), 50))
    assert "unreachable since" in text(toolbar(VIEW, DOWN, 40))
    assert "refused" in text(toolbar(VIEW, DOWN, 100))


@pytest.mark.parametrize("state", [CacheState(), DOWN, CacheState(reading=("topics",))])
def test_it_fits(state: CacheState) -> None:
    view = replace(VIEW, name="prod-東京")
    for columns in (1, 5, 10, 20, 40, 60, 80, 120, 200):
        fragments = toolbar(view, state, columns, guard="typed", vi="vi")
        assert fragment_list_width(fragments) <= max(columns, 2), f"{columns} columns"


def test_before_anything_was_read() -> None:
    cold = ClusterView("localhost:9092")
    assert "localhost:9092" in text(toolbar(cold, CacheState(), 80))
    assert "connecting" in text(toolbar(cold, CacheState(reading=("topics",)), 80))
    kept = replace(cold, topics=Part(TOPICS))
    assert "last session" in text(toolbar(kept, CacheState(), 120))


def test_without_connection_help_and_exit_are_shown_instead_of_old_data() -> None:
    assert "3 brokers" in text(toolbar(VIEW, DOWN, 140))
    narrow = text(toolbar(VIEW, DOWN, 96))
    assert "refused" in narrow and "F1 help" in narrow and "^D exit" in narrow
    assert "brokers" not in narrow
    assert "^D exit" not in text(toolbar(VIEW, DOWN, 40))


def test_only_an_unreachable_cluster_is_called_so() -> None:
    late = CacheState(failure=Failure("deadline", "no response within 15 s"), since=1e9)
    line = text(toolbar(VIEW, late, 160))
    assert "not refreshed since" in line and "unreachable" not in line


def test_times_have_the_day() -> None:
    day = time.strftime("%a %H:%M", time.localtime(1e9))
    assert f"as of {day}" in text(toolbar(VIEW, CacheState(), 140))
    assert f"unreachable since {day}" in text(toolbar(VIEW, DOWN, 140))


def test_a_guard_is_shown() -> None:
    assert "read-only" in text(toolbar(VIEW, CacheState(), 100, guard="read-only"))
