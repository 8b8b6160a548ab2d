"""What became of records that were written: changes of partitions, with their offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.outgoing import NOT_SENT, Written
from kafka_shell.common.resource import Resource
from kafka_shell.common.structs import replace
from kafka_shell.common.units import counted
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Outcomes
from kafka_shell.plan.results import Failure, Results, as_failure

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
