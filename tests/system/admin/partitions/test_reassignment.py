"""Reassignments on three real brokers: planned, throttled, followed and canceled."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions import (
    follow as following,
)
from kafka_shell.admin.partitions import (
    progress as move_progress,
)
from kafka_shell.admin.partitions import (
    sizes as move_sizes,
)
from kafka_shell.admin.partitions import (
    targets as move_targets,
)
from kafka_shell.admin.partitions.cancel import plan_cancel
from kafka_shell.admin.partitions.current_assignment import current_assignment
from kafka_shell.admin.partitions.follow import Follow
from kafka_shell.admin.partitions.model import (
    BrokerLoad,
    Move,
    MoveSize,
    MoveStatus,
    Reassignment,
    TopicPartition,
)
from kafka_shell.admin.partitions.progress import under_way
from kafka_shell.admin.partitions.reassignment import plan_move, state
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttle_configs import (
    FOLLOWER_REPLICAS,
    Throttled,
    ThrottleRecord,
)
from kafka_shell.admin.partitions.throttle_steps import RemoveThrottle, SetThrottle
from kafka_shell.admin.partitions.throttles import left_behind, plan_throttle
from kafka_shell.admin.records.log import append
from kafka_shell.admin.topics import reassigned
from kafka_shell.admin.topics.reassigned import scan_reassigned
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import MetadataScan, scan
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.output.resource_kinds import command_for, hint_of
from kafka_shell.plan.apply import apply
from kafka_shell.plan.model import Resource
from kafka_shell.plan.results import Results
from kafka_shell.sandbox.state import Sandbox
from tests.support import reassigned_topics
from tests.support.changes import connect, lose_requests, refusals
from tests.support.reassigned_topics import MB, Filled, placed, put, replicas, to
from tests.support.waiting import applied, wait_for

ALTER_CONFIGS, ALTER_REASSIGNMENTS, LIST_REASSIGNMENTS = 44, 45, 46


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def filled(three_brokers: Sandbox, cluster: Cluster) -> Filled:
    return Filled(three_brokers, cluster)


@pytest.fixture(autouse=True)
def restored(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test leaves, the next one does not see."""
    monkeypatch.setattr(move_sizes, "SAMPLE_S", 0.2)
    yield
    reassigned_topics.restore(cluster)


@pytest.fixture
def record() -> ThrottleRecord:
    return ThrottleRecord()


@pytest.fixture
def held(filled: Filled, cluster: Cluster, record: ThrottleRecord) -> str:
    """A topic whose partition 0 is on its way from brokers 1 and 2 to 2 and 3, at 1 B/s."""
    (topic,) = filled.topics(1)
    plan = plan_move(cluster, {TopicPartition(topic, 0): (2, 3)}, throttle=1, record=record)
    assert plan.refused.ok, plan.refused.failures
    assert apply(replace(plan, follow=None, afterwards=()), cluster).ok
    wait_for("the move is listed", lambda: reassigned_topics.moving(cluster, topic) == {0: (3,)})
    wait_for("brokers show the move", lambda: set(replicas(cluster, topic)[0]) == {1, 2, 3})
    return topic


# -- moving ----------------------------------------------------------------------------------------


def test_a_move_is_followed_to_its_end_and_its_throttle_is_gone(
    filled: Filled, cluster: Cluster
) -> None:
    (topic,) = filled.topics(1)
    plan = plan_move(cluster, to(topic, (2, 3), (1, 3)), throttle=1)
    assert all(step.reread(cluster).changes == step.changes for step in plan.steps)
    told: list[tuple[str, int, int | None]] = []

    def tell(task: str, done: int, total: int | None) -> None:
        if not told:
            reassigned_topics.release(
                cluster, MB // 10
            )  # one fetch of 1 MB, then seconds of nothing
        elif total and 0 < done < total:
            reassigned_topics.release(cluster)
        told.append((task, done, total))

    assert plan.follow is not None
    follow = plan.follow
    assert apply(replace(plan, follow=lambda cluster, _: follow(cluster, tell)), cluster).ok
    assert replicas(cluster, topic) == [(2, 3), (1, 3)]
    assert reassigned_topics.throttles(cluster, topic) == {}, "a throttle outlived its move"
    (task,) = {task for task, _, _ in told}
    assert task in ("Moving 2 partitions", "Moving 1 partition"), "the empty one may be there first"
    assert any(total and 0 < done < total for _, done, total in told), f"no progress: {told}"
    assert told[-1][1] == told[-1][2], "the progress did not end"
    assert plan.fresh is not None
    rows = plan.fresh(cluster).partitions
    assert [(row.status, row.code) for row in rows] == [(MoveStatus.COMPLETED, 1)] * 2


def test_a_plan_tells_what_each_broker_gets(filled: Filled, cluster: Cluster) -> None:
    (topic,) = filled.topics(1)
    plan = plan_move(cluster, to(topic, (3, 2), (2, 1)), throttle=MB)
    size, *loads = plan.figures
    assert isinstance(size, MoveSize)
    assert (size.partitions, size.copies, size.throttle) == (1, 1, MB)
    assert size.bytes and size.bytes > MB and size.seconds == -(-size.bytes // MB)
    by_id = {load.broker: load for load in loads if isinstance(load, BrokerLoad)}
    assert [by_id[id].rack for id in (1, 2, 3)] == ["rack-a", "rack-b", "rack-c"]
    assert by_id[3].replicas_after == by_id[3].replicas_before + 1
    assert by_id[1].replicas_after == by_id[1].replicas_before - 1
    assert by_id[3].leaders_after == by_id[3].leaders_before + 1
    assert by_id[3].incoming == size.bytes
    assert by_id[3].bytes_after == (by_id[3].bytes_before or 0) + size.bytes
    assert [change.before for change in plan.unchanged] == ["2,1"], "what is there is told"


def test_what_was_set_before_a_throttle_is_restored(cluster: Cluster) -> None:
    """Without a record that outlasts the process."""
    topic = placed(cluster, (1, 2), (2, 1))
    put(cluster, ConfigResource(ResourceType.BROKER, "3"), reassigned_topics.RATE, "7000000")
    put(cluster, ConfigResource(ResourceType.TOPIC, topic), FOLLOWER_REPLICAS, "1:1")
    before = reassigned_topics.throttles(cluster, topic)
    assert apply(plan_move(cluster, to(topic, (1, 3)), throttle=2 * MB), cluster).ok
    assert reassigned_topics.throttles(cluster, topic) == before


def test_where_nothing_is_moved_no_throttle_stays(cluster: Cluster, record: ThrottleRecord) -> None:
    topic = placed(cluster, (1, 2))
    move = Move(TopicPartition(topic, 0), (1, 2), (1, 3), 1)
    rows = plan_throttle(cluster, [move], MB, {}, [move.partition])
    throttle = SetThrottle(rows, record)
    assert throttle.send(cluster, validate_only=False).ok
    assert record.read().keys() == {row.config for row in rows}
    wrong = MoveReplicas((replace(move, after=(1, 99)),), throttle.removal)
    failed = wrong.send(cluster, validate_only=False).failures
    assert [why.name for why in failed.values()] == ["INVALID_REPLICA_ASSIGNMENT"]
    assert reassigned_topics.throttles(cluster, topic) == {}
    assert record.read() == {}


@pytest.mark.parametrize("as_a_whole", [False, True])
def test_a_throttle_that_cannot_be_removed_does_not_hide_what_failed(
    cluster: Cluster, record: ThrottleRecord, monkeypatch: pytest.MonkeyPatch, as_a_whole: bool
) -> None:
    """The controller fails while a refused reassignment is cleaned up."""
    topic = placed(cluster, (1, 2))
    move = Move(TopicPartition(topic, 0), (1, 2), (1, 99), 1)
    rows = plan_throttle(cluster, [replace(move, after=(1, 3))], MB, {}, [move.partition])
    throttle = SetThrottle(rows, record)
    assert throttle.send(cluster, validate_only=False).ok
    step = MoveReplicas((move,), throttle.removal)
    with monkeypatch.context() as patch:
        lose_requests(patch, LIST_REASSIGNMENTS)
        if as_a_whole:
            lose_requests(patch, ALTER_REASSIGNMENTS, code="no-controller")
            with pytest.raises(ShellError) as raised:
                step.send(cluster, validate_only=False)
            name, failed = raised.value.code, raised.value
            assert name == "no-controller"
        else:
            (failed,) = step.send(cluster, validate_only=False).failures.values()
            assert failed.name == "INVALID_REPLICA_ASSIGNMENT"
    assert hint_of(failed).endswith("The throttle is still set. See: verify-reassign-partitions")
    assert record.read().keys() == {row.config for row in rows}, "it can be removed later"


def test_a_part_of_a_throttle_that_stays_is_reported(
    cluster: Cluster, record: ThrottleRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = placed(cluster, (1, 2))
    move = Move(TopicPartition(topic, 0), (1, 2), (1, 3), 1)
    rows = plan_throttle(cluster, [move], MB, {}, [move.partition])
    with monkeypatch.context() as patch:
        lose_requests(patch, ALTER_CONFIGS, after=1, code="no-broker")
        with pytest.raises(ShellError, match="could not be set: the connection was lost") as raised:
            SetThrottle(rows, record).send(cluster, validate_only=False)
    assert "The throttle is still set." in raised.value.hint
    assert raised.value.see == Resource("throttle")
    assert reassigned_topics.throttles(cluster, topic) != {}
    reassigned_topics.restore(cluster)
    with monkeypatch.context() as patch:
        lose_requests(patch, ALTER_CONFIGS, code="no-broker")
        with pytest.raises(ShellError) as raised:
            SetThrottle(rows, record).send(cluster, validate_only=False)
    assert "still set" not in raised.value.hint, "nothing was set"


def test_a_partition_that_is_refused_does_not_keep_the_throttle_of_the_others(
    cluster: Cluster,
) -> None:
    topic = placed(cluster, (1, 2), (1, 2))
    plan = plan_move(cluster, to(topic, (1, 3), (1, 3)), throttle=MB)
    throttle, step = plan.steps
    assert isinstance(step, MoveReplicas)
    moves = (step.moves[0], replace(step.moves[1], after=(1, 99)))
    plan = replace(plan, steps=(throttle, replace(step, moves=moves)),
                   follow=Follow(moves))  # fmt: skip
    failed = apply(plan, cluster).failures
    assert [change.resource.name for change in failed] == [f"{topic}:1"]
    assert replicas(cluster, topic) == [(1, 3), (1, 2)]
    assert reassigned_topics.throttles(cluster, topic) == {}


# -- under way -------------------------------------------------------------------------------------


def test_a_move_under_way_is_listed_with_what_is_copied(
    held: str, cluster: Cluster, record: ThrottleRecord
) -> None:

    def listed() -> Reassignment:
        (row,) = move_progress.with_sizes(cluster, list(move_progress.under_way(cluster, [held])))
        return row

    wait_for("broker 3 has the replica", lambda: listed().lag is not None)
    row = listed()
    assert (row.adding, row.removing, row.before, row.after) == ((3,), (1,), (2, 1), (2, 3)) or (
        set(row.before) == {1, 2} and set(row.after) == {2, 3}
    )
    assert row.size and row.copied is not None and row.copied < row.size
    # A record is 50 kB: an offset that the copy lacks is one of those.
    assert row.lag and row.copied < row.lag * 50_000 + row.copied <= row.size, str(row)
    (verified,) = state(cluster, to(held, (2, 3))).partitions
    assert (verified.status, verified.code) == (MoveStatus.IN_PROGRESS, 0)


def test_a_broker_with_old_metadata_is_no_cancelled_move(
    held: str, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy broker, or one that has just started, shows for seconds what was true before."""
    old = move_progress.scan(cluster, [held])
    assert set(old.topic(held).partitions[0].replicas) == {1, 2, 3}
    reassigned_topics.release(cluster)
    wait_for("it has ended", lambda: not reassigned_topics.moving(cluster, held), 60)
    until = time.monotonic() + 1.5

    def scan(cluster: Cluster, topics: list[str]) -> MetadataScan:
        return old if time.monotonic() < until else now(cluster, topics)

    now = move_progress.scan
    monkeypatch.setattr(move_progress, "scan", scan)
    (row,) = state(cluster, to(held, (2, 3))).partitions
    assert (row.status, row.replicas) == (MoveStatus.COMPLETED, (2, 3))


def test_a_list_without_moves_is_not_believed_at_once(
    held: str, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: with one empty list of a controller that had just lost its election, waiting for all
    reassignments ended, and their throttle was removed."""
    lists = [Results[TopicPartition, Reassignment]()]
    monkeypatch.setattr(
        following, "under_way", lambda cluster: lists.pop() if lists else under_way(cluster)
    )
    Follow()(cluster, lambda *_: reassigned_topics.release(cluster))
    assert not lists and not reassigned_topics.moving(cluster, held), "it was not waited for"
    assert replicas(cluster, held)[0] == (2, 3)


def test_a_cancelled_move_is_undone_with_its_throttle(
    held: str, cluster: Cluster, record: ThrottleRecord
) -> None:
    partitions = [TopicPartition(held, 0), TopicPartition(held, 1)]
    plan = plan_cancel(cluster, partitions, to(held, (1, 2)), record=record)
    assert all(step.reread(cluster).changes == step.changes for step in plan.steps)
    assert [str(change.resource) for change in plan.unchanged] == [f"partition {held}:1"]
    assert apply(plan, cluster).ok
    wait_for("it is back, in its order", lambda: replicas(cluster, held)[0] == (1, 2))
    wait_for("nothing is moving", lambda: not reassigned_topics.moving(cluster, held))
    assert reassigned_topics.throttles(cluster, held) == {}
    (row,) = state(cluster, to(held, (2, 3))).partitions
    assert (row.status, row.code) == (MoveStatus.FAILED, -1), "it is not where it should be"


def test_a_cancellation_that_comes_too_late_fails(
    held: str, cluster: Cluster, record: ThrottleRecord
) -> None:
    """Before: it was reported as done, with the replicas of before."""
    plan = plan_cancel(cluster, [TopicPartition(held, 0)], to(held, (1, 2)), record=record)
    reassigned_topics.release(cluster)
    wait_for("it has ended", lambda: not reassigned_topics.moving(cluster, held))
    (why,) = plan.steps[0].send(cluster, validate_only=False).failures.values()
    assert why.name == "NO_REASSIGNMENT_IN_PROGRESS"
    assert why.message.endswith("its reassignment had ended with replicas 2,3")
    assert set(replicas(cluster, held)[0]) == {2, 3}


def test_cancelling_what_was_retargeted_says_which_replicas_are_left(
    held: str, cluster: Cluster
) -> None:
    """Controllers go back to the replicas when the target was changed, not to the first ones."""
    plan = plan_cancel(cluster, [TopicPartition(held, 0)], to(held, (1,)))
    (warning,) = [each for each in plan.warnings if "was changed during" in each]
    assert warning.endswith("it will have replicas 2,1, not 1 as before")


def test_a_partition_that_moves_is_refused_but_for_the_way_back(
    held: str, cluster: Cluster, record: ThrottleRecord
) -> None:
    refused = refusals(plan_move(cluster, to(held, (1, 3))))
    assert refused[f"{held}:0"].name == "REASSIGNMENT_IN_PROGRESS"
    endless = refusals(plan_move(cluster, to(held, (2,)), additional=True))[f"{held}:0"]
    assert "might never end" in endless.message and endless.hint == "Cancel the reassignment first."
    assert apply(plan_move(cluster, to(held, (1, 2)), record=record), cluster).ok
    wait_for("it is back, in its order", lambda: replicas(cluster, held)[0] == (1, 2))
    assert reassigned_topics.throttles(cluster, held) == {}


def test_the_throttle_of_a_move_under_way_is_raised(
    held: str, cluster: Cluster, record: ThrottleRecord
) -> None:
    plan = plan_move(cluster, to(held, (2, 3)), throttle=900 * MB, additional=True, record=record)
    assert [change.note for change in plan.unchanged] == ["no change: already being moved there"]
    assert not any(isinstance(step, MoveReplicas) for step in plan.steps), "it was sent again"
    assert apply(plan, cluster).ok
    assert replicas(cluster, held)[0] == (2, 3)
    assert reassigned_topics.throttles(cluster, held) == {}


def test_a_throttle_that_is_still_used_is_not_removed(
    held: str, cluster: Cluster, record: ThrottleRecord
) -> None:
    throttle = record.read()
    assert not left_behind(cluster, move_progress.under_way(cluster).values, throttle)[0]
    before = reassigned_topics.throttles(cluster, held)
    rows = tuple(replace(row, now=row.value) for row in throttle.values())
    removal = RemoveThrottle(rows, record)
    results = removal.send(cluster, validate_only=False)
    rates = [change for change in results if change.field.endswith(".rate")]
    assert {change.note for change in rates} == {
        "unchanged: another partition reassignment uses it"
    }
    assert reassigned_topics.throttles(cluster, held) == before
    assert record.read() == throttle, "what is still set was forgotten"


def test_a_throttle_whose_broker_cannot_be_told_is_kept_in_the_record(
    cluster: Cluster, record: ThrottleRecord
) -> None:
    row = Throttled(
        ConfigResource(ResourceType.BROKER, "99"), reassigned_topics.RATE, "1", "9", now="1"
    )
    record.update(lambda _: {row.config: row})
    results = RemoveThrottle((row,), record).send(cluster, validate_only=False)
    (why,) = results.failures.values()
    assert why.hint.endswith("The throttle is still set.")
    assert command_for(why.see or Resource("", "")).startswith("verify-reassign-partitions")
    assert record.read() == {row.config: row}
    not_read = left_behind(cluster, {}, record.read())[1]
    assert list(not_read) == [Resource("broker", "99")], "not read is not the same as fine"


def test_a_follower_is_told_when_somebody_cancels(
    held: str, cluster: Cluster, record: ThrottleRecord
) -> None:
    wanted = Move(TopicPartition(held, 0), (1, 2), (2, 3))
    told = threading.Event()

    def cancel(*_: object) -> None:
        if not told.is_set():
            told.set()
            apply(plan_cancel(cluster, [wanted.partition]), cluster)

    with pytest.raises(ShellError, match="is not being reassigned"):
        Follow((wanted,))(cluster, cancel)


# -- refusals and warnings -------------------------------------------------------------------------


def test_what_cannot_be_is_refused_each_on_its_own(cluster: Cluster) -> None:
    topic = placed(cluster, (1, 2), (2, 1), (1, 2), (2, 1))
    wanted = to(topic, (1, 9), (), (1, 1), (3, 1)) | {TopicPartition(topic, 7): (1,)}
    plan = plan_move(cluster, wanted)
    found = {name.rpartition(":")[2]: why.name for name, why in refusals(plan).items()}
    wrong = "INVALID_REPLICA_ASSIGNMENT"
    assert found == {"0": wrong, "1": wrong, "2": wrong, "7": "UNKNOWN_TOPIC_OR_PARTITION"}
    assert [change.after for change in plan.changes] == ["3,1"]
    kept = plan_move(cluster, {TopicPartition(topic, 3): (1,)}, keep_factor=True)
    assert [why.name for why in refusals(kept).values()] == ["INVALID_REPLICATION_FACTOR"]


def test_a_throttle_below_the_inflow_is_warned_about(
    three_brokers: Sandbox, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(move_sizes, "SAMPLE_S", 1.0)
    topic = placed(cluster, (1, 2))
    stop, written = threading.Event(), threading.Event()

    def write() -> None:
        with connect(three_brokers) as own:
            while not stop.is_set():
                append(own, topic, [(None, bytes(50_000))])
                written.set()

    leader = [Move(TopicPartition(topic, 0), (1, 2), (2, 3), 1)]
    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert written.wait(30)
        (said,) = move_sizes.too_slow(cluster, leader, 10_000)
        assert "the throttle of 10kB/s is too low: broker 3" in said
        assert move_sizes.too_slow(cluster, leader, 10_000, [[], leader]), "the second batch"
        assert not move_sizes.too_slow(cluster, leader, 10_000, [[], []]), "others are moved"
    finally:
        stop.set()
        writer.join()
    assert not move_sizes.too_slow(cluster, leader, 10_000), "nobody writes"


# -- what the planner is asked ---------------------------------------------------------------------


def test_a_topic_is_spread_over_the_brokers_named(cluster: Cluster) -> None:
    topic = placed(cluster, (1,), (1,), (1,), (1,))
    now = current_assignment(cluster)
    named = move_targets.Brokers(frozenset((2, 3)))
    disks = move_targets.read_disks(cluster, now)
    planned = move_targets.spread_over(now, disks, [topic], named)
    assert not planned.refused
    assert apply(plan_move(cluster, planned.replicas), cluster).ok
    assert sorted(replicas(cluster, topic)) == [(2,), (2,), (3,), (3,)]


def test_a_broker_is_drained_of_what_can_go(cluster: Cluster) -> None:
    topic, full = placed(cluster, (1, 2), (3, 2)), placed(cluster, (1, 2, 3))
    now = current_assignment(cluster)
    disks = move_targets.read_disks(cluster, now)
    planned = move_targets.drained(now, disks, 2, [topic, full])
    assert set(planned.refused) == {Resource("topic", full)}
    assert apply(plan_move(cluster, planned.replicas), cluster).ok
    assert [set(each) for each in replicas(cluster, topic)] == [{1, 3}, {1, 3}]


def test_a_replication_factor_is_raised_into_the_other_racks(cluster: Cluster) -> None:
    topic = placed(cluster, (1,), (2,))
    now = current_assignment(cluster)
    disks = move_targets.read_disks(cluster, now)
    planned = move_targets.with_factor(now, disks, [topic], 3)
    assert apply(plan_move(cluster, planned.replicas), cluster).ok
    assert [each[0] for each in replicas(cluster, topic)] == [1, 2]
    assert [set(each) for each in replicas(cluster, topic)] == [{1, 2, 3}] * 2
    with pytest.raises(ShellError, match="3 running brokers"):
        move_targets.with_factor(now, disks, [topic], 4)


def test_a_reassignment_that_ends_between_two_reads_is_no_outage(
    held: str, cluster: Cluster, three_brokers: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in the metadata that was read before its end, and not in the list that is read then."""

    def after_its_end(_: Cluster) -> Results[TopicPartition, Reassignment]:
        with connect(three_brokers) as other:  # the time of the given one is limited
            reassigned_topics.restore(other)
            applied(other)
            return under_way(other)

    before = scan(cluster, [held])
    assert before.under_replicated == 1
    monkeypatch.setattr(reassigned, "under_way", after_its_end)
    found = scan_reassigned(cluster, [held], seen=before)
    assert found.under_replicated == 0
    assert found.summary(held).max_replication_factor == 2
