"""The metadata quorum (KIP-595, 853), features (KIP-584, 1022), and what brokers speak."""

from __future__ import annotations

from dataclasses import dataclass

from .results import Failure


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
