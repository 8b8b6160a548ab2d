"""Reassignments planned, followed and cancelled, from given replicas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.partitions import targets
from kafka_shell.admin.partitions.follow import Follow
from kafka_shell.admin.partitions.model import Assignment, Move, MoveStatus, TopicPartition
from kafka_shell.admin.partitions.partition_files import MoveFile, read_moves
from kafka_shell.admin.partitions.progress import current_assignment
from kafka_shell.admin.partitions.reassignment import plan_cancel, plan_move, state, with_rollback
from kafka_shell.admin.partitions.sizes import Disks, Sizes
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttles import ThrottleRecord
from kafka_shell.admin.topics.read import scan_reassigned
from kafka_shell.base.errors import ShellError, Status, UnexpectedEnd
from kafka_shell.base.plans import Plan, Resource, apply
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.output.resource_kinds import hint_of
from tests.support.given_moves import GivenCluster, Replicas, given

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)
WRONG = "INVALID_REPLICA_ASSIGNMENT"
INVALID = Failure(WRONG, "no broker 99", 39)


@pytest.fixture
def facts() -> Iterator[GivenCluster]:
    with given({"t": [(1, 2), (2, 1)], "full": [(1, 2, 3)]}, 1, 2, 3) as found:
        yield found


@pytest.fixture
def held(facts: GivenCluster) -> GivenCluster:
    """Partition 0 is on its way from brokers 1 and 2 to 2 and 3."""
    facts.start(ZERO, (2, 3))
    return facts


# -- planned ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "options", "refused"),
    [
        ({ZERO: (1, 9)}, {}, f"{WRONG}: partition t:0 cannot be moved to broker 9, which is not"
         " running"),
        ({ZERO: ()}, {}, f"{WRONG}: the target replicas of partition t:0 are invalid: none"),
        ({ZERO: (1, 1)}, {}, f"{WRONG}: the target replicas of partition t:0 are invalid: 1,1"),
        ({TopicPartition("t", 7): (1,)}, {},
         "UNKNOWN_TOPIC_OR_PARTITION: partition t:7 does not exist"),
        ({TopicPartition("no", 0): (1,)}, {},
         "UNKNOWN_TOPIC_OR_PARTITION: partition no:0 does not exist"),
        ({ONE: (3, 1)}, {}, ""),
        ({ONE: (1,)}, {}, ""),
        ({ONE: (1,)}, {"keep_factor": True}, "INVALID_REPLICATION_FACTOR: the replication factor"
         " of partition t:1 would change from 2 to 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(
    facts: GivenCluster, wanted: Assignment, options: dict[str, bool], refused: str
) -> None:
    plan = plan_move(facts, wanted | {TopicPartition("full", 0): (3, 2, 1)}, **options)  # type: ignore[arg-type]
    assert [f"{why.name}: {why.message}" for why in plan.refused.failures.values()] == (
        [refused] * bool(refused)
    )
    assert plan.changes[-1].after == "3,2,1", "each is refused on its own"


@pytest.mark.parametrize(
    ("after", "additional", "outcome"),
    [
        ((1, 3), False, "partition t:0 is being reassigned to 2,3"),
        ((1, 3), True, "t:0: 2,1 -> 1,3"),
        ((2,), True, "with the new target 2, the move may never complete"),
        ((3, 2), True, "t:0: 2,1 -> 3,2"),
        ((2, 3), False, "no change: already being moved there"),
        ((1, 2), False, "t:0: 2,3 -> 1,2 cancels the reassignment"),  # the way back
    ],
)
def test_a_partition_that_moves_is_refused_but_for_the_way_back(
    held: GivenCluster, after: Replicas, additional: bool, outcome: str
) -> None:
    plan = plan_move(held, {ZERO: after}, additional=additional)
    found = [
        *(why.message for why in plan.refused.failures.values()),
        *(f"{c.resource.name}: {c.before} -> {c.after} {c.note}".strip() for c in plan.changes),
        *(change.note for change in plan.unchanged),
    ]
    assert len(found) == 1 and found[0].endswith(outcome), found


def test_a_plan_shows_what_is_there_and_reads_it_again(facts: GivenCluster) -> None:
    plan = plan_move(facts, {ZERO: (3, 2), ONE: (2, 1)}, throttle=1)
    assert [(change.before, change.note) for change in plan.unchanged] == [
        ("2,1", "no change: already there")
    ]
    facts.replicas[ZERO] = (1, 3)
    again = [step.reread(facts).changes for step in plan.steps if isinstance(step, MoveReplicas)]
    assert [change.before for changes in again for change in changes] == ["1,3"]


def test_a_partition_that_is_refused_does_not_keep_the_throttle_of_the_others(
    facts: GivenCluster,
) -> None:
    facts.takes = 5
    facts.refused[ONE] = INVALID
    plan = plan_move(facts, {ZERO: (1, 3), ONE: (1, 3)}, throttle=9)
    assert list(apply(plan, facts).failures.values()) == [INVALID]
    assert (facts.replicas[ZERO], facts.replicas[ONE]) == ((1, 3), (2, 1))
    assert facts.values == {}


def test_a_request_that_fails_as_a_whole_says_that_the_throttle_is_still_set(
    facts: GivenCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller fails, and so does the removal."""
    plan = plan_move(facts, {ZERO: (1, 3)}, throttle=9)
    throttle, move = plan.steps
    assert throttle.send(facts, validate_only=False).ok

    def lost(*_: object) -> None:
        raise ShellError("the connection was lost", code="no-controller")

    monkeypatch.setattr(facts, "send_moves", lost)
    monkeypatch.setattr(facts, "under_way", lost)
    with pytest.raises(ShellError, match="the connection was lost") as raised:
        move.send(facts, validate_only=False)
    assert hint_of(raised.value).endswith("still set. See: verify-reassign-partitions")


# -- cancelled -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "target", "replicas", "warning"),
    [
        ({ZERO: (1, 2)}, None, (1, 2), ""),
        ({}, None, (2, 1), "the preferred leader of 1 partition may change: the previous order"
         " of its replicas is unknown"),
        ({ZERO: (1,)}, None, (2, 1), "partition t:0 will have replicas 2,1, not 1: another"
         " client changed its reassignment"),
        ({ZERO: (1, 2)}, {ZERO: (2, 3)}, (1, 2), ""),
    ],
)  # fmt: skip
def test_a_cancelled_move_has_its_replicas_in_their_order(
    held: GivenCluster, before: Assignment, target: Assignment | None, replicas: Replicas,
    warning: str,
) -> None:  # fmt: skip
    plan = plan_cancel(held, [ZERO, ONE], before, target=target)
    assert [str(change.resource) for change in plan.unchanged] == ["partition t:1"]
    assert (warning in plan.advice.warnings) == bool(warning)
    assert apply(plan, held).ok
    assert held.replicas[ZERO] == replicas and not held.moving
    (row,) = state(held, {ZERO: (2, 3)}).partitions
    assert (row.status, row.code) == (MoveStatus.FAILED, -1), "it is not where it should be"


def test_what_another_client_moves_elsewhere_is_not_cancelled(held: GivenCluster) -> None:
    plan = plan_cancel(held, [ZERO], target={ZERO: (1, 3)})
    assert not plan.steps
    assert [change.note for change in plan.unchanged] == [
        "no change: another client is reassigning it to these replicas"
    ]


@pytest.mark.parametrize(
    ("meanwhile", "why"),
    [
        ("complete", "its reassignment was already complete, with replicas 2,3"),
        ("cancelled", ""),  # an earlier copy of the request has done it
    ],
)
def test_a_cancellation_that_comes_too_late_fails(
    held: GivenCluster, meanwhile: str, why: str
) -> None:
    plan = plan_cancel(held, [ZERO], {ZERO: (1, 2)})
    if meanwhile == "complete":
        held.complete()
    else:
        held.replicas[ZERO] = held.moving.pop(ZERO).before
    sent = plan.steps[0].send(held, validate_only=False)
    assert [each.message.endswith(why) for each in sent.failures.values()] == [True] * bool(why)
    assert held.replicas[ZERO] == ((2, 3) if why else (1, 2))


# -- followed --------------------------------------------------------------------------------------


def followed(facts: GivenCluster, follow: Follow) -> list[str]:
    told: list[str] = []
    follow(facts, lambda task, *_: told.append(task))
    return list(dict.fromkeys(told))


MOVE = Move(ZERO, (1, 2), (2, 3))


def test_a_list_without_moves_is_not_believed_at_once(held: GivenCluster) -> None:
    """Before: with one empty list of a controller that had just lost its election, waiting for all
    reassignments ended, and their throttle was removed."""
    held.unlisted = 2
    held.events.append((30, held.complete))
    assert followed(held, Follow()) == ["Moving 1 partition"]
    assert held.seconds > 30


@pytest.mark.parametrize(
    ("seconds", "status"), [(1.5, MoveStatus.COMPLETED), (60, MoveStatus.FAILED)]
)
def test_a_broker_with_old_metadata_is_no_cancelled_move(
    held: GivenCluster, seconds: float, status: MoveStatus
) -> None:
    """A busy broker, or one that has just started, shows for seconds what was true before."""
    held.shown = held.scan()
    held.complete()
    held.events.append((seconds, lambda: setattr(held, "shown", None)))
    (row,) = state(held, {ZERO: (2, 3)}).partitions
    assert row.status is status


@pytest.mark.parametrize(
    ("ends", "why"),
    [
        (
            "cancelled",
            "partition t:0 has replicas 2,1 instead of 2,3: another client cancelled or"
            " changed its reassignment",
        ),
        ("deleted", "partition t:0 no longer exists"),
        ("complete", ""),
    ],
)
def test_a_follower_is_told_when_somebody_cancels(held: GivenCluster, ends: str, why: str) -> None:
    actions = {
        "cancelled": lambda: held.replicas.update({ZERO: held.moving.pop(ZERO).before}),
        "deleted": lambda: held.delete("t"),
        "complete": held.complete,
    }
    held.events.append((20, actions[ends]))
    if not why:
        followed(held, Follow((MOVE,)))
        return
    with pytest.raises(UnexpectedEnd) as raised:
        followed(held, Follow((MOVE,)))
    assert raised.value.message == why


@pytest.mark.parametrize(
    ("down", "why"),
    [
        ([3], "waiting for broker 3, which is down (1 partition)"),
        ([1], "nothing is being copied to broker 3, which is up (1 partition)"),
        ([], "nothing is being copied to broker 3, which is up (1 partition)"),
    ],
)
def test_a_deadline_tells_what_the_moves_wait_for(
    held: GivenCluster, down: list[int], why: str
) -> None:
    held.up -= set(down)
    held.sizes = Sizes({ZERO: {1: 900, 2: 900, 3: 300}}, frozenset((1, 2, 3)))
    held.ends = {(1, ZERO): 90, (2, ZERO): 90, (3, ZERO): 30}
    with held.within(100), pytest.raises(ShellError, match="deadline exceeded") as raised:
        followed(held, Follow((MOVE,)))
    assert raised.value.message == f"deadline exceeded: {why}"


def test_progress_is_told_until_a_broker_is_down_and_when_it_is_back(held: GivenCluster) -> None:
    held.sizes = Sizes({ZERO: {1: 900, 2: 900, 3: 300}}, frozenset((1, 2, 3)))
    held.events += [(5, lambda: held.up.discard(3)), (200, lambda: held.up.add(3))]
    held.events.append((220, held.complete))
    told = followed(held, Follow((MOVE,)))
    waiting = "waiting for broker 3, which is down (1 partition)"
    assert told[:4] == ["Moving 1 partition", waiting, f"stalled for 1 min: {waiting}",
                        f"stalled for 2 min: {waiting}"]  # fmt: skip
    (row,) = state(held, {ZERO: (2, 3)}).partitions
    assert row.status is MoveStatus.COMPLETED


def test_ctrl_c_leaves_the_move_and_says_how_to_continue(held: GivenCluster) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    held.events.append((5, interrupt))
    with pytest.raises(ShellError) as raised:
        followed(held, Follow((MOVE,)))
    assert raised.value.status is Status.INTERRUPTED
    assert "the reassignment continues, and its throttle is still set" in raised.value.message
    assert ZERO in held.moving


def test_a_reassignment_that_ends_between_two_reads_is_no_outage(held: GivenCluster) -> None:
    """It is in the metadata that was read before its end, and not in the list that is read then."""
    before = held.scan(["t"])
    assert before.under_replicated == 1
    held.complete()
    found = scan_reassigned(held, ["t"], seen=before)
    assert found.under_replicated == 0
    assert found.summary("t").max_replication_factor == 2


# -- what the planner is asked ---------------------------------------------------------------------


def moved(facts: GivenCluster, planned: Assignment) -> list[Replicas]:
    facts.takes = 1
    plan: Plan = plan_move(facts, planned, record=ThrottleRecord())
    assert plan.refused.ok and apply(plan, facts).ok
    return [facts.replicas[ZERO], facts.replicas[ONE]]


def test_a_topic_is_spread_over_the_brokers_named(facts: GivenCluster) -> None:
    facts.replicas = {replace(ZERO, partition=n): (1,) for n in range(4)}
    named = targets.Brokers(frozenset((2, 3)))
    planned = targets.spread_over(current_assignment(facts), Disks(), ["t"], named)
    assert not planned.refused
    moved(facts, planned.replicas)
    assert sorted(facts.replicas.values()) == [(2,), (2,), (3,), (3,)]


def test_a_broker_is_drained_of_what_can_go(facts: GivenCluster) -> None:
    planned = targets.drained(current_assignment(facts), Disks(), 2)
    assert set(planned.refused) == {Resource("topic", "full")}
    assert [set(each) for each in moved(facts, planned.replicas)] == [{1, 3}, {1, 3}]


def test_what_leaves_a_broker_already_is_not_planned_again(held: GivenCluster) -> None:
    planned = targets.drained(current_assignment(held), Disks(), 1, ["t"])
    assert [(each, set(to)) for each, to in planned.replicas.items()] == [(ONE, {2, 3})]


def test_a_replication_factor_is_raised(facts: GivenCluster) -> None:
    now = current_assignment(facts)
    planned = targets.with_factor(now, Disks(), ["t"], 3)
    assert [each[0] for each in planned.replicas.values()] == [1, 2]
    assert [set(each) for each in moved(facts, planned.replicas)] == [{1, 2, 3}] * 2
    with pytest.raises(ShellError, match="requires 4 brokers, only 3 can be used"):
        targets.with_factor(now, Disks(), ["t"], 4)


# -- the rollback file -----------------------------------------------------------------------------


def test_a_rollback_file_moves_everything_back(facts: GivenCluster, tmp_path: Path) -> None:
    """Also what is still being moved; what was not started yet is where it was."""
    wanted = {ZERO: (2, 3), ONE: (1, 3), TopicPartition("full", 0): (3, 1, 2)}
    plan = with_rollback(plan_move(facts, wanted), tmp_path / "new", 0, 7)
    (written,) = [change for change in plan.changes if change.resource.kind == "rollback-file"]
    assert written == plan.changes[0] and written.after == "current replicas of 3 partitions"
    assert apply(plan.followed(waits=False), facts).ok
    facts.complete(ONE)
    file = read_moves(written.resource.name)
    assert file == MoveFile(
        {ZERO: (1, 2), ONE: (2, 1), TopicPartition("full", 0): (1, 2, 3)}, {}, 7
    )
    facts.takes = 1
    assert apply(plan_move(facts, file.target), facts).ok
    assert {each: facts.replicas[each] for each in wanted} == file.target


def test_nothing_is_moved_without_a_rollback_file(facts: GivenCluster, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    plan = with_rollback(plan_move(facts, {ZERO: (2, 3)}, throttle=1), tmp_path / "file", 0, 1)
    with pytest.raises(ShellError, match=r"cannot write .*: File exists"):
        apply(plan, facts)
    assert facts.log == [] and facts.values == {}
    same = plan_move(facts, {ZERO: (1, 2)})
    assert with_rollback(same, tmp_path, 0, None) is same, "nothing is moved"
