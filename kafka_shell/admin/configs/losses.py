"""Which altered configs delete records, and which records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.configs.inheritance import TOPIC_KEYS
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ResourceType
from kafka_shell.admin.facts import attempt, in_batches, not_checked, not_checked_of
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import list_offsets, ranges
from kafka_shell.base.plans import NotChecked
from kafka_shell.base.results import Failure
from kafka_shell.base.units import approximate_bytes, convert_unit, counted, format_limit
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import scan_at_least

POLICY = "cleanup.policy"
_AGE, _SIZE = "retention.ms", "retention.bytes"
REMOTE, _REMOTE_DELETED = "remote.storage.enable", "remote.log.delete.on.disable"
_OF_TOPIC = (
    "retention.ms",
    "retention.bytes",
    "local.retention.ms",
    "local.retention.bytes",
    "delete.retention.ms",
    POLICY,
    REMOTE,
    _REMOTE_DELETED,
)
# A broker's key -> the topic's key that inherits it; the first that is set wins.
OF_BROKER = {key: name for key, name in TOPIC_KEYS.items() if name in _OF_TOPIC}
# The cleanup policy that makes the limit delete records.
DELETED_BY = dict.fromkeys(_OF_TOPIC[:4], "delete") | {"delete.retention.ms": "compact"}
_UNLIMITED = float("inf")


class RetentionLimits(Struct, frozen=True):
    """The age (ms) and size (bytes per partition) beyond which records are deleted. None is
    unlimited."""

    age: int | None = None
    size: int | None = None

    def lower(self, other: RetentionLimits) -> RetentionLimits:
        """The lower one of each."""
        return RetentionLimits(_lower(self.age, other.age), _lower(self.size, other.size))


class DataLoss(Struct, frozen=True):
    """What one altered key deletes: `what` ("records older than 3d"), in short `noun`. `limits` are
    those of records that the key deletes by age or size, as far as the new value is known."""

    what: str
    noun: str = "records"
    limits: RetentionLimits = RetentionLimits()

    @property
    def final(self) -> str:
        """What undoing the alteration does not restore."""
        return f"deleted {self.noun} cannot be restored"


def related(resource: ConfigResource, altered: Iterable[str]) -> tuple[str, ...]:
    """The keys that decide whether altering these deletes records; none if they never do."""
    names = _names(resource)
    return tuple(names) if any(key in names for key in altered) else ()


def losses(
    resource: ConfigResource, known: Mapping[str, ConfigEntry], after: Mapping[str, str | None]
) -> dict[str, DataLoss]:
    """What the alterations of one resource delete, by key. `after` has the new value of each
    altered key, None if unknown. An unknown value counts as a lowered limit."""
    names = _names(resource)
    old, new = _values(names, known, {}), _values(names, known, after)
    found = {}
    for key in after:
        name = names.get(key, "")
        if name == POLICY:
            loss = _by_policy(old, new)
        elif name == REMOTE:
            loss = _by_remote(old, new)
        elif name in DELETED_BY:
            loss = _by_limit(name, old, new, resource.type is ResourceType.TOPIC)
        else:
            loss = None
        if loss is not None:
            found[key] = loss
    return found


def _names(resource: ConfigResource) -> Mapping[str, str]:
    """The resource's key -> the key of topics."""
    if resource.type is ResourceType.TOPIC:
        return {key: key for key in _OF_TOPIC}
    return OF_BROKER if resource.type is ResourceType.BROKER else {}


def _values(
    names: Mapping[str, str], known: Mapping[str, ConfigEntry], after: Mapping[str, str | None]
) -> dict[str, str]:
    """The values by the key of topics; unknown values are left out."""
    found: dict[str, str] = {}
    for key, name in names.items():
        entry = known.get(key)
        value = after.get(key, None if entry is None else entry.value)
        turned = None if value is None else convert_unit(value, key, name)
        if turned is not None:
            found.setdefault(name, turned)
    return found


def _by_policy(old: Mapping[str, str], new: Mapping[str, str]) -> DataLoss | None:
    before, after = policies(old.get(POLICY, "")), policies(new.get(POLICY, "delete"))
    what = []
    limits = RetentionLimits()
    if "delete" in after - before:
        limits = RetentionLimits(_known_limit(new, _AGE), _known_limit(new, _SIZE))
        what += [_beyond(key, new) for key in (_AGE, _SIZE) if _limit(new, key) != _UNLIMITED]
    if "compact" in after - before:
        what.append("all but the latest record of each key")
    return DataLoss(" and ".join(what), limits=limits) if what else None


def _by_remote(old: Mapping[str, str], new: Mapping[str, str]) -> DataLoss | None:
    ended = old.get(REMOTE) == "true" and new.get(REMOTE) != "true"
    return (
        DataLoss("records in remote storage")
        if ended and new.get(_REMOTE_DELETED) == "true"
        else None
    )


def _by_limit(
    name: str, old: Mapping[str, str], new: Mapping[str, str], is_topic: bool
) -> DataLoss | None:
    policy = new.get(POLICY)
    if is_topic and policy is not None and DELETED_BY[name] not in policies(policy):
        return None
    before, after = _limit(old, name), _limit(new, name)
    if after == _UNLIMITED or (before is not None and after is not None and after >= before):
        return None
    if name.startswith("local."):
        return DataLoss(f"local copies of {_beyond(name, new)}", "local copies")
    if name == "delete.retention.ms":
        return DataLoss(_beyond(name, new), "tombstones")
    limit = _known_limit(new, name)
    return DataLoss(
        _beyond(name, new),
        limits=RetentionLimits(limit) if name == _AGE else RetentionLimits(None, limit),
    )


def is_tiered(entries: Mapping[str, ConfigEntry]) -> bool:
    """Whether a topic with these configs has records in remote storage (KIP-405)."""
    return REMOTE in entries and entries[REMOTE].value == "true"


def policies(value: str) -> set[str]:
    """The items of a cleanup.policy."""
    return {item.strip() for item in value.split(",")} - {""}


def _limit(values: Mapping[str, str], key: str) -> float | None:
    """A limit of age or size; a negative one is unlimited. None if unknown."""
    try:
        limit = int(values[key])
    except (KeyError, ValueError):
        return None
    return limit if limit >= 0 else _UNLIMITED


def _known_limit(values: Mapping[str, str], key: str) -> int | None:
    """A limit of age or size, if there is one and it is known."""
    limit = _limit(values, key)
    return None if limit is None or limit == _UNLIMITED else int(limit)


def _lower(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _beyond(key: str, values: Mapping[str, str]) -> str:
    """`records older than 3d`, `the oldest records of partitions larger than 1GiB`."""
    limit = format_limit(key, values[key]) if key in values else "the default"
    if key.endswith(".bytes"):
        return f"the oldest records of partitions larger than {limit}"
    noun = "tombstones" if key == "delete.retention.ms" else "records"
    return f"{noun} older than {limit}" if limit != "0" else f"all {noun}"


# How many records and bytes lower limits of age and size delete, as far as brokers report it.
#
# Kafka deletes whole segments, so the numbers are upper bounds. Offsets count records, and log
# directories bytes: of a part of a partition, one is estimated from the other. Log directories do
# not include remote storage (KIP-405), so of tiered topics no sizes are known.

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
