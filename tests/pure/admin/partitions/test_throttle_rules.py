"""The three rules of replication throttles: however moves end, what was set before is restored.

Two topics, a and b, on brokers 1 and 2 of three. A word does something, and those after `B:` are of
another shell: `a` moves topic a to brokers 2 and 3 at 1 B/s, and `ab` both topics together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import pytest

from kafka_shell.admin.configs.model import ConfigResource
from kafka_shell.admin.partitions.model import Move, TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_cancel, plan_move, state
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.targets import plan_remove_throttle
from kafka_shell.admin.partitions.throttles import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    RATES,
    Config,
    RemoveThrottle,
    SetThrottle,
    Throttled,
    ThrottleRecord,
    broker_config,
    left_behind,
    of_no_move,
    plan_throttle,
    topic_config,
)
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect, Plan, Resource, apply
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from tests.support.given_moves import GivenCluster, given

FAST = 900_000_000
DENIED = Failure("TOPIC_AUTHORIZATION_FAILED", "not authorized", 29)
LOST = Failure("no-broker", "the connection was lost")
INVALID = Failure("INVALID_REPLICA_ASSIGNMENT", "no broker 99", 39)
Values = dict[str, str]
"""A config and its value: `a leaders` or `b followers` is a list, `1 leader` or `3 follower` a
rate."""
_KEYS = {
    "leaders": LEADER_REPLICAS,
    "followers": FOLLOWER_REPLICAS,
    "leader": LEADER_RATE,
    "follower": FOLLOWER_RATE,
}
_SHORT = {key: short for short, key in _KEYS.items()}

FOR_GOOD = {"3 follower": "9000000"}  # what broker 3 takes in is limited for good
A_RATES = {"1 leader": "1", "2 leader": "1", "3 follower": "1"}
A_LISTS = {"a leaders": "0:1,0:2", "a followers": "0:3"}
B_LISTS = {"b leaders": "0:1,0:2", "b followers": "0:3"}
BY_A = A_RATES | A_LISTS
B_FAST = dict.fromkeys(A_RATES, "2") | B_LISTS


def config(text: str) -> Config:
    name, short = text.split()
    key = _KEYS[short]
    return (broker_config if key in RATES else topic_config)(name), key


class Shells:
    """Two shells that know nothing of each other, each with a record of its own."""

    TO: ClassVar = {"move": (2, 3), "elsewhere": (3, 2), "back": (1, 2)}

    def __init__(self, facts: GivenCluster) -> None:
        self.facts = facts
        self.records = {"A": ThrottleRecord(), "B": ThrottleRecord()}
        self.plan = Plan(Effect.CHANGE, ())
        self.notes: set[str] = set()

    def __call__(self, words: str) -> None:
        for each in words.split(", "):
            whose, _, what = each.rpartition(": ")
            verb, _, rest = what.partition(" ")
            verb, rest = ("move", f"{verb} 1") if verb in ("a", "b", "ab") else (verb, rest)
            self._do(self.records[whose or "A"], verb, rest)

    def _do(self, record: ThrottleRecord, verb: str, rest: str) -> None:
        topic, _, rate = rest.partition(" ")
        partitions = [TopicPartition(each, 0) for each in topic]
        if verb == "release":
            self.facts.complete(*partitions)
        elif verb == "delete":
            self.facts.delete(topic)
        elif verb == "set":
            name, value = rest.split("=")
            self.facts.values[config(name)] = value
        elif verb == "unset":
            del self.facts.values[config(rest)]
        elif verb == "stop":
            self.facts.up.discard(int(topic))
        elif verb == "start":
            self.facts.up.add(int(topic))
        elif verb == "cancel":
            self.apply(plan_cancel(self.facts, partitions, record=record))
        elif verb == "finish":
            topics = [topic] if topic else None
            rows, _ = left_behind(self.facts, self.facts.moving, record.read(), topics)
            self.apply(replace(self.plan, steps=(RemoveThrottle(rows, record),)))
        elif verb == "drained":
            self.apply(plan_remove_throttle(self.facts, int(topic), record))
        elif verb == "wait":  # to the end of what moves, at any rate
            self.apply(self.planned(record, partitions, (2, 3), FAST), wait=True)
        else:
            throttle = int(rate) if rate else None
            self.apply(self.planned(record, partitions, self.TO[verb], throttle))

    def planned(
        self,
        record: ThrottleRecord,
        partitions: Sequence[TopicPartition],
        to: tuple[int, ...],
        rate: int | None,
    ) -> Plan:
        return plan_move(
            self.facts, dict.fromkeys(partitions, to), throttle=rate, record=record,
            additional=True,
        )  # fmt: skip

    def apply(self, plan: Plan, *, wait: bool = False) -> None:
        assert plan.refused.ok, plan.refused.failures
        self.plan = plan.followed(waits=wait)
        self.facts.takes = 5.0 if wait else None
        sent = apply(self.plan, self.facts)
        assert sent.ok, sent.failures
        self.notes = {change.note for change in sent.values.values() if change.note}

    @property
    def values(self) -> Values:
        return {
            f"{resource.name} {_SHORT[key]}": value
            for (resource, key), value in self.facts.values.items()
        }


@pytest.fixture
def shells() -> Iterator[Shells]:
    with given({"a": [(1, 2)], "b": [(1, 2)]}, 1, 2, 3) as facts:
        yield Shells(facts)


@pytest.mark.parametrize(
    ("before", "words", "after"),
    [
        # what is set while it moves, and at which end it is restored
        ({}, "a", BY_A),
        (FOR_GOOD, "a", BY_A),
        (FOR_GOOD, "a, cancel a", FOR_GOOD),
        (FOR_GOOD, "a, back a", FOR_GOOD),
        (FOR_GOOD, "a, release, cancel a", FOR_GOOD),  # it comes too late
        (FOR_GOOD, "a, release, finish", FOR_GOOD),
        (FOR_GOOD, "a, release, finish a", FOR_GOOD),
        (FOR_GOOD, "a, release, back a, release, finish", FOR_GOOD),
        (FOR_GOOD, "a, wait a", FOR_GOOD),
        (FOR_GOOD, "a, move a 2, wait a", FOR_GOOD),
        (FOR_GOOD, "a, move a 2", BY_A | dict.fromkeys(A_RATES, "2")),
        (FOR_GOOD, "a, move a 2, cancel a", FOR_GOOD),
        (FOR_GOOD, "a, elsewhere a, cancel a", FOR_GOOD),
        (FOR_GOOD, "a, delete a, finish", FOR_GOOD),
        (FOR_GOOD, "a, release, drained 1", FOR_GOOD),
        ({}, "a, finish, finish a, drained 1", BY_A),
        # rule 1: entries that were listed before stay
        ({"a followers": "0:3,7:1"}, "a, cancel a", {"a followers": "0:3,7:1"}),
        ({"a followers": "0:3,7:1"}, "a, wait a", {"a followers": "0:3,7:1"}),
        ({"a followers": "7:1"}, "a", BY_A | {"a followers": "7:1,0:3"}),
        ({"a followers": "7:1"}, "a, cancel a", {"a followers": "7:1"}),
        ({"a followers": "7:1"}, "a, delete a, finish", {}),
        ({"a followers": "*"}, "a", BY_A | {"a followers": "*"}),
        ({"a followers": "*"}, "a, cancel a", {"a followers": "*"}),
        ({"a followers": "*"}, "a, release, finish", {"a followers": "*"}),
        # rule 2: a rate that another move uses stays until its end
        (FOR_GOOD, "a, move b 2", BY_A | B_FAST),
        (FOR_GOOD, "a, move b 2, cancel a", B_FAST),
        (FOR_GOOD, "a, move b 2, cancel a, cancel b", FOR_GOOD),
        (FOR_GOOD, "a, move b 2, cancel b, cancel a", FOR_GOOD),
        (FOR_GOOD, "a, release, wait b", FOR_GOOD | A_LISTS),  # the lists are still to be finished
        (FOR_GOOD, "a, release, wait b, finish", FOR_GOOD),
        # a part of a move that is complete, or that somebody cancels
        (FOR_GOOD, "ab, release a, cancel ab", FOR_GOOD),
        (FOR_GOOD, "ab, release a, wait ab", FOR_GOOD),
        (FOR_GOOD, "ab, B: cancel b", BY_A),
        (FOR_GOOD, "ab, B: cancel b, release, finish", FOR_GOOD),
        # rule 3: what was not set here is not changed
        (FOR_GOOD, "a, release, unset a leaders, unset a followers, set 3 follower=5, finish",
         {"3 follower": "5"}),
        (FOR_GOOD, "a, release, unset a leaders, unset a followers, set 3 follower=5, finish, b,"
         " cancel b, finish", {"3 follower": "5"}),
        (FOR_GOOD, "a, set 3 follower=5, release, finish", FOR_GOOD),  # as a raise by hand
        (FOR_GOOD | {"1 leader": "1"}, "a, cancel a", FOR_GOOD | {"1 leader": "1"}),
        ({"b followers": "0:3"}, "move a, finish a", {"b followers": "0:3"}),
        (FOR_GOOD, "a, release, unset a leaders, unset a followers, set 3 follower=5, set b"
         " followers=0:3, finish", {"3 follower": "5"}),
        # of two shells, the first brings the rate back
        (FOR_GOOD, "a, B: move b 2, cancel a, B: cancel b, finish", FOR_GOOD),
        (FOR_GOOD, "a, B: move b 2, B: cancel b, cancel a", FOR_GOOD),
        (FOR_GOOD, "a, B: move a 2, cancel a", FOR_GOOD),
        # leftovers of another shell: the rates that they replaced are not known
        (FOR_GOOD, "B: a, release, finish", {}),
        (FOR_GOOD, "B: a, release, finish, B: finish", {}),
        (FOR_GOOD | {"a followers": "7:1"}, "B: a, cancel a", {"a followers": "7:1"}),
        ({"a followers": "0:3"}, "cancel a", {"a followers": "0:3"}),  # nothing was cancelled
        ({"3 follower": "3", "a followers": "0:3"}, "finish", {}),
        ({"3 follower": "3", "a followers": "0:3"}, "finish b",
         {"3 follower": "3", "a followers": "0:3"}),
        ({"3 follower": "3"}, "finish", {"3 follower": "3"}),  # it applies to no replica
        ({"3 follower": "3", "a followers": "0:3", "b followers": "*"}, "finish",
         {"3 follower": "3", "b followers": "*"}),
        ({"3 follower": "3", "a followers": "0:3,x,:3"}, "finish", {"a followers": "x,:3"}),
        # brokers that are down keep their rates, and are found when they are back
        ({"1 leader": "9", "3 leader": "9", "a leaders": "0:1,0:3"}, "stop 3, finish",
         {"3 leader": "9", "a leaders": "0:3"}),
        ({"1 leader": "9", "3 leader": "9", "a leaders": "0:1,0:3"},
         "stop 3, finish, start 3, finish", {}),
        (FOR_GOOD, "a, stop 1, cancel a", FOR_GOOD | {"1 leader": "1"}),
        (FOR_GOOD, "a, stop 1, cancel a, start 1, finish", FOR_GOOD),
        (FOR_GOOD, "stop 1, a, release, finish", FOR_GOOD),
        (FOR_GOOD, "stop 1, a", FOR_GOOD | BY_A | {"1 leader": ""}),
    ],
)  # fmt: skip
def test_a_throttle_is_removed_by_the_three_rules(
    shells: Shells, before: Values, words: str, after: Values
) -> None:
    shells.facts.values |= {config(name): value for name, value in before.items()}
    shells(words)
    assert shells.values == {name: value for name, value in after.items() if value}


@pytest.mark.parametrize(
    "end", ["cancel a", "release, finish", "wait a", "delete a, finish", "delete a, b, cancel b"]
)
def test_nothing_of_a_throttle_that_has_ended_stays_in_the_record(shells: Shells, end: str) -> None:
    shells(f"a, {end}")
    assert shells.records["A"].read() == {}


def test_a_plan_shows_the_rate_that_is_set_and_one_in_use_is_kept_with_a_note(
    shells: Shells,
) -> None:
    shells("a, move b 2")
    rates = [change for change in shells.plan.changes if change.field in RATES]
    assert {(change.before, change.after) for change in rates} == {("1", "2")}
    cancel = plan_cancel(shells.facts, [TopicPartition("a", 0)], record=shells.records["A"])
    assert not [each for each in cancel.changes if each.field in RATES], "b uses the rates"
    kept = [replace(row, now=row.value) for row in shells.records["A"].read().values()]
    shells.apply(replace(shells.plan, steps=(RemoveThrottle(tuple(kept), shells.records["A"]),)))
    assert shells.notes == {"unchanged: another partition reassignment uses it"}
    assert shells.values == BY_A | B_FAST
    assert shells.records["A"].read().keys() == {config(name) for name in BY_A | B_FAST}


def test_leftovers_of_a_reassignment_in_progress_are_none(shells: Shells) -> None:
    shells("a, release, b")
    rows, _ = left_behind(shells.facts, shells.facts.moving, {})
    assert {row.resource.name for row in of_no_move(rows, shells.facts.moving)} == {"a"}


# -- what could not be read ------------------------------------------------------------------------


def test_a_throttle_of_configs_that_cannot_be_read_is_not_set(shells: Shells) -> None:
    shells.facts.unread[topic_config("a")] = DENIED
    with pytest.raises(ShellError, match=r"throttle of topic a cannot be read.*not authorized"):
        shells("a")
    assert shells.values == {} and not shells.facts.moving


def test_a_broker_that_does_not_respond_is_waited_for_until_the_cluster_knows(
    shells: Shells,
) -> None:
    """It has just died, and needs no throttle."""
    shells.facts.unread[broker_config(1)] = Failure("deadline", "the broker did not respond")
    shells.facts.events.append((8, lambda: shells("stop 1")))
    shells("a")
    assert shells.values == {k: v for k, v in BY_A.items() if k != "1 leader"}
    shells.facts.events.clear()
    shells.facts.up.add(1)
    with pytest.raises(ShellError, match="throttle of broker 1 cannot be read"):
        shells("b")


@pytest.mark.parametrize("what", [topic_config("a"), broker_config(3)])
def test_what_cannot_be_read_counts_as_still_set(shells: Shells, what: ConfigResource) -> None:
    """Not read is not the same as fine: it stays in the record, and a failure tells it."""
    shells("set 3 follower=9000000, a, release")
    shells.facts.unread[what] = DENIED
    record = shells.records["A"]
    rows, not_read = left_behind(shells.facts, {}, record.read())
    assert not_read == {Resource(what.kind, what.name): DENIED}
    assert what in {row.resource for row in rows}
    sent = RemoveThrottle(rows, record).send(shells.facts, validate_only=False)
    assert {why.hint for why in sent.failures.values()} == {"The throttle is still set."}
    assert {why.see for why in sent.failures.values()} == {Resource("throttle")}
    assert {resource for resource, _ in record.read()} == {what}
    shells.facts.unread.clear()
    shells("finish")
    assert shells.values == FOR_GOOD and record.read() == {}


def test_rates_of_a_moving_topic_that_cannot_be_read_are_in_use(shells: Shells) -> None:
    shells("a, b, release, b")
    shells.facts.start(TopicPartition("b", 0), (1, 3))
    shells.facts.unread[topic_config("b")] = DENIED
    rows, _ = left_behind(shells.facts, shells.facts.moving, shells.records["A"].read(), ["a"])
    assert [row.key for row in rows if row.key in RATES] == []


@pytest.mark.parametrize(
    ("down", "registered", "reported"), [(1, True, True), (1, False, False), (0, True, False)]
)
def test_rates_of_brokers_that_are_down_are_reported(
    shells: Shells, down: int, registered: bool, reported: bool
) -> None:
    shells(f"a, stop {down}, release, finish" if down else "a, release, finish")
    if not registered:
        shells.facts.registered.discard(down)
    record = shells.records["A"]
    (wanted,) = [state(shells.facts, {}, record=record.read()).throttles]
    assert [each.down for each in wanted] == [True] * reported


# -- what could not be sent ------------------------------------------------------------------------


def given_throttle(shells: Shells) -> tuple[Move, SetThrottle]:
    move = Move(TopicPartition("a", 0), (1, 2), (2, 3), 1)
    record = shells.records["A"]
    return move, SetThrottle(plan_throttle(shells.facts, [move], 1, {}, [move.partition]), record)


def test_where_nothing_is_moved_no_throttle_stays(shells: Shells) -> None:
    move, throttle = given_throttle(shells)
    assert throttle.send(shells.facts, validate_only=False).ok
    shells.facts.refused[move.partition] = INVALID
    sent = MoveReplicas((move,), throttle.removal).send(shells.facts, validate_only=False)
    assert list(sent.failures.values()) == [INVALID]
    assert shells.values == {} and shells.records["A"].read() == {}


def test_a_throttle_that_cannot_be_removed_does_not_hide_what_failed(shells: Shells) -> None:
    move, throttle = given_throttle(shells)
    assert throttle.send(shells.facts, validate_only=False).ok
    shells.facts.refused[move.partition] = INVALID
    shells.facts.unwritable[broker_config(3)] = LOST
    sent = MoveReplicas((move,), throttle.removal).send(shells.facts, validate_only=False)
    (why,) = sent.failures.values()
    assert (why.name, why.hint) == (INVALID.name, "The throttle is still set.")
    assert why.see == Resource("throttle")
    assert shells.records["A"].read().keys() == {config("3 follower")}, "it can be removed later"


@pytest.mark.parametrize(
    ("unwritable", "left"),
    [
        ([1, 2, 3, "a"], "nothing was set"),
        ([3], "all that was set is removed"),
    ],
)
def test_a_throttle_that_cannot_be_set_is_removed(
    shells: Shells, unwritable: list[int | str], left: str
) -> None:
    for each in unwritable:
        resource = topic_config(each) if isinstance(each, str) else broker_config(each)
        shells.facts.unwritable[resource] = LOST
    with pytest.raises(ShellError, match="could not be set: the connection was lost") as raised:
        given_throttle(shells)[1].send(shells.facts, validate_only=False)
    assert "still set" not in raised.value.hint, left
    assert shells.values == {}


def test_a_part_of_a_throttle_that_stays_is_reported(shells: Shells) -> None:
    _, throttle = given_throttle(shells)
    alter = shells.facts.alter

    def fail_after_the_first(
        target: Mapping[Config, str | None], validate_only: bool
    ) -> dict[Config, Failure]:
        failed = alter(target, validate_only)
        shells.facts.unwritable |= {broker_config(id): LOST for id in (1, 2, 3)}
        return failed

    shells.facts.unwritable[broker_config(3)] = LOST
    shells.facts.alter = fail_after_the_first  # type: ignore[method-assign]
    with pytest.raises(ShellError, match="broker 3 could not be set") as raised:
        throttle.send(shells.facts, validate_only=False)
    assert "The throttle is still set." in raised.value.hint
    assert raised.value.see == Resource("throttle")
    assert shells.values == {"1 leader": "1", "2 leader": "1"}


def test_a_record_that_cannot_be_written_sets_nothing(shells: Shells) -> None:
    """Nothing is set that nobody would remove."""

    class Unwritable(ThrottleRecord):
        def update(self, change: object) -> None:
            raise ShellError("cannot write the record")

    shells.records["A"] = Unwritable()
    with pytest.raises(ShellError, match="cannot write the record"):
        shells("a")
    assert shells.values == {} and not shells.facts.moving


def test_a_recorded_rate_of_a_broker_that_never_was_is_kept(shells: Shells) -> None:
    row = Throttled(broker_config(99), FOLLOWER_RATE, "1", "9", now="1")
    record = shells.records["A"]
    record.update(lambda _: {row.config: row})
    sent = RemoveThrottle((row,), record).send(shells.facts, validate_only=False)
    assert [why.hint for why in sent.failures.values()] == ["The throttle is still set."]
    assert record.read() == {row.config: row}
