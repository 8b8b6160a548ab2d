"""A reassignment in batches: when the next batch starts, when it pauses, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from kafka_shell.admin.partitions import stalls
from kafka_shell.admin.partitions.batch_state import Batch, BatchState, Started
from kafka_shell.admin.partitions.batched import (
    BatchLimits,
    InBatches,
    in_batches,
    limited,
    resumed,
    with_rate,
)
from kafka_shell.admin.partitions.follow import below_min_isr, problem
from kafka_shell.admin.partitions.model import MoveSize, TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.admin.partitions.sizes import Sizes
from kafka_shell.admin.partitions.throttles import (
    FOLLOWER_RATE,
    LEADER_REPLICAS,
    ThrottleRecord,
    broker_config,
    topic_config,
)
from kafka_shell.admin.topics.min_isr import KEY
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Plan, apply
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from tests.support.given_moves import GivenCluster, given

BEFORE, AFTER, ELSEWHERE = (4, 1, 2), (1, 2, 5), (1, 2, 3)
ONE, TWO, THREE = (TopicPartition("t", number) for number in range(3))
ALL = dict.fromkeys((ONE, TWO, THREE), AFTER)
DENIED = Failure("CLUSTER_AUTHORIZATION_FAILED", "not authorized", 31)


class Moving:
    """A reassignment of three partitions in three batches, of which each takes 10 s."""

    def __init__(self, facts: GivenCluster) -> None:
        facts.takes = 10.0
        self.facts, self.record, self.state = facts, ThrottleRecord(), BatchState()
        self.told: list[str] = []
        self.actions: dict[str, Callable[[str], object]] = {
            "stop": lambda id: facts.up.discard(int(id)),
            "start": lambda id: facts.up.add(int(id)),
            "unregister": lambda id: (facts.up.discard(int(id)), facts.registered.discard(int(id))),
            "silent": lambda id: facts.silent.append(
                Failure("deadline", f"broker {id} has not responded")),
            "responds": lambda _: facts.silent.clear(),
            "leaders": self._leaders_know,
            "forget": lambda _: self.state.remove(),
            "interrupt": self._interrupt,
            "moved": lambda n: facts.replicas.update({TopicPartition("t", int(n)): ELSEWHERE}),
            "retarget": lambda n: facts.start(TopicPartition("t", int(n)), ELSEWHERE),
            "same": lambda n: facts.start(TopicPartition("t", int(n)), AFTER),
            "cancel": lambda n: facts.moving.pop(TopicPartition("t", int(n))),
            "gone": lambda n: facts.replicas.pop(TopicPartition("t", int(n))),
            "delete": lambda _: facts.delete("t"),
            "rate": lambda rate: self.state.update(
                lambda now: now and replace(now, throttle=int(rate))),
            "unwritable": lambda id: facts.unwritable.update({broker_config(id): DENIED}),
        }  # fmt: skip

    def _leaders_know(self, id: str) -> None:
        """Leaders know that this broker is down; the metadata of other brokers is old."""
        self.facts.up.discard(int(id))
        self.facts.answers = [self.facts.scan()]
        self.facts.up.add(int(id))

    def _interrupt(self, _: str) -> None:
        raise KeyboardInterrupt

    def when(self, events: str) -> None:
        for event in filter(None, events.split(", ")):
            second, verb, *rest = event.split()
            action = self.actions[verb]
            self.facts.events.append(
                (float(second), lambda action=action, rest=rest: action(*rest or [""]))
            )

    def plan(self, throttle: int | None = 1, per_batch: int = 1) -> Plan:
        plan = plan_move(self.facts, ALL, throttle=throttle, record=self.record, quick=True)
        limits = BatchLimits(partitions=per_batch)
        return in_batches(
            self.facts, plan, self.run, limits=limits, sizes=Sizes(), throttle=throttle
        )

    @property
    def run(self) -> InBatches:
        return InBatches(state=self.state, record=self.record, resume="RESUME")

    def report(self, task: str, done: int, total: int | None) -> None:
        if not self.told or self.told[-1] != task:
            self.told.append(task)

    def ended(self, plan: Plan) -> str:
        """Why it did not reach its end; empty if it did."""
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
    with given({"t": [BEFORE] * 3, "other": [(3, 2)]}, 1, 2, 3, 4, 5) as facts:
        facts.values[topic_config("other"), KEY] = "2"
        yield Moving(facts)
        facts.values.pop((topic_config("other"), KEY), None)


PAUSED = "paused at batch 2 of 3: not started: "
WAITING = "waiting for broker 5, which is down (1 partition)"


@pytest.mark.parametrize(
    ("events", "why", "started"),
    [
        ("", "", [0, 1, 2]),
        # in a batch, what is down is waited for
        ("2 stop 5, 300 start 5", "", [0, 1, 2]),
        ("2 stop 4", "broker 4 is down", [0, 1, 2]),  # its throttle is still set
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
        ("0 stop 3", PAUSED + "1 partition below min.insync.replicas: other:0", [0]),
        ("5 leaders 3", PAUSED + "1 partition below min.insync.replicas: other:0", [0]),
        ("5 leaders 5", PAUSED + "broker 5 is down", [0]),
        # what others do meanwhile
        ("15 moved 2", "1 partition is not at the target: t:2: partition t:2 has replicas 1,2,3:"
         " another client has moved it", [0, 1]),
        ("15 gone 2", "1 partition is not at the target: t:2: partition t:2 does not exist",
         [0, 1]),
        ("15 retarget 2", "paused at batch 3 of 3: partition t:2 has replicas 1,2,3 instead of"
         " 1,2,5, and is not being reassigned", [0, 1, 2]),
        ("15 same 2", "", [0, 1, 2]),
        ("5 cancel 0", "paused at batch 1 of 3: partition t:0 has replicas 4,1,2 instead of 1,2,5,"
         " and is not being reassigned", [0]),
        ("5 retarget 0", "paused at batch 1 of 3: partition t:0 has replicas 1,2,3 instead of"
         " 1,2,5, and is not being reassigned", [0, 0]),
        ("5 delete", "paused at batch 1 of 3: partition t:0 no longer exists", [0]),
        ("5 forget", "the reassignment was cancelled", [0]),
        ("5 forget, 5 cancel 0", "the reassignment was cancelled", [0]),
        # Ctrl-C
        ("5 interrupt", "interrupted in batch 1 of 3: it continues with its throttle; no further"
         " batch is started", [0]),
        ("15 interrupt", "interrupted in batch 2 of 3: it continues with its throttle; no further"
         " batch is started", [0, 1]),
        ("9 silent 2, 20 interrupt", "interrupted at batch 2 of 3", [0]),
        # the end
        ("12 unwritable 5, 21 unwritable 5", "all partitions are moved, but the throttle of"
         " throttle broker 5 is still set: not authorized", [0, 1, 2]),
    ],
)  # fmt: skip
def test_the_next_batch_starts_when_the_cluster_is_healthy(
    moving: Moving, events: str, why: str, started: Sequence[int]
) -> None:
    moving.when(events)
    plan = moving.plan()
    assert moving.ended(plan) == why
    assert moving.started() == started
    left = why in ("", "broker 4 is down") or "still set" in why
    assert ({each: moving.facts.replicas.get(each) for each in ALL} == ALL) == left
    kept = ("interrupted in", "broker 4 is down", "is still set")
    assert moving.throttled == any(text in why for text in kept)
    state = moving.state.read()
    ended = left or why == "the reassignment was cancelled" or "does not exist" in why
    assert (state is None) == ended
    assert state is None or "not started" not in why or state.batches == len(started)


def test_what_was_below_before_it_started_does_not_pause_it(moving: Moving) -> None:
    moving.facts.up.discard(3)
    assert moving.ended(moving.plan()) == ""


def test_a_pause_tells_its_reason_and_what_continues_it(moving: Moving) -> None:
    moving.when("5 stop 3, 30 stop 5, 50 interrupt")
    assert moving.ended(moving.plan()) == "interrupted at batch 2 of 3"
    assert moving.error.status is Status.INTERRUPTED
    assert [each for each in moving.told if "waiting" in each] == [
        "batch 2 of 3: waiting: 1 partition below min.insync.replicas: other:0",
        "batch 2 of 3: waiting: broker 5 is down",
    ]


def test_a_deadline_between_two_batches_tells_what_it_waited_for(moving: Moving) -> None:
    moving.when("9 silent 2")
    with moving.facts.within(30):
        assert moving.ended(moving.plan()) == PAUSED + "broker 2 has not responded"
    assert moving.facts.seconds <= 30


@pytest.mark.parametrize("patient", [True, False])
def test_a_session_that_is_not_patient_pauses_in_a_batch(moving: Moving, patient: bool) -> None:
    moving.when("2 stop 5, 200 start 5")
    plan = moving.plan()
    assert isinstance(plan.following.follow, InBatches)
    plan = plan.followed(follow=replace(plan.following.follow, patient=patient))
    assert moving.ended(plan) == ("" if patient else f"paused at batch 1 of 3: {WAITING}")
    assert moving.started() == ([0, 1, 2] if patient else [0])


def test_each_batch_has_its_own_throttle_and_the_rate_of_its_start(moving: Moving) -> None:
    """A throttle that another session sets is that of the next batches."""
    seen: list[tuple[str | None, str | None]] = []
    rate, listed = (broker_config(5), FOLLOWER_RATE), (topic_config("t"), LEADER_REPLICAS)

    def look() -> None:
        seen.append((moving.facts.values.get(rate), moving.facts.values.get(listed)))

    moving.facts.events += [(second, look) for second in (5, 16, 28)]
    moving.when("7 rate 7")
    assert moving.ended(moving.plan()) == ""
    assert seen == [("1", "0:4,0:1,0:2"), ("7", "1:4,1:1,1:2"), ("7", "2:4,2:1,2:2")]


def test_a_plan_warns_of_rates_that_batches_replace(moving: Moving) -> None:
    moving.facts.values[broker_config(5), FOLLOWER_RATE] = "5000000"
    plan = moving.plan(1_000_000)
    (warning,) = [each for each in plan.advice.warnings if "each batch sets" in each]
    assert warning.startswith(
        f"broker 5: each batch sets {FOLLOWER_RATE} to 1MB/s instead of 5MB/s"
    )
    assert plan.following.later == 2
    assert moving.ended(plan) == ""
    assert moving.facts.values[broker_config(5), FOLLOWER_RATE] == "5000000"


def test_what_fits_into_one_batch_has_none(moving: Moving) -> None:
    assert not isinstance(moving.plan(per_batch=3).following.follow, InBatches)
    whole = plan_move(moving.facts, ALL, quick=True)
    assert limited(moving.facts, whole, None, None) == whole
    moving.facts.sizes = Sizes({each: {4: 1} for each in ALL})
    plan = limited(moving.facts, plan_move(moving.facts, ALL), BatchLimits(partitions=2), 900)
    assert [each.batches for each in plan.advice.figures if isinstance(each, MoveSize)] == [2]
    assert moving.ended(plan) == "" and moving.started() == [0, 1, 2]


def test_a_first_batch_that_is_refused_leaves_no_state(moving: Moving) -> None:
    moving.facts.unwritable[broker_config(4)] = DENIED
    with pytest.raises(ShellError, match="broker 4 could not be set: not authorized"):
        apply(moving.plan(), moving.facts)
    assert moving.state.read() is None and moving.started() == []


def test_it_is_not_started_if_it_is_cancelled_while_its_throttle_is_set(moving: Moving) -> None:
    alter = moving.facts.alter

    def cancelled_meanwhile(*args: object) -> object:
        moving.state.remove()
        return alter(*args)  # type: ignore[arg-type]

    moving.facts.alter = cancelled_meanwhile  # type: ignore[assignment,method-assign]
    assert moving.ended(moving.plan()) == "the reassignment was cancelled"
    assert moving.started() == []
    assert not moving.throttled


# -- continued -------------------------------------------------------------------------------------


def resume(moving: Moving, batches: int = 1) -> Plan:
    moving.state.update(lambda _: Started("given", batches, 1))
    run = replace(moving.run, before=dict.fromkeys(ALL, BEFORE))
    return resumed(moving.facts, [{each: AFTER} for each in ALL], run, 1, "ID")


@pytest.mark.parametrize(
    ("first", "second", "started", "refused"),
    [
        ("done", "", [1, 2], ""),
        ("done", "done", [2], ""),
        ("moves", "", [1, 2], ""),  # it is waited for
        ("", "", [0, 1, 2], ""),
        ("done", "moved", [2], "partition t:1 has replicas 1,2,3: another client has moved it"),
        ("done", "retargeted", [2], "partition t:1 is being reassigned to 1,2,3 instead"),
    ],
)
def test_what_is_left_is_moved_and_all_throttles_are_removed(
    moving: Moving, first: str, second: str, started: list[int], refused: str
) -> None:
    plan = plan_move(moving.facts, {ONE: AFTER}, throttle=1, record=moving.record, quick=True)
    apply(plan.followed(waits=False), moving.facts)
    moving.facts.takes = None
    if first == "done":
        moving.facts.complete()
    elif not first:
        moving.facts.replicas[ONE] = moving.facts.moving.pop(ONE).before
    moving.facts.replicas[TWO] = {"done": AFTER, "moved": ELSEWHERE}.get(second, BEFORE)
    if second == "retargeted":
        moving.facts.start(TWO, ELSEWHERE)
    moving.facts.takes = 10.0
    moving.facts.log.clear()
    plan = resume(moving)
    assert [why.message for why in plan.refused.failures.values()] == [refused] * bool(refused)
    assert moving.ended(plan) == ""
    assert moving.started() == started
    assert not moving.throttled


def test_where_nothing_is_left_only_the_throttle_is_removed(moving: Moving) -> None:
    plan = plan_move(moving.facts, ALL, throttle=1, record=moving.record, quick=True)
    apply(plan.followed(waits=False), moving.facts)
    moving.facts.complete()
    plan = resume(moving, 3)
    assert [change.note for change in plan.changes if change.verb == "delete"] == [
        "nothing is left to move"
    ]
    assert moving.ended(plan) == "" and moving.state.read() is None
    assert not moving.throttled


def test_a_batch_whose_broker_is_down_is_not_continued(moving: Moving) -> None:
    moving.facts.up.discard(5)
    with pytest.raises(ShellError, match="batch 1 of 3 is not started: broker 5 is down") as raised:
        resume(moving)
    assert raised.value.code == "paused"
    moving.facts.start(ONE, AFTER)  # it moves already, and is waited for
    moving.facts.silent.append(DENIED)
    assert resume(moving).following.follow


def test_one_that_is_cancelled_meanwhile_is_not_continued(moving: Moving) -> None:
    plan = resume(moving)
    moving.state.remove()
    assert moving.ended(plan) == "the reassignment was cancelled"
    assert moving.started() == []


def test_another_rate_is_that_of_the_batch_that_moves_and_of_the_next(moving: Moving) -> None:
    batches = [{each: AFTER} for each in ALL]
    plan = moving.plan()
    moving.facts.events.append((5, lambda: apply(
        with_rate(moving.facts, batches, moving.run, 7, "ID").followed(follow=None),
        moving.facts)))  # fmt: skip
    rates: list[str] = []
    for second in (7, 16):
        moving.facts.events.append(
            (second, lambda: rates.append(moving.facts.values[broker_config(5), FOLLOWER_RATE]))
        )
    assert moving.ended(plan) == ""
    assert rates == ["7", "7"]
    with pytest.raises(ShellError, match="reassignment ID has ended"):
        with_rate(moving.facts, batches, moving.run, 7, "ID")


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
    batch = Batch(2, {TWO: AFTER})
    before = frozenset(TopicPartition(name, 0) for name in known)
    assert problem(moving.facts, batch, before) == why
    below = below_min_isr(moving.facts, moving.facts.scan())
    assert (TopicPartition("other", 0) in below) == bool({2, 3} & set(down))


def test_a_stall_is_told_with_the_time_it_lasts() -> None:
    stall = stalls.Stall(5, True, (ONE,), 0)
    assert str(stall) == WAITING
    assert str(replace(stall, seconds=130)) == f"stalled for 2 min: {WAITING}"
    assert str(replace(stall, seconds=7300)) == f"stalled for 2 h: {WAITING}"
    quiet = replace(stall, down=False)
    assert str(quiet) == "nothing is being copied to broker 5, which is up (1 partition)"
