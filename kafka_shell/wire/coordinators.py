"""Requests to the coordinators of many groups: one FindCoordinator, then one request for each
coordinator.

Groups whose coordinator has moved or whose broker is down are retried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import Resource
from kafka_shell.base.text import named
from kafka_shell.base.waits import FAILOVER_S
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    COORDINATOR_NOT_AVAILABLE,
    GROUP_ID_NOT_FOUND,
    TOPIC_AUTHORIZATION_FAILED,
)
from kafka_shell.wire.failures import COORDINATION, failure
from kafka_shell.wire.metadata_scan import is_missing, scan
from kafka_shell.wire.requests import Call, CoordinatorKind, Node

_MANY_KEYS = 4  # the first version of FindCoordinator for several groups (Kafka 3.0)
OFFSETS_TOPIC = "__consumer_offsets"
_NOT_SENT = frozenset({"refused", "connect-timeout", "unknown-broker"})


class GroupApi(Struct, frozen=True):
    """An API with many groups per request. `rows` is the field of the response with a row for each.

    Rows have a `group_id` and an `error_code`. `permission` is the operation that the API requires
    on the group.
    """

    request: Callable[[list[str]], Any]
    rows: str = "groups"
    permission: str = "DESCRIBE"
    lowest: int | None = None
    highest: int | None = None


class GroupResponses(Struct):
    """The responses for one group: a row or a Failure by API. `coordinator` is -1 if
    unknown."""

    coordinator: int = -1
    rows: dict[GroupApi, Any] = field(default_factory=dict)


ResponsesByGroup = dict[str, GroupResponses]


def without_coordinator(cluster: Cluster, topic: str, what: str) -> Failure | None:
    """Why no broker lists some of `what` (groups, transactions), which are stored in this internal
    topic: partitions of it have no leader, or one that is not asked because it does not respond.
    None if all coordinators are asked."""
    topics = scan(cluster, [topic])
    leaders = [row.leader for row in topics.topic(topic).partitions] if topic in topics else []
    asked = {None, *(broker.id for broker in cluster.brokers())}
    silent = [leader for leader in leaders if leader not in asked]
    lost = leaders.count(None) + len(silent)
    if not lost:
        return None
    partitions = "1 partition has" if lost == 1 else f"{lost} partitions have"
    leader = "leader that responds" if silent else "leader"
    return failure(
        COORDINATOR_NOT_AVAILABLE,
        text=f"{partitions} no {leader}, so the {what} stored there are not listed",
        about=f"topic {topic}",
        see=Resource("topic", topic),
    )


def find(
    cluster: Cluster,
    keys: Sequence[str],
    kind: CoordinatorKind = CoordinatorKind.GROUP,
    why: Callable[[str, int, str | None], Failure] | None = None,
) -> Results[str, int]:
    """The ID of each coordinator (FindCoordinator, API key 10): of groups, or of what is of another
    `kind`. `why` returns the failure of a key for an error code and the broker's message.

    Groups that do not exist have a coordinator, too.
    """
    results: Results[str, int] = Results()
    if not keys:
        return results
    why = why or _no_coordinator
    request = messages.FindCoordinatorRequest(key_type=int(kind), coordinator_keys=list(keys))
    for row in cluster.send(request, lowest=_MANY_KEYS, check=False).coordinators:
        if row.error_code:
            results.failures[row.key] = why(row.key, row.error_code, row.error_message)
        else:
            results.values[row.key] = row.node_id
    return results


def ask(cluster: Cluster, apis: Mapping[str, Sequence[GroupApi]]) -> ResponsesByGroup:
    """Send the requests of these APIs for each group to its coordinator, all at once, and again for
    some seconds to those whose coordinator has moved. Raises ShellError if no round succeeds.

    On a cluster without __consumer_offsets no group exists. Nothing is sent to it, because
    FindCoordinator would create that topic.
    """
    if apis and is_missing(cluster, OFFSETS_TOPIC):
        return {group: _failed(of_group, not_found(group)) for group, of_group in apis.items()}
    responses: ResponsesByGroup = {group: GroupResponses() for group in apis}
    left = list(apis)
    for _ in cluster.attempts(FAILOVER_S):
        try:
            left = _round(cluster, {group: apis[group] for group in left}, responses)
            lost = _lost(cluster, left) if left else {}
        except ShellError as error:
            if not any(response.rows for response in responses.values()):
                raise
            if error.code == "outcome-unknown":
                responses |= {key: _failed(apis[key], as_failure(error)) for key in left}
            break  # else the groups that are left keep the outcome of the previous round
        for group, why in lost.items():
            responses[group] = _failed(apis[group], why)
        left = [group for group in left if group not in lost]
        if not left:
            break
    return responses


def _failed(apis: Sequence[GroupApi], why: Failure) -> GroupResponses:
    return GroupResponses(-1, dict.fromkeys(apis, why))


def _lost(cluster: Cluster, groups: Sequence[str]) -> dict[str, Failure]:
    """The groups that get no coordinator until a broker is back: all replicas of the partition that
    stores them are offline."""
    metadata = scan(cluster, [OFFSETS_TOPIC])
    partitions = metadata.topic(OFFSETS_TOPIC).partitions if OFFSETS_TOPIC in metadata else ()
    offline = {
        partition.partition
        for partition in partitions
        if partition.leader is None and set(partition.replicas) <= set(partition.offline)
    }
    if not offline:
        return {}
    stored = {group: partition_of(group, len(partitions)) for group in groups}
    return {
        group: failure(
            COORDINATOR_NOT_AVAILABLE,
            text=f"partition {OFFSETS_TOPIC}:{number}, which stores the group, has no leader",
            about=f"group {named(group)}",
            see=Resource("topic", OFFSETS_TOPIC),
        )
        for group, number in stored.items()
        if number in offline
    }


def partition_of(group: str, partitions: int) -> int:
    """The partition of __consumer_offsets that stores a group: by the hash code of Java strings."""
    units = group.encode("utf-16-be", "surrogatepass")
    code = 0
    for at in range(0, len(units), 2):
        code = (31 * code + int.from_bytes(units[at : at + 2])) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return 0 if signed == -(1 << 31) else abs(signed) % partitions


def _round(
    cluster: Cluster, apis: Mapping[str, Sequence[GroupApi]], responses: ResponsesByGroup
) -> list[str]:
    """Send once and add to `responses`. Returns the groups to retry."""
    coordinators = find(cluster, list(apis))
    for group, why in coordinators.failures.items():
        responses[group] = _failed(apis[group], why)
    batches: dict[tuple[int, GroupApi], list[str]] = {}
    for group, node in coordinators.values.items():
        responses[group].coordinator = node
        for api in apis[group]:
            batches.setdefault((node, api), []).append(group)
    calls = [
        Call(api.request(groups), Node(node), lowest=api.lowest, highest=api.highest)
        for (node, api), groups in batches.items()
    ]
    for (_, api), groups, response in zip(
        batches, batches.values(), cluster.send_all(calls), strict=True
    ):
        for group, row in _rows(api, groups, response).items():
            responses[group].rows[api] = row
    return [group for group in apis if any(map(_is_retriable, responses[group].rows.values()))]


def _rows(api: GroupApi, groups: Sequence[str], response: Any) -> dict[str, Any]:
    """The row or Failure of each group."""
    if isinstance(response, Failure):
        return dict.fromkeys(groups, response)
    received = {row.group_id: row for row in getattr(response, api.rows)}
    rows: dict[str, Any] = {}
    for group in groups:
        row = received.get(group)
        if row is None:
            rows[group] = Failure("UNKNOWN", f"the response does not contain group {named(group)}")
        elif row.error_code:
            message = getattr(row, "error_message", None)
            rows[group] = _failure(group, row.error_code, message, api.permission)
        else:
            rows[group] = row
    return rows


def not_found(name: str) -> Failure:
    """The failure of a group that does not exist, whatever its type."""
    message = f"group {named(name)} does not exist"
    return failure(GROUP_ID_NOT_FOUND, text=message, see=Resource("group"))


def _is_retriable(row: Any) -> bool:
    if not isinstance(row, Failure):
        return False
    return row.code in COORDINATION or (row.code is None and row.name in _NOT_SENT)


def _no_coordinator(group: str, code: int, message: str | None) -> Failure:
    return _failure(group, code, message, "DESCRIBE")


def _failure(group: str, code: int, message: str | None, permission: str) -> Failure:
    required = f"{permission} on group {named(group)}"
    if code == TOPIC_AUTHORIZATION_FAILED:
        required = "DESCRIBE on every topic that its members read"
    return failure(code, message, about=f"group {named(group)}", requires=required)
