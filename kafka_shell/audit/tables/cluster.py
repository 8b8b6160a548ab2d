"""Clusters, brokers and their configs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.audit.table import Names, Rows, config_entries, readable, table
from kafka_shell.base.results import Results

if TYPE_CHECKING:
    from kafka_shell.wire.cluster import Cluster


@table(
    "clusters",
    "One row per cluster.",
    """
    cluster_id     string  The cluster ID.
    bootstrap      string  The bootstrap servers.
    version        string  The Kafka version of the broker that answered.
    controller_id  int?    The ID of the controller, if known.
    brokers        int     Number of brokers online.
    topics         int     Number of topics, including internal ones.
    partitions     long    Number of partitions.
    offline        ints    The registered brokers that are offline.
    """,
)
def read_clusters(cluster: Cluster, names: Names) -> Rows:
    """Metadata and DescribeCluster (API keys 3, 60)."""
    from kafka_shell.admin.cluster.registrations import not_running
    from kafka_shell.wire import metadata_scan

    found = metadata_scan.scan(cluster)
    yield (
        found.cluster_id,
        ",".join(map(str, cluster.config.bootstrap)),
        cluster.release(),
        found.controller_id if found.controller_id >= 0 else None,
        len(found.brokers),
        len(found),
        found.partitions,
        sorted(not_running(cluster)),
    )


@table(
    "brokers",
    "One row per broker that is online.",
    """
    broker_id  int      The broker ID.
    host       string   The advertised host.
    port       int      The advertised port.
    rack       string?  broker.rack, if set.
    version    string?  The Kafka version, derived from the API versions.
    """,
)
def read_brokers(cluster: Cluster, names: Names) -> Rows:
    releases = yield from readable(cluster.versions_of_brokers(), "broker")
    for broker in cluster.brokers():
        yield broker.id, broker.host, broker.port, broker.rack, releases.get(broker.id)


@table(
    "broker_configs",
    "One row per config of a broker.",
    """
    broker_id        int      The broker ID.
    key              string   The config name.
    value            string?  The effective value; null if sensitive.
    source           string   default, static_broker, dynamic_broker or dynamic_default_broker.
    type             string   The type.
    read_only        boolean  Whether a change requires a restart.
    sensitive        boolean  Whether the broker hides the value.
    static_value     string?  The value in the properties file of the broker; null if not set.
    cluster_default  string?  The cluster-wide dynamic default, if set.
    levels           strings  All levels that set the config, the effective one first.
    """,
    by="brokers",
)
def read_broker_configs(cluster: Cluster, names: Names) -> Rows:
    from kafka_shell.admin.configs.model import ConfigSource

    for broker, entries in (yield from config_entries(cluster, "BROKER", names, synonyms=True)):
        for entry in entries:
            levels = {synonym.source: synonym.value for synonym in entry.synonyms}
            hidden = entry.sensitive
            yield (
                int(broker), entry.name, None if hidden else entry.value,
                entry.source.name.lower(), entry.type.name.lower(), entry.read_only, hidden,
                None if hidden else levels.get(ConfigSource.STATIC_BROKER),
                None if hidden else levels.get(ConfigSource.DYNAMIC_DEFAULT_BROKER),
                [source.name.lower() for source in levels],
            )  # fmt: skip


@table(
    "broker_loggers",
    "One row per logger of a broker.",
    """
    broker_id  int     The broker ID.
    logger     string  The logger: a class or package, or root.
    level      string  OFF, FATAL, ERROR, WARN, INFO, DEBUG or TRACE.
    """,
    by="brokers",
)
def read_broker_loggers(cluster: Cluster, names: Names) -> Rows:
    """DescribeConfigs (API key 32; Kafka 2.4)."""
    for broker, entries in (yield from config_entries(cluster, "BROKER_LOGGER", names)):
        for entry in entries:
            yield int(broker), entry.name, entry.value or ""


@table(
    "features",
    "One row per feature of the cluster (KIP-584).",
    """
    feature          string   metadata.version ...
    level            int      The finalized level; 0 is off.
    lowest           int      The lowest level that every broker supports.
    highest          int      The highest level that every broker supports.
    release          string?  The name of the level of metadata.version.
    highest_release  string?  The name of the highest level.
    """,
)
def read_features(cluster: Cluster, names: Names) -> Rows:
    """ApiVersions, API key 18."""
    from kafka_shell.admin.cluster import features

    found = features.describe(cluster)
    for feature in found.features:
        yield (
            feature.name, feature.level, feature.lowest, feature.highest, feature.release or None,
            feature.highest_release or None,
        )  # fmt: skip
    yield from readable(Results({}, dict(found.unread)), "broker")


@table(
    "quorum",
    "One row per voter or observer of the metadata quorum (KIP-595).",
    """
    node_id         int      The node ID.
    role            string   leader, voter or observer.
    votes           boolean  Whether the node is a voter. The leader is a voter.
    log_end_offset  long     The log end offset.
    lag             long     Number of records behind the leader.
    last_caught_up  time?    When the node was last caught up.
    last_fetch      time?    When the node last fetched.
    behind_ms       long?    Milliseconds behind the leader, by the clock of the leader.
    directory_id    string?  The ID of the metadata log directory (Kafka 3.9).
    endpoints       strings  The endpoints of a voter (Kafka 3.9).
    """,
)
def read_quorum(cluster: Cluster, names: Names) -> Rows:
    """DescribeQuorum, API key 55."""
    from kafka_shell.admin.cluster import quorum
    from kafka_shell.admin.records.offsets import known

    for replica in quorum.describe(cluster).replicas:
        yield (
            replica.id, replica.role, replica.votes, replica.log_end_offset, replica.lag,
            known(replica.last_caught_up), known(replica.last_fetch), known(replica.behind_ms),
            replica.directory_id or None, [str(endpoint) for endpoint in replica.endpoints],
        )  # fmt: skip


@table(
    "api_versions",
    "One row per API of a broker.",
    """
    broker_id  int     The broker ID.
    api_key    int     The API key.
    api        string  The API name.
    lowest     int     The lowest supported version.
    highest    int     The highest supported version.
    """,
)
def read_api_versions(cluster: Cluster, names: Names) -> Rows:
    """ApiVersions, API key 18."""
    from kafka_shell.admin.cluster import features

    apis, failures = features.api_versions(cluster)
    for api in apis:
        for supported in api.brokers:
            yield supported.broker, api.key, api.name, supported.lowest, supported.highest
    yield from readable(Results({}, failures), "broker")


@table(
    "collection_status",
    "One row per table and slice: the number of rows, or, for each error, what could not be read.",
    """
    table     string   The table.
    slice     string   A range of topics, a broker, or empty for the whole table.
    status    string   ok or error.
    rows      long     Number of rows.
    seconds   double   Duration of the read in seconds.
    resource  string?  What could not be read, at most ten resources; empty for the whole slice.
    error     string?  The error name, of Kafka or of kafka.sh.
    reason    string?  The error message, of the first resource.
    failures  long?    The number of resources that could not be read.
    """,
    by="none",
)
def read_status(cluster: Cluster, names: Names) -> Rows:
    """Nothing: rows are added while other tables are read."""
    return iter(())
