"""Leader elections: preferred, or unclean (KIP-183, 460; API key 43)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from msgspec import Struct

from kafka_shell.admin.partitions.model import ElectionStatus, LeaderStatus, TopicPartition
from kafka_shell.admin.records.offsets import by_topic
from kafka_shell.admin.steps import Field, FieldsStep, row_failure
from kafka_shell.admin.topics.partitions import find
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Change, Effect, Plan, Resource, Value
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.base.waits import CHANGE_MS
from kafka_shell.wire import error_codes as codes
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import failure
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.model import Partition
from kafka_shell.wire.requests import CONTROLLER, response_timeout
from kafka_shell.wire.rounds import in_requests

_PREFERRED, _UNCLEAN = 0, 1  # election types
_LEADER, _NO_LEADER = "leader", "none"
_REQUIRES = "ALTER on the cluster"

Found = Results[Resource, Partition]


class Election(Struct, frozen=True):
    """A partition, and the leader to elect."""

    partition: TopicPartition
    after: int


class ElectLeaders(FieldsStep[Election], frozen=True):
    """One ElectLeaders request (KIP-183, 460; API key 43). `unclean` requires version 1."""

    unclean: bool = False
    timeout_ms: int = CHANGE_MS

    def change(self, item: Election) -> Change:
        change = self.altered(item.partition.resource, _LEADER, item.after)
        note = "records missing on this replica are lost" if self.unclean else ""
        return replace(change, note=note, reversible=not self.unclean)

    def read(self, cluster: Cluster) -> Mapping[Field, Value]:
        return _leaders(find(cluster, [election.partition for election in self.items]))

    def reread(self, cluster: Cluster) -> Self:
        """The current leaders. Brokers reject partitions that were deleted since."""
        return replace(self, now={**self.now, **self.read(cluster)})

    def is_visible(self, change: Change, now: Mapping[Field, Value]) -> bool:
        """The controller decides which replica an unclean election elects. Partitions may be
        deleted meanwhile."""
        leader = now.get((change.resource, _LEADER), change.after)
        return leader != _NO_LEADER if self.unclean else leader == change.after

    def send_request(self, cluster: Cluster, validate_only: bool) -> Iterable[Failure | None]:
        response = cluster.send(
            self._request([election.partition for election in self.items]),
            to=CONTROLLER,
            timeout=response_timeout(self.timeout_ms),
            requires=_REQUIRES,
        )
        rows = {
            TopicPartition(topic.topic, row.partition_id): row
            for topic in response.replica_election_results
            for row in topic.partition_result
        }
        return [_failure(item.partition, rows.get(item.partition)) for item in self.items]

    def _request(self, partitions: Iterable[TopicPartition]) -> Any:
        return messages.ElectLeadersRequest(
            election_type=_UNCLEAN if self.unclean else _PREFERRED,
            topic_partitions=[
                messages.ElectLeadersRequest.TopicPartitions(
                    topic=name, partitions=[partition.partition for partition in group]
                )
                for name, group in by_topic(partitions).items()
            ],
            timeout_ms=self.timeout_ms,
        )


def _leaders(partitions: Results[Any, Partition]) -> Mapping[Field, Value]:
    """The leader of each partition."""
    return {
        (_at(row).resource, _LEADER): _NO_LEADER if row.leader is None else row.leader
        for row in partitions
    }


def misplaced(cluster: Cluster) -> Found:
    """All partitions not led by their preferred replica."""
    metadata = _scan(cluster)
    return _decoded(metadata, metadata.misplaced())


def _scan(cluster: Cluster) -> MetadataScan:
    metadata = scan(cluster)
    if not metadata.names:
        raise ShellError(
            "no topics (topics without DESCRIBE permission are hidden)", code="no-match"
        )
    return metadata


def leaderless(cluster: Cluster) -> Found:
    """All offline partitions (without a leader)."""
    metadata = _scan(cluster)
    offline = [summary.name for summary in metadata.summaries() if summary.offline]
    wanted = [
        (name, partition.partition)
        for name in offline
        for partition in metadata.topic(name).partitions
        if partition.leader is None
    ]
    return _decoded(metadata, wanted)


def _decoded(response: Any, wanted: Sequence[tuple[str, int]]) -> Found:
    topics = {
        name: {partition.partition: partition for partition in response.topic(name).partitions}
        for name in dict.fromkeys(name for name, _ in wanted)
    }
    return Results(
        {TopicPartition(name, index).resource: topics[name][index] for name, index in wanted}
    )


def plan_preferred(partitions: Found, *, named: bool = True, timeout_ms: int = CHANGE_MS) -> Plan:
    """Elect the preferred replica of each partition, the first of its list.

    A partition is refused if that replica is offline or not in sync. If the partitions were not
    named (`named` is false), refusals for the same broker are combined.
    """
    elections, unchanged = [], []
    refused = dict(partitions.failures)
    by_reason: dict[str, list[Partition]] = {}
    for resource, partition in partitions.values.items():
        reason = _cannot_lead(partition)
        if partition.on_preferred_leader:
            unchanged.append(_unchanged(resource, partition, "no change: already the leader"))
        elif not reason:
            elections.append(Election(_at(partition), partition.replicas[0]))
        elif named:
            refused[resource] = _not_elected(f"partition {resource.name}", [partition], reason)
        else:
            by_reason.setdefault(reason, []).append(partition)
    for reason, refused_partitions in by_reason.items():
        preferred = Resource("broker", str(refused_partitions[0].replicas[0]))
        total = len(refused_partitions)
        count = counted(total, "partition")
        known = refused.get(preferred)
        failure = _not_elected(count, refused_partitions, reason)
        refused[preferred] = failure if known is None else _combined(known, failure)
    return _plan(partitions, elections, False, unchanged, refused, timeout_ms)


def _not_elected(what: str, partitions: Sequence[Partition], reason: str) -> Failure:
    leaders = [_leader(partition) for partition in partitions]
    leader = leaders[0] if len(set(leaders)) == 1 else "other brokers"
    return failure(
        codes.PREFERRED_LEADER_NOT_AVAILABLE,
        text=f"leadership of {what} cannot be moved from {leader}: {reason}",
        see=Resource("topic", partitions[0].topic) if len(partitions) == 1 else Resource("broker"),
    )


def _combined(one: Failure, other: Failure) -> Failure:
    return replace(one, message=f"{one.message}; {other.message}")


def plan_unclean(partitions: Found, *, timeout_ms: int = CHANGE_MS) -> Plan:
    """Elect an online replica of each offline partition, in sync or not.

    Records that only offline replicas have are lost: these replicas truncate them when they return.
    """
    elections, unchanged = [], []
    refused = dict(partitions.failures)
    for resource, partition in partitions.values.items():
        alive = [replica for replica in partition.replicas if replica not in partition.offline]
        if partition.leader is not None:
            unchanged.append(_unchanged(resource, partition, "no change: it has a leader"))
        elif not alive:
            refused[resource] = failure(
                codes.ELIGIBLE_LEADERS_NOT_AVAILABLE,
                text=f"partition {resource.name} has no online replica",
                hint=f"Start one of its brokers: {_ids(partition.replicas)}.",
            )
        else:
            elections.append(Election(_at(partition), alive[0]))
    return _plan(partitions, elections, True, unchanged, refused, timeout_ms)


def _plan(
    partitions: Found,
    elections: Sequence[Election],
    unclean: bool,
    unchanged: Sequence[Change],
    refused: Mapping[Resource, Failure],
    timeout_ms: int,
) -> Plan:
    chosen, now = [election.partition for election in elections], _leaders(partitions)
    return Plan(
        Effect.DESTROY if unclean else Effect.CHANGE,
        tuple(
            ElectLeaders(request, now, unclean, timeout_ms) for request in in_requests(elections)
        ),
        # The controller decides which replica an unclean election elects.
        fresh=(lambda later: find(later, chosen)) if unclean else None,
        refused=Results({}, dict(refused)),
        unchanged=tuple(unchanged),
        advice=Advice(stakes="records may be lost" if unclean and elections else ""),
    )


def status(partitions: Found) -> ElectionStatus:
    """The status of preferred leader elections (KIP-4's verify).

    completed: the preferred replica leads. in progress: it could lead, but does not. failed: it
    cannot lead, or the partition does not exist.
    """
    rows = [_status(partition) for partition in partitions]
    rows += [_unknown(resource, reason) for resource, reason in partitions.failures.items()]
    return ElectionStatus(tuple(sorted(rows, key=lambda row: (row.topic, row.partition or 0))))


def _status(partition: Partition) -> LeaderStatus:
    preferred = partition.replicas[0]
    reason = ""
    if partition.leader == preferred:
        state = "completed"
    else:
        reason = _cannot_lead(partition)
        state = "failed" if reason else "in progress"
        reason = reason or f"current: {_leader(partition)}; preferred: broker {preferred}"
    return LeaderStatus(
        partition.topic, partition.partition, state, partition.leader, preferred, reason
    )


def _unknown(resource: Resource, why: Failure) -> LeaderStatus:
    topic, _, number = resource.name.rpartition(":")
    reason = f"{why.message} ({why.hint})" if why.hint else why.message
    if resource.kind == "topic":
        return LeaderStatus(resource.name, None, "failed", None, None, reason)
    return LeaderStatus(topic, int(number), "failed", None, None, reason)


def _cannot_lead(partition: Partition) -> str:
    """Why the preferred replica cannot be elected; empty if it can."""
    preferred = partition.replicas[0]
    if preferred in partition.offline:
        return f"the preferred leader, broker {preferred}, is offline"
    if preferred not in partition.isr:
        return f"the preferred leader, broker {preferred}, is not in sync"
    return ""


def _leader(partition: Partition) -> str:
    return "no leader" if partition.leader is None else f"broker {partition.leader}"


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))


def _at(partition: Partition) -> TopicPartition:
    return TopicPartition(partition.topic, partition.partition)


def _unchanged(resource: Resource, partition: Partition, note: str) -> Change:
    return Change(resource, "alter", _LEADER, partition.leader, partition.leader, note=note)


def _failure(partition: TopicPartition, row: Any) -> Failure | None:
    if row is not None and row.error_code == codes.ELECTION_NOT_NEEDED:
        return None
    resource = partition.resource
    return row_failure(row, resource, requires=_REQUIRES, see=resource)
