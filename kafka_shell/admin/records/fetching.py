"""Record batches of many partitions from their leaders (Fetch, API key 1).

The next request to a leader is in flight while the last response is used. A leader that moves or
does not respond is looked up again, and reading continues at the next offset: nothing is lost or
read twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast
from uuid import UUID

from msgspec import Struct

from kafka_shell.admin.partitions.model import EARLIEST, LATEST, TopicPartition
from kafka_shell.admin.records.batches import (
    IDENTIFIED,
    NAMED,
    THROTTLED,
    Batch,
    fetch_request,
    headers,
    held_back,
    wait_out,
)
from kafka_shell.admin.records.decode import (
    ALL,
    Decoder,
    Piece,
    body,
    data_batches,
    pieces,
    records,
)
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.offsets import list_offsets, partition_rows
from kafka_shell.admin.topics.partitions import leaders_in
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.units import counted
from kafka_shell.wire import error_codes as codes
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import NEW_LEADER, TEMPORARY, failure
from kafka_shell.wire.frames import uuid_of
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.requests import Call, Node
from kafka_shell.wire.runner import CallsInFlight

# What is read of a partition: a span of offsets, in chunks of record batches.


class Span(Struct, frozen=True):
    """Offsets of a partition: from `start` up to, not including, `end`; None has no end.
    `topic_id` is the ID of their topic, if known: a topic that is created again has a new ID."""

    start: int
    end: int | None = None
    topic_id: str = ""


class LargeRecord(Struct, frozen=True):
    """A record that is too large to wait in memory: `load` decodes it again."""

    timestamp: int
    load: Callable[[], Record]


class Chunk(Struct, frozen=True):
    """The batches of one response for a partition. Some may begin before `start`, or continue after
    `end`; `next` is the offset after them, at most `end`. `aborted` are the transactions to leave
    out: producer ID and first offset."""

    where: TopicPartition
    raw: bytes
    start: int
    end: int | None
    next: int
    aborted: tuple[tuple[int, int], ...] = ()

    def batches(self) -> Iterator[tuple[Batch, int]]:
        """The batches with records in the span, with their positions."""
        for batch, at in data_batches(self.raw, self.aborted):
            if self.end is not None and batch.base_offset >= self.end:
                return
            if batch.last_offset >= self.start and batch.records:
                yield batch, at

    def whole(self, batch: Batch) -> bool:
        """Whether all records of the batch are in the span."""
        return batch.base_offset >= self.start and (
            self.end is None or batch.last_offset < self.end
        )

    def records(self, batch: Batch, at: int, decoder: Decoder = ALL) -> Iterator[list[Record]]:
        """The records of a batch that are in the span, and that the decoder keeps, in blocks."""
        data = body(self.raw, batch, at, decoder.most_bytes)
        yield from self._kept(batch, Piece(data, 0, batch.records), decoder)

    def waiting(
        self, batch: Batch, load: Callable[[], bytes], decoder: Decoder, share: int
    ) -> Iterator[list[Record | LargeRecord]]:
        """The same, with at most `share` bytes in memory until the next block: what is larger is
        taken from `load` again, which decompresses the batch."""
        for piece in pieces(batch, load, share):
            size, start = len(piece.data), piece.start
            blocks = self._kept(batch, piece, decoder)
            del piece
            if size <= share:
                yield from cast("Iterator[list[Record | LargeRecord]]", blocks)
                continue
            for timestamp in [record.timestamp for block in blocks for record in block]:
                yield [LargeRecord(timestamp, partial(self._large, batch, load, start, size))]

    def _large(self, batch: Batch, load: Callable[[], bytes], start: int, size: int) -> Record:
        ((record,),) = records(self.where, batch, load()[start : start + size], 1)
        return record

    def _kept(self, batch: Batch, piece: Piece, decoder: Decoder) -> Iterator[list[Record]]:
        keep = decoder.keep
        if keep is not None and not keep.may_keep(piece.data):
            return
        for found in records(self.where, batch, piece.data, piece.records):
            if not self.whole(batch):
                end = batch.last_offset + 1 if self.end is None else self.end
                found = [record for record in found if self.start <= record.offset < end]
            yield found if keep is None else list(filter(keep.keeps, found))


class PartitionState:
    """How far a partition has been read, and what was received but not returned yet."""

    def __init__(self, span: Span) -> None:
        self.next = span.start
        self.end = span.end
        self.topic_id = uuid_of(span.topic_id) if span.topic_id else None  # of what is read
        self.leader: int | None = None
        self.queue: deque[Chunk] = deque()
        self.turn = 0  # of its last response with records
        self.retry_at = 0.0
        self.trouble: tuple[float, Failure] | None = None  # since when, and the last of it

    @property
    def complete(self) -> bool:
        return self.end is not None and self.next >= self.end


_RESPONSE_BYTES, _LEAST_BYTES = 16 << 20, 1 << 18
PARTITION_BYTES, _LEAST_PARTITION_BYTES = 4 << 20, 1 << 16
_FOLLOW_WAIT_MS = 500  # how long a broker waits for new records
_GROWTH_S = 10.0  # between two checks for new partitions
_TIMEOUT_S, _MOST_TIMEOUT_S = 15.0, 120.0
PATIENCE_S = 20.0  # for a new leader of a partition
_PAUSE_S = 0.2  # between two requests to a partition that failed
_PASSING = NEW_LEADER | {
    codes.REQUEST_TIMED_OUT, codes.REPLICA_NOT_AVAILABLE, codes.KAFKA_STORAGE_ERROR,
    codes.LISTENER_NOT_FOUND, codes.OFFSET_NOT_AVAILABLE, codes.UNKNOWN_TOPIC_ID,
    codes.INCONSISTENT_TOPIC_ID,
}  # fmt: skip
_LOST = TEMPORARY | {
    "deadline", "unknown-broker", "LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION",
    THROTTLED.name,
}  # fmt: skip


class Fetching:
    """Reads the spans of partitions. `failures` are those that could not be read to their end.
    `lost` are offsets that were deleted, or lost by an unclean election, before they were read.

    Made by `fetching`. Memory is bounded: a partition is requested again when its last chunk is
    taken.
    """

    def __init__(
        self,
        cluster: Cluster,
        flight: CallsInFlight,
        spans: Mapping[TopicPartition, Span],
        committed: bool,
        warn: Callable[[str], None],
        partition_bytes: int,
        on_response: Callable[[], None],
        grows: Collection[str],
    ) -> None:
        self.failures: dict[TopicPartition, Failure] = {}
        self.lost: list[tuple[TopicPartition, int, int]] = []  # from one offset to before another
        self._cluster, self._flight = cluster, flight
        self._committed, self._warn, self._on_response = committed, warn, on_response
        self._active = {where: PartitionState(span) for where, span in spans.items()}
        self._follow = any(span.end is None for span in spans.values())
        self._grows, self._grow_at = grows, time.monotonic() + _GROWTH_S
        self._seen = set(spans)  # also those that are complete or failed
        self._ready: dict[TopicPartition, None] = {}  # with chunks, in order of arrival
        self._groups: dict[int, Sequence[TopicPartition]] = {}  # of the requests in flight
        self._warned: set[TopicPartition] = set()
        self._names: dict[UUID, str] = {}  # of topics, by ID
        self._recreated: set[UUID] = set()
        self._turn = 0
        self._partition_bytes = partition_bytes
        self._bytes, self._timeout = _RESPONSE_BYTES, _TIMEOUT_S
        self._drop_complete(list(self._active))

    def chunk(self, where: TopicPartition | None = None) -> Chunk | None:
        """The next chunk of this partition, or of any one. None after the last."""
        while True:
            chosen = next(iter(self._ready), None) if where is None else where
            state = None if chosen is None else self._active.get(chosen)
            if chosen is not None and state is not None and state.queue:
                chunk = state.queue.popleft()
                if not state.queue:
                    del self._ready[chosen]
                    self._drop_complete([chosen])
                    self._request()
                return chunk
            if state is None and (where is not None or not self._active):
                return None
            self._request()
            if self._flight:
                self._receive(*self._flight.take())
                self._on_response()
            elif self._active:
                self._pause()

    def fail(self, where: TopicPartition, error: ShellError) -> None:
        """Read no more of this partition, as what was received cannot be decoded."""
        self.failures[where] = failure_in(where, error)
        self.stop(where)

    def stop(self, where: TopicPartition) -> None:
        """Read no more of this partition."""
        self._active.pop(where, None)
        self._ready.pop(where, None)

    # -- requests ----------------------------------------------------------------------------------

    def _request(self) -> None:
        """Send a request to each leader that has none in flight, for its partitions without
        chunks: those that waited longest first, as a broker fills its response in this order."""
        now = time.monotonic()
        if self._grows and now >= self._grow_at:
            self._grow_at = now + _GROWTH_S
            self._add_partitions()
        idle: dict[int, list[TopicPartition]] = {}
        unled = []
        for where, state in self._active.items():
            if state.queue or state.complete or state.retry_at > now:
                continue
            if state.leader is None:
                unled.append(where)
            elif state.leader not in self._flight:
                idle.setdefault(state.leader, []).append(where)
        if unled and self._find_leaders(unled):
            self._request()
            return
        for leader, group in idle.items():
            group.sort(key=lambda where: self._active[where].turn)
            self._send(leader, group)

    def _add_partitions(self) -> None:
        """Also read the partitions that were added to the topics."""
        try:
            metadata = scan(self._cluster, list(self._grows))
        except ShellError:  # the next check may succeed
            return
        for name in metadata.names:
            count = metadata.summary(name).partitions
            new = {TopicPartition(name, number) for number in range(count)} - self._seen
            if new:
                self._warn(f"topic {name} has {counted(count, 'partition')} now; reading all")
            self._seen |= new
            self._active |= {where: PartitionState(Span(0)) for where in sorted(new)}

    def _find_leaders(self, group: Sequence[TopicPartition]) -> bool:
        """Look the leaders up, and return whether any was found."""
        try:
            metadata = scan(self._cluster, list(dict.fromkeys(where.topic for where in group)))
            found = leaders_in(metadata, group)
        except ShellError as error:
            if not self._follow:
                raise
            found = Results({}, dict.fromkeys(group, as_failure(error)))
        for where, leader in found.values.items():
            self._active[where].leader = leader
            self._compare(where, metadata.summary(where.topic).id)
        for where, why in found.failures.items():
            self._trouble(where, why)
        return bool(found.values)

    def _compare(self, where: TopicPartition, topic_id: str) -> None:
        """A topic that was deleted and created again has other records at the same offsets."""
        if not topic_id:
            return
        state, now = self._active[where], uuid_of(topic_id)
        known, state.topic_id = state.topic_id, now
        self._names[now] = where.topic
        if known in (None, now):
            return
        what = _recreated(where.topic)
        if state.end is not None:
            self._fail(where, Failure("incomplete", f"partition {where}: {what}"))
            return
        if now not in self._recreated:
            self._recreated.add(now)
            self._warn(f"{what}; reading it from its beginning")
        state.next = 0

    def _send(self, leader: int, group: Sequence[TopicPartition]) -> None:
        known: dict[str, UUID | None] = {}
        for where in group:
            known.setdefault(where.topic, self._active[where].topic_id)
        others = [where for where in group if self._active[where].topic_id != known[where.topic]]
        for where in others:  # only some were looked up since the topic was created again
            self._trouble(where, Failure("incomplete", _recreated(where.topic)))
        group = [where for where in group if where not in others]
        size = min(self._partition_bytes, 4 * self._bytes // len(group))
        ids = {topic: id for topic, id in known.items() if id is not None}
        by_id = len(ids) == len(known)  # else the brokers are older than Kafka 2.8
        request = fetch_request(
            {where: self._active[where].next for where in group},
            min(max(size, _LEAST_PARTITION_BYTES), self._bytes),
            _FOLLOW_WAIT_MS if self._follow else 0,
            committed=self._committed,
            most_bytes=self._bytes,
            ids=ids if by_id else None,
        )
        highest = IDENTIFIED if by_id else NAMED
        call = Call(request, Node(leader), lowest=4, highest=highest, change=False, check=False,
                    timeout=self._timeout)  # fmt: skip
        self._groups[leader] = group
        self._flight.send(leader, call)

    def _pause(self) -> None:
        waiting = [state.retry_at for state in self._active.values() if not state.queue]
        if not waiting:  # the partition that was asked for has failed
            return
        until = min(waiting)
        deadline = self._cluster.deadline
        if deadline is not None and until >= deadline:
            for where, state in list(self._active.items()):
                late = Failure("deadline", f"partition {where}: deadline exceeded")
                self._fail(where, state.trouble[1] if state.trouble else late)
            return
        time.sleep(max(0.0, min(until - time.monotonic(), _PAUSE_S)))

    # -- responses ---------------------------------------------------------------------------------

    def _receive(self, leader: int, response: Any) -> None:
        requested = self._groups.pop(leader)
        group = [where for where in requested if where in self._active]
        if isinstance(response, Failure):
            if response.name == "deadline":  # the network may be slow
                self._bytes = max(_LEAST_BYTES, self._bytes // 4)
                self._timeout = min(_MOST_TIMEOUT_S, 2 * self._timeout)
            for where in group:
                self._trouble(where, response)
            return
        if held_back(response):
            wait_out(self._cluster, response)
            for where in group:
                self._trouble(where, THROTTLED)
                self._keep_leader(where, leader)
            return
        if response.error_code:
            why = failure(response.error_code)
            for where in group:
                self._trouble(where, why)
            return
        rows = partition_rows(response.responses, name="topic", names=self._names)
        self._turn += 1
        for where in group:
            row = rows.get(where)
            if row is None:
                self._trouble(where, Failure("UNKNOWN", f"no response for partition {where}"))
            elif row.error_code:
                self._on_error(where, row)
            else:
                self._on_records(where, row, first=where == requested[0])
        self._drop_complete(group)

    def _keep_leader(self, where: TopicPartition, leader: int) -> None:
        if where in self._active:
            self._active[where].leader = leader

    def _on_records(self, where: TopicPartition, row: Any, *, first: bool) -> None:
        state, raw = self._active[where], bytes(row.records or b"")
        start, after = state.next, 0
        try:
            for batch, _ in headers(raw, strict=True):
                after = batch.last_offset + 1
        except ShellError as error:
            self.fail(where, error)
            return
        if after > start:
            state.next, state.turn, state.trouble = after, self._turn, None
            aborted = tuple(
                (each.producer_id, each.first_offset) for each in row.aborted_transactions or ()
            )
            after = after if state.end is None else min(after, state.end)
            state.queue.append(Chunk(where, raw, start, state.end, after, aborted))
            self._ready[where] = None
            return
        last = row.last_stable_offset if self._committed else row.high_watermark
        if self._follow and start >= last:
            state.turn, state.trouble = self._turn, None
        elif start >= last:  # a new leader has no high watermark yet, or records are lost
            why = f"partition {where} ends at offset {last:,} now, before {state.end:,}"
            self._trouble(where, Failure("incomplete", why))
        elif first:  # the others are first in later requests
            why = f"partition {where}: no records at offset {start:,}"
            self._trouble(where, Failure("incomplete", why))

    def _on_error(self, where: TopicPartition, row: Any) -> None:
        if row.error_code == codes.OFFSET_OUT_OF_RANGE:
            state = self._active[where]
            before = state.next
            if self._find_leaders([where]) and where in self._active and state.next == before:
                self._move_into_range(where)
            return
        about, requires = f"partition {where}", f"READ on topic {where.topic}"
        self._trouble(where, failure(row.error_code, about=about, requires=requires))

    def _move_into_range(self, where: TopicPartition) -> None:
        """Records were deleted, or lost by an unclean election, after reading began."""
        state = self._active[where]
        first = list_offsets(self._cluster, {where: EARLIEST})
        last = list_offsets(self._cluster, {where: LATEST}, committed=self._committed)
        for why in [*first.failures.values(), *last.failures.values()]:
            self._trouble(where, why)
            return
        start, end = first[where].offset or 0, last[where].offset or 0
        state.retry_at = time.monotonic() + _PAUSE_S
        if state.next < start:
            self._lose(where, state.next, start)
            self._warn(
                f"partition {where}: offsets {state.next:,} to {start - 1:,} were deleted; reading"
                f" from offset {start:,}"
            )
            state.next = start
        elif state.next > end:
            self._lose(where, state.next, state.end)
            self._warn(f"partition {where}: the log ends at offset {end:,}, before {state.next:,}")
            state.next = end
        else:  # the broker that responded is not the leader that has this offset
            what = f"offset {state.next:,} is out of range of its leader"
            self._trouble(where, Failure("incomplete", f"partition {where}: {what}"))

    def _lose(self, where: TopicPartition, first: int, before: int | None) -> None:
        """Record offsets of a span with an end that can no longer be read."""
        end = self._active[where].end
        if end is not None and before is not None and first < min(before, end):
            self.lost.append((where, first, min(before, end)))

    def _trouble(self, where: TopicPartition, why: Failure) -> None:
        """Retry a partition later, or give it up if that cannot help or took too long."""
        state = self._active.get(where)
        if state is None:
            return
        now = time.monotonic()
        since = state.trouble[0] if state.trouble else now
        state.trouble = (since, why)
        if self._follow and now - since > PATIENCE_S and where not in self._warned:
            self._warned.add(where)
            self._warn(f"{why.message}; still trying")
        passing = why.code in _PASSING or why.name in _LOST or why.name == "incomplete"
        patience = PATIENCE_S if why.name != THROTTLED.name else float("inf")
        if not passing or not (self._follow or now - since < patience):
            self._fail(where, why)
            return
        state.leader, state.retry_at = None, now + _PAUSE_S

    def _fail(self, where: TopicPartition, why: Failure) -> None:
        self.failures[where] = why
        state = self._active[where]
        if state.queue:
            state.end = state.next  # what was received is still returned
        else:
            self.stop(where)

    def _drop_complete(self, group: Sequence[TopicPartition]) -> None:
        for where in group:
            state = self._active.get(where)
            if state is not None and state.complete and not state.queue:
                del self._active[where]


def _recreated(topic: str) -> str:
    return f"topic {topic} was deleted and recreated"


def failure_in(where: TopicPartition, error: ShellError) -> Failure:
    """Why a partition, or a batch of it, cannot be read."""
    return Failure(error.code, f"partition {where}: {error.message}", None, error.hint)


@contextmanager
def fetching(
    cluster: Cluster,
    spans: Mapping[TopicPartition, Span],
    *,
    committed: bool = False,
    warn: Callable[[str], None] = lambda message: None,
    partition_bytes: int = PARTITION_BYTES,
    on_response: Callable[[], None] = lambda: None,
    grows: Collection[str] = (),
) -> Iterator[Fetching]:
    """Read the spans of these partitions, with `committed` only records of committed transactions.

    `warn` is called with what changed during reading, and `on_response` after each response. A
    chunk has at most `partition_bytes`, or one batch. New partitions of the topics in `grows` are
    read from their beginning, without end.
    """
    with cluster.calls_in_flight() as flight:
        yield Fetching(cluster, flight, spans, committed, warn, partition_bytes, on_response, grows)
