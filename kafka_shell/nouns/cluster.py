"""The cluster as a whole: its brokers, its quorum, its health."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from .topics import Broker


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """Brokers and counts (Metadata, API key 3; DescribeCluster, 60). `controller` may be None."""

    cluster_id: str
    controller: int | None
    brokers: tuple[Broker, ...]
    topics: int
    internal_topics: int
    partitions: int
    bootstrap: str = ""


@dataclass(frozen=True, slots=True)
class QuorumReplica:
    """A voter or observer of the metadata quorum (DescribeQuorum, 55). Times: epoch ms or -1."""

    id: int
    role: str  # leader, voter, observer
    log_end_offset: int
    lag: int
    last_caught_up: int = -1


@dataclass(frozen=True, slots=True)
class Quorum:
    """The KRaft metadata quorum."""

    leader: int
    leader_epoch: int
    high_watermark: int
    replicas: tuple[QuorumReplica, ...]


class Severity(IntEnum):
    """How bad a finding is; the worst sorts first."""

    CRITICAL = 0
    WARNING = 1
    NOTE = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `health`: what is wrong, with how many, and the command that looks closer."""

    severity: Severity
    check: (
        str  # offline-partitions, under-min-isr, under-replicated, off-preferred, brokers, quorum
    )
    summary: str
    count: int
    examples: tuple[str, ...] = ()
    look: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """One screen of health. NOTE findings do not make a cluster unhealthy."""

    cluster_id: str
    brokers: int
    topics: int
    partitions: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is CRITICAL or WARNING."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Nothing:
    """An answer without rows, and what a person is told of it (on standard error)."""

    note: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of which a person mostly wants one field: printed bare, one a line, unless `long`."""

    rows: tuple[object, ...]
    field: str = "name"
    long: bool = False


__all__ = [
    "Broker",
    "ClusterMetadata",
    "Finding",
    "Health",
    "Listing",
    "Nothing",
    "Quorum",
    "QuorumReplica",
    "Severity",
]
