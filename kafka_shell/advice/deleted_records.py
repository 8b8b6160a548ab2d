"""Which records are deleted by lower limits of age and size.

Kafka deletes whole segments, so the numbers are upper bounds. Offsets count records, and log
directories bytes: of a part of a partition, one is estimated from the other. Log directories do not
include remote storage (KIP-405), so of tiered topics no sizes are known.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.configs.losses import (
    DELETED_BY,
    POLICY,
    DataLoss,
    RetentionLimits,
    is_tiered,
    policies,
)
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import list_offsets, ranges
from kafka_shell.advice.altered_configs import AlteredConfig, owners
from kafka_shell.advice.reads import Reads, TopicValues
from kafka_shell.base.plans import Advice, NotChecked
from kafka_shell.base.results import Results
from kafka_shell.base.units import approximate_bytes, counted, some
from kafka_shell.wire.metadata_scan import scan_at_least


class PartitionRecords(Struct, frozen=True):
    """The records of a partition."""

    partition: TopicPartition
    first: int = 0
    last: int = 0  # the log end offset
    kept: int | None = None  # the first offset that the age limit keeps
    sizes: tuple[int, ...] = ()  # of each replica, in bytes; empty if unknown


class Facts(Struct, frozen=True):
    """The altered configs that delete records, and the records of the topics that have a limit."""

    losing: Sequence[AlteredConfig]
    topics: TopicValues | None = None
    limits: Mapping[str, RetentionLimits] = {}  # by topic
    records: Sequence[PartitionRecords] | None = None  # None if the partitions are not known
    unread: int = 0  # partitions


# -- what is read ----------------------------------------------------------------------------------


def read(reads: Reads) -> Facts | None:
    """Read the records of the topics whose limits are lowered."""
    losing = [config for config in reads.altered if config.loss]
    if not losing:
        return None
    topics = reads.topic_values if any(config.of_broker for config in losing) else None
    limits = _limits(losing, topics)
    tiered = {config.change.resource.name for config in losing if config.tiered}
    if topics:
        tiered |= {name for name, entries in topics.values.items() if is_tiered(entries)}
    partitions = _partitions(reads, limits) if limits else None
    if partitions is None:
        return Facts(losing, topics, limits)
    local = [partition for partition in partitions if partition.topic not in tiered]
    known = reads.sizes("the size of the partitions", local, ()) if local else None
    sizes = known[0] if known else {}
    remote = [partition for partition in partitions if partition.topic in tiered]
    unsized = [place for place in remote if limits[place.topic].size is not None]
    aged = [place for place in remote if limits[place.topic].size is None]
    for what, which in (("records", unsized), ("size", aged)):
        if which:
            about = f"the {what} of {counted(len(which), 'partition')}"
            reads.not_checked.append(NotChecked(about, "sizes do not include remote storage"))
    empty = {place for place in local if sizes.get(place) and not any(sizes[place])}
    wanted = [place for place in (*local, *aged) if place not in empty]
    records = _records(reads, wanted, limits, sizes)
    unread = len(wanted) - len(records) + len(unsized)
    return Facts(losing, topics, limits, [*map(PartitionRecords, empty), *records], unread)


def _partitions(reads: Reads, topics: Mapping[str, object]) -> list[TopicPartition] | None:
    about = f"the records of {counted(len(topics), 'topic')}"
    metadata = reads.attempt(about, lambda: scan_at_least(reads.cluster, list(topics)))
    if metadata is None:
        return None
    return [
        TopicPartition(topic, number)
        for topic in topics
        if topic in metadata
        for number in range(metadata.summary(topic).partitions)
    ]


def _records(
    reads: Reads,
    partitions: Sequence[TopicPartition],
    limits: Mapping[str, RetentionLimits],
    sizes: Mapping[TopicPartition, tuple[int, ...]],
) -> list[PartitionRecords]:
    """The records of the partitions that could be read."""
    now_ms = round(time.time() * 1000)

    def read_part(part: Sequence[TopicPartition]) -> Results[TopicPartition, PartitionRecords]:
        spans = ranges(reads.cluster, part)
        ages = {partition: limits[partition.topic].age for partition in spans.values}
        times = {partition: now_ms - age for partition, age in ages.items() if age is not None}
        kept = list_offsets(reads.cluster, times)
        failures = spans.failures | kept.failures
        return Results(
            {
                partition: PartitionRecords(
                    partition,
                    span.earliest,
                    span.latest,
                    kept[partition].offset if partition in times else span.earliest,
                    sizes.get(partition, ()),
                )
                for partition, span in spans.values.items()
                if partition not in failures
            },
            failures,
        )

    return list(reads.attempt_all("the records of", "partition", partitions, read_part).values())


# -- what is said ----------------------------------------------------------------------------------


def say(facts: Facts) -> Advice:
    """Say what the keys of each resource delete, in how many topics, and how many records."""
    groups: dict[tuple[str, str, DataLoss], list[AlteredConfig]] = {}
    for config in facts.losing:
        if config.loss is not None:
            groups.setdefault((config.verb, config.key, config.loss), []).append(config)
    told: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for (verb, key, loss), group in groups.items():
        whose = owners(config.change.resource for config in group)
        told.setdefault((verb, whose, _where(group[0], facts.topics)), []).append((key, loss.what))
    warnings: tuple[str, ...] = ()
    for (verb, whose, where), pairs in told.items():
        keys = " and ".join(key for key, _ in pairs)
        deleted = " and ".join(dict.fromkeys(loss for _, loss in pairs))
        warnings += (f"{verb} {keys}{whose} deletes {deleted}{where}",)
    if _none_now(facts):
        notes = tuple(f"{warning}; there are none now" for warning in warnings)
        return Advice(notes=notes, stakes="deletes no records now")
    what = list(dict.fromkeys(loss.what for *_, loss in groups))
    stakes = f"deletes {some(what, 2)}"
    if facts.records is None:
        return Advice(warnings=warnings, stakes=stakes)
    lost = lost_records(facts)
    unread = f", {counted(facts.unread, 'partition')} not checked" if facts.unread else ""
    if not lost.partitions:
        return Advice(warnings=warnings, stakes=stakes + unread)
    exact = f"deletes {lost.about}{counted(lost.records, 'record')}"
    return Advice(warnings=(*warnings, lost.text), stakes=exact + unread)


def _none_now(facts: Facts) -> bool:
    """Whether all records that the limits are about were read, and none is beyond them."""
    rows = facts.records or ()
    read = {row.partition.topic for row in rows}
    return (
        not facts.unread
        and bool(facts.limits)
        and facts.limits.keys() <= read
        and all(config.loss and config.loss.limits != RetentionLimits() for config in facts.losing)
        and all(
            facts.limits[row.partition.topic].size is None or row.sizes or row.last == row.first
            for row in rows
        )
        and not lost_records(facts).partitions
    )


def _where(config: AlteredConfig, topics: TopicValues | None) -> str:
    if not config.of_broker or topics is None or not topics.values:
        return ""
    count = len(_affected(topics, config))
    own = "its own" if count == 1 else "their own"
    return f" in the {counted(count, 'topic')} without {own} {config.topic_key}"


def _affected(topics: TopicValues, config: AlteredConfig) -> list[str]:
    """The topics that inherit a broker's key that deletes records, and whose cleanup policy lets it
    do so."""
    wanted = DELETED_BY.get(config.topic_key)
    return [
        name
        for name in topics.inheriting(config.topic_key)
        if not wanted
        or (policy := topics.values[name].get(POLICY)) is None
        or wanted in policies(policy.value or "")
    ]


def _limits(
    losing: Sequence[AlteredConfig], topics: TopicValues | None
) -> dict[str, RetentionLimits]:
    """The limits of each topic by which records are deleted."""
    limits: dict[str, RetentionLimits] = {}
    for config in losing:
        if config.loss is None or config.loss.limits == RetentionLimits():
            continue
        names = [config.change.resource.name]
        if config.of_broker:
            names = _affected(topics, config) if topics else []
        for name in names:
            limits[name] = limits.get(name, RetentionLimits()).lower(config.loss.limits)
    return limits


class LostRecords(Struct):
    """Records and bytes (of all replicas) that would be deleted, of all that there are."""

    topics: tuple[str, ...] = ()
    records: int = 0
    of_records: int = 0
    bytes: int = 0
    of_bytes: int = 0
    partitions: int = 0  # that would lose records
    checked: int = 0  # partitions
    records_estimated: bool = False
    bytes_estimated: bool = False

    @property
    def text(self) -> str:
        """`up to 3,000 of 5,000 records (about 12 MiB of 20 MiB) in 4 of 6 partitions of ...`."""
        where = f"{self.partitions:,} of {counted(self.checked, 'partition')}"
        every = counted(self.of_records, "record")
        lost = every if self.records == self.of_records else f"{self.records:,} of {every}"
        of = f" of topic {self.topics[0]}" if len(self.topics) == 1 else ""
        return f"{self.about}{lost}{self._size} in {where}{of} would be deleted immediately"

    @property
    def about(self) -> str:
        """How exact the number of records is."""
        return "about " if self.records_estimated else "up to "

    @property
    def _size(self) -> str:
        if not self.of_bytes:  # unknown
            return ""
        about = "about " if self.bytes_estimated else "up to "
        return f" ({about}{approximate_bytes(self.bytes)} of {approximate_bytes(self.of_bytes)})"


def lost_records(facts: Facts) -> LostRecords:
    """Return what the limits of topics delete now."""
    lost = LostRecords(tuple(facts.limits))
    for row in facts.records or ():
        _add(lost, facts.limits[row.partition.topic], row)
    return lost


def _add(lost: LostRecords, limits: RetentionLimits, row: PartitionRecords) -> None:
    total, size = row.last - row.first, sum(row.sizes)
    lost.checked += 1
    if total <= 0:
        return
    lost.of_records += total
    lost.of_bytes += size
    by_age = max(0, (row.last if row.kept is None else row.kept) - row.first)
    over = [max(0, size - limits.size) for size in row.sizes] if limits.size is not None else []
    share = max((more / of for more, of in zip(over, row.sizes, strict=False) if of), default=0)
    by_size = round(total * share)
    records = max(by_age, by_size)
    if not records:
        return
    lost.partitions += 1
    lost.records += records
    lost.records_estimated |= by_size > by_age
    if by_age < total and by_age >= by_size:
        lost.bytes_estimated = True
        lost.bytes += max(size * by_age // total, sum(over))
    else:
        lost.bytes += size if by_age == total else sum(over)
