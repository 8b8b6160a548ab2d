"""Samples of a cluster: Metadata, then ListOffsets and DescribeLogDirs of every broker at once."""

from __future__ import annotations

import struct
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from struct import iter_unpack
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.activity.model import (
    BrokerActivity,
    BrokerSample,
    GroupActivity,
    GroupSample,
    LagSample,
    PartitionSample,
    Sample,
    TopicActivity,
    TopicSample,
)
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import Group, GroupKey, GroupListing
from kafka_shell.admin.groups.time_lag import Place, with_time_lag
from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records.offsets import OffsetRows, offsets_request
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource
from kafka_shell.base.units import counted
from kafka_shell.base.waits import REFRESH_S
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import CLUSTER_AUTHORIZATION_FAILED, KAFKA_STORAGE_ERROR
from kafka_shell.wire.failures import error_name, failure
from kafka_shell.wire.frames import Reader, count
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.requests import Call, Node, RawRequest

# Rates between two samples of a cluster. What cannot be compared is unknown, never zero.

GROUP_WINDOW_S = 15.0
"""For rates of groups: consumers commit every few seconds, and the lag between two commits says
nothing."""
STUCK_S = 10.0  # without a commit: twice the default of auto.commit.interval.ms
_APART_S = 0.9  # between samples that are kept for a window
RECREATED, TRUNCATED, NEW, OFFLINE = "recreated", "truncated", "new", "no leader"
UP, SILENT, DOWN = "up", "not responding", "down"
_DIGITS = 3  # of rates

Growth = tuple[int | None, int | None]
"""Records and bytes that were added to a partition; None if unknown."""
_UNKNOWN: Growth = (None, None)


def topic_rates(before: Sample | None, after: Sample) -> list[TopicActivity]:
    """The activity of every topic of `after`, sorted by name.

    A topic that was created or re-created in between (another topic ID) has no rates. Of a
    partition that was truncated, or not returned, they are unknown. Without `before` all are.
    """
    seconds, earlier = _seconds(before, after), {} if before is None else before.topics
    return [
        _topic(name, earlier.get(name), after.topics[name], seconds)
        for name in sorted(after.topics)
    ]


def broker_rates(before: Sample | None, after: Sample) -> list[BrokerActivity]:
    """The activity of every broker of `after`, sorted by ID: rates of the partitions it leads."""
    seconds, earlier = _seconds(before, after), {} if before is None else before.topics
    led: dict[int, list[Growth]] = {}
    for name, now in after.topics.items():
        was = earlier.get(name)
        for number, partition in now.partitions.items():
            led.setdefault(partition.leader, []).append(_growth(was, now, number))
    silent = {int(resource.name) for resource in after.failures if resource.kind == "broker"}
    return [
        _broker(id, broker, led.get(id, []), seconds, silent)
        for id, broker in sorted(after.brokers.items())
    ]


def group_rates(before: Sample | None, after: Sample) -> list[GroupActivity]:
    """The lag of every group of `after`, largest first, unknown last. Without `before` the changes
    are unknown."""
    seconds, earlier = _seconds(before, after), {} if before is None else before.groups
    stuck = stuck_partitions(before, after)
    rows = [
        _group_rates(name, earlier.get(name), now, seconds, len(stuck.get(name, ())))
        for name, now in after.groups.items()
    ]
    return sorted(rows, key=lambda row: (row.lag is None, -(row.lag or 0), row.name))


def lag_changes(
    before: Sample | None, after: Sample
) -> dict[tuple[str, TopicPartition], float | None]:
    """The change of the lag per second of each group in each partition; None if unknown."""
    seconds, earlier = _seconds(before, after), {} if before is None else before.groups
    return {
        (name, each): _per_s((_minus(new.lag, old.lag) for old, new in pairs), seconds)
        for name, now in after.groups.items()
        for each, sample in now.partitions.items()
        for was in (earlier[name].partitions if name in earlier else {},)
        for pairs in (_comparable(was, {each: sample}),)
    }


def stuck_partitions(before: Sample | None, after: Sample) -> dict[str, list[TopicPartition]]:
    """The partitions of each group whose committed offset has not moved for at least STUCK_S while
    there were unread records, and more arrived."""
    if before is None or _seconds(before, after) < STUCK_S:
        return {}
    places = {
        name: [
            each
            for each, new in now.partitions.items()
            if (old := before.groups[name].partitions.get(each)) is not None
            and old.lag
            and new.lag
            and new.offset == old.offset
            and (new.end or 0) > (old.end or 0)
        ]
        for name, now in after.groups.items()
        if name in before.groups
    }
    return {name: partitions for name, partitions in places.items() if partitions}


def sample_before(kept: deque[Sample], after: Sample, window: float) -> Sample | None:
    """The sample to compare with: the oldest one within the window, else the last one. Keeps what
    the next samples need."""
    while len(kept) > 1 and after.at - kept[0].at > window:
        kept.popleft()
    before = kept[0] if kept else None
    if not window or not kept or after.at - kept[-1].at >= _APART_S:
        kept.append(after)
    return before


def _seconds(before: Sample | None, after: Sample) -> float:
    """The time between the samples; 0 if there is only one."""
    return 0.0 if before is None else max(after.at - before.at, 1e-3)


def _per_s(amounts: Iterable[int | None], seconds: float) -> float | None:
    """The rate of the known amounts together; None if none is known."""
    known = [amount for amount in amounts if amount is not None]
    return round(sum(known) / seconds, _DIGITS) if known and seconds else None


# -- topics and brokers ----------------------------------------------------------------------------


def _growth(was: TopicSample | None, now: TopicSample, number: int) -> Growth:
    """What was added to a partition between two samples."""
    new = now.partitions[number]
    old = was.partitions.get(number) if was is not None and was.id == now.id else None
    if old is None or _is_truncated(old, new):
        return _UNKNOWN
    records = None if new.end is None or old.end is None else new.end - old.end
    size = None
    if old.leader == new.leader and old.size is not None and new.size is not None:
        # A log shrinks when a segment is deleted or compacted: what was added is unknown.
        size = new.size - old.size if new.size >= old.size else None
    return records, size


def _is_truncated(old: PartitionSample, new: PartitionSample) -> bool:
    return old.end is not None and new.end is not None and new.end < old.end


def _topic(name: str, was: TopicSample | None, now: TopicSample, seconds: float) -> TopicActivity:
    growth = {number: _growth(was, now, number) for number in now.partitions}
    missing = [number for number, (records, _) in growth.items() if records is None]
    sizes = [partition.size for partition in now.partitions.values() if partition.size is not None]
    return TopicActivity(
        name,
        len(now.partitions),
        _per_s((records for records, _ in growth.values()), seconds),
        _per_s((size for _, size in growth.values()), seconds),
        sum(sizes) if sizes else None,
        len(missing),
        _note(was, now, missing) if seconds else "",
        sum(size is None for _, size in growth.values()),
        len(now.partitions) - len(sizes),
    )


def _note(was: TopicSample | None, now: TopicSample, missing: list[int]) -> str:
    """Why partitions were not measured: `new`, `2 of 3 partitions: no leader`."""
    if not missing:
        return ""
    if was is None:
        return NEW
    if was.id != now.id:
        return RECREATED
    reasons = Counter(_reason(was.partitions.get(name), now.partitions[name]) for name in missing)
    reason = reasons.most_common(1)[0][0]
    if len(missing) == len(now.partitions):
        return reason
    return f"{len(missing)} of {len(now.partitions)} partitions: {reason}"


def _reason(old: PartitionSample | None, new: PartitionSample) -> str:
    if new.leader < 0:
        return OFFLINE
    if new.error:
        return error_name(new.error)
    if new.end is None:
        return f"no response from broker {new.leader}"
    if old is None:
        return NEW
    return TRUNCATED if old.end is not None else f"no response from broker {old.leader}"


def _broker(
    id: int, now: BrokerSample, led: list[Growth], seconds: float, silent: set[int]
) -> BrokerActivity:
    if now.up and not led:
        led = [(0, 0)]  # a broker that leads nothing has rates of 0
    return BrokerActivity(
        id,
        DOWN if not now.up else SILENT if id in silent else UP,
        now.rack,
        now.leaders,
        now.replicas,
        now.in_sync,
        _per_s((records for records, _ in led), seconds),
        _per_s((size for _, size in led), seconds),
        now.size,
        sum(records is None for records, _ in led),
        sum(size is None for _, size in led),
    )


# -- groups ----------------------------------------------------------------------------------------


def _group_rates(
    name: str, was: GroupSample | None, now: GroupSample, seconds: float, stuck: int
) -> GroupActivity:
    known = [partition.lag for partition in now.partitions.values() if partition.lag is not None]
    lag = sum(known) if known else None
    pairs = [] if was is None else list(_comparable(was.partitions, now.partitions))
    change = _per_s((_minus(new.lag, old.lag) for old, new in pairs), seconds)
    unknown = len(now.partitions) - len(known)
    return GroupActivity(
        name,
        now.state,
        now.members,
        len(now.partitions),
        lag,
        change,
        None if unknown and not lag else _catch_up(lag, change),
        _per_s((_advance(old.offset, new.offset) for old, new in pairs), seconds),
        unknown,
        now.note,
        sum(partition.out_of_range for partition in now.partitions.values()),
        now.time_lag_ms,
        stuck,
    )


def _comparable(
    was: Mapping[TopicPartition, LagSample], now: Mapping[TopicPartition, LagSample]
) -> Iterable[tuple[LagSample, LagSample]]:
    """The partitions of both samples, without those that were truncated or re-created."""
    for each, new in now.items():
        old = was.get(each)
        if old is None or old.end is None or new.end is None or new.end >= old.end:
            yield old or LagSample(None, None, None), new


def _minus(new: int | None, old: int | None) -> int | None:
    return None if new is None or old is None else new - old


def _advance(old: int | None, new: int | None) -> int | None:
    """How far an offset has advanced; unknown if it was reset to an earlier one."""
    return None if old is None or new is None or new < old else new - old


def _catch_up(lag: int | None, change: float | None) -> float | None:
    """Seconds until there is no lag, at this rate."""
    if lag == 0:
        return 0.0
    if lag is None or change is None or change >= 0:
        return None
    return round(lag / -change, _DIGITS)


# Log sizes read from bytes: decoding them as messages would take ten times longer on a cluster
# with 10,000 topics.

_DESCRIBE_LOG_DIRS = 35
_NOT_FLEXIBLE = 99  # the versions used here are older than the flexible ones
_SIZE = struct.Struct(">iqq?")  # partition, bytes, offset lag, future


class LogSizes:
    """The bytes of the replicas of a broker by topic and partition, and their `total`.

    `refused` is whether the user lacks DESCRIBE on the cluster; `offline` is the number of log
    directories with errors.
    """

    def __init__(self, body: bytes) -> None:
        reader = Reader(body)
        reader.int32()  # throttle time
        directories = reader.count()
        self.refused = not directories
        self.offline = 0
        self.total = 0
        self.replicas: dict[tuple[str, int], int] = {}
        for _ in range(directories):
            self.offline += bool(reader.int16())
            reader.string()  # path
            for topic, rows in reader.topics(_SIZE):
                for number, size, _, future in rows:
                    self.total += size
                    if not future:
                        self.replicas[topic, number] = size


def sizes_request() -> RawRequest:
    """DescribeLogDirs (API key 35) v1 for all replicas of a broker; the response is LogSizes.

    A refusal in v1 is a response without directories.
    """
    return RawRequest(
        _DESCRIBE_LOG_DIRS, (1, 1), lambda _: count(None), _NOT_FLEXIBLE,
        lambda _, body: LogSizes(body),
    )  # fmt: skip


_NO_END = (0, -1)  # error code and offset of a partition that is not in a response
_ANSWER_S = 4.0  # for a broker with many partitions to answer


# -- topics and brokers ----------------------------------------------------------------------------


class _Placement(Struct):
    """The partitions of a cluster: leaders by topic, those of each leader, replicas of brokers."""

    leaders: dict[str, dict[int, int]] = field(default_factory=dict)
    led: dict[int, dict[str, list[int]]] = field(default_factory=dict)
    replicas: Counter[int] = field(default_factory=Counter)
    in_sync: Counter[int] = field(default_factory=Counter)


def sample_topics(cluster: Cluster) -> Sample:
    """All topics and brokers. A broker that does not respond in time is among the failures, and its
    partitions have no end and size. Raises ShellError if no broker answers."""
    with cluster.within(REFRESH_S):
        return _sample_topics(cluster)


def _sample_topics(cluster: Cluster) -> Sample:
    metadata = scan(cluster)
    placement = _placement(metadata)
    up = [broker.id for broker in metadata.brokers]
    asked = [broker for broker in up if broker in placement.led]
    calls = [
        Call(offsets_request(placement.led[id], LATEST), Node(id), timeout=_ANSWER_S)
        for id in asked
    ]
    calls += [Call(sizes_request(), Node(id), timeout=_ANSWER_S) for id in up]
    at = time.monotonic()
    responses = cluster.send_all(calls)
    failures: dict[Resource, Failure] = {}
    ends: dict[int, OffsetRows] = _answered(asked, responses[: len(asked)], failures)
    sizes: dict[int, LogSizes] = _answered(up, responses[len(asked) :], failures)
    _check_log_dirs(sizes, failures)
    return Sample(
        at,
        topics={
            name: TopicSample(metadata.summary(name).id, _partitions(name, led, ends, sizes))
            for name, led in placement.leaders.items()
        },
        brokers=_brokers(metadata, placement, sizes),
        failures=failures,
    )


def _placement(metadata: MetadataScan) -> _Placement:
    placement = _Placement({name: {} for name in metadata.names})
    replicas, in_sync = Counter[bytes](), Counter[bytes]()
    for topic, number, leader, assigned, isr in metadata.placements():
        placement.leaders[topic][number] = leader
        if leader >= 0:
            placement.led.setdefault(leader, {}).setdefault(topic, []).append(number)
        replicas[assigned] += 1
        in_sync[isr] += 1
    placement.replicas, placement.in_sync = _by_broker(replicas), _by_broker(in_sync)
    return placement


def _by_broker(lists: Counter[bytes]) -> Counter[int]:
    """How often each broker is in these lists of IDs."""
    replicas = Counter[int]()
    for ids, times in lists.items():
        for (broker,) in iter_unpack(">i", ids):
            replicas[broker] += times
    return replicas


def _answered(
    brokers: Sequence[int], responses: Sequence[Any], failures: dict[Resource, Failure]
) -> dict[int, Any]:
    """The responses by broker; the failures of the others are added."""
    answers = {}
    for broker, response in zip(brokers, responses, strict=True):
        if isinstance(response, Failure):
            failures[Resource("broker", str(broker))] = response
        else:
            answers[broker] = response
    return answers


def _check_log_dirs(sizes: dict[int, LogSizes], failures: dict[Resource, Failure]) -> None:
    """Remove refused responses, and add failures for them and for offline log directories."""
    for broker, log_sizes in list(sizes.items()):
        if log_sizes.refused:
            del sizes[broker]
            failures[Resource("log-dirs")] = failure(
                CLUSTER_AUTHORIZATION_FAILED,
                text="sizes and bytes per second are unknown",
                requires="DESCRIBE on the cluster",
            )
        elif log_sizes.offline:
            failures[Resource("log-dirs", str(broker))] = failure(
                KAFKA_STORAGE_ERROR,
                text=f"{counted(log_sizes.offline, 'log directory')} of broker {broker}"
                f" {'is' if log_sizes.offline == 1 else 'are'} offline",
            )


def _partitions(
    topic: str, leaders: Mapping[int, int], ends: dict[int, OffsetRows], sizes: dict[int, LogSizes]
) -> dict[int, PartitionSample]:
    samples = {}
    for number, leader in leaders.items():
        key = (topic, number)
        error, end = ends[leader].get(key, _NO_END) if leader in ends else _NO_END
        size = sizes[leader].replicas.get(key) if leader in sizes else None
        samples[number] = PartitionSample(leader, None if end < 0 else end, size, error)
    return samples


def _brokers(
    metadata: MetadataScan, placement: _Placement, sizes: dict[int, LogSizes]
) -> dict[int, BrokerSample]:
    """The registered brokers, and others that have replicas."""
    known = {broker.id: broker for broker in metadata.brokers}
    return {
        id: BrokerSample(
            known[id].rack if id in known else None,
            id in known,
            sum(map(len, placement.led.get(id, {}).values())),
            placement.replicas[id],
            placement.in_sync[id],
            sizes[id].total if id in sizes else None,
        )
        for id in sorted({*known, *placement.replicas})
    }


# -- groups ----------------------------------------------------------------------------------------


def sample_groups(
    cluster: Cluster,
    names: Sequence[str] | None = None,
    times: dict[Place, int] | None = None,
) -> Sample:
    """The lag of these groups, or of all groups. What a broker that does not respond coordinates or
    leads is unknown, and it is among the failures. Raises ShellError if no broker answers.

    With `times`, which keeps timestamps of records for the next sample, also their lag in time."""
    with cluster.within(REFRESH_S):
        listed: Results[GroupKey, GroupListing] = Results()
        if names is None:
            with cluster.within(_ANSWER_S):
                listed = groups.list_groups(cluster)
            described = groups.describe_listed(cluster, listed, offsets=True)
        else:
            described = groups.describe(cluster, names, offsets=True)
        at = time.monotonic()
        if times is not None:
            described = with_time_lag(cluster, described, times)
    unread = {name: each for name, each in listed.values.items() if name in described.failures}
    return of_groups(described, at, unread)


def of_groups(
    described: Results[GroupKey, Group], at: float, listed: Mapping[str, GroupListing] | None = None
) -> Sample:
    """The sample of these groups with their offsets, which were read before `at`: that comes last,
    and rates are per the time between. A group that is only listed has no lag."""
    rows = {name: _group(group) for name, group in described.values.items()}
    for name, each in (listed or {}).items():
        if name not in rows:
            why = described.failures.get(name)
            rows[name] = GroupSample(each.state, note=why.name if why else "")
    failures = {
        Resource("group", key) if isinstance(key, str) else key: why
        for key, why in described.failures.items()
    }
    return Sample(at, groups=rows, failures=failures)


def _group(group: Group) -> GroupSample:
    rows = group.offsets or ()
    return GroupSample(
        group.state,
        len(group.members),
        {
            row.topic_partition: LagSample(row.offset, row.end, row.known_lag, row.out_of_range)
            for row in rows
        },
        next((row.note for row in rows if row.note), ""),
        group.time_lag_ms,
    )
