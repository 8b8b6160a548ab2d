"""Topics that inherit the configs of brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ResourceType
from kafka_shell.admin.configs.read import by_name, in_parts
from kafka_shell.base.results import Failure
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, scan

# A broker's key -> the topic's key that inherits it; of several set ones the first wins.
TOPIC_KEYS = {
    "log.cleaner.delete.retention.ms": "delete.retention.ms",
    "log.cleaner.max.compaction.lag.ms": "max.compaction.lag.ms",
    "log.cleaner.min.cleanable.ratio": "min.cleanable.dirty.ratio",
    "log.cleaner.min.compaction.lag.ms": "min.compaction.lag.ms",
    "log.cleanup.policy": "cleanup.policy",
    "log.flush.interval.messages": "flush.messages",
    "log.flush.interval.ms": "flush.ms",
    "log.index.interval.bytes": "index.interval.bytes",
    "log.index.size.max.bytes": "segment.index.bytes",
    "log.local.retention.bytes": "local.retention.bytes",
    "log.local.retention.ms": "local.retention.ms",
    "log.message.downconversion.enable": "message.downconversion.enable",
    "log.message.timestamp.after.max.ms": "message.timestamp.after.max.ms",
    "log.message.timestamp.before.max.ms": "message.timestamp.before.max.ms",
    "log.message.timestamp.difference.max.ms": "message.timestamp.difference.max.ms",
    "log.message.timestamp.type": "message.timestamp.type",
    "log.preallocate": "preallocate",
    "log.retention.bytes": "retention.bytes",
    "log.retention.ms": "retention.ms",
    "log.retention.minutes": "retention.ms",
    "log.retention.hours": "retention.ms",
    "log.roll.jitter.ms": "segment.jitter.ms",
    "log.roll.jitter.hours": "segment.jitter.ms",
    "log.roll.ms": "segment.ms",
    "log.roll.hours": "segment.ms",
    "log.segment.bytes": "segment.bytes",
    "log.segment.delete.delay.ms": "file.delete.delay.ms",
    "message.max.bytes": "max.message.bytes",
} | {
    key: key
    for key in (
        "compression.gzip.level", "compression.lz4.level", "compression.type",
        "compression.zstd.level", "min.insync.replicas", "unclean.leader.election.enable",
    )
}  # fmt: skip


class TopicValues(Struct, frozen=True):
    """The values of some keys in all topics, and why those of others could not be read."""

    found: MetadataScan
    values: Mapping[str, Mapping[str, ConfigEntry]]
    failures: list[Failure] = field(default_factory=list)

    def inheriting(self, key: str) -> list[str]:
        """The topics without a value of their own for this key of topics."""
        return [
            name
            for name, entries in self.values.items()
            if key not in entries or not entries[key].overridden
        ]


def read(cluster: Cluster, keys: Iterable[str]) -> TopicValues:
    """The values of these keys in all topics (DescribeConfigs, a thousand topics per request)."""
    wanted = sorted(set(keys))
    found = scan(cluster)
    values: dict[str, Mapping[str, ConfigEntry]] = {}
    failures: list[Failure] = []
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in found.names]
    for part in in_parts(cluster, resources, wanted):
        failures += part.failures.values()
        values |= {resource.name: by_name(entries) for resource, entries in part.values.items()}
    return TopicValues(found, values, failures)
