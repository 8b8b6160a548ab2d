"""Groups: list and describe (API keys 16; 15, 69, 77, 89 by protocol; 9, 90 for their offsets)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kafka_shell.admin.acls import rights
from kafka_shell.admin.acls.model import AclOperation
from kafka_shell.admin.groups import offsets as group_offsets
from kafka_shell.admin.groups import time_lag
from kafka_shell.admin.groups.model import (
    Group,
    GroupKey,
    GroupListing,
    GroupType,
    Member,
    Task,
    TopicReader,
)
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.errors import ShellError, did_you_mean
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.units import some
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.coordinators import (
    OFFSETS_TOPIC,
    GroupApi,
    GroupResponses,
    ask,
    not_found,
    without_coordinator,
)
from kafka_shell.wire.error_codes import CLUSTER_AUTHORIZATION_FAILED, GROUP_ID_NOT_FOUND
from kafka_shell.wire.failures import failure
from kafka_shell.wire.frames import MalformedError, Reader
from kafka_shell.wire.metadata_scan import scan

# The descriptions of groups by all protocols (API keys 15, 69, 77, 89) as one model.

_CONSUMER = "consumer"  # the only protocol type whose member metadata is decoded


# -- the APIs ------------------------------------------------------------------------------------


APIS = {
    GroupType.CLASSIC: GroupApi(lambda ids: messages.DescribeGroupsRequest(groups=ids)),
    GroupType.CONSUMER: GroupApi(lambda ids: messages.ConsumerGroupDescribeRequest(group_ids=ids)),
    GroupType.SHARE: GroupApi(lambda ids: messages.ShareGroupDescribeRequest(group_ids=ids)),
    GroupType.STREAMS: GroupApi(lambda ids: messages.StreamsGroupDescribeRequest(group_ids=ids)),
}

# A group has one protocol: requests of the others fail with one of these, or do not exist.
# The group with the empty ID can only be a classic one; others fail with INVALID_GROUP_ID.
_NOT_OF_THIS = frozenset({"GROUP_ID_NOT_FOUND", "INVALID_GROUP_ID", "UNSUPPORTED_VERSION",
                          "unsupported-api", "unsupported-version"})  # fmt: skip


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
    partitions = []
    try:
        reader.int16()  # version
        for _ in range(reader.count()):
            topic = reader.string() or ""
            partitions += [TopicPartition(topic, reader.int32()) for _ in range(reader.count())]
    except MalformedError:
        return ()
    return tuple(sorted(partitions))


_WITHOUT_MEMBERS = ("Empty", "Dead")
_MOST_UNKNOWN = 10  # more unknown names than this are an outdated list, not typing errors
_BY_STATE, _BY_TYPE = 4, 5  # the first versions of ListGroups with filters (Kafka 2.6, 3.8)


def list_groups(
    cluster: Cluster, states: Sequence[str] = (), types: Sequence[GroupType] = ()
) -> Results[GroupKey, GroupListing]:
    """The visible groups by name, from all brokers at once (ListGroups, API key 16).

    `states` are as in Kafka. The key of a failure is a Resource: the broker whose groups are
    missing, or the topic `__consumer_offsets` if no broker is the coordinator of some groups.
    Raises ShellError if no broker can be reached.
    """
    request = messages.ListGroupsRequest(
        states_filter=list(states),
        types_filter=[group_type.value for group_type in types],
        min_version=_BY_TYPE if types else _BY_STATE if states else None,
    )
    answers = cluster.each_broker(request)
    listed = {
        row.group_id: GroupListing(
            row.group_id,
            GroupType(row.group_type),
            row.group_state,
            row.protocol_type,
            broker,
        )
        for broker, response in answers.values.items()
        for row in response.groups
    }
    in_order = {name: listed[name] for name in sorted(listed)}
    failures = {Resource("broker", str(id)): why for id, why in answers.failures.items()}
    if missing := without_coordinator(cluster, OFFSETS_TOPIC, "groups"):
        failures[Resource("topic", OFFSETS_TOPIC)] = missing
    return Results(in_order, failures)


def hidden(cluster: Cluster) -> Failure | None:
    """Why groups may be missing from the list: brokers list all only with DESCRIBE on the cluster
    (KIP-430). None if all are listed, or if the broker does not report it."""
    operations = rights.on_cluster(cluster)
    if operations is None or AclOperation.DESCRIBE in operations:
        return None
    text, requires = "groups without DESCRIBE permission are hidden", "DESCRIBE on the cluster"
    return failure(CLUSTER_AUTHORIZATION_FAILED, text=text, requires=requires)


def is_active(group: Group | GroupListing) -> bool:
    """Whether a group has members."""
    return group.state not in _WITHOUT_MEMBERS


def describe(
    cluster: Cluster,
    names: Iterable[str],
    *,
    offsets: bool = False,
    times: bool = False,
    types: Mapping[str, GroupType] | None = None,
) -> Results[GroupKey, Group]:
    """The groups with their members (API keys 15, 69, 77, 89), with `offsets` and lag (9, 90), and
    with `times` also the lag in time (1), which requires READ on the topics.

    All coordinators are asked at once, each once for all its groups. If `types` are known, only the
    requests of these protocols are sent. An unknown group is a GROUP_ID_NOT_FOUND failure; its hint
    is a similar name. If offsets, the end of partitions or the lag in time cannot be read, other
    than of deleted topics, the key of the failure is a Resource that names them.
    """
    requested = list(dict.fromkeys(names))
    known = types or {}
    offsets = offsets or times
    wanted = {name: _apis(known.get(name, GroupType.UNKNOWN), offsets) for name in requested}
    responses = ask(cluster, wanted)

    def outcome(name: str) -> Group | Failure:
        response = responses[name]
        rows = {kind: response.rows[each] for kind, each in APIS.items() if each in response.rows}
        return read(name, response.coordinator, rows)

    results: Results[str, Group] = Results.collect((name, outcome(name)) for name in requested)
    if offsets:
        results = group_offsets.with_offsets(cluster, results, responses)
    if times:
        results = time_lag.with_time_lag(cluster, results)
    return Results(results.values, _with_similar_names(cluster, results.failures))


def describe_listed(
    cluster: Cluster, listed: Results[GroupKey, Any], *, offsets: bool = False
) -> Results[GroupKey, Group]:
    """The groups of a list, as `describe` returns them, and the failures of the list. A group that
    was deleted since is left out, unless its value is None: somebody asked for it by its name."""
    types = {name: each.type for name, each in listed.values.items() if each is not None}
    groups = describe(cluster, listed.values, offsets=offsets, types=types)
    failures = {
        name: why
        for name, why in groups.failures.items()
        if why.code != GROUP_ID_NOT_FOUND or name not in types
    }
    return Results(groups.values, listed.failures | failures)


def _apis(kind: GroupType, offsets: bool) -> list[GroupApi]:
    kinds = list(APIS) if kind is GroupType.UNKNOWN else [kind]
    requested = [APIS[group_type] for group_type in kinds]
    if offsets and kinds != [GroupType.SHARE]:
        requested.append(group_offsets.COMMITTED)
    if offsets and GroupType.SHARE in kinds:
        requested.append(group_offsets.SHARED)
    return requested


# -- who reads a topic -----------------------------------------------------------------------------


def readers(
    cluster: Cluster, groups: Sequence[GroupListing], topics: Collection[str]
) -> Results[str, tuple[TopicReader, ...]]:
    """The topics that each group reads: those of its members, and those with committed offsets.

    All coordinators are asked at once, about members only for groups that have some.
    """
    responses = ask(cluster, {group.name: _about_topics(group) for group in groups})
    return Results.collect(
        (group.name, _readers(group, responses[group.name], topics)) for group in groups
    ).map(tuple)


def committed_offsets(
    cluster: Cluster, groups: Sequence[GroupListing]
) -> Results[str, dict[TopicPartition, int]]:
    """The committed offsets of each group, of share groups their start offsets (API keys 9, 90).

    All coordinators are asked at once. A group that is gone has none.
    """
    types = {group.name: group.type for group in groups}
    wanted = {
        name: [group_offsets.SHARED if kind is GroupType.SHARE else group_offsets.COMMITTED]
        for name, kind in types.items()
    }
    results: Results[str, dict[TopicPartition, int]] = Results()
    for name, response in ask(cluster, wanted).items():
        offsets = group_offsets.of_responses(types[name], response)
        if not isinstance(offsets, Failure):
            known = {each: row.offset for each, row in offsets.items() if row.offset is not None}
            results.values[name] = known
        elif offsets.code != GROUP_ID_NOT_FOUND:
            results.failures[name] = offsets
    return results


def _about_topics(listing: GroupListing) -> list[GroupApi]:
    apis = _apis(listing.type, True)
    if is_active(listing):
        return apis
    return [group_api for group_api in apis if group_api not in APIS.values()] or apis


def _readers(
    listing: GroupListing, response: GroupResponses, topics: Collection[str]
) -> Iterator[TopicReader] | Failure:
    """The readers of one group, or why it could not be read; a group that is gone has none."""
    rows = {kind: response.rows[each] for kind, each in APIS.items() if each in response.rows}
    group = read(listing.name, response.coordinator, rows) if rows else None
    offsets = group_offsets.of_responses(listing.type, response)
    for results in (group, offsets):
        if isinstance(results, Failure):
            return iter(()) if results.code == GROUP_ID_NOT_FOUND else results
    assert not isinstance(group, Failure) and not isinstance(offsets, Failure)
    committed = Counter(partition.topic for partition in offsets if partition.topic in topics)
    members: dict[str, list[str]] = {}
    for member in group.members if group else ():
        for topic in {*member.subscription, *(partition.topic for partition in member.assignment)}:
            if topic in topics:
                members.setdefault(topic, []).append(member.client_id)
    return (
        TopicReader(
            topic, listing.name, listing.type, listing.state, len(members.get(topic, ())),
            tuple(sorted(set(members.get(topic, ())))), committed[topic],
        )
        for topic in sorted({*members, *committed})
    )  # fmt: skip


def _with_similar_names(cluster: Cluster, failures: Mapping[str, Failure]) -> dict[str, Failure]:
    """The failures; the hint of an unknown group is a similar name, unless many are unknown:
    comparing each of them with all names takes too long."""
    missing = [name for name, failure in failures.items() if failure.code == GROUP_ID_NOT_FOUND]
    explained = dict(failures)
    if not 0 < len(missing) <= _MOST_UNKNOWN:
        return explained
    try:
        existing = list_groups(cluster).values
    except ShellError:
        return explained
    for name in missing:
        explained[name] = replace(explained[name], hint=did_you_mean(name, existing))
    return explained


# Internal topics and local state of Kafka Streams applications, besides their group.

_ENDINGS = ("-changelog", "-repartition")
_NAMED = 5  # topics that a warning names


def warnings(cluster: Cluster, groups: Iterable[str], operation: str) -> tuple[str, ...]:
    """A warning for each group of a Streams application. `operation` ('deleting the group') leaves
    its other data.

    Requires the metadata of all topics, and, if any is internal to one of these groups, the list of
    groups. Without that list, topics of another application whose name continues that of a group
    are taken for its own.
    """
    requested = list(groups)
    if not requested:
        return ()
    names = [name for name in scan(cluster).names if name.endswith(_ENDINGS)]
    if not _by_group(names, set(requested)):
        return ()
    internal = _by_group(names, {*requested, *_existing(cluster)})
    return tuple(
        f"group {group} looks like a Kafka Streams application: use kafka-streams-application-reset"
        f" as well, because {operation} keeps its internal topics ({some(internal[group], _NAMED)})"
        " and local state (state.dir)"
        for group in requested
        if group in internal
    )


def _existing(cluster: Cluster) -> Iterable[str]:
    try:
        return list_groups(cluster).values
    except ShellError:
        return ()


def _by_group(names: Iterable[str], groups: Container[str]) -> dict[str, list[str]]:
    """The internal topics of each of these groups, by Kafka Streams' naming convention: a topic
    starts with the application.id, which is the name of the group, and a hyphen. Of several groups
    (orders, orders-enricher), it is that with the longest name."""
    names_by_group: dict[str, list[str]] = {}
    for name in names:
        end = name.rfind("-")
        while end > 0 and name[:end] not in groups:
            end = name.rfind("-", 0, end)
        if end > 0:
            names_by_group.setdefault(name[:end], []).append(name)
    return names_by_group
