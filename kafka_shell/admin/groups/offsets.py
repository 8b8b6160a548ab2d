"""Committed offsets and lag of groups (OffsetFetch, API key 9; of share groups 90)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from kafka_shell.admin.facts import not_checked
from kafka_shell.admin.groups.model import Group, GroupKey, GroupOffset, GroupType, Member
from kafka_shell.admin.partitions.model import OffsetRange, TopicPartition
from kafka_shell.admin.records.offsets import known, ranges
from kafka_shell.admin.topics.visibility import may_be_hidden
from kafka_shell.base.plans import NotChecked
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.units import some
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.coordinators import GroupApi, GroupResponses, ResponsesByGroup, ask
from kafka_shell.wire.error_codes import (
    GROUP_ID_NOT_FOUND,
    LEADER_NOT_AVAILABLE,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from kafka_shell.wire.failures import error_name, failure

_NAMED = 3  # partitions that a failure names
_MANY_GROUPS, _BY_NAME = 8, 9  # OffsetFetch: many groups since v8, topic IDs since v10


def _of_all_topics(request: Any, ids: Sequence[str]) -> Any:
    of_group = getattr(request, f"{request.__name__}Group")
    return request(groups=[of_group(group_id=id, topics=None) for id in ids])


COMMITTED = GroupApi(
    lambda ids: _of_all_topics(messages.OffsetFetchRequest, ids),
    lowest=_MANY_GROUPS,
    highest=_BY_NAME,
)
SHARED = GroupApi(lambda ids: _of_all_topics(messages.DescribeShareGroupOffsetsRequest, ids))


class Committed(Struct, frozen=True):
    """A committed offset, or the start offset of a share group.

    `lag` is None if the broker does not return it; `error` is the error code of the partition.
    """

    offset: int | None
    leader_epoch: int | None = None
    metadata: str = ""
    lag: int | None = None
    error: int = 0


Offsets = dict[TopicPartition, Committed]


def committed(cluster: Cluster, kinds: Mapping[str, GroupType]) -> Results[str, Offsets]:
    """The offsets of groups of these types by partition, sorted; empty if a group does not exist.
    All coordinators are asked at once."""
    wanted = {name: [_api(kind)] for name, kind in kinds.items()}
    results: Results[str, Offsets] = Results()
    for name, response in ask(cluster, wanted).items() if wanted else ():
        offsets = of_responses(kinds[name], response)
        if not isinstance(offsets, Failure):
            results.values[name] = offsets
        elif offsets.code == GROUP_ID_NOT_FOUND:
            results.values[name] = {}
        else:
            results.failures[name] = offsets
    return results


def _api(kind: GroupType) -> GroupApi:
    return SHARED if kind is GroupType.SHARE else COMMITTED


def of_responses(kind: GroupType, response: GroupResponses) -> Offsets | Failure:
    """The offsets in the responses for a group, or why they could not be read."""
    row = response.rows[_api(kind)]
    return row if isinstance(row, Failure) else _read(row, kind)


def _read(row: Any, kind: GroupType) -> Offsets:
    offset = _read_shared(row) if kind is GroupType.SHARE else _read_committed(row)
    return dict(sorted(offset))


def _read_committed(row: Any) -> Iterator[tuple[TopicPartition, Committed]]:
    for topic in row.topics:
        for partition in topic.partitions:
            if partition.committed_offset >= 0 or partition.error_code:
                yield (
                    TopicPartition(topic.name, partition.partition_index),
                    Committed(
                        known(partition.committed_offset),
                        known(partition.committed_leader_epoch),
                        partition.metadata or "",
                        error=partition.error_code,
                    ),
                )


def _read_shared(row: Any) -> Iterator[tuple[TopicPartition, Committed]]:
    for topic in row.topics:
        for partition in topic.partitions:
            yield (
                TopicPartition(topic.topic_name, partition.partition_index),
                Committed(
                    known(partition.start_offset),
                    known(partition.leader_epoch),
                    lag=known(partition.lag),
                    error=partition.error_code,
                ),
            )


def hidden(cluster: Cluster) -> NotChecked | None:
    """That the offsets of groups may be incomplete, and why: brokers leave out those in topics
    without DESCRIBE permission. None with DESCRIBE on topics of any name. One request."""
    why = may_be_hidden(cluster)
    return (
        None if why is None else not_checked("offsets in topics without DESCRIBE permission", why)
    )


# -- with lag --------------------------------------------------------------------------------------


def with_offsets(
    cluster: Cluster, groups: Results[str, Group], responses: ResponsesByGroup
) -> Results[GroupKey, Group]:
    """The groups with a row for each partition with an offset or an assigned member.

    `responses` contain the offsets. The first and end offsets of all partitions are requested once,
    from all leaders at once.
    """
    committed = Results.collect(
        (name, of_responses(group.type, responses[name])) for name, group in groups.values.items()
    )
    offsets = committed.values
    readers = {
        name: {place: member for member in groups[name].members for place in member.assignment}
        for name in offsets
    }
    wanted = {name: sorted({*offsets[name], *readers[name]}) for name in offsets}
    spans = ranges(cluster, [partition for listed in wanted.values() for partition in listed])
    values = {
        name: replace(
            groups.values[name],
            offsets=tuple(
                _row(groups.values[name], place, offsets[name].get(place), spans, readers[name])
                for place in listed
                if not _is_beyond_topic(groups.values[name], place, offsets[name], spans)
            ),
        )
        for name, listed in wanted.items()
    }
    failures = groups.failures | committed.failures
    return Results(values, failures | unread_lag(spans.failures, offsets))


def _errors(offsets: Mapping[str, Offsets]) -> Iterator[tuple[TopicPartition, Failure]]:
    """The partitions whose offset the coordinator could not read."""
    for committed in offsets.values():
        for each, row in committed.items():
            if row.error:
                yield each, failure(row.error, about=f"partition {each}")


def unread_lag(
    failures: Mapping[TopicPartition, Failure], offsets: Mapping[str, Offsets]
) -> dict[Resource, Failure]:
    """A failure for each reason why lag is unknown.

    `failures` are those of reading the end of partitions, `offsets` those of each group."""
    return by_reason("lag", chain(failures.items(), _errors(offsets)), "DESCRIBE")


def by_reason(
    kind: str, failures: Iterable[tuple[TopicPartition, Failure]], operation: str
) -> dict[Resource, Failure]:
    """A failure of each reason, and not of each partition; its key is a Resource of this kind.
    Partitions of deleted topics have no lag: they are not among them."""
    partitions: dict[Failure | int, dict[TopicPartition, Failure]] = {}
    for each, why in failures:
        if why.code != UNKNOWN_TOPIC_OR_PARTITION:
            partitions.setdefault(why if why.code is None else why.code, {})[each] = why
    return {
        Resource(kind, f"in {some(list(rows), _NAMED)}"): _one_of(set(rows.values()), operation)
        for rows in partitions.values()
    }


def _one_of(failures: Collection[Failure], operation: str) -> Failure:
    """The failure of all partitions: that of each if it is the same, or one with its code."""
    first = next(iter(failures))
    if len(failures) == 1 or first.code is None:
        return first
    text = "the partitions have no leader" if first.code == LEADER_NOT_AVAILABLE else ""
    return failure(first.code, text=text, requires=f"{operation} on these topics")


def _is_beyond_topic(
    group: Group,
    partition: TopicPartition,
    offsets: Offsets,
    spans: Results[TopicPartition, OffsetRange],
) -> bool:
    """Whether a task's partition number is beyond this topic: its subtopology has a larger
    topic."""
    why = spans.failures.get(partition)
    gone = why is not None and why.code == UNKNOWN_TOPIC_OR_PARTITION
    return group.type is GroupType.STREAMS and gone and partition not in offsets


def _row(
    group: Group,
    partition: TopicPartition,
    committed_offset: Committed | None,
    spans: Results[TopicPartition, OffsetRange],
    readers: Mapping[TopicPartition, Member],
) -> GroupOffset:
    offset = committed_offset.offset if committed_offset else None
    span = spans.values.get(partition)
    end = span.latest if span else None
    lag = committed_offset.lag if committed_offset else None
    if lag is None and offset is not None and end is not None:
        lag = end - offset
    row = GroupOffset(
        group.name, partition.topic, partition.partition, offset, end, lag,
        committed_offset.leader_epoch if committed_offset else None,
        committed_offset.metadata if committed_offset else "",
        _note(committed_offset, span, spans.failures.get(partition)),
        start=span.earliest if span else None,
    )  # fmt: skip
    member = readers.get(partition)
    if member is None or group.type is GroupType.SHARE:  # several members share a partition
        return row
    return replace(row, client_id=member.client_id, host=member.host, member_id=member.id)


def _note(committed_offset: Committed | None, span: OffsetRange | None, why: Failure | None) -> str:
    if committed_offset and committed_offset.error:
        return error_name(committed_offset.error)
    if why is not None:
        gone = why.code == UNKNOWN_TOPIC_OR_PARTITION
        return "no such topic" if gone else why.name
    offset = committed_offset.offset if committed_offset else None
    if span is None or offset is None:
        return ""
    if offset < span.earliest:  # the records in between no longer exist
        return f"below the log start offset {span.earliest}"
    return f"above the log end offset {span.latest}" if offset > span.latest else ""
