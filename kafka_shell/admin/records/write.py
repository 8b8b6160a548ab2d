"""Records written to the partitions of a topic by an idempotent producer (API keys 0 and 22).

A batch has the sequence number of its producer, so that it is sent again after a lost response or a
change of leader, and is still written once (KIP-98). Each partition has one batch in flight.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.batches import THROTTLED, wait_out
from kafka_shell.admin.records.codecs import NONE
from kafka_shell.admin.records.encode import ProducerId, encode_batch, encoded_size, next_sequence
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.topics.partitions import leaders
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Outcomes
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.units import counted
from kafka_shell.wire import error_codes as codes
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import (
    MOVED,
    NEW_LEADER,
    TEMPORARY,
    failure,
)
from kafka_shell.wire.requests import Call, Node

# Batches on their way to a partition, and what became of their records.

OUTCOME_UNKNOWN = "outcome-unknown"
NOT_SENT = "not-sent"

_BATCH_BYTES = 900_000  # below the default max.message.bytes (1,048,588)


class Written(Struct, frozen=True):
    """The result of writing consecutive records to one partition: `count` records, from index
    `first` of the input. `offset` is that of the first one; None if it failed, or if the leader no
    longer has it."""

    partition: int
    first: int
    count: int
    offset: int | None = None
    failure: Failure | None = None

    @property
    def unknown(self) -> bool:
        """Whether the records may have been written or not."""
        return self.failure is not None and self.failure.name == OUTCOME_UNKNOWN


class WriteInterrupted(KeyboardInterrupt):
    """Ctrl-C while records were written. `written` is what became of all of them."""

    def __init__(self, written: list[Written]) -> None:
        super().__init__()
        self.written = written


class Batch(Struct):
    """Records to write with one sequence number. If `whole`, they are not split."""

    first: int
    records: Sequence[NewRecord]
    size: int
    whole: bool = False
    producer: ProducerId | None = None  # set when it is first sent, with `sequence` and `until`
    sequence: int = 0
    until: float = 0.0
    maybe: bool = False  # whether it may have been written
    why: Failure | None = None  # it is not written yet


def may_be_sent(why: Failure) -> bool:
    """Whether a request may have been processed although its connection failed."""
    return why.name in (OUTCOME_UNKNOWN, "deadline")


def failed(partition: int, batch: Batch) -> Written:
    """A batch that was not written, or perhaps written, for the reason it has."""
    assert batch.why is not None
    why = batch.why
    if batch.maybe:
        message = f"sent, but not acknowledged: {why.message}"
        why = replace(why, name=OUTCOME_UNKNOWN, message=message)
    elif why.name == "deadline":
        why = replace(why, name=NOT_SENT)
    return Written(partition, batch.first, len(batch.records), None, why)


def unsent(partition: int, batch: Batch, why: str) -> Written:
    failed = Failure(NOT_SENT, f"not sent: {why}")
    return Written(partition, batch.first, len(batch.records), None, failed)


def batches_of(records: Sequence[NewRecord], whole: bool) -> list[Batch]:
    """The records as batches, each of a size that brokers accept by default."""
    made: list[Batch] = []
    first, size = 0, 0
    for index, record in enumerate(records):
        more = encoded_size(record)
        if index > first and size + more > _BATCH_BYTES and not whole:
            made.append(Batch(first, records[first:index], size))
            first, size = index, 0
        size += more
    made.append(Batch(first, records[first:], size, whole))
    return made


def part(batch: Batch, begin: int, end: int | None) -> Batch:
    records = batch.records[begin:end]
    size = sum(map(encoded_size, records))
    return Batch(batch.first + begin, records, size, until=batch.until)


_NAMED = 12  # the last version of Produce with topic names; later ones have topic IDs
_REQUEST_BYTES = 8 << 20
_REPLICATED_MS = 20_000  # how long the leader waits for the in-sync replicas
_RESPONSE_S = 30.0
_DELIVERY_S = 120.0  # as delivery.timeout.ms of the Java producer
_SETTLE_S = 5.0  # for what is in flight after Ctrl-C
_PAUSE_S, _MAX_PAUSE_S = 0.05, 1.0
_MISSING = "the leader's response does not contain the partition"

# Failures without a response after which the leader, or another one, may be reached later.
_REACHED_LATER = TEMPORARY | {
    "unreachable", "unknown-broker", "deadline", "not-sent", OUTCOME_UNKNOWN,
}  # fmt: skip

# The response names the records, except that of a broker before Kafka 2.4.
_OF_RECORDS = frozenset({codes.INVALID_TIMESTAMP, codes.INVALID_RECORD})
OF_ONE_RECORD = _OF_RECORDS | {codes.MESSAGE_TOO_LARGE, codes.RECORD_LIST_TOO_LARGE}
"""Failures of a record that leave others as they are."""
# The leader does not expect this sequence number or this producer: it has lost its state.
_LOST_STATE = frozenset(
    {codes.OUT_OF_ORDER_SEQUENCE_NUMBER, codes.INVALID_PRODUCER_EPOCH, codes.UNKNOWN_PRODUCER_ID}
)
# The leader has checked the batch and has not written it.
_NOT_WRITTEN = frozenset({codes.CORRUPT_MESSAGE, codes.NOT_ENOUGH_REPLICAS})
# To be sent again. With all but these two, the leader may have written the batch and then ceased to
# be the leader while it waited for the replicas.
_AGAIN = (
    NEW_LEADER
    | _NOT_WRITTEN
    | {
        codes.REQUEST_TIMED_OUT,
        codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        codes.NETWORK_EXCEPTION,
        codes.KAFKA_STORAGE_ERROR,
    }
)


class _Sequence(Struct):
    """The producer of one partition and its next sequence number."""

    producer: ProducerId
    next: int = 0


_Left = Mapping[int, deque[Batch]]  # by partition


class Writer:
    """Writes to one topic. `codec` compresses the batches (see `codecs`)."""

    def __init__(self, cluster: Cluster, topic: str, codec: int = NONE) -> None:
        self.topic = topic
        self._cluster = cluster
        self._codec = codec
        self._producer: ProducerId | None = None  # of partitions that have none yet
        self._sequences: dict[int, _Sequence] = {}
        self._leaders: dict[int, int] = {}
        self._throttled: Any = None  # the response whose throttle time is to be waited for
        self._sent = False

    def write(
        self, records: Mapping[int, Sequence[NewRecord]], *, whole: bool = False
    ) -> list[Written]:
        """Write the records of each partition in their order, all partitions at once. `whole`: in
        one batch each, all or none.

        Returns when the outcome of every record is known, or unknown for good. Records after one
        whose outcome is unknown, or that could not be sent in time, are not written. Raises
        ShellError if nothing was sent, and WriteInterrupted.
        """
        left = {
            partition: deque(batches_of(some, whole)) for partition, some in records.items() if some
        }
        ended: list[Written] = []
        try:
            self._drive(left, ended)
        except KeyboardInterrupt:
            self._settle(left, ended)
            raise WriteInterrupted(ended) from None
        return ended

    def _drive(self, left: _Left, ended: list[Written]) -> None:
        pause = _PAUSE_S
        while any(left.values()):
            again = self._round({each: queue for each, queue in left.items() if queue}, ended)
            if again and any(left.values()):
                self._report_wait(left)
                time.sleep(pause)
                pause = min(2 * pause, _MAX_PAUSE_S)
            else:
                pause = _PAUSE_S

    def _report_wait(self, left: _Left) -> None:
        """Say why the records of the first partition are not written yet."""
        for partition, batches in left.items():
            if batches and (why := batches[0].why) is not None:
                about = f"partition {self.topic}:{partition}"
                reason = why.message.removeprefix(about).lstrip(": ")
                self._cluster.report_wait(f"{about} ({reason})")
                return

    def _settle(self, left: _Left, ended: list[Written]) -> None:
        """After Ctrl-C, learn what became of the batches that may have been written: they are sent
        again, which writes none twice. All others are not sent. Another Ctrl-C ends it."""
        known = {(each.partition, each.first) for each in ended}
        until = time.monotonic() + _SETTLE_S
        for partition, batches in left.items():
            if batches and (partition, batches[0].first) in known:
                batches.popleft()
            unknown = [each for each in batches if each.maybe]
            for batch in batches:
                if batch.maybe:
                    batch.until = min(batch.until, until)
                elif batch.why is not None:
                    ended.append(failed(partition, batch))
                else:
                    ended.append(unsent(partition, batch, "interrupted"))
            batches.clear()
            batches.extend(unknown)
        try:
            with self._cluster.within(_SETTLE_S):
                self._drive(left, ended)
        except (KeyboardInterrupt, ShellError):
            for partition, batches in left.items():
                for batch in batches:
                    batch.why = batch.why or Failure("interrupted", "interrupted")
                    ended.append(failed(partition, batch))

    # -- one round ---------------------------------------------------------------------------------

    def _round(self, left: _Left, ended: list[Written]) -> bool:
        """Send the first batch of each partition. Returns whether one is to be sent again."""
        if self._throttled is not None:
            wait_out(self._cluster, self._throttled)
            self._throttled = None
            if not self._cluster.has_time(0):
                self._end(left, THROTTLED, ended)
                return False
        heads = {partition: batches[0] for partition, batches in left.items()}
        again = self._find_leaders(heads)
        groups = self._by_leader(heads)
        calls = [self._call(leader, group) for leader, group in groups.items()]
        responses = self._send(calls, groups)
        for group, response in zip(groups.values(), responses, strict=True):
            rows = self._rows(response)
            for partition in group:
                again |= self._answered(partition, left[partition], rows, response, ended)
        self._expire(left, ended)
        return again

    def _find_leaders(self, heads: Mapping[int, Batch]) -> bool:
        """Find the leaders that are not known, and get a producer ID. Returns whether one has no
        leader. Raises ShellError if nothing was sent yet and no failure is known."""
        unknown = [each for each in heads if each not in self._leaders]
        try:
            for partition in heads:
                self._sequence(partition)
            if unknown:
                wanted = [TopicPartition(self.topic, each) for each in unknown]
                found = leaders(self._cluster, wanted)
                self._leaders |= {each.partition: leader for each, leader in found.values.items()}
                failures = {each.partition: why for each, why in found.failures.items()}
            else:
                failures = {}
        except ShellError as error:
            known = {each: batch.why for each, batch in heads.items() if batch.why is not None}
            if not self._sent and not known:
                raise
            failures = {each: known.get(each) or as_failure(error) for each in heads}
        for partition, why in failures.items():
            heads[partition].why = why
            if not heads[partition].until:
                heads[partition].until = self._until()
            if why.code is not None and why.code not in MOVED:
                heads[partition].until = 0.0  # it will not be found
        return bool(failures)

    def _by_leader(self, heads: Mapping[int, Batch]) -> dict[int, dict[int, Batch]]:
        """The batches by leader, as many as fit into one request each."""
        groups: dict[int, dict[int, Batch]] = {}
        sizes: dict[int, int] = {}
        for partition, batch in heads.items():
            leader = self._leaders.get(partition)
            if leader is None or partition not in self._sequences:
                continue
            sizes[leader] = sizes.get(leader, 0) + batch.size
            if sizes[leader] <= _REQUEST_BYTES or leader not in groups:
                groups.setdefault(leader, {})[partition] = batch
        return groups

    def _call(self, leader: int, batches: Mapping[int, Batch]) -> Call:
        kind = messages.ProduceRequest.TopicProduceData
        now = int(time.time() * 1000)
        rows = []
        for partition, batch in batches.items():
            if batch.producer is None:
                sequence = self._sequences[partition]
                batch.producer, batch.sequence = sequence.producer, sequence.next
            batch.until = batch.until or self._until()
            raw = encode_batch(
                batch.records, now=now, codec=self._codec, producer=batch.producer,
                sequence=batch.sequence,
            )  # fmt: skip
            rows.append(kind.PartitionProduceData(index=partition, records=raw))
        request = messages.ProduceRequest(
            transactional_id=None,
            acks=-1,
            timeout_ms=_REPLICATED_MS,
            topic_data=[kind(name=self.topic, partition_data=rows)],
        )
        return Call(request, Node(leader), highest=_NAMED, check=False, timeout=_RESPONSE_S)

    def _send(self, calls: list[Call], groups: Mapping[int, Mapping[int, Batch]]) -> list[Any]:
        if not calls:
            return []
        self._sent = True
        batches = [batch for group in groups.values() for batch in group.values()]
        before = [batch.maybe for batch in batches]
        for batch in batches:
            batch.maybe = True  # also if Ctrl-C ends it
        try:
            responses = self._cluster.send_all(calls)
        except ShellError as error:  # no broker can be reached, perhaps after it was sent
            return [as_failure(error)] * len(calls)
        for batch, maybe in zip(batches, before, strict=True):
            batch.maybe = maybe
        return responses

    def _rows(self, response: Any) -> dict[int, Any]:
        """The rows of a response by partition; none for a failure."""
        if isinstance(response, Failure):
            return {}
        if response.throttle_time_ms:
            self._throttled = response
        return {row.index: row for each in response.responses for row in each.partition_responses}

    # -- outcomes ----------------------------------------------------------------------------------

    def _answered(
        self,
        partition: int,
        batches: deque[Batch],
        rows: Mapping[int, Any],
        response: Any,
        ended: list[Written],
    ) -> bool:
        """Handle the response for the first batch. Returns whether it is to be sent again."""
        batch, row = batches[0], rows.get(partition)
        if row is None:
            self._leaders.pop(partition, None)
            no_response = isinstance(response, Failure)
            batch.why = response if no_response else Failure("UNKNOWN", _MISSING)
            batch.maybe |= not no_response or may_be_sent(response)
            if no_response and response.name not in _REACHED_LATER:
                batch.until = 0.0
            return True
        code = row.error_code
        if code in (0, codes.DUPLICATE_SEQUENCE_NUMBER):
            offset = row.base_offset if not code and row.base_offset >= 0 else None
            ended.append(Written(partition, batch.first, len(batch.records), offset))
            self._sequences[partition].next = next_sequence(batch.sequence, len(batch.records))
            batches.popleft()
            return False
        about = f"partition {self.topic}:{partition}"
        requires = f"WRITE on topic {self.topic}"
        batch.why = failure(code, row.error_message, about=about, requires=requires)
        if code in _AGAIN:
            self._leaders.pop(partition, None)
            batch.maybe |= code not in _NOT_WRITTEN
            return True
        if code in _LOST_STATE:
            self._forget_sequence(partition)  # the next batch has another producer ID
            if not batch.maybe:
                batch.producer = None
                return True
            self._give_up(partition, batches, ended)
            return False
        self._rejected(partition, batches, row, ended)
        return False

    def _rejected(
        self, partition: int, batches: deque[Batch], row: Any, ended: list[Written]
    ) -> None:
        """The broker has refused the first batch as a whole: find the records that it refuses."""
        batch, code = batches.popleft(), row.error_code
        named = {each.batch_index: each.batch_index_error_message for each in row.record_errors}
        named = named if code in _OF_RECORDS else {}
        divisible = code in OF_ONE_RECORD and len(batch.records) > 1
        if batch.whole or not (named or divisible):
            ended.append(failed(partition, batch))
            return
        if not named:
            middle = len(batch.records) // 2
            batches.extendleft([part(batch, middle, None), part(batch, 0, middle)])
            return
        kept: list[Batch] = []
        at = 0
        for index in sorted(named):
            if index > at:
                kept.append(part(batch, at, index))
            why = failure(code, named[index], about=f"partition {self.topic}:{partition}")
            ended.append(Written(partition, batch.first + index, 1, None, why))
            at = index + 1
        if at < len(batch.records):
            kept.append(part(batch, at, None))
        batches.extendleft(reversed(kept))

    def _expire(self, left: _Left, ended: list[Written]) -> None:
        """End the partitions whose first batch could not be written in time."""
        now = time.monotonic()
        for partition, batches in left.items():
            if batches and batches[0].why is not None and now >= batches[0].until:
                if partition in self._sequences:
                    self._forget_sequence(partition)
                self._give_up(partition, batches, ended)

    def _end(self, left: _Left, why: Failure, ended: list[Written]) -> None:
        """End all partitions, for the same reason."""
        for partition, batches in left.items():
            batches[0].why = why
            self._give_up(partition, batches, ended)

    def _give_up(self, partition: int, batches: deque[Batch], ended: list[Written]) -> None:
        """End a partition whose first batch was not written, or perhaps written."""
        first = batches.popleft()
        ended.append(failed(partition, first))
        state = "may not have been" if first.maybe else "were not"
        why = f"earlier records {state} written: {first.why}"
        while batches:
            ended.append(unsent(partition, batches.popleft(), why))

    def _until(self) -> float:
        until = time.monotonic() + _DELIVERY_S
        deadline = self._cluster.deadline
        return until if deadline is None else min(until, deadline)

    # -- producers ---------------------------------------------------------------------------------

    def _sequence(self, partition: int) -> _Sequence:
        if partition not in self._sequences:
            self._producer = self._producer or self._new_producer()
            self._sequences[partition] = _Sequence(self._producer)
        return self._sequences[partition]

    def _forget_sequence(self, partition: int) -> None:
        """The sequence number of the partition is not known: it needs a new producer."""
        del self._sequences[partition]
        self._producer = None

    def _new_producer(self) -> ProducerId:
        """A producer ID of our own (InitProducerId, API key 22)."""
        request = messages.InitProducerIdRequest(
            transactional_id=None, transaction_timeout_ms=60_000, producer_id=-1, producer_epoch=-1
        )
        requires = f"WRITE on topic {self.topic}"  # since Kafka 2.8 on any topic (KIP-679)
        response = self._cluster.send(request, change=False, requires=requires)
        return ProducerId(response.producer_id, response.producer_epoch)


# What became of records that were written: changes of partitions, with their offsets.

FEW = 19  # so many records are reported one by one, more by partition
_MOST_FAILURES = 1_000  # reported one by one; more are counted

Origin = TypeVar("Origin")
"""Where a record is from: the number of its line, or its source partition and offset."""


class _Range(Struct):
    """Offsets written to one partition. Records of others may be between them."""

    first: int
    last: int
    records: int = 0


class Tally(Struct, Generic[Origin]):
    """Counts the records of one topic by partition and outcome; `verb` is write or copy, `noun`
    what an origin is called, such as line."""

    topic: str
    verb: str
    noun: str
    total: int = 0
    written: int = 0
    few: list[tuple[Origin, int, int | None]] = field(default_factory=list)
    ranges: dict[int, _Range] = field(default_factory=dict)
    failed: dict[Change, Failure] = field(default_factory=dict)
    more: dict[Resource, Change] = field(default_factory=dict)  # failures that are only counted

    def add(self, outcomes: Sequence[Written], origins: dict[int, list[Origin]]) -> None:
        """Add outcomes; `origins` are those of the records of each partition."""
        for each in outcomes:
            named = origins[each.partition][each.first : each.first + each.count]
            if each.failure is None:
                self._succeeded(each, named)
            else:
                self.fail(each.failure, each.partition, named)

    def fail(self, why: Failure, partition: int | None, named: Sequence[Origin]) -> None:
        """Add records that were not written, or perhaps written."""
        resource = self._resource(partition)
        count = len(named)
        self.total += count
        about = f"{self.noun} {named[0]}"
        if count > 1:
            about = f"{counted(count, 'record')}, {self.noun} {named[0]} to {named[-1]}"
        if len(self.failed) < _MOST_FAILURES:
            self.failed[self._failed(resource, about, count)] = why
            return
        if (before := self.more.get(resource)) is not None:
            del self.failed[before]
            count += before.records or 0
        self.more[resource] = self._failed(resource, "more records", count)
        self.failed[self.more[resource]] = why

    def _failed(self, resource: Resource, about: str, count: int) -> Change:
        return Change(resource, self.verb, about, reversible=False, records=count)

    def refuse(self, about: str, why: Failure) -> None:
        """Add records that could not be counted."""
        self.failed[Change(self._resource(None), self.verb, about, reversible=False)] = why

    def end(self, error: ShellError) -> Outcomes:
        """The changes, if this error ended them: what is not among them was not sent."""
        why = as_failure(error)
        return self._ended(replace(why, name=NOT_SENT) if why.name == "deadline" else why)

    def interrupted(self) -> Outcomes:
        """The changes, if Ctrl-C ended them."""
        return self._ended(Failure(NOT_SENT, "not sent: interrupted"))

    def _ended(self, why: Failure) -> Outcomes:
        self.refuse("all other records" if self.total else "records", why)
        return self.results()

    def results(self) -> Outcomes:
        """The changes: each record if they are few, else the offsets of each partition."""
        values = list(self._each() if self.written <= FEW else self._by_partition())
        return Results({each: each for each in values}, dict(self.failed))

    def skip(self, records: int | None) -> None:
        """Add records that were not sent because others failed; None if their number is unknown."""
        if records == 0:
            return
        about = "all other records" if records is None else counted(records, "other record")
        change = Change(
            self._resource(None), self.verb, about, reversible=False, records=records or 0
        )
        self.failed[change] = Failure(NOT_SENT, "not sent: earlier records failed")

    def _succeeded(self, each: Written, named: Sequence[Origin]) -> None:
        self.total += each.count
        self.written += each.count
        if self.written <= FEW:
            for number, origin in enumerate(named):
                offset = None if each.offset is None else each.offset + number
                self.few.append((origin, each.partition, offset))
        if each.offset is None:
            offsets = self.ranges.setdefault(each.partition, _Range(-1, -1))
        else:
            last = each.offset + each.count - 1
            offsets = self.ranges.setdefault(each.partition, _Range(each.offset, last))
            offsets.first = each.offset if offsets.first < 0 else offsets.first
            offsets.last = last
        offsets.records += each.count

    def _each(self) -> list[Change]:
        return [
            self._change(partition, f"{self.noun} {origin}", offset, 1)
            for origin, partition, offset in self.few
        ]

    def _by_partition(self) -> list[Change]:
        return [
            self._change(
                partition, "offsets",
                f"{offsets.first}-{offsets.last}" if offsets.first >= 0 else None, offsets.records,
            )
            for partition, offsets in sorted(self.ranges.items())
        ]  # fmt: skip

    def _change(
        self, partition: int, about: str, offsets: int | str | None, records: int
    ) -> Change:
        return Change(
            self._resource(partition), self.verb, about, None, offsets, reversible=False,
            records=records,
        )  # fmt: skip

    def _resource(self, partition: int | None) -> Resource:
        if partition is None:
            return Resource("topic", self.topic)
        return TopicPartition(self.topic, partition).resource


# The partition of a record, chosen as Kafka's Java producer chooses it.

_STICKY_BYTES = 1 << 16  # without keys, so many bytes go to one partition before the next one


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a key in a topic with so many partitions: its murmur2 hash decides."""
    from kafka.partitioner.default import murmur2

    hashed: int = murmur2(key)
    return (hashed & 0x7FFFFFFF) % partitions


class Partitioner:
    """Chooses partitions: the record's own, else that of its key, else one of those that can be
    written (`available`), which changes from time to time (KIP-480)."""

    def __init__(self, partitions: int, available: Sequence[int]) -> None:
        self._partitions = partitions
        self._available = available or range(partitions)
        self._sticky, self._bytes = random.choice(self._available), 0

    def __call__(self, record: NewRecord) -> int:
        if record.partition is not None:
            return record.partition
        if record.key is not None:
            return partition_of(record.key, self._partitions)
        if self._bytes >= _STICKY_BYTES:
            self._sticky, self._bytes = random.choice(self._available), 0
        self._bytes += len(record.value or b"") + 1
        return self._sticky
