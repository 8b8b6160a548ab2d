"""API versions: the release of a broker, and the release that added an API."""

from __future__ import annotations

from kafka_shell.admin.wire.frames import Versions
from kafka_shell.errors import ShellError

# The release of a broker is the first of these that it supports: (release, API key, version).
_MARKS = (
    ("4.3", 35, 5),
    ("4.2", 2, 11),
    ("4.1", 0, 13),
    ("4.0", 2, 10),
    ("3.9", 1, 17),
    ("3.8", 0, 11),
    ("3.7", 1, 16),
    ("3.6", 24, 4),
    ("3.5", 1, 15),
    ("3.4", 58, 0),
    ("3.3", 29, 3),
    ("3.2", 11, 9),
    ("3.1", 1, 13),
    ("3.0", 2, 7),
    ("2.8", 0, 9),
    ("2.7", 1, 12),
    ("2.6", 48, 0),
    ("2.5", 29, 2),
    ("2.4", 0, 8),
    ("2.3", 1, 11),
    ("2.2", 2, 5),
    ("2.1", 1, 10),
    ("2.0", 1, 8),
    ("1.1", 1, 7),
    ("1.0", 3, 5),
    ("0.11", 3, 4),
    ("0.10.2", 9, 2),
    ("0.10.1", 3, 2),
)

# APIs of KRaft brokers only. kafka-python's table has wrong releases for them.
_KRAFT_SINCE = {
    55: "3.3 in KRaft mode",
    64: "3.3 in KRaft mode",
    69: "3.7 in KRaft mode",
    74: "3.7 in KRaft mode",
    75: "3.8 in KRaft mode",
    80: "3.9 in KRaft mode",
    81: "3.9 in KRaft mode",
    77: "4.1",
    89: "4.1",
    90: "4.1",
    91: "4.1",
    92: "4.1",
}

# (API key, version) -> the feature that the version added.
_FEATURES = {
    (2, 7): "listing the offset of the largest timestamp",
    (2, 8): "listing the earliest offset on local disk",
    (2, 9): "listing the latest offset in remote storage",
    (2, 11): "listing the earliest offset that is not in remote storage yet",
    (20, 6): "deleting topics by ID",
    (32, 3): "documentation of configs",
    (43, 1): "unclean leader election",
    (16, 4): "listing groups by state",
    (16, 5): "listing groups by type",
    (19, 4): "the broker's defaults for a new topic",
    (60, 1): "describing the controllers",
    (66, 1): "listing transactions by duration",
}

# The names of APIs by API key.
_NAMES = tuple(
    word
    for line in (
        "Produce Fetch ListOffsets Metadata LeaderAndIsr StopReplica UpdateMetadata",
        "ControlledShutdown OffsetCommit OffsetFetch FindCoordinator JoinGroup Heartbeat",
        "LeaveGroup SyncGroup DescribeGroups ListGroups SaslHandshake ApiVersions CreateTopics",
        "DeleteTopics DeleteRecords InitProducerId OffsetForLeaderEpoch AddPartitionsToTxn",
        "AddOffsetsToTxn EndTxn WriteTxnMarkers TxnOffsetCommit DescribeAcls CreateAcls",
        "DeleteAcls DescribeConfigs AlterConfigs AlterReplicaLogDirs DescribeLogDirs",
        "SaslAuthenticate CreatePartitions CreateDelegationToken RenewDelegationToken",
        "ExpireDelegationToken DescribeDelegationToken DeleteGroups ElectLeaders",
        "IncrementalAlterConfigs AlterPartitionReassignments ListPartitionReassignments",
        "OffsetDelete DescribeClientQuotas AlterClientQuotas DescribeUserScramCredentials",
        "AlterUserScramCredentials Vote BeginQuorumEpoch EndQuorumEpoch DescribeQuorum",
        "AlterPartition UpdateFeatures Envelope FetchSnapshot DescribeCluster DescribeProducers",
        "BrokerRegistration BrokerHeartbeat UnregisterBroker DescribeTransactions",
        "ListTransactions AllocateProducerIds ConsumerGroupHeartbeat ConsumerGroupDescribe",
        "ControllerRegistration GetTelemetrySubscriptions PushTelemetry AssignReplicasToDirs",
        "ListConfigResources DescribeTopicPartitions ShareGroupHeartbeat ShareGroupDescribe",
        "ShareFetch ShareAcknowledge AddRaftVoter RemoveRaftVoter UpdateRaftVoter",
        "InitializeShareGroupState ReadShareGroupState WriteShareGroupState DeleteShareGroupState",
        "ReadShareGroupStateSummary StreamsGroupHeartbeat StreamsGroupDescribe",
        "DescribeShareGroupOffsets AlterShareGroupOffsets DeleteShareGroupOffsets",
    )
    for word in line.split()
)

_METADATA = 3
_LEADER_AND_ISR = 4  # served by ZooKeeper-mode brokers only


def api_name(api_key: int) -> str:
    """Kafka's name of an API, or empty for -1."""
    if api_key < 0:
        return ""
    return _NAMES[api_key] if api_key < len(_NAMES) else f"API {api_key}"


def release(versions: Versions) -> str:
    """The Kafka release with these API versions, such as "4.3"; "0.10" for older ones."""
    for name, api_key, version in _MARKS:
        low, high = versions.get(api_key, (0, -1))
        if low <= version <= high:
            return name
    return "0.10"


def is_kraft(versions: Versions) -> bool:
    """Whether the cluster runs in KRaft mode, where brokers forward changes to the controller."""
    return _LEADER_AND_ISR not in versions


def is_controller(versions: Versions) -> bool:
    """Whether these are the APIs of a controller: only brokers serve Metadata."""
    return _METADATA not in versions


def since(api_key: int, version: int = 0) -> str:
    """The first Kafka release with this version of an API, or empty if unknown."""
    if version == 0 and api_key in _KRAFT_SINCE:
        return _KRAFT_SINCE[api_key]
    from kafka_shell.admin.wire.codec import release_table

    table = release_table()
    for name in sorted(table):
        if table[name].get(api_key, (0, -1))[1] >= version:
            return ".".join(map(str, name))
    return _KRAFT_SINCE.get(api_key, "")


def choose(api_key: int, ours: tuple[int, int], theirs: Versions, who: str) -> int:
    """The highest common version. Raises ShellError if there is none.

    `who` is the broker for the message.
    """
    low, high = ours
    if api_key not in theirs:
        raise _missing(api_key, max(low, 0), theirs, who)
    lowest, highest = theirs[api_key]
    if low > highest:
        raise _missing(api_key, low, theirs, who)
    if high < lowest:
        raise ShellError(
            f"{who} (Kafka {release(theirs)}) requires {api_name(api_key)} v{lowest} or later,"
            f" this program supports v{high}",
            hint="Upgrade kafka.sh.",
            code="unsupported-version",
        )
    return min(high, highest)


def _missing(api_key: int, version: int, theirs: Versions, who: str) -> ShellError:
    if is_controller(theirs):
        return ShellError(
            f"{who} does not support {api_name(api_key)}",
            hint="Use the address of a broker.",
            code="unsupported-api",
        )
    feature = _FEATURES.get((api_key, version))
    if feature is None:
        feature = api_name(api_key) + (f" v{version}" if version and api_key in theirs else "")
    first = since(api_key, version)
    return ShellError(
        f"{who} (Kafka {release(theirs)}) does not support {feature}"
        + (f", which requires Kafka {first}" if first else ""),
        hint="Upgrade the brokers to use it.",
        code="unsupported-version" if api_key in theirs else "unsupported-api",
    )


def field_missing(api_key: int, field: str, version: int, theirs: Versions, who: str) -> ShellError:
    """A request sets a field that the broker's version of the API does not have."""
    feature = _FEATURES.get((api_key, version), f"{field} of {api_name(api_key)}")
    return ShellError(
        f"{who} (Kafka {release(theirs)}) does not support {feature}, which requires Kafka"
        f" {since(api_key, version)}",
        hint="Upgrade the brokers to use it.",
        code="unsupported-version",
    )
