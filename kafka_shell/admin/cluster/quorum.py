"""The metadata quorum: leader, voters, observers and their lag (API key 55)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from kafka_shell.admin.cluster.model import Endpoint, Quorum, QuorumReplica
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.wire import parallel
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import Address, parse_addresses
from kafka_shell.admin.wire.failures import as_error, failure, requires
from kafka_shell.admin.wire.requests import Call, Node
from kafka_shell.admin.wire.uuids import format_uuid
from kafka_shell.common.resource import Resource
from kafka_shell.common.structs import replace
from kafka_shell.common.units import approximate_duration
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure

_TOPIC = "__cluster_metadata"
_NO_ID = UUID(int=0)
_PATIENCE_S = 8.0
_CONTROLLERS = ("controller.quorum.bootstrap.servers", "controller.quorum.voters")
_NO_RESPONSE = ("deadline", "REQUEST_TIMED_OUT", "NOT_CONTROLLER")
_BEHIND_MS = 3_000  # brokers fetch twice a second


def describe(cluster: Cluster) -> Quorum:
    """The metadata quorum (KIP-595, API key 55; Kafka 3.3 in KRaft mode), the leader first.

    Directory IDs and endpoints since Kafka 3.9 (KIP-853). Requires DESCRIBE on the cluster. Raises
    ShellError within 8 s: brokers wait longer if no controller responds to them.
    """
    try:
        return read(cluster.send(describe_request(), check=False, timeout=_PATIENCE_S))
    except ShellError as error:
        raise _explained(error) from error


def describe_through(cluster: Cluster, brokers: Sequence[int]) -> Quorum:
    """The same, through each of these brokers at once: one that is cut off from the active
    controller cannot forward the request. The response of the latest epoch counts. If none responds
    in time, the controllers are asked themselves: brokers may not know a new one yet. The code of
    the error is `no-controller` if neither way leads to an active controller."""
    if not brokers:
        return describe(cluster)
    calls = [Call(describe_request(), Node(id), check=False, timeout=_PATIENCE_S) for id in brokers]
    found, errors = list[Quorum](), list[ShellError]()
    for response in cluster.send_all(calls):
        try:
            if isinstance(response, Failure):
                raise as_error(response)
            found.append(read(response))
        except ShellError as error:
            errors.append(error)
    if not found and all(error.code in _NO_RESPONSE for error in errors):
        direct = _describe_directly(cluster, brokers[0])
        found = [each for each in direct if isinstance(each, Quorum)]
        if len(calls) + len(direct) > 1:
            errors[0].code = "no-controller"
    if not found:
        raise _explained(errors[0])
    return max(found, key=lambda each: each.leader_epoch)


def _describe_directly(cluster: Cluster, broker: int) -> list[Quorum | ShellError]:
    """The responses of the controllers that this broker is configured with. Only the active one
    describes the quorum."""
    resource = ConfigResource(ResourceType.BROKER, str(broker))
    entries = configs.describe(cluster, [resource], _CONTROLLERS).values.get(resource, ())
    text = ",".join(entry.value for entry in entries if entry.value)
    if not text:
        return []

    def ask(address: Address, _: Cluster) -> Quorum:
        config = replace(cluster.config, bootstrap=(address,), cluster_id="")
        with Cluster(config) as controller:
            return read(controller.send(describe_request(), check=False))

    each = {at: partial(ask, at) for at in parse_addresses(re.sub(r"\d+@", "", text))}
    return list(parallel.run_within(cluster.config, each, cluster.time_left(_PATIENCE_S)).values())


def _explained(error: ShellError) -> ShellError:
    if error.code not in (*_NO_RESPONSE, "no-controller"):
        return error
    return ShellError(
        f"the metadata quorum could not be described: {error.message}",
        code=error.code,
        see=Resource("cluster"),
        status=error.status,
    )


def behind(described: Quorum, brokers: Iterable[int]) -> dict[int, Failure]:
    """The brokers that were not caught up with the active controller in the last 3 s: what they
    return of the metadata is out of date."""
    ago: dict[int, int] = {}
    for each in described.replicas:
        if each.behind_ms >= 0:  # one that was reformatted is listed twice
            ago[each.id] = min(each.behind_ms, ago.get(each.id, each.behind_ms))
    return {
        id: Failure("STALE_METADATA", _out_of_date(id, ago.get(id)), see=Resource("cluster"))
        for id in brokers
        if id not in ago or ago[id] > _BEHIND_MS
    }


def _out_of_date(broker: int, ago: int | None) -> str:
    about = f"the metadata of broker {broker} is out of date"
    if ago is None:
        return f"{about}: it does not fetch from the active controller"
    time_ago = approximate_duration(ago / 1000)
    return f"{about}: it was last caught up with the active controller {time_ago} ago"


def _unreadable(response: Any) -> ShellError:
    hint = requires(response.error_code, "DESCRIBE on the cluster")
    return as_error(
        failure(response.error_code, response.error_message, about="the metadata quorum", hint=hint)
    )


def describe_request() -> Any:
    """DescribeQuorum of its only partition."""
    from kafka.protocol.admin import DescribeQuorumRequest

    kind = DescribeQuorumRequest.TopicData
    partition = kind.PartitionData(partition_index=0)
    return DescribeQuorumRequest(topics=[kind(topic_name=_TOPIC, partitions=[partition])])


def read(response: Any) -> Quorum:
    """The quorum from the response. Raises ShellError if the response or partition has an error."""
    if response.error_code:
        raise _unreadable(response)
    partition = response.topics[0].partitions[0]
    if partition.error_code:
        raise _unreadable(partition)
    endpoints = {
        node.node_id: tuple(
            Endpoint(listener.name, listener.host, listener.port) for listener in node.listeners
        )
        for node in response.nodes or ()
    }
    replicas = [
        _replica(row, partition, role, endpoints)
        for role, rows in (("voter", partition.current_voters), ("observer", partition.observers))
        for row in rows
    ]
    return Quorum(
        partition.leader_id,
        partition.leader_epoch,
        partition.high_watermark,
        tuple(sorted(replicas, key=lambda r: (r.role != "leader", r.role != "voter", r.id))),
    )


def _replica(
    row: Any, partition: Any, role: str, endpoints: dict[int, tuple[Endpoint, ...]]
) -> QuorumReplica:
    end = max(voter.log_end_offset for voter in partition.current_voters)
    now = max(voter.last_caught_up_timestamp for voter in partition.current_voters)
    caught_up, id = row.last_caught_up_timestamp, row.replica_directory_id
    return QuorumReplica(
        id=row.replica_id,
        role="leader" if role == "voter" and row.replica_id == partition.leader_id else role,
        log_end_offset=row.log_end_offset,
        lag=max(end - row.log_end_offset, 0),
        last_caught_up=caught_up,
        last_fetch=row.last_fetch_timestamp,
        behind_ms=max(now - caught_up, 0) if caught_up >= 0 else -1,
        directory_id=format_uuid(id.bytes) if id is not None and id != _NO_ID else "",
        endpoints=endpoints.get(row.replica_id, ()) if role == "voter" else (),
    )
