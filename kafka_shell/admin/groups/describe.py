"""The descriptions of groups by all protocols (API keys 15, 69, 77, 89) as one model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kafka_shell.admin.groups.model import Group, GroupType, Member, Task
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.wire.coordinators import GroupApi, not_found
from kafka_shell.admin.wire.frames import MalformedError, Reader
from kafka_shell.plan.results import Failure

_CONSUMER = "consumer"  # the only protocol type whose member metadata is decoded


# -- the APIs ------------------------------------------------------------------------------------


def _classic(groups: Sequence[str]) -> Any:
    from kafka.protocol.admin import DescribeGroupsRequest

    return DescribeGroupsRequest(groups=list(groups))


def _consumer(groups: Sequence[str]) -> Any:
    from kafka_shell.admin.wire.schemas.groups import ConsumerGroupDescribeRequest

    return ConsumerGroupDescribeRequest(group_ids=list(groups))


def _share(groups: Sequence[str]) -> Any:
    from kafka_shell.admin.wire.schemas.groups import ShareGroupDescribeRequest

    return ShareGroupDescribeRequest(group_ids=list(groups))


def _streams(groups: Sequence[str]) -> Any:
    from kafka_shell.admin.wire.schemas.groups import StreamsGroupDescribeRequest

    return StreamsGroupDescribeRequest(group_ids=list(groups))


APIS = {
    GroupType.CLASSIC: GroupApi(_classic),
    GroupType.CONSUMER: GroupApi(_consumer),
    GroupType.SHARE: GroupApi(_share),
    GroupType.STREAMS: GroupApi(_streams),
}

# A group has one protocol: requests of the others fail with one of these, or do not exist.
_NOT_OF_THIS = frozenset(
    {"GROUP_ID_NOT_FOUND", "UNSUPPORTED_VERSION", "unsupported-api", "unsupported-version"}
)


def read(name: str, coordinator: int, rows: dict[GroupType, Any]) -> Group | Failure:
    """The group, from the responses to the requests of each protocol."""
    failures = []
    for kind, row in rows.items():
        if isinstance(row, Failure):
            failures.append(row)
        elif row.group_state != "Dead":  # the state of an unknown group before Kafka 4.0
            return _READERS[kind](name, coordinator, row)
    real = [failure for failure in failures if failure.name not in _NOT_OF_THIS]
    return real[0] if real else not_found(name)


# -- reading each ----------------------------------------------------------------------------------


def _read_classic(name: str, coordinator: int, row: Any) -> Group:
    readable = row.protocol_type == _CONSUMER
    members = [
        Member(
            name, member.member_id, member.client_id, _host(member),
            getattr(member, "group_instance_id", None),
            subscription=_topics(member.member_metadata) if readable else (),
            assignment=_partitions(member.member_assignment) if readable else (),
        )
        for member in row.members
    ]  # fmt: skip
    return Group(
        name, GroupType.CLASSIC, row.group_state, row.protocol_type, row.protocol_data,
        coordinator, _sorted(members),
    )  # fmt: skip


def _read_consumer(name: str, coordinator: int, row: Any) -> Group:
    members = []
    for member in row.members:
        now, then = _assigned(member.assignment), _assigned(member.target_assignment)
        members.append(
            Member(
                name, member.member_id, member.client_id, _host(member), member.instance_id,
                member.rack_id, member.member_epoch, tuple(sorted(member.subscribed_topic_names)),
                member.subscribed_topic_regex or None, now, then if then != now else None,
            )
        )  # fmt: skip
    return Group(
        name, GroupType.CONSUMER, row.group_state, _CONSUMER, row.assignor_name, coordinator,
        _sorted(members), row.group_epoch, row.assignment_epoch,
    )  # fmt: skip


def _read_share(name: str, coordinator: int, row: Any) -> Group:
    members = [
        Member(
            name, member.member_id, member.client_id, _host(member), rack=member.rack_id,
            epoch=member.member_epoch, subscription=tuple(sorted(member.subscribed_topic_names)),
            assignment=_assigned(member.assignment),
        )
        for member in row.members
    ]  # fmt: skip
    return Group(
        name, GroupType.SHARE, row.group_state, "share", row.assignor_name, coordinator,
        _sorted(members), row.group_epoch, row.assignment_epoch,
    )  # fmt: skip


def _read_streams(name: str, coordinator: int, row: Any) -> Group:
    sources = {
        part.subtopology_id: sorted(
            {*part.source_topics, *(topic.name for topic in part.repartition_source_topics)}
        )
        for part in (row.topology.subtopologies if row.topology else None) or ()
    }
    members = []
    for member in row.members:
        tasks = _tasks(member.assignment)
        reads = (
            TopicPartition(topic, task.partition)
            for task in tasks
            if task.role == "active"
            for topic in sources.get(task.subtopology, ())
        )
        members.append(
            Member(
                name, member.member_id, member.client_id, _host(member), member.instance_id,
                member.rack_id, member.member_epoch, assignment=tuple(sorted(reads)), tasks=tasks,
            )
        )  # fmt: skip
    return Group(
        name, GroupType.STREAMS, row.group_state, "streams", "", coordinator, _sorted(members),
        row.group_epoch, row.assignment_epoch,
    )  # fmt: skip


_READERS = {
    GroupType.CLASSIC: _read_classic,
    GroupType.CONSUMER: _read_consumer,
    GroupType.SHARE: _read_share,
    GroupType.STREAMS: _read_streams,
}


def _host(member: Any) -> str:
    """The address without the slash at the start of Java's host names."""
    return str(member.client_host).lstrip("/")


def _sorted(members: Iterable[Member]) -> tuple[Member, ...]:
    return tuple(sorted(members, key=lambda member: (member.client_id, member.id)))


def _assigned(assignment: Any) -> tuple[TopicPartition, ...]:
    return tuple(
        sorted(
            TopicPartition(topic.topic_name, partition)
            for topic in assignment.topic_partitions
            for partition in topic.partitions
        )
    )


def _tasks(assignment: Any) -> tuple[Task, ...]:
    roles = (
        ("active", assignment.active_tasks),
        ("standby", assignment.standby_tasks),
        ("warmup", assignment.warmup_tasks),
    )
    return tuple(
        Task(ids.subtopology_id, partition, role)
        for role, listed in roles
        for ids in listed
        for partition in sorted(ids.partitions)
    )


# -- metadata of classic members (ConsumerProtocolSubscription and -Assignment) --------------------
# The fields read here are the same in all versions. Other bytes are of another protocol.


def _topics(data: bytes | None) -> tuple[str, ...]:
    """The topics that a member is subscribed to."""
    reader = Reader(data or b"")
    try:
        reader.int16()  # version
        return tuple(sorted([reader.string() or "" for _ in range(reader.count())]))
    except MalformedError:
        return ()


def _partitions(data: bytes | None) -> tuple[TopicPartition, ...]:
    """The partitions assigned to a member."""
    reader = Reader(data or b"")
    found = []
    try:
        reader.int16()  # version
        for _ in range(reader.count()):
            topic = reader.string() or ""
            found += [TopicPartition(topic, reader.int32()) for _ in range(reader.count())]
    except MalformedError:
        return ()
    return tuple(sorted(found))
