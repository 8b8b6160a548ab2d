"""Samples of a cluster: Metadata, then ListOffsets and DescribeLogDirs of every broker at once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from struct import iter_unpack
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.activity.model import (
    BrokerSample,
    GroupSample,
    LagSample,
    PartitionSample,
    Sample,
    TopicSample,
)
from kafka_shell.admin.activity.wire import LogSizes, sizes_request
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import Group, GroupKey, GroupListing
from kafka_shell.admin.partitions.model import LATEST
from kafka_shell.admin.records.offset_frames import OffsetRows, offsets_request
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.error_codes import CLUSTER_AUTHORIZATION_FAILED, KAFKA_STORAGE_ERROR
from kafka_shell.admin.wire.failures import failure, requires
from kafka_shell.admin.wire.metadata_scan import MetadataScan, scan
from kafka_shell.admin.wire.requests import Call, Node
from kafka_shell.common.resource import Resource
from kafka_shell.common.units import counted
from kafka_shell.plan.results import Failure, Results

_NO_END = (0, -1)  # error code and offset of a partition that is not in a response
_ANSWER_S = 4.0  # for a broker with many partitions to answer
_TOPICS_S = 15.0  # for metadata first, then the brokers
_GROUPS_S = 12.0  # for the lag of all groups: coordinators first, then leaders


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
    with cluster.within(_TOPICS_S):
        return _sample_topics(cluster)


def _sample_topics(cluster: Cluster) -> Sample:
    found = scan(cluster)
    placement = _placement(found)
    up = [broker.id for broker in found.brokers]
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
            name: TopicSample(found.summary(name).id, _partitions(name, led, ends, sizes))
            for name, led in placement.leaders.items()
        },
        brokers=_brokers(found, placement, sizes),
        failures=failures,
    )


def _placement(found: MetadataScan) -> _Placement:
    placement = _Placement({name: {} for name in found.names})
    replicas, in_sync = Counter[bytes](), Counter[bytes]()
    for topic, number, leader, assigned, isr in found.placements():
        placement.leaders[topic][number] = leader
        if leader >= 0:
            placement.led.setdefault(leader, {}).setdefault(topic, []).append(number)
        replicas[assigned] += 1
        in_sync[isr] += 1
    placement.replicas, placement.in_sync = _by_broker(replicas), _by_broker(in_sync)
    return placement


def _by_broker(lists: Counter[bytes]) -> Counter[int]:
    """How often each broker is in these lists of IDs."""
    found = Counter[int]()
    for ids, times in lists.items():
        for (broker,) in iter_unpack(">i", ids):
            found[broker] += times
    return found


def _answered(
    brokers: Sequence[int], responses: Sequence[Any], failures: dict[Resource, Failure]
) -> dict[int, Any]:
    """The responses by broker; the failures of the others are added."""
    found = {}
    for broker, response in zip(brokers, responses, strict=True):
        if isinstance(response, Failure):
            failures[Resource("broker", str(broker))] = response
        else:
            found[broker] = response
    return found


def _check_log_dirs(sizes: dict[int, LogSizes], failures: dict[Resource, Failure]) -> None:
    """Remove refused responses, and add failures for them and for offline log directories."""
    for broker, found in list(sizes.items()):
        if found.refused:
            del sizes[broker]
            failures[Resource("log-dirs")] = failure(
                CLUSTER_AUTHORIZATION_FAILED,
                text="sizes and bytes per second are unknown",
                hint=requires(CLUSTER_AUTHORIZATION_FAILED, "DESCRIBE on the cluster"),
            )
        elif found.offline:
            failures[Resource("log-dirs", str(broker))] = failure(
                KAFKA_STORAGE_ERROR,
                text=f"{counted(found.offline, 'log directory')} of broker {broker}"
                f" {'is' if found.offline == 1 else 'are'} offline",
            )


def _partitions(
    topic: str, leaders: Mapping[int, int], ends: dict[int, OffsetRows], sizes: dict[int, LogSizes]
) -> dict[int, PartitionSample]:
    found = {}
    for number, leader in leaders.items():
        key = (topic, number)
        error, end = ends[leader].get(key, _NO_END) if leader in ends else _NO_END
        size = sizes[leader].replicas.get(key) if leader in sizes else None
        found[number] = PartitionSample(leader, None if end < 0 else end, size, error)
    return found


def _brokers(
    found: MetadataScan, placement: _Placement, sizes: dict[int, LogSizes]
) -> dict[int, BrokerSample]:
    """The registered brokers, and others that have replicas."""
    known = {broker.id: broker for broker in found.brokers}
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


def sample_groups(cluster: Cluster, names: Sequence[str] | None = None) -> Sample:
    """The lag of these groups, or of all groups. What a broker that does not respond coordinates or
    leads is unknown, and it is among the failures. Raises ShellError if no broker answers."""
    with cluster.within(_GROUPS_S):
        if names is None:
            return _all_groups(cluster)
        return of_groups(groups.describe(cluster, names, offsets=True))


def _all_groups(cluster: Cluster) -> Sample:
    with cluster.within(_ANSWER_S):
        listed = groups.list_groups(cluster)
    found = groups.describe_listed(cluster, listed, offsets=True)
    unread = {name: each for name, each in listed.values.items() if name in found.failures}
    return of_groups(found, unread)


def of_groups(
    found: Results[GroupKey, Group], listed: Mapping[str, GroupListing] | None = None
) -> Sample:
    """The sample of these groups with their offsets, which were read just now: that comes last, and
    rates are per the time between. A group that is only listed has no lag."""
    at = time.monotonic()
    rows = {name: _group(group) for name, group in found.values.items()}
    for name, each in (listed or {}).items():
        if name not in rows:
            why = found.failures.get(name)
            rows[name] = GroupSample(each.state, note=why.name if why else "")
    failures = {
        Resource("group", key) if isinstance(key, str) else key: why
        for key, why in found.failures.items()
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
    )
