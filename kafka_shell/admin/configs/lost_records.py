"""How many records and bytes lower limits of age and size delete, as far as brokers report it.

Kafka deletes whole segments, so the numbers are upper bounds. Offsets count records, and log
directories bytes: of a part of a partition, one is estimated from the other. Log directories do not
include remote storage (KIP-405), so of tiered topics no sizes are known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.configs.losses import RetentionLimits
from kafka_shell.admin.facts import attempt, in_batches, not_checked, not_checked_of
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import list_offsets, ranges
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan_at_least
from kafka_shell.common.units import approximate_bytes, counted
from kafka_shell.plan.model import NotChecked
from kafka_shell.plan.results import Failure

_AT_ONCE = 2_000  # partitions

Sizes = dict[TopicPartition, tuple[int, ...]]  # of each replica


class LostRecords(Struct):
    """Records and bytes (of all replicas) that would be deleted, of all that there are.

    `partitions` of `topics` would lose records, of all `checked` ones; others are `unread`.
    """

    topics: tuple[str, ...] = ()
    records: int = 0
    of_records: int = 0
    bytes: int = 0
    of_bytes: int = 0
    partitions: int = 0
    checked: int = 0
    unread: int = 0
    records_estimated: bool = False
    bytes_estimated: bool = False

    @property
    def text(self) -> str:
        """`up to 3,000 of 5,000 records (about 12 MiB of 20 MiB) in 4 of 6 partitions of ...`."""
        if not self.partitions:
            checked = counted(self.checked, "partition")
            return f"no records would be deleted immediately ({checked} checked)"
        where = f"{self.partitions:,} of {counted(self.checked, 'partition')}"
        every = counted(self.of_records, "record")
        lost = every if self.records == self.of_records else f"{self.records:,} of {every}"
        of = f" of topic {self.topics[0]}" if len(self.topics) == 1 else ""
        return f"{self._about}{lost}{self._size} in {where}{of} would be deleted immediately"

    @property
    def stakes(self) -> str:
        """The records in a few words, for the question; empty if none would be deleted."""
        lost = ""
        if self.partitions:
            lost = f"deletes {self._about}{counted(self.records, 'record')}"
        unread = f"{counted(self.unread, 'partition')} not checked" if self.unread else ""
        return ", ".join(filter(None, (lost, unread)))

    @property
    def _about(self) -> str:
        return "about " if self.records_estimated else "up to "

    @property
    def _size(self) -> str:
        if not self.of_bytes:  # unknown
            return ""
        about = "about " if self.bytes_estimated else "up to "
        return f" ({about}{approximate_bytes(self.bytes)} of {approximate_bytes(self.of_bytes)})"


def count(
    cluster: Cluster,
    limits: Mapping[str, RetentionLimits],
    now_ms: int,
    tiered: Collection[str] = (),
) -> tuple[LostRecords, list[NotChecked]]:
    """What these limits of topics would delete now, and what could not be read. `tiered` are those
    with records in remote storage: what a limit of their size deletes is not known."""
    lost, missing = LostRecords(tuple(limits)), list[NotChecked]()
    partitions = attempt(lambda: _partitions(cluster, limits))
    if isinstance(partitions, Failure):
        about = f"the records of {counted(len(limits), 'topic')}"
        return lost, [not_checked(about, partitions)]
    local = [each for each in partitions if each.topic not in tiered]
    sizes = _sizes(cluster, local, missing) if local else {}
    filled = [each for each in local if any(sizes.get(each, (1,)))]
    lost.checked = len(local) - len(filled)
    remote = [each for each in partitions if each.topic in tiered]
    unsized = [each for each in remote if limits[each.topic].size is not None]
    aged = [each for each in remote if limits[each.topic].size is None]
    for what, which in (("records", unsized), ("size", aged)):
        if which:
            about = f"the {what} of {counted(len(which), 'partition')}"
            missing.append(NotChecked(about, "sizes do not include remote storage"))

    def read(batch: Sequence[TopicPartition]) -> list[Failure]:
        spans = ranges(cluster, batch)
        ages = {each: limits[each.topic].age for each in spans.values}
        times = {each: now_ms - age for each, age in ages.items() if age is not None}
        kept = list_offsets(cluster, times)
        failures = spans.failures | kept.failures
        for each, span in spans.values.items():
            if each not in failures:
                rows = (span.earliest, span.latest)
                cut = kept[each].offset if each in times else rows[0]
                _add(lost, limits[each.topic], sizes.get(each, ()), *rows, cut)
        return list(failures.values())

    parts, unread = in_batches([*filled, *aged], _AT_ONCE, read)
    failures = [failure for part in parts for failure in part] + unread
    lost.unread = len(failures) + len(unsized)
    missing += not_checked_of("the records of", failures, "partition")
    return lost, missing


def _partitions(cluster: Cluster, limits: Mapping[str, RetentionLimits]) -> list[TopicPartition]:
    found = scan_at_least(cluster, limits)
    return [
        TopicPartition(topic, number)
        for topic in limits
        if topic in found
        for number in range(found.summary(topic).partitions)
    ]


def _sizes(
    cluster: Cluster, partitions: Sequence[TopicPartition], missing: list[NotChecked]
) -> Sizes:
    """The bytes of each replica, as far as brokers report them."""
    few = partitions if len(partitions) <= _AT_ONCE else None
    read = attempt(lambda: log_dirs.describe(cluster, None, few))
    if isinstance(read, Failure):
        missing.append(not_checked("the size of the partitions", read))
        return {}
    unread = log_dirs.without_offline(read).failures
    missing += not_checked_of("the size of replicas on", unread.values(), "broker")
    sizes: Sizes = {}
    wanted = set(partitions)
    for replica in (replica for dirs in read for dir in dirs for replica in dir.replicas):
        each = replica.topic_partition
        if each in wanted and not replica.future:
            sizes[each] = (*sizes.get(each, ()), replica.size)
    return sizes


def _add(
    lost: LostRecords,
    limits: RetentionLimits,
    sizes: Sequence[int],
    first: int,
    last: int,
    kept: int | None,
) -> None:
    """Add a partition with these sizes of its replicas, its first offset, its end, and the first
    offset that the age limit keeps (None: it keeps none)."""
    total, size = last - first, sum(sizes)
    lost.checked += 1
    if total <= 0:
        return
    lost.of_records += total
    lost.of_bytes += size
    by_age = max(0, (last if kept is None else kept) - first)
    over = [max(0, each - limits.size) for each in sizes] if limits.size is not None else []
    share = max((more / each for more, each in zip(over, sizes, strict=False) if each), default=0)
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
