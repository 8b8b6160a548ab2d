"""Rounds of requests for items whose broker was the wrong one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.rounds import ask_in_rounds

MOVED = Failure("NOT_LEADER_OR_FOLLOWER", "the broker is not the leader")
GONE = Failure("UNKNOWN_TOPIC_OR_PARTITION", "it does not exist")


def test_a_later_round_that_fails_leaves_the_outcomes_of_the_one_before(cluster: Cluster) -> None:
    rounds = []

    def ask(items: Sequence[str], found: Results[str, int]) -> list[str]:
        rounds.append(tuple(items))
        if len(rounds) > 1:
            raise ShellError("deadline exceeded", code="deadline")
        found.values["a"] = 1
        found.failures["b"] = MOVED
        return ["b"]

    found = ask_in_rounds(cluster, ["a", "b"], ask)
    assert rounds == [("a", "b"), ("b",)]
    assert (found.values, found.failures) == ({"a": 1}, {"b": MOVED})


def test_items_are_asked_again_when_their_broker_left_the_cluster(cluster: Cluster) -> None:
    """It is refused by who does not know that yet."""
    left, refused = Failure("unknown-broker", "broker 1 is down"), Failure("refused", "no process")
    outcomes = iter([left, refused, None])
    asked = []

    def ask(items: Sequence[str], found: Results[str, int]) -> list[str]:
        asked.append(tuple(items))
        why = next(outcomes)
        found.values["a"] = 1
        if why:
            found.failures["b"] = why
        else:
            found.values["b"] = 2
        return []

    assert ask_in_rounds(cluster, ["a", "b"], ask).values == {"a": 1, "b": 2}
    assert asked == [("a", "b"), ("b",), ("b",)]


def test_without_time_items_are_asked_once(cluster: Cluster) -> None:
    asked = []

    def ask(items: Sequence[str], found: Results[str, int]) -> Sequence[str]:
        asked.append(tuple(items))
        found.failures["a"] = Failure("unknown-broker", "broker 1 is down")
        found.failures["b"] = MOVED
        return ["b"]

    assert set(ask_in_rounds(cluster, ["a", "b"], ask, 0.0).failures) == {"a", "b"}
    assert asked == [("a", "b")]


def test_a_first_round_that_fails_is_an_error_whatever_it_has_found(cluster: Cluster) -> None:
    def ask(items: Sequence[str], found: Results[str, int]) -> list[str]:
        found.failures["a"] = GONE
        raise ShellError("no broker can be reached", code="no-broker")

    with pytest.raises(ShellError, match="no broker can be reached"):
        ask_in_rounds(cluster, ["a", "b"], ask)
