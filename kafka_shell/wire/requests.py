"""Requests, their targets, and calls."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar, Protocol

from msgspec import Struct

from kafka_shell.base.errors import ShellError
from kafka_shell.wire import frames
from kafka_shell.wire.frames import Versions

# API versions: the release of a broker, and the release that added an API.

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
    76: "4.1",
    77: "4.1",
    78: "4.1",
    79: "4.1",
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
    from kafka_shell.wire.codec import release_table

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


# API keys that change nothing: their requests are sent again if a connection is lost. Other
# requests may have been executed by then.
_READS = frozenset(
    {1, 2, 3, 9, 10, 15, 16, 17, 18, 23, 29, 32, 35, 41, 46, 48, 50, 55, 60, 61, 65, 66, 69}
    | {74, 75, 77, 89, 90}
)


_FIND_COORDINATOR = 10  # the first one creates the internal topic of the coordinators


class CoordinatorKind(IntEnum):
    """Key types of FindCoordinator (API key 10)."""

    GROUP = 0
    TRANSACTION = 1


class AnyBroker(Struct, frozen=True):
    """Any broker. In KRaft, every broker forwards changes to the controller."""

    def __str__(self) -> str:
        return "any broker"


class Controller(Struct, frozen=True):
    """The controller of a ZooKeeper-mode cluster. In KRaft, any broker, as in Metadata."""

    def __str__(self) -> str:
        return "the controller"


class Node(Struct, frozen=True):
    """The broker with this ID."""

    id: int

    def __str__(self) -> str:
        return f"broker {self.id}"


class Coordinator(Struct, frozen=True):
    """The broker that coordinates this group or transactional ID."""

    kind: CoordinatorKind
    key: str

    def __str__(self) -> str:
        what = {0: "group", 1: "transactional ID", 2: "share group"}[self.kind]
        return f"the coordinator of {what} {self.key}"


ANY = AnyBroker()
CONTROLLER = Controller()
Target = AnyBroker | Controller | Node | Coordinator


class Request(Protocol):
    """What a connection can send. `versions` are the lowest and highest supported ones."""

    @property
    def api_key(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def versions(self) -> tuple[int, int]: ...
    @property
    def validates_only(self) -> bool: ...
    def flexible(self, version: int) -> bool: ...
    def encode(self, version: int) -> bytes: ...
    def decode(self, version: int, body: memoryview) -> Any: ...
    def unsupported_field(self, version: int) -> tuple[str, int] | None: ...


class RawRequest(Struct, frozen=True):
    """A request that does not need kafka-python: `body` encodes a version.

    The response is bytes, or the result of `read` for the version and bytes.
    """

    api_key: int
    versions: tuple[int, int]
    body: Callable[[int], bytes]
    flexible_since: int
    read: Callable[[int, bytes], Any] | None = None
    validates_only: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Kafka's name of the API."""
        return api_name(self.api_key)

    def flexible(self, version: int) -> bool:
        """Whether this version has compact strings and tagged fields."""
        return version >= self.flexible_since

    def encode(self, version: int) -> bytes:
        """The body."""
        return self.body(version)

    def decode(self, version: int, body: memoryview) -> Any:
        """The response's body, or the result of `read`."""
        return bytes(body) if self.read is None else self.read(version, bytes(body))

    def unsupported_field(self, version: int) -> tuple[str, int] | None:
        """None: `body` encodes only fields that the version has."""
        return None


class Call(Struct, frozen=True):
    """A request and its target.

    `request` is a kafka-python message or a RawRequest; None only connects, and the result is the
    Link. `lowest` and `highest` limit the versions. `change` says whether it may alter the cluster;
    the default depends on the API key. Without `check`, a response with an error code is a result,
    not an error. `timeout` (seconds) limits this call. `requires` is the permission that the API
    requires: `ALTER on the cluster`.
    """

    request: Any
    to: Target = ANY
    lowest: int | None = None
    highest: int | None = None
    change: bool | None = None
    check: bool = True
    timeout: float | None = None
    requires: str = ""

    def versions(self, request: Request) -> tuple[int, int]:
        """The lowest and highest version to use."""
        low, high = request.versions
        if self.lowest is not None:
            low = max(low, self.lowest)
        if self.highest is not None:
            high = min(high, self.highest)
        return low, high

    def changes(self, request: Request) -> bool:
        """Whether it may change the cluster, so that it must not be sent twice."""
        if self.change is not None:
            return self.change
        return request.api_key not in _READS and not request.validates_only


# Seconds. A broker that uses up its timeout still needs time to respond.
_RESPONSE_GRACE_S = 5.0


def response_timeout(timeout_ms: int) -> float:
    """How long the response to a request may take (seconds) if the broker may take `timeout_ms`."""
    return timeout_ms / 1000 + _RESPONSE_GRACE_S


METADATA = RawRequest(frames.METADATA, frames.METADATA_VERSIONS, frames.metadata_body, 9)
"""Metadata without topics: the brokers, the cluster ID and the controller."""

NO_REQUEST = RawRequest(-1, (0, 0), lambda _: b"", 0)


def read_only(api_key: int, _to: object) -> ShellError | None:
    """Refuse every request that may change the cluster, by its API key. A validate-only mode makes
    no difference. See `ConnectionConfig.refuse`."""
    if api_key in _READS and api_key != _FIND_COORDINATOR:
        return None
    return ShellError(
        f"{api_name(api_key)} was not sent: this connection is read-only", code="read-only"
    )


def as_request(request: Any) -> Request:
    """A kafka-python message, a RawRequest or None as a Request."""
    if request is None:
        return NO_REQUEST
    if isinstance(request, RawRequest):
        return request
    from kafka_shell.wire.codec import Message

    return Message(request)
