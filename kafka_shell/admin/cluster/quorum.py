"""The metadata quorum: leader, voters, observers and their lag (API key 55)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from msgspec import Struct

from kafka_shell.admin.cluster.model import FRESH_MS, Endpoint, Quorum, QuorumReplica, Voter
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.steps import BaseStep, row_failure
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Change, Effect, Order, Outcomes, Plan
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.units import approximate_duration, counted
from kafka_shell.base.waits import CHANGE_MS
from kafka_shell.wire import cluster as parallel
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.endpoint import Address, parse_addresses
from kafka_shell.wire.error_codes import (
    DUPLICATE_VOTER,
    INVALID_REQUEST,
    UNSUPPORTED_VERSION,
    VOTER_NOT_FOUND,
)
from kafka_shell.wire.failures import as_error, failure
from kafka_shell.wire.frames import format_uuid, uuid_of
from kafka_shell.wire.requests import Call, Node, response_timeout

T = TypeVar("T")

_TOPIC = "__cluster_metadata"
_CONTROLLER_ENDPOINTS = 2  # of DescribeCluster
_NO_ID = UUID(int=0)
_PATIENCE_S = 8.0
_CONTROLLERS = ("controller.quorum.bootstrap.servers", "controller.quorum.voters")
_NO_RESPONSE = ("deadline", "REQUEST_TIMED_OUT", "NOT_CONTROLLER")


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
    quorums, errors = list[Quorum](), list[ShellError]()
    for response in cluster.send_all(calls):
        try:
            if isinstance(response, Failure):
                raise as_error(response)
            quorums.append(read(response))
        except ShellError as error:
            errors.append(error)
    if not quorums and all(error.code in _NO_RESPONSE for error in errors):
        direct = _describe_directly(cluster, brokers[0])
        quorums = [answer for answer in direct if isinstance(answer, Quorum)]
        if len(calls) + len(direct) > 1:
            errors[0].code = "no-controller"
    if not quorums:
        raise _explained(errors[0])
    return max(quorums, key=lambda quorum: quorum.leader_epoch)


def controllers(cluster: Cluster, broker: int) -> tuple[Address, ...]:
    """The addresses of the controllers that this broker is configured with."""
    resource = ConfigResource(ResourceType.BROKER, str(broker))
    entries = configs.describe(cluster, [resource], _CONTROLLERS).values.get(resource, ())
    text = ",".join(entry.value for entry in entries if entry.value)
    return tuple(parse_addresses(re.sub(r"\d+@", "", text))) if text else ()


def controller_ids(cluster: Cluster, running: Iterable[Address]) -> dict[Address, int]:
    """The IDs of all controllers by address, as far as one of the `running` ones knows them
    (DescribeCluster v1, KIP-919; Kafka 3.7)."""
    request = messages.DescribeClusterRequest(endpoint_type=_CONTROLLER_ENDPOINTS)
    ids: dict[Address, int] = {}
    for response in _ask_directly(cluster, running, lambda own: own.send(request, lowest=1)):
        if not isinstance(response, ShellError):
            ids |= {Address(row.host, row.port): row.broker_id for row in response.brokers}
    return ids


def _describe_directly(cluster: Cluster, broker: int) -> list[Quorum | ShellError]:
    """The responses of the controllers that this broker is configured with. Only the active one
    describes the quorum."""
    at = controllers(cluster, broker)
    return _ask_directly(cluster, at, lambda own: read(own.send(describe_request(), check=False)))


def _ask_directly(
    cluster: Cluster, controllers: Iterable[Address], ask: Callable[[Cluster], T]
) -> list[T | ShellError]:
    """The answers of these controllers, which are asked all at once."""

    def connect(address: Address, _: Cluster) -> T:
        config = replace(cluster.config, bootstrap=(address,), cluster_id="")
        with Cluster(config) as controller:
            return ask(controller)

    each = {at: partial(connect, at) for at in controllers}
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
    for replica in described.replicas:
        if replica.behind_ms >= 0:  # one that was reformatted is listed twice
            ago[replica.id] = min(replica.behind_ms, ago.get(replica.id, replica.behind_ms))
    return {
        id: Failure("STALE_METADATA", _out_of_date(id, ago.get(id)), see=Resource("cluster"))
        for id in brokers
        if id not in ago or ago[id] > FRESH_MS
    }


def _out_of_date(broker: int, ago: int | None) -> str:
    about = f"the metadata of broker {broker} is out of date"
    if ago is None:
        return f"{about}: it does not fetch from the active controller"
    time_ago = approximate_duration(ago / 1000)
    return f"{about}: it was last caught up with the active controller {time_ago} ago"


def _unreadable(response: Any) -> ShellError:
    code, message = response.error_code, response.error_message
    requires = "DESCRIBE on the cluster"
    return as_error(failure(code, message, about="the metadata quorum", requires=requires))


def describe_request() -> Any:
    """DescribeQuorum of its only partition."""
    kind = messages.DescribeQuorumRequest.TopicData
    partition = kind.PartitionData(partition_index=0)
    return messages.DescribeQuorumRequest(topics=[kind(topic_name=_TOPIC, partitions=[partition])])


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


# Plans that add and remove voters (KIP-853; API keys 80, 81).

UNKNOWN_DIRECTORY_ID = "unknown-directory-id"
_FAR_BEHIND = 1_000  # records; the leader refuses a voter that has not caught up


class AddVoter(Struct, BaseStep, frozen=True):
    """One AddRaftVoter request (KIP-853, API key 80), done when the new set is committed.

    The leader refuses a voter that has not caught up.
    """

    voter: Voter
    timeout_ms: int

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change(_resource(self.voter.id), "create", after=_format_voter(self.voter)),)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        request = messages.AddRaftVoterRequest(
            cluster_id=cluster.cluster_id,
            timeout_ms=self.timeout_ms,
            voter_id=self.voter.id,
            voter_directory_id=uuid_of(self.voter.directory_id),
            listeners=[
                messages.AddRaftVoterRequest.Listener(
                    name=endpoint.name, host=endpoint.host, port=endpoint.port
                )
                for endpoint in self.voter.endpoints
            ],
        )
        call = Call(request, check=False, timeout=response_timeout(self.timeout_ms))
        return _send(cluster, call, self.changes[0], self.voter, votes=True)


class RemoveVoter(Struct, BaseStep, frozen=True):
    """One RemoveRaftVoter request (KIP-853, API key 81). A leader that removes itself resigns.
    `earlier` are the steps that are sent before."""

    voter: Voter
    earlier: tuple[AddVoter | RemoveVoter, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change(_resource(self.voter.id), "delete", before=_format_voter(self.voter)),)

    def reread(self, cluster: Cluster) -> RemoveVoter:
        quorum = describe(cluster)
        for replica in quorum.voters:
            if _key(replica) == _key(self.voter):
                lost = _Majority.of(quorum, self.earlier).lost_without(self.voter)
                if lost is not None:
                    raise as_error(lost)
                return replace(self, voter=_voter(replica))
        raise as_error(_no_voter(self.voter, "it was removed"))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        request = messages.RemoveRaftVoterRequest(
            cluster_id=cluster.cluster_id,
            voter_id=self.voter.id,
            voter_directory_id=uuid_of(self.voter.directory_id),
        )
        call = Call(request, check=False)
        return _send(cluster, call, self.changes[0], self.voter, votes=False)


def plan_alter(
    cluster: Cluster,
    add: Sequence[Voter] = (),
    remove: Sequence[Voter] = (),
    *,
    timeout_ms: int = CHANGE_MS,
) -> Plan:
    """Add and remove voters, one after the other: a quorum changes by one at a time (API keys 80,
    81).

    Missing parts are looked up: the directory ID of an observer or voter, the name of a
    controller's listener. Additions come first, so that the quorum is not smaller than needed;
    only a voter that is replaced with another directory is removed before.
    """
    quorum = describe(cluster)
    if not any(voter.directory_id for voter in quorum.voters):
        requested = {_resource(voter.id): _STATIC for voter in (*add, *remove)}
        return Plan(Effect.CHANGE, (), refused=Results({}, requested))
    refused: dict[Resource, Failure] = {}
    adding, removing = [], []
    for voter in remove:
        checked = _voter_to_remove(quorum, voter)
        if isinstance(checked, Failure):
            refused[_resource(voter.id)] = checked
        else:
            removing.append(RemoveVoter(checked))
    if removing and len(removing) == len(quorum.voters) and not add:
        refused |= {_resource(step.voter.id): _LAST for step in removing}
        removing = []
    replaced = {step.voter.id for step in removing}
    for voter in add:
        checked = _voter_to_add(quorum, voter, replaced)
        if isinstance(checked, Failure):
            refused[_resource(voter.id)] = checked
        else:
            adding.append(AddVoter(checked, timeout_ms))
    back = {step.voter.id for step in adding}
    live = _Majority.of(quorum).live
    first = [step for step in removing if step.voter.id in back]
    last = [step for step in removing if step.voter.id not in back]
    last.sort(key=lambda step: _key(step.voter) in live)  # a majority of fewer voters is smaller
    ordered: list[AddVoter | RemoveVoter] = [*first, *adding, *last]
    steps: list[AddVoter | RemoveVoter] = []
    for step in ordered:
        lost = None
        if isinstance(step, RemoveVoter):
            lost = _Majority.of(quorum, steps).lost_without(step.voter)
            step = replace(step, earlier=tuple(steps))
        if lost is None:
            steps.append(step)
        else:
            refused[_resource(step.voter.id)] = lost
    return Plan(
        Effect.DESTROY if removing else Effect.CHANGE,
        tuple(steps),
        order=Order.CHAINED,
        refused=Results({}, refused),
        advice=Advice(warnings=tuple(_warnings(quorum, steps))),
    )


def _voter_to_remove(quorum: Quorum, voter: Voter) -> Voter | Failure:
    candidates = [replica for replica in quorum.voters if replica.id == voter.id]
    replicas = [
        candidate for candidate in candidates if voter.directory_id in ("", candidate.directory_id)
    ]
    if not candidates:
        ids = ", ".join(map(str, sorted(replica.id for replica in quorum.voters)))
        return _no_voter(voter, f"the voters are {ids}")
    if not replicas:
        return _no_voter(voter, f"its directory ID is {candidates[0].directory_id}")
    return _voter(replicas[0])


def _no_voter(voter: Voter, why: str) -> Failure:
    directory = f" with directory ID {voter.directory_id}" if voter.directory_id else ""
    return failure(
        VOTER_NOT_FOUND,
        text=f"voter {voter.id}{directory} does not exist: {why}",
        see=Resource("voter"),
    )


def _voter_to_add(quorum: Quorum, voter: Voter, replaced: Iterable[int]) -> Voter | Failure:
    """The voter with its missing parts, as known to the quorum."""
    if any(replica.id == voter.id for replica in quorum.voters) and voter.id not in replaced:
        text = f"controller {voter.id} is already a voter"
        return failure(DUPLICATE_VOTER, text=text, see=Resource("voter"))
    directory = voter.directory_id
    if not directory:
        known = {r.directory_id for r in quorum.replicas if r.id == voter.id and not r.votes}
        if len(known) != 1 or known == {""}:
            why = "it is not an observer of the quorum"
            if known:
                several = len(known) > 1
                why = "more than one observer has this ID" if several else "it is not reported"
            return Failure(
                UNKNOWN_DIRECTORY_ID,
                f"the directory ID of controller {voter.id} is unknown: {why}",
                hint="Start the controller first: it must catch up before it can be a voter. Or"
                " specify its directory ID.",
            )
        (directory,) = known
    name = next((endpoint.name for r in quorum.voters for endpoint in r.endpoints), "CONTROLLER")
    endpoints = tuple(replace(endpoint, name=endpoint.name or name) for endpoint in voter.endpoints)
    return Voter(voter.id, directory, endpoints)


class _Majority(Struct, frozen=True):
    """The voters of a quorum, and those of them that keep up with the leader."""

    voters: frozenset[tuple[int, str]]
    live: frozenset[tuple[int, str]]

    @classmethod
    def of(cls, quorum: Quorum, steps: Iterable[AddVoter | RemoveVoter] = ()) -> _Majority:
        """The majority after these steps. The leader adds no voter that does not keep up."""
        voters = {_key(voter) for voter in quorum.voters}
        live = {_key(voter) for voter in quorum.voters if voter.keeps_up}
        for step in steps:
            if isinstance(step, AddVoter):
                voters.add(_key(step.voter))
                live.add(_key(step.voter))
            else:
                voters.discard(_key(step.voter))
                live.discard(_key(step.voter))
        return cls(frozenset(voters), frozenset(live))

    @property
    def behind(self) -> list[int]:
        """The voters that do not keep up."""
        return sorted(id for id, _ in self.voters - self.live)

    @property
    def tolerated(self) -> int:
        """How many more voters may fail."""
        return max(len(self.live) - len(self.voters) // 2 - 1, 0)

    def lost_without(self, voter: Voter) -> Failure | None:
        """Why a voter cannot be removed: too few of those that are left keep up, so that nothing
        could be committed any more, the removal included."""
        if _key(voter) not in self.live:
            return None
        if len(self.voters) == 1:
            return _LAST
        left, required = len(self.live) - 1, (len(self.voters) - 1) // 2 + 1
        if left >= required:
            return None
        behind = ", ".join(map(str, self.behind))
        one = len(self.behind) == 1
        those = f"Voter {behind} has" if one else f"Voters {behind} have"
        them = "it" if one else "them"
        return Failure(
            "majority-lost",
            f"the metadata quorum would lose its majority without voter {voter.id}:"
            f" {counted(left, 'voter')} left, {required} required",
            hint=f"{those} not caught up with the leader: start or remove {them} first.",
            see=Resource("voter"),
        )


def _warnings(quorum: Quorum, steps: Sequence[AddVoter | RemoveVoter]) -> Iterable[str]:
    ids = [step.voter.id for step in steps if isinstance(step, AddVoter)]
    for replica in quorum.replicas:
        if replica.id in ids and not replica.votes and replica.lag > _FAR_BEHIND:
            yield (
                f"observer {replica.id} is {replica.lag:,} records behind the leader and cannot be"
                " added until it catches up"
            )
    if len(ids) < len(steps):
        majority = _Majority.of(quorum, steps)
        left, failures = len(majority.voters), majority.tolerated
        voters = "1 voter is" if left == 1 else f"{left} voters are"
        behind = f" ({len(majority.behind)} not caught up)" if majority.behind else ""
        tolerated = {0: "no failure", 1: "1 failure"}.get(failures, f"{failures} failures")
        yield f"{voters} left{behind}: the quorum then tolerates {tolerated}"


_LAST = failure(
    INVALID_REQUEST,
    text="the last voter of the quorum cannot be removed",
    hint="Add another voter first, as ID@HOST:PORT.",
    see=Resource("voter"),
)


_STATIC = failure(
    UNSUPPORTED_VERSION,
    text="the quorum of this cluster is static (kraft.version is 0)",
    hint="Set the feature kraft.version to 1 first.",
    see=Resource("feature"),
)


def _send(cluster: Cluster, call: Call, change: Change, voter: Voter, *, votes: bool) -> Outcomes:
    (row,) = cluster.send_all([call])
    about = change.resource
    failure = row_failure(row, about, requires="ALTER on the cluster", see=Resource("voter"))
    if failure is None:
        wait_until_visible(lambda: _votes(cluster, voter) is votes)
    return Results.of([change], [failure])


def _votes(cluster: Cluster, voter: Voter) -> bool | None:
    """Whether it is a voter; None while the quorum has no leader: the next step needs one."""
    try:
        now = describe(cluster).voters
    except ShellError as error:
        if error.code == "CLUSTER_AUTHORIZATION_FAILED":
            raise
        return None
    return any(_key(replica) == _key(voter) for replica in now)


def _resource(id: int) -> Resource:
    return Resource("voter", str(id))


def _key(each: Voter | QuorumReplica) -> tuple[int, str]:
    return each.id, each.directory_id


def _voter(replica: QuorumReplica) -> Voter:
    return Voter(replica.id, replica.directory_id, replica.endpoints)


def _format_voter(voter: Voter) -> str:
    """`CONTROLLER://host:port:directory ID`, as in `--add ID@...`."""
    return f"{','.join(map(str, voter.endpoints))}:{voter.directory_id}"
