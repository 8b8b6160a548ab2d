"""The request that reassigns replicas, or cancels reassignments (KIP-455; API key 45)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.log_dir_moves import LogDirPlan
from kafka_shell.admin.partitions.model import Assignment, Move, TopicPartition
from kafka_shell.admin.partitions.progress import current, spell
from kafka_shell.admin.partitions.throttles import RemoveThrottle, note_still_set, with_still_set
from kafka_shell.admin.records.offsets import topic_rows
from kafka_shell.admin.steps import BaseStep, not_mentioned, row_failure
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Outcomes, Resource
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.waits import CHANGE_MS
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import NO_REASSIGNMENT_IN_PROGRESS
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.requests import CONTROLLER, response_timeout
from kafka_shell.wire.rounds import in_requests


class MoveReplicas(Struct, BaseStep, frozen=True):
    """One AlterPartitionReassignments request (API key 45). `throttle` is removed if nothing moves.

    Log directories of replicas are sent first; a partition whose directory is refused is not moved.
    Partitions that `stay` on their brokers only get other directories. Current reassignments to
    revert are `cancelled`: with the old replicas as a new target, a controller would first copy
    the rest.
    """

    moves: tuple[Move, ...]
    throttle: RemoveThrottle | None = None
    cancelled: bool = False
    log_dirs: LogDirPlan = field(default_factory=LogDirPlan)
    stay: Mapping[TopicPartition, tuple[int, ...]] = field(default_factory=dict)

    @property
    def changes(self) -> tuple[Change, ...]:
        by_partition: dict[Resource, list[Change]] = {}
        for change in (*self._replicas, *self.log_dirs.changes):
            by_partition.setdefault(change.resource, []).append(change)
        return tuple(change for changes in by_partition.values() for change in changes)

    @property
    def target(self) -> Assignment:
        """The target replicas of all partitions."""
        return {move.partition: move.after for move in self.moves} | dict(self.stay)

    @property
    def _replicas(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                Resource("partition", str(move.partition)), "alter",
                before=spell(move.before), after=spell(move.after),
                note="cancels the reassignment" if self.cancelled else "",
            )
            for move in self.moves
        )  # fmt: skip

    def reread(self, cluster: Cluster) -> MoveReplicas:
        metadata = scan(cluster, sorted({move.partition.topic for move in self.moves}))
        moving = under_way(cluster).values
        now = current(metadata, moving)
        if self.cancelled:  # from the target back; what has ended meanwhile is where it is
            now |= {key: (None, each.after) for key, each in moving.items()}
        return replace(
            self,
            log_dirs=self.log_dirs.reread(cluster),
            moves=tuple(
                replace(move, before=now.get(move.partition, (None, move.before))[1])
                for move in self.moves
            ),
        )

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Start the moves independently. They continue in the background."""
        placed = self.log_dirs.send(cluster)
        try:
            moved = self._send(cluster, placed.failures)
        except ShellError as error:
            if error.code not in ("deadline", "outcome-unknown"):
                self.remove_throttle(cluster, error)
            if not placed.values:
                raise
            failure = as_failure(error)
            return Results.merge([placed, Results({}, dict.fromkeys(self._replicas, failure))])
        if not moved.values and self.throttle is not None and not self.throttle.attempt(cluster):
            failures = {each: with_still_set(why) for each, why in moved.failures.items()}
            moved = Results({}, failures)
        return Results.merge([placed, moved])

    def remove_throttle(self, cluster: Cluster, error: ShellError) -> None:
        """Remove the throttle that was set for the reassignment, which failed with this error. If
        that fails, too, the error says so."""
        if self.throttle is not None and not self.throttle.attempt(cluster):
            note_still_set(error)

    def _send(self, cluster: Cluster, misplaced: Mapping[Change, Failure]) -> Outcomes:
        refused = {change.resource.name: reason for change, reason in misplaced.items()}
        wanted = [move for move in self.moves if str(move.partition) not in refused]
        sent = _send_moves(cluster, wanted, cancel=self.cancelled)
        if self.cancelled:
            sent = _settled(cluster, self.moves, sent)
        not_moved = {
            name: replace(failure, message=f"not moved: {failure.message}")
            for name, failure in refused.items()
        }
        return Results.of(
            self._replicas,
            (
                not_moved.get(str(move.partition)) or sent.failures.get(move.partition)
                for move in self.moves
            ),
        )


def _send_moves(
    cluster: Cluster, moves: Sequence[Move], *, cancel: bool
) -> Results[TopicPartition, TopicPartition]:
    """Send the moves in requests of the size that a controller accepts. After a request that failed
    as a whole, the rest is not sent."""
    results: Results[TopicPartition, TopicPartition] = Results()
    requests = list(in_requests(moves))
    for number, some in enumerate(requests):
        try:
            sent = _cancel_or_start(cluster, some, cancel=cancel)
        except ShellError as error:
            if not number:
                raise
            failure = as_failure(error)
            results.failures.update((move.partition, failure) for move in some)
            left = [move.partition for later in requests[number + 1 :] for move in later]
            results.failures.update(dict.fromkeys(left, _not_sent(failure)))
            break
        results.values.update(sent.values)
        results.failures.update(sent.failures)
    return results


def _cancel_or_start(
    cluster: Cluster, moves: Sequence[Move], *, cancel: bool
) -> Results[TopicPartition, TopicPartition]:
    """The outcome of one request. If its response was lost, moves that the cluster shows have
    started."""
    try:
        return _send_request(cluster, moves, cancel=cancel)
    except ShellError as error:
        started = _started(cluster, moves) if error.code == "outcome-unknown" and not cancel else ()
        if not started:
            raise
        failure = as_failure(error)
    partitions = [move.partition for move in moves]
    return Results.of(partitions, (None if place in started else failure for place in partitions))


def _started(cluster: Cluster, moves: Sequence[Move]) -> frozenset[TopicPartition]:
    """The partitions whose move is in progress or complete; none if that cannot be read."""
    try:
        moving, now = under_way(cluster).values, _now(cluster, moves)
    except ShellError:
        return frozenset()
    return frozenset(
        move.partition
        for move in moves
        if (moving[move.partition].after if move.partition in moving else now.get(move.partition))
        == move.after
    )


def _not_sent(failure: Failure) -> Failure:
    return Failure("not-sent", f"skipped: an earlier request failed ({failure.message})")


def _send_request(
    cluster: Cluster, moves: Sequence[Move], *, cancel: bool
) -> Results[TopicPartition, TopicPartition]:
    response = cluster.send(
        _request(moves, cancel),
        to=CONTROLLER,
        timeout=response_timeout(CHANGE_MS),
        requires="ALTER on the cluster",
    )
    failures = {
        TopicPartition(topic.name, row.partition_index): row_failure(
            row, f"partition {topic.name}:{row.partition_index}"
        )
        for topic in response.responses
        for row in topic.partitions
    }
    partitions = [move.partition for move in moves]
    return Results.of(
        partitions,
        (
            failures.get(partition, not_mentioned(f"partition {partition}"))
            for partition in partitions
        ),
    )


def _request(moves: Sequence[Move], cancel: bool) -> Any:
    kind = messages.AlterPartitionReassignmentsRequest.ReassignableTopic
    fields = {move.partition: {"replicas": None if cancel else list(move.after)} for move in moves}
    return messages.AlterPartitionReassignmentsRequest(
        timeout_ms=CHANGE_MS, topics=topic_rows(kind, kind.ReassignablePartition, fields)
    )


def _now(cluster: Cluster, moves: Sequence[Move]) -> dict[TopicPartition, tuple[int, ...]]:
    metadata = scan(cluster, sorted({move.partition.topic for move in moves}))
    return {each: replicas for each, (_, replicas) in current(metadata, {}).items()}


def _settled(
    cluster: Cluster, moves: Sequence[Move], sent: Results[TopicPartition, TopicPartition]
) -> Results[TopicPartition, TopicPartition]:
    """The outcome of cancelled moves, once a broker shows their old replicas, in the old order.

    What was not in progress has been cancelled by an earlier copy of the request, or had ended.
    """
    absent = {
        each for each, why in sent.failures.items() if why.code == NO_REASSIGNMENT_IN_PROGRESS
    }
    accepted = [move for move in moves if move.partition in sent.values.keys() | absent]
    if not accepted:
        return sent
    try:
        now = _replicas_at_rest(cluster, accepted)
        ended = {
            move.partition: replace(
                sent.failures[move.partition],
                message=f"partition {move.partition} was not cancelled: its reassignment was"
                f" already complete, with replicas {spell(now.get(move.partition, ()))}",
            )
            for move in accepted
            if move.partition in absent and set(now.get(move.partition, ())) != set(move.after)
        }
        cancelled = [move for move in accepted if move.partition not in ended]
        in_another_order = [
            move
            for move in cancelled
            if (held := now.get(move.partition, ())) != move.after and set(held) == set(move.after)
        ]
        failures = ended | _send_moves(cluster, in_another_order, cancel=False).failures
    except ShellError as error:
        reason = as_failure(error)
        message = f"cancelled, but the replicas may be in another order: {reason.message}"
        why = replace(reason, message=message)
        failures = dict.fromkeys((move.partition for move in accepted), why)
    refused = {each: why for each, why in sent.failures.items() if each not in absent}
    done = (move.partition for move in accepted if move.partition not in failures)
    return Results({move: move for move in done}, refused | failures)


def _replicas_at_rest(
    cluster: Cluster, moves: Sequence[Move]
) -> dict[TopicPartition, tuple[int, ...]]:
    """The replicas when a broker shows those before or after the move of each partition."""
    now: dict[TopicPartition, tuple[int, ...]] = {}

    def at_rest() -> bool:
        nonlocal now
        now = _now(cluster, moves)
        return all(
            set(now.get(move.partition, ())) in (set(move.after), set(move.before))
            for move in moves
        )

    wait_until_visible(at_rest)
    return now or _now(cluster, moves)  # which raises what ended the wait
