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
    """Yield one row: the cluster (Metadata, API key 3)."""
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
    """Yield a row per broker."""
    releases = cluster.versions_of_brokers()
    for broker in cluster.brokers():
        release = releases.values.get(broker.id)
        yield broker.id, broker.host, broker.port, broker.rack, release
    for id, why in releases.failures.items():
        yield Trouble(f"broker {id}", why.name, why.message)


def read_broker_configs(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per config of a broker with its levels (DescribeConfigs, API key 32)."""
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
    """Yield a row per logger of a broker (DescribeConfigs, API key 32; Kafka 2.4)."""
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
    """Yield a row per feature (ApiVersions, API key 18)."""
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
    """Yield a row per replica of the metadata quorum (DescribeQuorum, API key 55)."""
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
    """Yield a row per API of a broker (ApiVersions, API key 18)."""
    from kafka_shell.admin.cluster import features

    apis, failures = features.api_versions(cluster)
    for api in apis:
        for supported in api.brokers:
            yield supported.broker, api.key, api.name, supported.lowest, supported.highest
    for broker, why in failures.items():
        yield Trouble(f"broker {broker}", why.name, why.message)


TABLES = (
    Table(
        "clusters",
        "One row per cluster.",
        (
            Column("cluster_id", "string", "The cluster ID."),
            Column("bootstrap", "string", "The bootstrap servers."),
            Column("version", "string", "The Kafka version of the broker that answered."),
            Column("controller_id", "int", "The ID of the controller, if known.", required=False),
            Column("brokers", "int", "Number of brokers online."),
            Column("topics", "int", "Number of topics, including internal ones."),
            Column("partitions", "long", "Number of partitions."),
        ),
        read_clusters,
    ),
    Table(
        "brokers",
        "One row per broker that is online.",
        (
            Column("broker_id", "int", "The broker ID."),
            Column("host", "string", "The advertised host."),
            Column("port", "int", "The advertised port."),
            Column("rack", "string", "broker.rack, if set.", required=False),
            Column(
                "version",
                "string",
                "The Kafka version, derived from the API versions.",
                required=False,
            ),
        ),
        read_brokers,
    ),
    Table(
        "broker_configs",
        "One row per config of a broker.",
        (
            Column("broker_id", "int", "The broker ID."),
            Column("key", "string", "The config name."),
            Column("value", "string", "The effective value; null if sensitive.", required=False),
            Column(
                "source",
                "string",
                "The source: default, static_broker, dynamic_broker, dynamic_default_broker.",
            ),
            Column("type", "string", "The type."),
            Column("read_only", "boolean", "Whether a change requires a restart."),
            Column("sensitive", "boolean", "Whether the broker hides the value."),
            Column(
                "static_value",
                "string",
                "The value in the properties file of the broker; null if not set.",
                required=False,
            ),
            Column(
                "cluster_default",
                "string",
                "The cluster-wide dynamic default, if set.",
                required=False,
            ),
            Column("levels", "strings", "All levels that set the config, the effective one first."),
            Column("pair", "string", "key=value, quoted for a command.", required=False),
        ),
        read_broker_configs,
        by="brokers",
    ),
    Table(
        "broker_loggers",
        "One row per logger of a broker.",
        (
            Column("broker_id", "int", "The broker ID."),
            Column("logger", "string", "The logger: a class or package, or root."),
            Column("level", "string", "OFF, FATAL, ERROR, WARN, INFO, DEBUG or TRACE."),
            Column("word", "string", "The logger, quoted for a command."),
        ),
        read_broker_loggers,
        by="brokers",
    ),
    Table(
        "features",
        "One row per feature of the cluster (KIP-584).",
        (
            Column("feature", "string", "metadata.version ..."),
            Column("level", "int", "The finalized level; 0 is off."),
            Column("lowest", "int", "The lowest level that every broker supports."),
            Column("highest", "int", "The highest level that every broker supports."),
            Column(
                "release", "string", "The name of the level of metadata.version.", required=False
            ),
            Column("highest_release", "string", "The name of the highest level.", required=False),
        ),
        read_features,
    ),
    Table(
        "quorum",
        "One row per voter or observer of the metadata quorum (KIP-595).",
        (
            Column("node_id", "int", "The node ID."),
            Column("role", "string", "leader, voter or observer."),
            Column("votes", "boolean", "Whether the node is a voter. The leader is a voter."),
            Column("log_end_offset", "long", "The log end offset."),
            Column("lag", "long", "Number of records behind the leader."),
            Column("last_caught_up", "time", "When the node was last caught up.", required=False),
            Column("last_fetch", "time", "When the node last fetched.", required=False),
            Column(
                "behind_ms",
                "long",
                "Milliseconds behind the leader, by the clock of the leader.",
                required=False,
            ),
            Column(
                "directory_id",
                "string",
                "The ID of the metadata log directory (Kafka 3.9).",
                required=False,
            ),
            Column("endpoints", "strings", "The endpoints of a voter (Kafka 3.9)."),
        ),
        read_quorum,
    ),
    Table(
        "api_versions",
        "One row per API of a broker.",
        (
            Column("broker_id", "int", "The broker ID."),
            Column("api_key", "int", "The API key."),
            Column("api", "string", "The API name."),
            Column("lowest", "int", "The lowest supported version."),
            Column("highest", "int", "The highest supported version."),
        ),
        read_api_versions,
    ),
)
