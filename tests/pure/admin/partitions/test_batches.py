"""Reassignments in batches: how moves are split, when the next batch starts, when it pauses, and
what the same plan continues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.partitions import stalls
from kafka_shell.admin.partitions.batches import (
    DEFAULT_LIMITS,
    BatchLimits,
    FollowBatches,
    below_min_isr,
    limits_of,
    problem,
    split,
)
from kafka_shell.admin.partitions.model import Move, MoveSize, TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.admin.partitions.sizes import Sizes
from kafka_shell.admin.partitions.throttles import (
    FOLLOWER_RATE,
    ThrottleRecord,
    broker_config,
    topic_config,
)
from kafka_shell.admin.topics.min_isr import KEY
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Plan, apply
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from tests.support.given_moves import GivenCluster
from tests.support.given_moves import given as given_cluster

NO_LIMITS = BatchLimits()
_limit = st.none() | st.integers(1, 6)


@st.composite
def moves(draw: st.DrawFn) -> tuple[list[Move], Sizes]:
    """Up to 30 moves between six brokers, some of unknown size, some that only change the order."""
    found, sizes = [], {}
    for number in range(draw(st.integers(1, 30))):
        each = TopicPartition("t", number)
        before = tuple(draw(st.permutations(range(1, 7)))[: draw(st.integers(1, 3))])
        after = tuple(draw(st.permutations(range(1, 7)))[: len(before)])
        found.append(Move(each, before, after, draw(st.sampled_from([None, *before]))))
        if draw(st.booleans()):
            sizes[each] = dict.fromkeys(before, draw(st.integers(0, 20)))
    return found, Sizes(sizes)


@given(moves(), _limit, st.none() | st.integers(1, 30), _limit)
def test_every_move_is_in_one_batch_and_no_limit_is_exceeded(
    problem: tuple[list[Move], Sizes], most: int | None, size: int | None, per_broker: int | None
) -> None:
    wanted, sizes = problem
    batches = split(wanted, sizes, BatchLimits(most, size, per_broker))
    assert sorted(m.partition for b in batches for m in b) == [m.partition for m in wanted]
    for batch in batches:
        copied = [move for move in batch if move.adding]
        assert batch, "a batch is empty"
        assert most is None or len(copied) <= most
        ids = ({move.leader or move.before[0], *move.adding} for move in copied)
        busy = Counter(id for each in ids for id in each)
        assert per_broker is None or len(copied) == 1 or max(busy.values(), default=0) <= per_broker
        if size is not None and len(copied) > 1:  # an unknown size fills a batch
            weights = [sizes.of(move.partition, move.leader) for move in copied]
            total = sum(
                size if weight is None else weight * len(move.adding)
                for weight, move in zip(weights, copied, strict=True)
            )
            assert total <= size


@pytest.mark.parametrize(
    ("given", "copied", "limits"),
    [
        (None, 200, NO_LIMITS),
        (NO_LIMITS, 100, NO_LIMITS),
        (NO_LIMITS, 101, BatchLimits(100, None, 5)),
        (BatchLimits(per_broker=2), 7, BatchLimits(100, None, 2)),
        (BatchLimits(partitions=300), 1_000, BatchLimits(300)),
    ],
)
def test_limits_of_a_large_move_are_the_default(
    given: BatchLimits | None, copied: int, limits: BatchLimits
) -> None:
    copies = [Move(TopicPartition("t", number), (1,), (2,)) for number in range(copied)]
    order = Move(TopicPartition("t", copied), (1, 2), (2, 1))
    assert limits_of(given, [*copies, order]) == limits


@pytest.mark.timeout(60)
def test_the_time_to_split_grows_with_the_number_of_moves() -> None:
    wanted = [
        Move(TopicPartition("t", number), (at, at + 1), (at, at + 50), at)
        for number in range(60_000)
        for at in [number % 50]
    ]
    drained = [Move(move.partition, (0, 1), (1, move.after[1]), 0) for move in wanted[:20_000]]
    sizes = Sizes({move.partition: {0: 9} for move in drained})
    assert len(split(wanted, sizes, DEFAULT_LIMITS)) == 600
    assert len(split(drained, sizes, BatchLimits(100, 50, 5))) == 4_000


# -- moving the batches ----------------------------------------------------------------------------

BEFORE, AFTER, ELSEWHERE = (4, 1, 2), (1, 2, 5), (1, 2, 3)
ONE, TWO, THREE = (TopicPartition("t", number) for number in range(3))
ALL = dict.fromkeys((ONE, TWO, THREE), AFTER)
DENIED = Failure("CLUSTER_AUTHORIZATION_FAILED", "not authorized", 31)


class Moving:
    """A reassignment of three partitions in three batches, of which each takes 10 s."""

    def __init__(self, facts: GivenCluster) -> None:
        facts.takes = 10.0
        self.facts, self.record = facts, ThrottleRecord()
        self.told: list[str] = []
        self.actions: dict[str, Callable[[str], object]] = {
            "stop": lambda id: facts.up.discard(int(id)),
            "start": lambda id: facts.up.add(int(id)),
            "silent": lambda id: facts.silent.append(
                Failure("deadline", f"broker {id} has not responded")),
            "responds": lambda _: facts.silent.clear(),
            "leaders": self._leaders_know,
            "interrupt": self._interrupt,
            "moved": lambda n: facts.replicas.update({TopicPartition("t", int(n)): ELSEWHERE}),
            "retarget": lambda n: facts.start(TopicPartition("t", int(n)), ELSEWHERE),
            "same": lambda n: facts.start(TopicPartition("t", int(n)), AFTER),
            "cancel": lambda n: facts.moving.pop(TopicPartition("t", int(n))),
            "gone": lambda n: facts.replicas.pop(TopicPartition("t", int(n))),
            "delete": lambda _: facts.delete("t"),
        }  # fmt: skip

    def _leaders_know(self, id: str) -> None:
        """Leaders know that this broker is down; the metadata of other brokers is old."""
        self.facts.up.discard(int(id))
        self.facts.answers = [self.facts.scan()]
        self.facts.up.add(int(id))

    def _interrupt(self, _: str) -> None:
        raise KeyboardInterrupt

    def plan(self, throttle: int | None = 1, per_batch: int = 1) -> Plan:
        limits = BatchLimits(partitions=per_batch)
        return plan_move(self.facts, ALL, throttle=throttle, record=self.record, batches=limits)

    def report(self, task: str, done: int, total: int | None) -> None:
        if not self.told or self.told[-1] != task:
            self.told.append(task)

    def ended(self, plan: Plan, events: str = "") -> str:
        """Why it did not reach its end, with these events at their seconds; empty if it did."""
        for event in filter(None, events.split(", ")):
            second, verb, *rest = event.split()
            action, given = self.actions[verb], rest[0] if rest else ""
            at = self.facts.seconds + float(second)
            self.facts.events.append((at, lambda action=action, given=given: action(given)))
        try:
            failed = apply(plan, self.facts, self.report).failures
        except ShellError as error:
            self.error = error
            return str(error.message)
        return "; ".join(why.message for why in failed.values())

    @property
    def throttled(self) -> bool:
        """Whether anything of a throttle is left."""
        return any(key != KEY for _, key in self.facts.values)

    def started(self) -> list[int]:
        """The partitions that were moved, in order."""
        return [int(line.split()[0].rpartition(":")[2]) for line in self.facts.log]


@pytest.fixture
def moving() -> Iterator[Moving]:
    with given_cluster({"t": [BEFORE] * 3, "other": [(3, 2)]}, 1, 2, 3, 4, 5) as facts:
        facts.values[topic_config("other"), KEY] = "2"
        yield Moving(facts)


PAUSED = "paused at batch 2 of 3: not started: "
WAITING = "waiting for broker 5, which is down (1 partition)"


@pytest.mark.parametrize(
    ("events", "why", "started"),
    [
        ("", "", [0, 1, 2]),
        # in a batch, what is down is waited for
        ("2 stop 5, 300 start 5", "", [0, 1, 2]),
        ("2 stop 4, 2 stop 5, 9 start 4, 200 start 5", "", [0, 1, 2]),
        # between two, for a minute
        ("9 stop 5, 40 start 5", "", [0, 1, 2]),
        ("9 stop 4, 20 start 4", "", [0, 1, 2]),
        ("9 stop 5, 10 start 5, 11 stop 5, 60 start 5", "", [0, 1, 2]),
        ("11 stop 5, 12 start 5", "", [0, 1, 2]),
        ("10 silent 2", PAUSED + "broker 2 has not responded", [0]),
        ("10 silent 2, 30 responds", "", [0, 1, 2]),
        ("5 stop 3", PAUSED + "1 partition below min.insync.replicas: other:0", [0]),
        ("5 stop 3, 50 start 3", "", [0, 1, 2]),
        ("5 leaders 3", PAUSED + "1 partition below min.insync.replicas: other:0", [0]),
        ("5 leaders 5", PAUSED + "broker 5 is down", [0]),
        # what others do meanwhile
        ("15 moved 2", "partition t:2 was not moved: partition t:2 has replicas 1,2,3: another"
         " client has moved it", [0, 1]),
        ("5 moved 1, 5 moved 2", "partition t:1 was not moved (and 1 more): partition t:1 has"
         " replicas 1,2,3: another client has moved it", [0]),
        ("15 gone 2", "partition t:2 was not moved: partition t:2 does not exist", [0, 1]),
        ("15 retarget 2", "paused at batch 3 of 3: partition t:2 has replicas 1,2,3 instead of"
         " 1,2,5: another client cancelled or changed its reassignment", [0, 1, 2]),
        ("15 same 2", "", [0, 1, 2, 2]),
        ("5 cancel 0", "paused at batch 1 of 3: partition t:0 has replicas 4,1,2 instead of 1,2,5:"
         " another client cancelled or changed its reassignment", [0]),
        ("5 retarget 0", "paused at batch 1 of 3: partition t:0 has replicas 1,2,3 instead of"
         " 1,2,5: another client cancelled or changed its reassignment", [0, 0]),
        ("5 delete", "paused at batch 1 of 3: partition t:0 no longer exists", [0]),
        # Ctrl-C
        ("5 interrupt", "interrupted in batch 1 of 3, which continues with its throttle; no"
         " further batch is started", [0]),
        ("15 interrupt", "interrupted in batch 2 of 3, which continues with its throttle; no"
         " further batch is started", [0, 1]),
        ("9 silent 2, 20 interrupt", "interrupted at batch 2 of 3", [0]),
    ],
)  # fmt: skip
def test_next_batch_starts_when_the_cluster_is_healthy(
    moving: Moving, events: str, why: str, started: Sequence[int]
) -> None:
    assert moving.ended(moving.plan(), events) == why
    assert moving.started() == started
    assert ({each: moving.facts.replicas.get(each) for each in ALL} == ALL) == (why == "")
    assert moving.throttled == ("continues with its throttle" in why)


def test_partitions_below_before_do_not_pause_it(moving: Moving) -> None:
    moving.facts.up.discard(3)
    assert moving.ended(moving.plan()) == ""


def test_a_pause_reports_its_reasons_and_how_to_continue(moving: Moving) -> None:
    assert moving.ended(moving.plan(), "5 stop 3, 30 stop 5, 50 interrupt") == (
        "interrupted at batch 2 of 3"
    )
    assert moving.error.status is Status.INTERRUPTED
    assert moving.error.hint == "Run the same command again to continue."
    assert [each for each in moving.told if "waiting" in each] == [
        "batch 2 of 3: waiting: 1 partition below min.insync.replicas: other:0",
        "batch 2 of 3: waiting: broker 5 is down",
    ]


def test_a_deadline_between_two_batches_reports_what_it_waited_for(moving: Moving) -> None:
    plan = moving.plan()
    with moving.facts.within(30):
        assert moving.ended(plan, "9 silent 2") == PAUSED + "broker 2 has not responded"


def test_moves_within_the_limits_have_no_batches(moving: Moving) -> None:
    assert not isinstance(moving.plan(per_batch=3).following.follow, FollowBatches)
    assert not isinstance(plan_move(moving.facts, ALL).following.follow, FollowBatches)
    moving.facts.sizes = Sizes({each: {4: 1} for each in ALL})
    plan = moving.plan(per_batch=2)
    assert [each.batches for each in plan.advice.figures if isinstance(each, MoveSize)] == [2]
    assert moving.ended(plan) == "" and moving.started() == [0, 1, 2]


def test_a_first_batch_that_is_refused_starts_no_other(moving: Moving) -> None:
    moving.facts.refused[ONE] = DENIED
    assert moving.ended(moving.plan().followed(follow=None)) == "; ".join([DENIED.message] * 3)
    assert moving.started() == [] and not moving.throttled


# -- continued -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "started", "refused"),
    [
        ("5 interrupt", [1, 2], ""),  # the first batch is waited for
        ("15 interrupt", [2], ""),
        ("10 silent 2, 80 responds", [1, 2], ""),
        ("5 cancel 0", [0, 1, 2], ""),
        ("4 retarget 1, 5 interrupt", [2], "partition t:1 is being reassigned to 1,2,3"),
    ],
)
def test_the_same_plan_moves_what_is_left(
    moving: Moving, events: str, started: list[int], refused: str
) -> None:
    assert moving.ended(moving.plan(), events)
    moving.facts.log.clear()
    moving.facts.silent.clear()
    again = moving.plan()
    assert [why.message for why in again.refused.failures.values()] == [refused] * bool(refused)
    assert moving.ended(again) == ""
    assert moving.started() == started
    assert not moving.throttled


def test_the_same_plan_removes_the_throttle_of_ended_moves(moving: Moving) -> None:
    moving.facts.values[broker_config(5), FOLLOWER_RATE] = "7"
    assert moving.ended(moving.plan(), "25 interrupt")
    moving.facts.complete()
    assert moving.throttled
    assert moving.ended(moving.plan()) == "" and moving.started() == [0, 1, 2]
    assert moving.facts.values.pop((broker_config(5), FOLLOWER_RATE)) == "7", "it is restored"
    assert not moving.throttled


# -- the health of the cluster ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("down", "known", "why"),
    [
        ((), (), ""),
        ((5,), (), "broker 5 is down"),
        ((4,), (), ""),  # it gets no replica
        ((3,), (), "1 partition below min.insync.replicas: other:0"),
        ((3,), ("other",), ""),
        ((2, 3), (), "1 partition below min.insync.replicas: other:0"),
        ((1, 2, 4), ("other",), "3 partitions below min.insync.replicas: t:0, t:1, t:2"),
        ((3, 5), (), "broker 5 is down"),
    ],
)
def test_why_a_batch_cannot_be_started(
    moving: Moving, down: tuple[int, ...], known: tuple[str, ...], why: str
) -> None:
    moving.facts.up -= set(down)
    before = frozenset(TopicPartition(name, 0) for name in known)
    assert problem(moving.facts, {TWO: AFTER}, before) == why
    below = below_min_isr(moving.facts, moving.facts.scan())
    assert (TopicPartition("other", 0) in below) == bool({2, 3} & set(down))


def test_a_stall_is_reported_with_the_time_it_lasts() -> None:
    stall = stalls.Stall(5, True, (ONE,), 0)
    assert str(stall) == WAITING
    assert str(replace(stall, seconds=130)) == f"stalled for 2 min: {WAITING}"
    assert str(replace(stall, seconds=7300)) == f"stalled for 2 h: {WAITING}"
    quiet = replace(stall, down=False)
    assert str(quiet) == "nothing is being copied to broker 5, which is up (1 partition)"
