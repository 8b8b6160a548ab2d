"""Records of a share group: acquired as a member of it, and acknowledged (KIP-932; API keys 76, 78
and 79)."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import Any
from uuid import UUID, uuid4

from msgspec import Struct

from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import GroupType
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.codecs import MOST_BYTES
from kafka_shell.admin.records.decode import body, data_batches
from kafka_shell.admin.records.decode import records as records_of
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.offsets import partition_rows, topic_rows
from kafka_shell.admin.steps import BaseStep, row_failure
from kafka_shell.admin.topics import read as topics_of
from kafka_shell.admin.topics.partitions import by_leader, leaders
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import (
    Advice,
    Bookkeeping,
    Change,
    Effect,
    Monitor,
    Outcomes,
    Plan,
    Resource,
)
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.units import counted
from kafka_shell.base.waits import until
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import as_error, raise_first
from kafka_shell.wire.frames import uuid_of
from kafka_shell.wire.requests import Call, Coordinator, CoordinatorKind, Node

_WAIT_MS = 1_000  # how long a broker waits for records
_LAST_ROUNDS = 2  # without records
_ASSIGNMENT_S = 10.0  # until the group assigns partitions to a new member
_PAUSE_S = 0.2  # between two heartbeats until then
_RESPONSE_BYTES = 16 << 20
_LIMITED = 1  # ShareAcquireMode: not whole batches (KIP-1206, Kafka 4.2)
_CLOSE, _LEAVE = -1, -1  # epochs of a share session and of a member
_GAP = 0  # the acknowledgement of an offset without a record


class Acknowledgement(IntEnum):
    """What becomes of an acquired record: it is consumed, delivered again, or never again."""

    ACCEPT = 1
    RELEASE = 2
    REJECT = 3

    @property
    def past(self) -> str:
        """`accepted`, `released`, `rejected`."""
        return "released" if self is Acknowledgement.RELEASE else f"{self.name.lower()}ed"


class ConsumeRecords(Struct, BaseStep, frozen=True):
    """Acquires at most `limit` records of the topics (ID by name) and acknowledges them. `acquired`
    are the records, after it was sent."""

    group: str
    topics: Mapping[str, UUID]
    acknowledgement: Acknowledgement
    limit: int
    most_bytes: int
    monitor: Monitor
    acquired: list[Record]

    @property
    def changes(self) -> tuple[Change, ...]:
        return (self._change("records", f"up to {self.limit:,} {self.acknowledgement.past}"),)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        found: list[Record] = []
        with _joined(cluster, self.group, self.topics) as member:
            for block in member.acquire(self.limit, self.most_bytes):
                found += block
                self.monitor.report("reading records", len(found), self.limit)
            self.acquired.extend(found)  # which are shown also if the next request fails
            shown: dict[TopicPartition, list[int]] = {}
            for record in found:
                where = TopicPartition(record.topic, record.partition)
                shown.setdefault(where, []).append(record.offset)
            failed = member.acknowledge(shown, self.acknowledgement)
        if not found:
            return Results.of((self._change("records", "none"),), [None])
        changes = [
            self._change(str(where), f"{_offsets(some)} {self.acknowledgement.past}")
            for where, some in shown.items()
        ]
        return Results.of(changes, [failed.get(where) for where in shown])

    def _change(self, field: str, after: str) -> Change:
        return Change(
            Resource("share-group", self.group), "alter", field, None, after,
            reversible=self.acknowledgement is Acknowledgement.RELEASE,
        )  # fmt: skip


def _offsets(offsets: Sequence[int]) -> str:
    """`offset 5`, `offsets 5 to 14`."""
    first, last = offsets[0], offsets[-1]
    return f"offset {first}" if first == last else f"offsets {first} to {last}"


def plan_consume(
    cluster: Cluster,
    group: str,
    topics: Sequence[str] | None,
    acknowledgement: Acknowledgement,
    limit: int,
    *,
    most_bytes: int = MOST_BYTES,
) -> tuple[Plan, list[Record]]:
    """Acquire the next records of a share group and acknowledge them; a list that has the records
    after the plan is applied. Without `topics`, of the topics that the group has offsets of.

    The records are those of partitions that the group assigns to one more member. To accept or
    reject them is irreversible; to release them counts as one more delivery. Raises ShellError if
    the group or a topic does not exist, or the group is not a share group.
    """
    described = groups.describe(cluster, [group], offsets=topics is None)
    raise_first(described.failures)
    found_group = described[group]
    if found_group.type is not GroupType.SHARE:
        raise ShellError(
            f"group {group} is a {found_group.type.value} group, not a share group",
            code="not-a-share-group",
        )
    names = topics or list(dict.fromkeys(each.topic for each in found_group.offsets or ()))
    if not names:
        raise ShellError(
            f"group {group} has no offsets", hint="Name the topics.", code="no-offsets"
        )
    found = topics_of.describe(cluster, names)
    raise_first(found.failures)
    records: list[Record] = []
    monitor = Monitor()
    step = ConsumeRecords(
        group, {name: uuid_of(found[name].id) for name in names}, acknowledgement, limit,
        most_bytes, monitor, records,
    )  # fmt: skip
    effect = Effect.CHANGE if acknowledgement is Acknowledgement.RELEASE else Effect.DESTROY
    others = len(found_group.members)
    notes = (f"records that {counted(others, 'other member')} of the group acquired are not shown",)
    plan = Plan(
        effect, (step,), bookkeeping=Bookkeeping(monitor=monitor),
        advice=Advice(notes=notes if others else ()),
    )  # fmt: skip
    return plan, records


@contextmanager
def _joined(cluster: Cluster, group: str, topics: Mapping[str, UUID]) -> Iterator[_Member]:
    """A member of the group that reads these topics. It leaves at the end, and what it acquired but
    did not acknowledge is released."""
    member = _Member(cluster, group, topics)
    try:
        member.join()
        yield member
    finally:
        member.leave()


class _Member:
    """A member of a share group, with a share session on each leader of its partitions."""

    def __init__(self, cluster: Cluster, group: str, topics: Mapping[str, UUID]) -> None:
        self._cluster, self._group, self._topics = cluster, group, topics
        self._names = {id: name for name, id in topics.items()}
        self._id = str(uuid4())
        self._epoch = 0
        self._next_heartbeat = 0.0
        self._assigned: list[TopicPartition] = []
        self._leaders: dict[int, list[TopicPartition]] = {}
        self._sessions: dict[int, int] = {}  # the next epoch, by leader
        self._acquired: dict[TopicPartition, list[range]] = {}  # offsets, also without a record
        self._records: dict[TopicPartition, set[int]] = {}  # those of records

    def join(self) -> None:
        """Join, and wait until partitions are assigned. Raises ShellError."""
        if not until(self._is_assigned, _ASSIGNMENT_S, _PAUSE_S):
            raise ShellError(
                f"group {self._group} assigned no partition to this member",
                code="no-assignment",
                see=Resource("share-group", self._group),
            )

    def _is_assigned(self) -> bool:
        self._heartbeat()
        return bool(self._assigned)

    def leave(self) -> None:
        """Close the share sessions, which releases their records, and leave the group."""
        with suppress(ShellError):  # else the brokers do so when the member does not respond
            self._acknowledge({leader: {} for leader in self._sessions})
            if self._epoch:
                self._epoch = _LEAVE
                self._heartbeat()

    def acquire(self, limit: int, most_bytes: int) -> Iterator[list[Record]]:
        """The next records, at most `limit`, until there are none. Raises ShellError."""
        left, empty = limit, 0
        while left and empty < _LAST_ROUNDS:
            if time.monotonic() >= self._next_heartbeat:
                self._heartbeat()
            block = list(self._round(left, most_bytes))[:left]
            left, empty = left - len(block), 0 if block else empty + 1
            yield block

    def acknowledge(
        self, shown: Mapping[TopicPartition, Collection[int]], kind: Acknowledgement
    ) -> dict[TopicPartition, Failure]:
        """Acknowledge the records at these offsets, and release the others that were acquired. Why
        it failed, by partition."""
        led = {where: leader for leader, group in self._leaders.items() for where in group}
        groups: dict[int, dict[TopicPartition, Any]] = {leader: {} for leader in self._sessions}
        for where, acquired in self._acquired.items():
            types = dict.fromkeys(self._records[where], Acknowledgement.RELEASE)
            types |= dict.fromkeys(shown.get(where, ()), kind)
            groups[led[where]][where] = {"acknowledgement_batches": list(_batches(acquired, types))}
        return self._acknowledge(groups)

    # -- requests ----------------------------------------------------------------------------------

    def _heartbeat(self) -> None:
        request = messages.ShareGroupHeartbeatRequest(
            group_id=self._group, member_id=self._id, member_epoch=self._epoch, rack_id=None,
            subscribed_topic_names=None if self._epoch else list(self._topics),
        )  # fmt: skip
        response = self._cluster.send(
            request, Coordinator(CoordinatorKind.GROUP, self._group),
            requires=f"READ on group {self._group}",
        )  # fmt: skip
        self._epoch = response.member_epoch
        self._next_heartbeat = time.monotonic() + response.heartbeat_interval_ms / 1000
        if response.assignment is not None and not self._assigned:
            # The first assignment stands: a broker rejects what another member has since.
            self._assigned = [
                TopicPartition(self._names[row.topic_id], number)
                for row in response.assignment.topic_partitions
                if row.topic_id in self._names
                for number in row.partitions
            ]
            found = leaders(self._cluster, self._assigned)
            raise_first(found.failures)
            self._leaders = by_leader(found.values)

    def _round(self, left: int, most_bytes: int) -> Iterator[Record]:
        """The records of one response of each leader. Raises ShellError."""
        most = max(1, left // len(self._leaders))
        calls = [
            Call(self._fetch_request(leader, group, most), Node(leader), check=False)
            for leader, group in self._leaders.items()
        ]
        for leader, response in zip(self._leaders, self._cluster.send_all(calls), strict=True):
            about = f"records of group {self._group} from broker {leader}"
            if why := row_failure(response, about, requires=f"READ on group {self._group}"):
                raise as_error(why)
            self._sessions[leader] += 1
            for where, row in partition_rows(response.responses, names=self._names).items():
                about = f"partition {where}"
                if why := row_failure(row, about, requires=f"READ on topic {where.topic}"):
                    raise as_error(why)
                ranges = [
                    range(each.first_offset, each.last_offset + 1) for each in row.acquired_records
                ]
                self._acquired.setdefault(where, []).extend(ranges)
                offsets = self._records.setdefault(where, set())
                wanted = {offset for each in ranges for offset in each}
                for record in _records(where, bytes(row.records or b""), wanted, most_bytes):
                    offsets.add(record.offset)
                    yield record

    def _fetch_request(self, leader: int, partitions: Sequence[TopicPartition], most: int) -> Any:
        kind = messages.ShareFetchRequest.FetchTopic
        epoch = self._sessions.setdefault(leader, 0)
        first: dict[TopicPartition, Any] = (
            {} if epoch else {where: {"acknowledgement_batches": []} for where in partitions}
        )
        return messages.ShareFetchRequest(
            group_id=self._group, member_id=self._id, share_session_epoch=epoch,
            max_wait_ms=_WAIT_MS, min_bytes=1, max_bytes=_RESPONSE_BYTES, max_records=most,
            batch_size=most, share_acquire_mode=_LIMITED,
            topics=topic_rows(kind, kind.FetchPartition, first, ids=self._topics),
            forgotten_topics_data=[],
        )  # fmt: skip

    def _acknowledge(
        self, groups: Mapping[int, Mapping[TopicPartition, Any]]
    ) -> dict[TopicPartition, Failure]:
        """Send the acknowledgements, which end the share sessions. Why it failed, by partition."""
        kind = messages.ShareAcknowledgeRequest.AcknowledgeTopic
        calls = [
            Call(
                messages.ShareAcknowledgeRequest(
                    group_id=self._group, member_id=self._id, share_session_epoch=_CLOSE,
                    topics=topic_rows(kind, kind.AcknowledgePartition, batches, ids=self._topics),
                ),
                Node(leader), check=False,
            )
            for leader, batches in groups.items()
        ]  # fmt: skip
        failed: dict[TopicPartition, Failure] = {}
        responses = self._cluster.send_all(calls) if calls else []
        for batches, response in zip(groups.values(), responses, strict=True):
            why = row_failure(response, f"group {self._group}")
            rows = {} if why else partition_rows(response.responses, names=self._names)
            for where in batches:
                reason = why or row_failure(rows.get(where), f"partition {where}")
                if reason:
                    failed[where] = reason
        self._sessions.clear()
        return failed


def _records(
    where: TopicPartition, raw: bytes, acquired: Set[int], most_bytes: int
) -> Iterator[Record]:
    """The records that were acquired: their batches may have others, too."""
    for batch, at in data_batches(raw) if acquired else ():
        for block in records_of(where, batch, body(raw, batch, at, most_bytes)):
            for record in block:
                if record.offset in acquired:
                    yield record


def _batches(acquired: Iterable[range], types: Mapping[int, Acknowledgement]) -> Iterator[Any]:
    """A row for each range of offsets, with their acknowledgements: one for all, or one each."""
    kind = messages.ShareAcknowledgeRequest.AcknowledgeTopic.AcknowledgePartition
    for offsets in acquired:
        each = [int(types.get(offset, _GAP)) for offset in offsets]
        yield kind.AcknowledgementBatch(
            first_offset=offsets.start, last_offset=offsets.stop - 1,
            acknowledge_types=each[:1] if len({*each}) == 1 else each,
        )  # fmt: skip
