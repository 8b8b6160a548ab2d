"""Elections of leaders: the preferred replica, or any that lives (KIP-183, 460; API key 43)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_shell.admin.records.offsets import by_topic
from kafka_shell.admin.steps import BaseStep, row_failure
from kafka_shell.admin.topics.model import Partition
from kafka_shell.admin.topics.partitions import find
from kafka_shell.admin.wire.chunks import in_requests
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import failure, needs
from kafka_shell.admin.wire.metadata_scan import MetadataScan, scan
from kafka_shell.admin.wire.propagation import settle
from kafka_shell.admin.wire.requests import CONTROLLER
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Effect, Outcomes, Plan, Resource
from kafka_shell.plan.results import Failure, Results

from .model import ElectionStatus, LeaderStatus, TopicPartition

DEFAULT_TIMEOUT_MS = 30_000
_ANSWER_GRACE_S = 5.0
_PREFERRED, _UNCLEAN = 0, 1  # election types
_CLUSTER_AUTHORIZATION_FAILED = 31
_PREFERRED_LEADER_NOT_AVAILABLE = 80
_ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
_ELECTION_NOT_NEEDED = 84
_NOBODY = "nobody"

Found = Results[Resource, Partition]


@dataclass(frozen=True, slots=True)
class Election:
    """A partition, its leader now (None: it has none) and the one that is to lead."""

    partition: TopicPartition
    before: int | None
    after: int


@dataclass(frozen=True)
class ElectLeaders(BaseStep):
    """One ElectLeaders request (KIP-183, 460; API key 43). `unclean` requires version 1."""

    elections: tuple[Election, ...]
    unclean: bool = False
    timeout_ms: int = DEFAULT_TIMEOUT_MS

    @property
    def changes(self) -> tuple[Change, ...]:
        note = "records that only a lost replica has are lost" if self.unclean else ""
        return tuple(
            Change(
                each.partition.resource, "alter", "leader",
                _NOBODY if each.before is None else each.before, each.after,
                note=note, reversible=not self.unclean,
            )
            for each in self.elections
        )  # fmt: skip

    def again(self, cluster: Cluster) -> ElectLeaders:
        """The leaders as they are now. The broker refuses partitions deleted since."""
        now = find(cluster, [each.partition for each in self.elections]).values
        return ElectLeaders(
            tuple(
                Election(each.partition, now[each.partition].leader, each.after)
                if each.partition in now
                else each
                for each in self.elections
            ),
            self.unclean,
            self.timeout_ms,
        )

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        by_partition = {each.partition: each for each in self.elections}
        try:
            response = cluster.send(
                self._request(by_partition),
                to=CONTROLLER,
                timeout=self.timeout_ms / 1000 + _ANSWER_GRACE_S,
            )
        except ShellError as error:
            if error.code == "CLUSTER_AUTHORIZATION_FAILED":
                error.hint = needs(_CLUSTER_AUTHORIZATION_FAILED, "Alter on the cluster")
            raise
        rows = {
            TopicPartition(topic.topic, row.partition_id): row
            for topic in response.replica_election_results
            for row in topic.partition_result
        }
        partitions = (each.partition for each in self.elections)
        results = Results.of(self.changes, (_failure(each, rows.get(each)) for each in partitions))
        done = {change.resource for change in results.values}
        self._settle(cluster, [each for each in self.elections if each.partition.resource in done])
        return results

    def _request(self, partitions: Iterable[TopicPartition]) -> Any:
        from kafka.protocol.admin import ElectLeadersRequest

        return ElectLeadersRequest(
            election_type=_UNCLEAN if self.unclean else _PREFERRED,
            topic_partitions=[
                ElectLeadersRequest.TopicPartitions(
                    topic=name, partitions=[each.partition for each in group]
                )
                for name, group in by_topic(partitions).items()
            ],
            timeout_ms=self.timeout_ms,
        )

    def _settle(self, cluster: Cluster, done: Sequence[Election]) -> None:
        """Wait until a broker tells of the new leaders."""

        def visible() -> bool:
            now = find(cluster, [each.partition for each in done]).values
            return all(partition.leader is not None for partition in now.values()) and (
                self.unclean
                or all(now[e.partition].leader == e.after for e in done if e.partition in now)
            )

        settle(visible)


def misplaced(cluster: Cluster) -> Found:
    """Every partition that is led by another than its preferred replica."""
    found = _seen(cluster)
    return _decoded(found, found.misplaced())


def _seen(cluster: Cluster) -> MetadataScan:
    found = scan(cluster)
    if not found.names:
        raise ShellError(
            "there is no topic, or none that you may see",
            hint="It takes Describe on a topic to see it.",
            code="no-match",
        )
    return found


def leaderless(cluster: Cluster) -> Found:
    """Every partition that nobody leads."""
    found = _seen(cluster)
    offline = [each.name for each in found.summaries() if each.offline]
    wanted = [
        (name, each.partition)
        for name in offline
        for each in found.topic(name).partitions
        if each.leader is None
    ]
    return _decoded(found, wanted)


def _decoded(found: Any, wanted: Sequence[tuple[str, int]]) -> Found:
    topics = {
        name: {each.partition: each for each in found.topic(name).partitions}
        for name in dict.fromkeys(name for name, _ in wanted)
    }
    return Results(
        {TopicPartition(name, index).resource: topics[name][index] for name, index in wanted}
    )


def plan_preferred(
    partitions: Found, *, each: bool = True, timeout_ms: int = DEFAULT_TIMEOUT_MS
) -> Plan:
    """Have each partition led by its preferred replica, the first of its list.

    Refused where that one is down or not in sync: it cannot be elected. `each` is off where nobody
    named the partitions: then those that are refused for one broker are one refusal.
    """
    elections, unchanged = [], []
    refused = dict(partitions.failures)
    by_reason: dict[str, list[Partition]] = {}
    for resource, partition in partitions.values.items():
        why = _cannot_lead(partition)
        if partition.on_preferred_leader:
            unchanged.append(_led_already(resource, partition, "the preferred leader leads"))
        elif not why:
            elections.append(_election(partition, partition.replicas[0]))
        elif each:
            refused[resource] = _stays(f"partition {resource.name}", [partition], why)
        else:
            by_reason.setdefault(why, []).append(partition)
    for why, stay in by_reason.items():
        preferred = Resource("broker", str(stay[0].replicas[0]))
        count = f"{len(stay):,} partition{'' if len(stay) == 1 else 's'}"
        known = refused.get(preferred)
        stays = _stays(count, stay, why)
        refused[preferred] = stays if known is None else _both(known, stays)
    return _plan(elections, False, unchanged, refused, timeout_ms)


def _stays(what: str, stay: Sequence[Partition], why: str) -> Failure:
    leaders = [_leader(partition) for partition in stay]
    who = leaders[0] if len(set(leaders)) == 1 else "other brokers"
    return failure(
        _PREFERRED_LEADER_NOT_AVAILABLE,
        ours=f"{what} cannot change over from {who}: {why}",
        see=Resource("topic", stay[0].topic) if len(stay) == 1 else Resource("broker"),
    )


def _both(one: Failure, other: Failure) -> Failure:
    return Failure(one.name, f"{one.message}; {other.message}", one.code, one.hint, one.see)


def plan_unclean(partitions: Found, *, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> Plan:
    """Have each partition that nobody leads led by a replica that lives, in sync or not.

    What only the replicas that are down have is lost: they will drop it when they come back.
    """
    elections, unchanged = [], []
    refused = dict(partitions.failures)
    for resource, partition in partitions.values.items():
        alive = [each for each in partition.replicas if each not in partition.offline]
        if partition.leader is not None:
            unchanged.append(_led_already(resource, partition, "it has a leader"))
        elif not alive:
            refused[resource] = failure(
                _ELIGIBLE_LEADERS_NOT_AVAILABLE,
                ours=f"partition {resource.name} has no replica that is up",
                hint=f"Bring one of its brokers back: {_list(partition.replicas)}",
            )
        else:
            elections.append(_election(partition, alive[0]))
    return _plan(elections, True, unchanged, refused, timeout_ms)


def _plan(
    elections: Sequence[Election],
    unclean: bool,
    unchanged: Sequence[Change],
    refused: Mapping[Resource, Failure],
    timeout_ms: int,
) -> Plan:
    chosen = [each.partition for each in elections]
    return Plan(
        Effect.DESTROY if unclean else Effect.CHANGE,
        tuple(ElectLeaders(each, unclean, timeout_ms) for each in in_requests(elections)),
        touches=frozenset({"topics"}),
        fresh=lambda later: find(later, chosen),
        refused=Results({}, dict(refused)),
        unchanged=tuple(unchanged),
    )


def status(partitions: Found) -> ElectionStatus:
    """How the election of the preferred leaders stands (KIP-4's verify).

    Completed: the head of the replicas leads. In progress: it does not yet, and could. Failed: it
    cannot, or there is no such partition.
    """
    rows = [_status(partition) for partition in partitions]
    rows += [_unknown(resource, why) for resource, why in partitions.failures.items()]
    return ElectionStatus(tuple(sorted(rows, key=lambda row: (row.topic, row.partition or 0))))


def _status(partition: Partition) -> LeaderStatus:
    preferred = partition.replicas[0]
    why = ""
    if partition.leader == preferred:
        state = "completed"
    else:
        why = _cannot_lead(partition)
        state = "failed" if why else "in progress"
        why = why or f"{_leader(partition)} leads; {preferred} could"
    return LeaderStatus(
        partition.topic, partition.partition, state, partition.leader, preferred, why
    )


def _unknown(resource: Resource, why: Failure) -> LeaderStatus:
    topic, _, number = resource.name.rpartition(":")
    reason = f"{why.message} ({why.hint})" if why.hint else why.message
    if resource.kind == "topic":
        return LeaderStatus(resource.name, None, "failed", None, None, reason)
    return LeaderStatus(topic, int(number), "failed", None, None, reason)


def _cannot_lead(partition: Partition) -> str:
    """Why the preferred replica cannot be elected; empty where it can."""
    preferred = partition.replicas[0]
    if preferred in partition.offline:
        return f"the preferred leader, broker {preferred}, is down"
    if preferred not in partition.isr:
        return f"the preferred leader, broker {preferred}, is not in sync"
    return ""


def _leader(partition: Partition) -> str:
    return "no leader" if partition.leader is None else f"broker {partition.leader}"


def _list(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))


def _election(partition: Partition, after: int) -> Election:
    where = TopicPartition(partition.topic, partition.partition)
    return Election(where, partition.leader, after)


def _led_already(resource: Resource, partition: Partition, note: str) -> Change:
    return Change(resource, "alter", "leader", partition.leader, partition.leader, note=note)


def _failure(each: TopicPartition, row: Any) -> Failure | None:
    if row is not None and row.error_code == _ELECTION_NOT_NEEDED:
        return None
    resource = each.resource
    return row_failure(row, resource, requires="Alter on the cluster", see=resource)
