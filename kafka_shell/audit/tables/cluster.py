"""Clusters, brokers and their configs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_shell.audit.table import Column, Slice, Table, Trouble
from kafka_shell.quoting import quote

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster

Rows = Iterator[tuple[Any, ...] | Trouble]


def read_clusters(cluster: Cluster, part: Slice) -> Rows:
    """One row: the cluster (Metadata, API key 3)."""
    from kafka_shell.admin.wire import metadata_scan

    found = metadata_scan.scan(cluster)
    names = found.names
    partitions = sum(found.summary(name).partitions for name in names)
    yield (
        found.cluster_id,
        ",".join(map(str, cluster.config.bootstrap)),
        cluster.release(),
        found.controller_id if found.controller_id >= 0 else None,
        len(found.brokers),
        len(names),
        partitions,
    )


def read_brokers(cluster: Cluster, part: Slice) -> Rows:
    """A row a broker."""
    releases = cluster.versions_of_brokers()
    for broker in cluster.brokers():
        release = releases.values.get(broker.id)
        yield broker.id, broker.host, broker.port, broker.rack, release
    for id, why in releases.failures.items():
        yield Trouble(f"broker {id}", why.name, why.message)


def read_broker_configs(cluster: Cluster, part: Slice) -> Rows:
    """A row a config of one broker, each level of it (DescribeConfigs, API key 32)."""
    from kafka_shell.admin.configs import read as configs
    from kafka_shell.admin.configs.model import ConfigResource, ConfigSource, ResourceType

    resources = [ConfigResource(ResourceType.BROKER, name) for name in part.names]
    found = configs.describe(cluster, resources, synonyms=True)
    for resource, entries in found.values.items():
        for entry in entries:
            levels = {synonym.source: synonym.value for synonym in entry.synonyms}
            hidden = entry.sensitive
            yield (
                int(resource.name), entry.name, None if hidden else entry.value,
                entry.source.name.lower(), entry.type.name.lower(), entry.read_only, hidden,
                None if hidden else levels.get(ConfigSource.STATIC_BROKER),
                None if hidden else levels.get(ConfigSource.DYNAMIC_DEFAULT_BROKER),
                [source.name.lower() for source in levels],
                None if hidden or entry.value is None
                else quote(f"{entry.name}={entry.value}"),
            )  # fmt: skip
    for resource, why in found.failures.items():
        yield Trouble(str(resource), why.name, why.message)


def read_broker_loggers(cluster: Cluster, part: Slice) -> Rows:
    """A row a logger of a broker (DescribeConfigs, API key 32; Kafka 2.4)."""
    from kafka_shell.admin.configs import read as configs
    from kafka_shell.admin.configs.model import ConfigResource, ResourceType

    resources = [ConfigResource(ResourceType.BROKER_LOGGER, name) for name in part.names]
    found = configs.describe(cluster, resources)
    for resource, entries in found.values.items():
        for entry in entries:
            yield int(resource.name), entry.name, entry.value or "", quote(entry.name)
    for resource, why in found.failures.items():
        yield Trouble(str(resource), why.name, why.message)


def read_features(cluster: Cluster, part: Slice) -> Rows:
    """A row a feature (ApiVersions, API key 18)."""
    from kafka_shell.admin.cluster import features

    found = features.describe(cluster)
    for feature in found.features:
        yield (
            feature.name, feature.level, feature.lowest, feature.highest, feature.release or None,
            feature.highest_release or None,
        )  # fmt: skip
    for broker, why in found.unread:
        yield Trouble(f"broker {broker}", why.name, why.message)


def read_quorum(cluster: Cluster, part: Slice) -> Rows:
    """A row a replica of the metadata (DescribeQuorum, API key 55)."""
    from kafka_shell.admin.cluster import quorum

    for replica in quorum.describe(cluster).replicas:
        yield (
            replica.id, replica.role, replica.votes, replica.log_end_offset, replica.lag,
            _known(replica.last_caught_up), _known(replica.last_fetch), _known(replica.behind_ms),
            replica.directory_id or None, [str(endpoint) for endpoint in replica.endpoints],
        )  # fmt: skip


def _known(number: int) -> int | None:
    return None if number < 0 else number


def read_api_versions(cluster: Cluster, part: Slice) -> Rows:
    """A row an API of a broker (ApiVersions, API key 18)."""
    from kafka_shell.admin.cluster import features

    apis, failures = features.api_versions(cluster)
    for api in apis:
        for spoken in api.brokers:
            yield spoken.broker, api.key, api.name, spoken.lowest, spoken.highest
    for broker, why in failures.items():
        yield Trouble(f"broker {broker}", why.name, why.message)


TABLES = (
    Table(
        "clusters",
        "One row a cluster.",
        (
            Column("cluster_id", "string", "Kafka's id of the cluster."),
            Column("bootstrap", "string", "Where it was reached."),
            Column("version", "string", "The release of the broker that answered."),
            Column("controller_id", "int", "The controller, where Metadata names one.",
                   required=False),
            Column("brokers", "int", "How many brokers are up."),
            Column("topics", "int", "How many topics, internal ones too."),
            Column("partitions", "long", "How many partitions."),
        ),
        read_clusters,
    ),
    Table(
        "brokers",
        "One row a broker that is up.",
        (
            Column("broker_id", "int", "The broker's id."),
            Column("host", "string", "The host it advertises."),
            Column("port", "int", "The port it advertises."),
            Column("rack", "string", "broker.rack, where set.", required=False),
            Column("version", "string", "Its release, as its API versions tell.", required=False),
        ),
        read_brokers,
    ),
    Table(
        "broker_configs",
        "One row a config of a broker.",
        (
            Column("broker_id", "int", "The broker."),
            Column("key", "string", "The config."),
            Column("value", "string", "What holds; null for sensitive ones.", required=False),
            Column("source", "string", "Whose it is: default, static_broker, dynamic_broker, "
                   "dynamic_default_broker."),
            Column("type", "string", "Its type."),
            Column("read_only", "boolean", "Whether it needs a restart."),
            Column("sensitive", "boolean", "Whether the broker keeps it to itself."),
            Column("static_value", "string", "What the broker's properties file says; null where "
                   "it does not.", required=False),
            Column("cluster_default", "string", "The dynamic default of all brokers, where set.",
                   required=False),
            Column("levels", "strings", "Every level that sets it, the winning one first."),
            Column("pair", "string", "key=value as one word of a line.", required=False),
        ),
        read_broker_configs,
        by="brokers",
    ),
    Table(
        "broker_loggers",
        "One row a logger of a broker.",
        (
            Column("broker_id", "int", "The broker."),
            Column("logger", "string", "The logger: a class or package, or root."),
            Column("level", "string", "OFF, FATAL, ERROR, WARN, INFO, DEBUG or TRACE."),
            Column("word", "string", "The logger as one word of a line."),
        ),
        read_broker_loggers,
        by="brokers",
    ),
    Table(
        "features",
        "One row a feature of the cluster (KIP-584).",
        (
            Column("feature", "string", "metadata.version ..."),
            Column("level", "int", "The finalized level; 0 is off."),
            Column("lowest", "int", "The lowest level that every broker supports."),
            Column("highest", "int", "The highest level that every broker supports."),
            Column("release", "string", "What the level of metadata.version is called.",
                   required=False),
            Column("highest_release", "string", "What the highest one is called.",
                   required=False),
        ),
        read_features,
    ),
    Table(
        "quorum",
        "One row a voter or observer of the metadata (KIP-595).",
        (
            Column("node_id", "int", "The node."),
            Column("role", "string", "leader, voter or observer."),
            Column("votes", "boolean", "Whether it is a voter; the leader is one."),
            Column("log_end_offset", "long", "How far its log is."),
            Column("lag", "long", "How many records it is behind."),
            Column("last_caught_up", "time", "When it had everything.", required=False),
            Column("last_fetch", "time", "When it last asked for more.", required=False),
            Column("behind_ms", "long", "How long it has been behind the leader, by the "
                   "leader's clock.", required=False),
            Column("directory_id", "string", "Of its metadata log dir (Kafka 3.9).",
                   required=False),
            Column("endpoints", "strings", "Where a voter listens (Kafka 3.9)."),
        ),
        read_quorum,
    ),
    Table(
        "api_versions",
        "One row an API that a broker speaks.",
        (
            Column("broker_id", "int", "The broker."),
            Column("api_key", "int", "The API's number."),
            Column("api", "string", "Its name."),
            Column("lowest", "int", "The lowest version."),
            Column("highest", "int", "The highest version."),
        ),
        read_api_versions,
    ),
)  # fmt: skip
