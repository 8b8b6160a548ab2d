"""The cluster as a whole: brokers, quorum, health (API keys 3, 55, 60)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from kafka_shell.errors import ShellError, Status
from kafka_shell.nouns import (
    ClusterMetadata,
    ConfigResource,
    Finding,
    Health,
    Partition,
    Quorum,
    QuorumReplica,
    ResourceType,
    Severity,
    Topic,
)

from . import configs, topics
from .connection import Cluster, failure
from .failures import as_error
from .scan import MetadataScan

_EXAMPLES = 3
_QUORUM_LAG_MS = 10_000  # a voter that has not caught up for so long is worth a line


def metadata(cluster: Cluster) -> ClusterMetadata:
    """Brokers with racks and versions, controller, cluster id and counts."""
    found = topics.scan(cluster)
    summaries = found.summaries()
    controller = _controller(cluster, found)
    releases = cluster.versions_of_brokers().values
    brokers = tuple(
        replace(broker, controller=broker.id == controller, version=releases.get(broker.id, ""))
        for broker in found.brokers
    )
    return ClusterMetadata(
        cluster_id=found.cluster_id,
        controller=controller,
        brokers=brokers,
        topics=len(summaries),
        internal_topics=sum(summary.internal for summary in summaries),
        partitions=found.partitions,
        bootstrap=",".join(map(str, cluster.config.bootstrap)),
    )


def _controller(cluster: Cluster, found: MetadataScan) -> int | None:
    """The active controller. In KRaft that is the quorum's leader: Metadata names any broker."""
    if cluster.is_kraft():
        try:
            controller = quorum(cluster).leader
        except ShellError as error:
            if error.status is Status.UNREACHABLE or error.code == "deadline":
                raise
            return None  # it takes a permission of its own
    else:
        controller = found.controller_id
    return controller if controller >= 0 else None


def quorum(cluster: Cluster) -> Quorum:
    """The metadata quorum (KIP-595, API key 55; Kafka 3.3 in KRaft mode)."""
    from kafka.protocol.admin import DescribeQuorumRequest

    kind = DescribeQuorumRequest.TopicData
    request = DescribeQuorumRequest(
        topics=[
            kind(
                topic_name="__cluster_metadata",
                partitions=[kind.PartitionData(partition_index=0)],
            )
        ]
    )
    response = cluster.send(request)
    partition = response.topics[0].partitions[0]
    if partition.error_code:
        raise as_error(failure(partition.error_code, about="the metadata quorum"))
    voters = [_replica(row, partition, "voter") for row in partition.current_voters]
    observers = [_replica(row, partition, "observer") for row in partition.observers]
    return Quorum(
        partition.leader_id,
        partition.leader_epoch,
        partition.high_watermark,
        (*voters, *observers),
    )


def _replica(row: Any, partition: Any, role: str) -> QuorumReplica:
    ends = [voter.log_end_offset for voter in partition.current_voters]
    behind = max(max(ends) - row.log_end_offset, 0)
    return QuorumReplica(
        id=row.replica_id,
        role="leader" if row.replica_id == partition.leader_id else role,
        log_end_offset=row.log_end_offset,
        lag=behind,
        last_caught_up=row.last_caught_up_timestamp,
    )


# -- health ----------------------------------------------------------------------------------------


def health(cluster: Cluster) -> Health:
    """What is wrong with the cluster now, the worst first."""
    found = topics.scan(cluster)
    suspects = [_ for _ in found.summaries() if _.under_replicated or _.offline]
    sick = [found.topic(summary.name) for summary in suspects]
    findings = [
        *_partition_findings(sick, _minimums(cluster, sick)),
        *_preferred(found),
        *_brokers(found),
        *_quorum_findings(cluster),
    ]
    return Health(
        cluster_id=found.cluster_id,
        brokers=len(found.brokers),
        topics=len(found),
        partitions=found.partitions,
        findings=tuple(sorted(findings, key=lambda finding: finding.severity)),
    )


def _minimums(cluster: Cluster, sick: Sequence[Topic]) -> dict[str, int]:
    """min.insync.replicas of the topics that are not fully replicated."""
    if not sick:
        return {}
    resources = [ConfigResource(ResourceType.TOPIC, topic.name) for topic in sick]
    read = configs.describe(cluster, resources, ["min.insync.replicas"])
    return {r.name: int(entries[0].value or 1) for r, entries in read.values.items() if entries}


def _partition_findings(sick: Sequence[Topic], minimum: dict[str, int]) -> Iterator[Finding]:
    partitions = [partition for topic in sick for partition in topic.partitions]
    offline = [p for p in partitions if p.leader is None]
    # A broker asks for no more in-sync replicas than there are replicas.
    under_min = [
        p
        for p in partitions
        if p.leader is not None and len(p.isr) < min(minimum.get(p.topic, 1), len(p.replicas))
    ]
    under = [p for p in partitions if p.under_replicated]
    yield from _some(
        Severity.CRITICAL, "offline", offline, "without a leader: nobody can read or write them",
        "describe-topic --unavailable-partitions",
    )  # fmt: skip
    yield from _some(
        Severity.CRITICAL, "under-min-isr", under_min,
        "below min.insync.replicas: acks=all producers fail",
        "describe-topic --under-min-isr-partitions",
    )  # fmt: skip
    yield from _some(
        Severity.WARNING, "under-replicated", under, "with a replica that is not in sync",
        "describe-topic --under-replicated-partitions",
    )  # fmt: skip


def _some(
    severity: Severity, check: str, partitions: Sequence[Partition], what: str, look: str
) -> Iterator[Finding]:
    if partitions:
        places = [(partition.topic, partition.partition) for partition in partitions]
        summary = f"{_count(len(partitions), 'partition')} {what}"
        yield Finding(severity, check, summary, len(partitions), _examples(places), look)


def _examples(places: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(f"{topic}:{partition}" for topic, partition in places[:_EXAMPLES])


def _preferred(found: MetadataScan) -> Iterator[Finding]:
    """Leaders off their preferred replica: load is not where it was planned."""
    places = found.misplaced()
    if places:
        first = dict.fromkeys(topic for topic, _ in places[:_EXAMPLES])
        yield Finding(
            Severity.NOTE,
            "off-preferred",
            f"{_count(len(places), 'partition')} led by another than the preferred replica",
            len(places),
            _examples(places),
            f"describe-topic {' '.join(first)}",
        )


def _brokers(found: MetadataScan) -> Iterator[Finding]:
    """Brokers that hold replicas and are not there."""
    gone = sorted(found.replica_ids() - {broker.id for broker in found.brokers})
    if gone:
        yield Finding(
            Severity.CRITICAL,
            "brokers",
            "1 broker that holds replicas is gone"
            if len(gone) == 1
            else f"{len(gone):,} brokers that hold replicas are gone",
            len(gone),
            tuple(map(str, gone[:_EXAMPLES])),
            "cluster-metadata",
        )


def _quorum_findings(cluster: Cluster) -> Iterator[Finding]:
    if not cluster.is_kraft():
        return
    try:
        found = quorum(cluster)
    except ShellError as error:
        yield Finding(
            Severity.NOTE,
            "quorum",
            f"the metadata quorum could not be read: {error.message}",
            1,
            (),
            "cluster-metadata --quorum",
        )
        return
    if found.leader < 0:
        yield Finding(
            Severity.CRITICAL, "quorum", "the metadata quorum has no leader", 1, (),
            "cluster-metadata --quorum",
        )  # fmt: skip
    newest = max((replica.last_caught_up for replica in found.replicas), default=-1)
    behind = [
        replica
        for replica in found.replicas
        if replica.role == "voter" and newest - replica.last_caught_up > _QUORUM_LAG_MS
    ]
    if behind:
        yield Finding(
            Severity.WARNING,
            "quorum",
            f"{_count(len(behind), 'voter')} of the metadata quorum"
            f" {'is' if len(behind) == 1 else 'are'} behind",
            len(behind),
            tuple(str(replica.id) for replica in behind),
            "cluster-metadata --quorum",
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
