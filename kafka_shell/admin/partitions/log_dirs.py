"""Log directories: describe (API key 35; KIP-113, 827, 1066)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_shell.admin.partitions.model import LogDir, LogReplica, TopicPartition
from kafka_shell.admin.records.offsets import by_topic
from kafka_shell.base.results import Failure, Results
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import CLUSTER_AUTHORIZATION_FAILED
from kafka_shell.wire.failures import failure
from kafka_shell.wire.requests import Call, Node


def describe(
    cluster: Cluster,
    brokers: Sequence[int] | None = None,
    partitions: Sequence[TopicPartition] | None = None,
) -> Results[int, tuple[LogDir, ...]]:
    """The log directories by broker ID: of these brokers, or of all running ones (None; API
    key 35).

    With `partitions`, directories list only their replicas, and are returned even without any.
    """
    if brokers is None:
        brokers = [broker.id for broker in cluster.brokers(refresh=True)]
    requested = list(dict.fromkeys(brokers))
    calls = [Call(_describe_request(partitions), Node(broker), check=False) for broker in requested]
    return Results.collect(
        (broker, _log_dirs(broker, response))
        for broker, response in zip(requested, cluster.send_all(calls), strict=True)
    )


def _log_dirs(broker: int, response: Any) -> tuple[LogDir, ...] | Failure:
    """The log directories of a response, or why they could not be read."""
    why = response if isinstance(response, Failure) else _refused(broker, response)
    dirs = () if why is not None else (_log_dir(broker, row) for row in response.results)
    return why or tuple(sorted(dirs, key=lambda dir: dir.path))


def without_offline(
    log_dirs: Results[int, tuple[LogDir, ...]],
) -> Results[int, tuple[LogDir, ...]]:
    """The same with a failure for each broker that has an offline directory: the others do not
    contain all of its replicas, so their total would be too small."""
    offline = {
        broker: dir.error for broker, dirs in log_dirs.values.items() for dir in dirs if dir.error
    }
    complete = {broker: dirs for broker, dirs in log_dirs.values.items() if broker not in offline}
    return Results(complete, log_dirs.failures | offline)


def cordoned(log_dirs: Results[int, tuple[LogDir, ...]]) -> frozenset[int]:
    """The brokers whose log directories are all cordoned: they get no new replicas (KIP-1066)."""
    return frozenset(
        broker
        for broker, dirs in log_dirs.values.items()
        if dirs and all(dir.cordoned for dir in dirs)
    )


def _describe_request(partitions: Sequence[TopicPartition] | None) -> Any:
    if partitions is None:
        return messages.DescribeLogDirsRequest(topics=None)
    topic = messages.DescribeLogDirsRequest.DescribableLogDirTopic
    return messages.DescribeLogDirsRequest(
        topics=[
            topic(topic=name, partitions=[partition.partition for partition in group])
            for name, group in by_topic(partitions).items()
        ]
    )


def _refused(broker: int, response: Any) -> Failure | None:
    """Why a broker returns nothing. Before v3 a refusal is a response without directories."""
    code = response.error_code or (0 if response.results else CLUSTER_AUTHORIZATION_FAILED)
    if not code:
        return None
    return failure(
        code,
        about=f"log directories of broker {broker}",
        requires="DESCRIBE on the cluster",
    )


def _log_dir(broker: int, row: Any) -> LogDir:
    replicas = [
        LogReplica(
            topic.name, part.partition_index, part.partition_size, part.offset_lag,
            part.is_future_key,
        )
        for topic in row.topics
        for part in topic.partitions
    ]  # fmt: skip
    error = None
    if row.error_code:
        error = failure(row.error_code, about=f"log directory {row.log_dir} of broker {broker}")
    return LogDir(
        broker,
        row.log_dir,
        error,
        row.total_bytes if row.total_bytes >= 0 else None,
        row.usable_bytes if row.usable_bytes >= 0 else None,
        tuple(sorted(replicas, key=lambda each: (each.topic, each.partition, each.future))),
        row.is_cordoned,
    )
