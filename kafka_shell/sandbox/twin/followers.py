"""Stand-ins that take part in partition reassignments: new replicas are in sync at once.

A controller completes a reassignment when the leader reports that the new replicas are in sync
(AlterPartition, API key 56). The leaders of a twin have no process, so this reports it for them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from msgspec import Struct

from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.stalls import waits_for
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure
from kafka_shell.base.units import counted
from kafka_shell.base.waits import LOCAL_POLL_S
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin.build import connect, controller_of
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import INVALID_UPDATE_VERSION, NOT_CONTROLLER
from kafka_shell.wire.frames import uuid_of
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.requests import Call

_SETTLE_S = 20.0
_GUESSES = 20  # of an epoch in one round
_TOO_HIGH, _TOO_LOW = NOT_CONTROLLER, INVALID_UPDATE_VERSION


@contextmanager
def following(sandbox: Sandbox, epochs: Mapping[int, int]) -> Iterator[None]:
    """Complete the reassignments on a twin while the block runs. `epochs` are those of the
    brokers."""
    ended = threading.Event()
    thread = threading.Thread(target=_follow, args=(sandbox, epochs, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def settle(cluster: Cluster) -> Mapping[str, Failure]:
    """Wait until all reassignments on a twin are complete that can be. Returns a failure that
    counts those that are not after 20 s."""
    left = 0
    for _ in cluster.attempts(_SETTLE_S):
        moving = under_way(cluster).values
        metadata = scan(cluster, sorted({partition.topic for partition in moving}))
        leaders = {
            TopicPartition(partition.topic, partition.partition): partition.leader
            for name in metadata.names
            for partition in metadata.topic(name).partitions
        }
        running = {broker.id for broker in metadata.brokers}
        left = sum(waits_for(move, leaders.get(e), running) is None for e, move in moving.items())
        if not left:
            return {}
    why = f"{counted(left, 'reassignment')} did not end on the twin within {_SETTLE_S:.0f} s"
    return {"partition reassignments": Failure("deadline", why)}


def _follow(sandbox: Sandbox, epochs: Mapping[int, int], ended: threading.Event) -> None:
    guesses: Guesses = {}
    with connect(sandbox) as cluster, Cluster(controller_of(sandbox)) as controller:
        while not ended.wait(LOCAL_POLL_S):
            try:
                complete(cluster, controller, epochs, guesses)
            except ShellError:
                continue  # the next round tries again, or the twin is stopped


def complete(
    cluster: Cluster, controller: Cluster, epochs: Mapping[int, int], guesses: Guesses
) -> None:
    """Report that all replicas of all partitions that are being reassigned are in sync: one request
    for each leader, repeated for the partitions whose epoch was guessed wrong. `guesses` is kept
    for the next time."""
    waiting = list(_reports(cluster, epochs, guesses))
    for _ in range(_GUESSES):
        if not waiting:
            return
        by_leader: dict[int, list[_Report]] = {}
        for report in waiting:
            by_leader.setdefault(report.leader, []).append(report)
        calls = [_call(leader, epochs[leader], rows) for leader, rows in by_leader.items()]
        errors: dict[_Key, tuple[int, int]] = {}
        for response in controller.send_all(calls):
            if not isinstance(response, Failure):
                errors |= {
                    (topic.topic_id, row.partition_index): (row.error_code, row.partition_epoch)
                    for topic in response.topics
                    for row in topic.partitions
                }
        waiting = [
            each for each in waiting if each.key in errors and each.guess.learn(*errors[each.key])
        ]


class Guess:
    """The epoch of a partition. Metadata does not contain it, and the controller only says whether
    a guess is too low or too high, so it is searched for."""

    def __init__(self, lowest: int) -> None:
        self._lowest = lowest
        self._highest: int | None = None
        self._step = 1  # the reassignment has just increased it by one

    @property
    def epoch(self) -> int:
        """What to try next."""
        if self._highest is None:
            return self._lowest + self._step
        return (self._lowest + self._highest) // 2

    def is_at_least(self, lowest: int) -> None:
        """Raise the lower limit: epochs never decrease."""
        self._lowest = max(self._lowest, lowest)
        if self._highest is not None and self._highest < self._lowest:
            self._highest, self._step = None, 1  # it has increased meanwhile

    def learn(self, error: int, epoch: int) -> bool:
        """Learn from the response to this guess; `epoch` is the new one if there is no error.
        Returns whether another guess makes sense."""
        tried = self.epoch
        if error == _TOO_HIGH:
            self._highest = tried - 1
            self.is_at_least(self._lowest)
        elif error == _TOO_LOW:
            self._step *= 2
            self.is_at_least(tried + 1)
        elif not error:
            self._lowest, self._highest, self._step = epoch, None, 1
        return error in (_TOO_HIGH, _TOO_LOW)


_Key = tuple[UUID, int]  # topic ID and partition
Guesses = dict[_Key, Guess]


class _Report(Struct):
    """What a leader reports of one partition."""

    key: _Key
    leader: int
    leader_epoch: int
    in_sync: list[int]
    guess: Guess


def _reports(cluster: Cluster, epochs: Mapping[int, int], guesses: Guesses) -> Iterator[_Report]:
    moving = under_way(cluster).values
    if not moving:
        return
    metadata = scan(cluster, sorted({place.topic for place in moving}))
    for name in metadata.names:  # others were deleted meanwhile
        topic = metadata.topic(name)
        for partition in topic.partitions:
            move = moving.get(TopicPartition(name, partition.partition))
            if move is None or partition.leader is None or partition.leader not in epochs:
                continue
            key = uuid_of(topic.id), partition.partition
            guess = guesses.setdefault(key, Guess(partition.leader_epoch))
            guess.is_at_least(partition.leader_epoch)
            in_sync = [id for id in move.replicas if id in {*partition.isr, *move.adding}]
            yield _Report(key, partition.leader, partition.leader_epoch, in_sync, guess)


def _call(leader: int, epoch: int, reports: Sequence[_Report]) -> Call:
    kind = messages.AlterPartitionRequest.TopicData
    rows: dict[UUID, list[Any]] = {}
    for report in reports:
        id, partition = report.key
        row = kind.PartitionData(
            partition_index=partition,
            leader_epoch=report.leader_epoch,
            new_isr=report.in_sync,
            partition_epoch=report.guess.epoch,
        )
        rows.setdefault(id, []).append(row)
    topics = [kind(topic_id=id, partitions=partitions) for id, partitions in rows.items()]
    request = messages.AlterPartitionRequest(broker_id=leader, broker_epoch=epoch, topics=topics)
    return Call(request, check=False)
