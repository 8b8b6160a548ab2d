"""Rates between two samples of a cluster. What cannot be compared is unknown, never zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

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
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.wire.failures import error_name

RECREATED, TRUNCATED, NEW, OFFLINE = "re-created", "truncated", "new", "no leader"
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
    silent = {int(each.name) for each in after.failures if each.kind == "broker"}
    return [
        _broker(id, broker, led.get(id, []), seconds, silent)
        for id, broker in sorted(after.brokers.items())
    ]


def group_rates(before: Sample | None, after: Sample) -> list[GroupActivity]:
    """The lag of every group of `after`, largest first, unknown last. Without `before` the changes
    are unknown."""
    seconds, earlier = _seconds(before, after), {} if before is None else before.groups
    rows = [_group(name, earlier.get(name), now, seconds) for name, now in after.groups.items()]
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
    sizes = [each.size for each in now.partitions.values() if each.size is not None]
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
    reasons = Counter(_reason(was.partitions.get(each), now.partitions[each]) for each in missing)
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


def _group(name: str, was: GroupSample | None, now: GroupSample, seconds: float) -> GroupActivity:
    known = [each.lag for each in now.partitions.values() if each.lag is not None]
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
        sum(each.out_of_range for each in now.partitions.values()),
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
