"""The cluster as a whole: its brokers, its health."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka_shell.admin.configs.model import ConfigEntry
    from kafka_shell.admin.partitions.model import LogDirUse
    from kafka_shell.plan.results import Failure


@dataclass(frozen=True, slots=True)
class Broker:
    """One broker of the cluster. `version` is Kafka's release as its APIs tell it, or empty.

    `state` is empty where nobody looked, or: `up`, `no answer`, `fenced` (registered, and not
    allowed to lead), `absent` (replicas are assigned to it, and it is not registered or not
    running; `host` is empty then).
    """

    id: int
    host: str
    port: int
    rack: str | None = None
    controller: bool = False
    version: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """Brokers and counts (Metadata, API key 3; DescribeCluster, 60).

    `controller` is None where there is none, and where it is not known: `not_read` says then why,
    by what could not be read.
    """

    cluster_id: str
    controller: int | None
    brokers: tuple[Broker, ...]
    topics: int
    internal_topics: int
    partitions: int
    bootstrap: str = ""
    features: tuple[Feature, ...] = ()
    not_read: tuple[tuple[str, Failure], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all was read but what takes permissions that this login lacks."""
        return all(why.name.endswith("AUTHORIZATION_FAILED") for _, why in self.not_read)


class Severity(IntEnum):
    """How bad a finding is; the worst sorts first."""

    CRITICAL = 0
    WARNING = 1
    NOT_CHECKED = 2  # a check that could not run: the cluster may or may not be healthy
    NOTE = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem that `health` found, and how many resources have it."""

    severity: Severity
    check: str  # offline, under-min-isr, brokers, quorum, throttles, log-dirs, transactions ...
    summary: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """One screen of health. Only a cluster with nothing but NOTE findings is healthy."""

    cluster_id: str
    brokers: int
    topics: int
    partitions: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether every check that matters ran, and nothing is CRITICAL or WARNING."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a controller listens, and the name of that listener."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class QuorumReplica:
    """A voter or observer of the metadata quorum (DescribeQuorum, 55).

    `lag` is in records, `behind_ms` what it is behind the leader's clock; times are epoch
    milliseconds; -1 is unknown. Only voters have endpoints, and directory ids only since Kafka 3.9.
    """

    id: int
    role: str  # leader, voter, observer
    log_end_offset: int
    lag: int
    last_caught_up: int = -1
    last_fetch: int = -1
    behind_ms: int = -1
    directory_id: str = ""
    endpoints: tuple[Endpoint, ...] = ()

    @property
    def votes(self) -> bool:
        """Whether it is a voter; the leader is one."""
        return self.role != "observer"


@dataclass(frozen=True, slots=True)
class Quorum:
    """The KRaft metadata quorum."""

    leader: int
    leader_epoch: int
    high_watermark: int
    replicas: tuple[QuorumReplica, ...]

    @property
    def voters(self) -> tuple[QuorumReplica, ...]:
        """Those that elect the leader and commit records."""
        return tuple(replica for replica in self.replicas if replica.votes)


@dataclass(frozen=True, slots=True)
class Voter:
    """A voter to add or remove. Without a directory id: the only one that the quorum knows."""

    id: int
    directory_id: str = ""
    endpoints: tuple[Endpoint, ...] = ()


@dataclass(frozen=True, slots=True)
class FeatureRange:
    """The levels of a feature that one broker supports."""

    broker: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of the cluster: its level (0: off), and those that every broker supports.

    `release` and `highest_release` are what a level of metadata.version is called: `4.3-IV0`.
    """

    name: str
    level: int
    lowest: int
    highest: int
    release: str = ""
    highest_release: str = ""
    brokers: tuple[FeatureRange, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the brokers do not all support the same."""
        return len({(each.lowest, each.highest) for each in self.brokers}) > 1


@dataclass(frozen=True, slots=True)
class Features:
    """All features, as of an epoch; -1 where nobody knows it. `unread` are brokers not heard."""

    epoch: int
    features: tuple[Feature, ...]
    unread: tuple[tuple[int, Failure], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every broker was heard."""
        return not self.unread

    def get(self, name: str) -> Feature | None:
        """The feature of this name."""
        return next((feature for feature in self.features if feature.name == name), None)


@dataclass(frozen=True, slots=True)
class ApiRange:
    """The versions of one API that one broker speaks."""

    broker: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class ApiSupport:
    """One API: the versions that every broker speaks (None: none), and those of each.

    `missing` are the brokers that lack it.
    """

    key: int
    name: str
    lowest: int | None
    highest: int | None
    brokers: tuple[ApiRange, ...]
    missing: tuple[int, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the brokers do not all speak the same."""
        return bool(self.missing) or len({(b.lowest, b.highest) for b in self.brokers}) > 1


@dataclass(frozen=True, slots=True)
class BrokerDescription:
    """A broker with its replicas, log directories and the configs that are not as by default.

    `preferred` counts the partitions of which it is the preferred leader, `out_of_sync` its
    replicas that are not in sync. `quorum_role` is leader, voter or observer of the metadata
    quorum, or empty. What could not be read is in `not_read`.
    """

    broker: Broker
    quorum_role: str
    leaders: int
    preferred: int
    replicas: int
    out_of_sync: int
    log_dirs: tuple[LogDirUse, ...] = ()
    configs: tuple[ConfigEntry, ...] = ()
    not_read: tuple[tuple[str, Failure], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all of it could be read."""
        return not self.not_read
