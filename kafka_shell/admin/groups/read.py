"""Groups: list and describe (API keys 16; 15, 69, 77, 89 by protocol; 9, 90 for their offsets)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kafka_shell.admin.acls import rights
from kafka_shell.admin.acls.model import AclOperation
from kafka_shell.admin.groups import offsets as group_offsets
from kafka_shell.admin.groups.describe import APIS, read
from kafka_shell.admin.groups.model import Group, GroupKey, GroupListing, GroupType, TopicReader
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.coordinators import (
    OFFSETS_TOPIC,
    GroupApi,
    GroupResponses,
    ask,
    without_coordinator,
)
from kafka_shell.admin.wire.error_codes import CLUSTER_AUTHORIZATION_FAILED, GROUP_ID_NOT_FOUND
from kafka_shell.admin.wire.failures import failure, requires
from kafka_shell.common.resource import Resource
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError, did_you_mean
from kafka_shell.plan.results import Failure, Results

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

    from kafka.protocol.admin import ListGroupsRequest

    request = ListGroupsRequest(
        states_filter=list(states),
        types_filter=[each.value for each in types],
        min_version=_BY_TYPE if types else _BY_STATE if states else None,
    )
    found = cluster.each_broker(request)
    listed = {
        row.group_id: GroupListing(
            row.group_id,
            GroupType(row.group_type),
            row.group_state,
            row.protocol_type,
            broker,
        )
        for broker, response in found.values.items()
        for row in response.groups
    }
    in_order = {name: listed[name] for name in sorted(listed)}
    failures = {Resource("broker", str(id)): why for id, why in found.failures.items()}
    if missing := without_coordinator(cluster, OFFSETS_TOPIC, "groups"):
        failures[Resource("topic", OFFSETS_TOPIC)] = missing
    return Results(in_order, failures)


def hidden(cluster: Cluster) -> Failure | None:
    """Why groups may be missing from the list: brokers list all only with DESCRIBE on the cluster
    (KIP-430). None if all are listed, or if the broker does not report it."""
    operations = rights.on_cluster(cluster)
    if operations is None or AclOperation.DESCRIBE in operations:
        return None
    hint = requires(CLUSTER_AUTHORIZATION_FAILED, "DESCRIBE on the cluster")
    text = "only groups that you may DESCRIBE are visible"
    return failure(CLUSTER_AUTHORIZATION_FAILED, text=text, hint=hint)


def is_active(group: Group | GroupListing) -> bool:
    """Whether a group has members."""
    return group.state not in _WITHOUT_MEMBERS


def describe(
    cluster: Cluster,
    names: Iterable[str],
    *,
    offsets: bool = False,
    types: Mapping[str, GroupType] | None = None,
) -> Results[GroupKey, Group]:
    """The groups with their members (API keys 15, 69, 77, 89), and with offsets and lag (9, 90).

    All coordinators are asked at once, each once for all its groups. If `types` are known, only the
    requests of these protocols are sent. An unknown group is a GROUP_ID_NOT_FOUND failure; its hint
    is a similar name. If offsets or the end of partitions cannot be read, other than of deleted
    topics, the key of the failure is a Resource that names them.
    """
    requested = list(dict.fromkeys(names))
    known = types or {}
    wanted = {name: _apis(known.get(name, GroupType.UNKNOWN), offsets) for name in requested}
    responses = ask(cluster, wanted)
    results: Results[str, Group] = Results()
    for name in requested:
        response = responses[name]
        rows = {kind: response.rows[each] for kind, each in APIS.items() if each in response.rows}
        group = read(name, response.coordinator, rows)
        if isinstance(group, Failure):
            results.failures[name] = group
        else:
            results.values[name] = group
    if offsets:
        results = group_offsets.with_offsets(cluster, results, responses)
    return Results(results.values, _with_similar_names(cluster, results.failures))


def describe_listed(
    cluster: Cluster, listed: Results[GroupKey, GroupListing], *, offsets: bool = False
) -> Results[GroupKey, Group]:
    """The groups of a list, as `describe` returns them, and the failures of the list. A group that
    was deleted since is left out: nobody asked for it by its name."""
    types = {name: each.type for name, each in listed.values.items()}
    found = describe(cluster, types, offsets=offsets, types=types)
    failures = {key: why for key, why in found.failures.items() if why.code != GROUP_ID_NOT_FOUND}
    return Results(found.values, listed.failures | failures)


def _apis(kind: GroupType, offsets: bool) -> list[GroupApi]:
    kinds = list(APIS) if kind is GroupType.UNKNOWN else [kind]
    requested = [APIS[each] for each in kinds]
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
    responses = ask(cluster, {each.name: _about_topics(each) for each in groups})
    results: Results[str, tuple[TopicReader, ...]] = Results()
    for each in groups:
        found = _readers(each, responses[each.name], topics)
        if isinstance(found, Failure):
            results.failures[each.name] = found
        else:
            results.values[each.name] = tuple(found)
    return results


def committed_offsets(
    cluster: Cluster, groups: Sequence[GroupListing]
) -> Results[str, dict[TopicPartition, int]]:
    """The committed offsets of each group, of share groups their start offsets (API keys 9, 90).

    All coordinators are asked at once. A group that is gone has none.
    """
    types = {each.name: each.type for each in groups}
    wanted = {
        name: [group_offsets.SHARED if kind is GroupType.SHARE else group_offsets.COMMITTED]
        for name, kind in types.items()
    }
    results: Results[str, dict[TopicPartition, int]] = Results()
    for name, response in ask(cluster, wanted).items():
        found = group_offsets.of_responses(types[name], response)
        if not isinstance(found, Failure):
            known = {each: row.offset for each, row in found.items() if row.offset is not None}
            results.values[name] = known
        elif found.code != GROUP_ID_NOT_FOUND:
            results.failures[name] = found
    return results


def _about_topics(listing: GroupListing) -> list[GroupApi]:
    apis = _apis(listing.type, True)
    if is_active(listing):
        return apis
    return [each for each in apis if each not in APIS.values()] or apis


def _readers(
    listing: GroupListing, response: GroupResponses, topics: Collection[str]
) -> Iterator[TopicReader] | Failure:
    """The readers of one group, or why it could not be read; a group that is gone has none."""
    rows = {kind: response.rows[each] for kind, each in APIS.items() if each in response.rows}
    group = read(listing.name, response.coordinator, rows) if rows else None
    offsets = group_offsets.of_responses(listing.type, response)
    for found in (group, offsets):
        if isinstance(found, Failure):
            return iter(()) if found.code == GROUP_ID_NOT_FOUND else found
    assert not isinstance(group, Failure) and not isinstance(offsets, Failure)
    committed = Counter(each.topic for each in offsets if each.topic in topics)
    members: dict[str, list[str]] = {}
    for member in group.members if group else ():
        for topic in {*member.subscription, *(each.topic for each in member.assignment)}:
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
    found = dict(failures)
    for name in missing:
        found[name] = replace(found[name], see=Resource("unknown-group", name))
    if not 0 < len(missing) <= _MOST_UNKNOWN:
        return found
    try:
        existing = list_groups(cluster).values
    except ShellError:
        return found
    for name in missing:
        found[name] = replace(found[name], hint=did_you_mean(name, existing))
    return found
