"""The cluster as a whole: its brokers, its health."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from .topics import Broker

if TYPE_CHECKING:
    from .quorum import Feature


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
    features: tuple[Feature, ...] = ()


class Severity(IntEnum):
    """How bad a finding is; the worst sorts first."""

    CRITICAL = 0
    WARNING = 1
    NOTE = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `health`: what is wrong, with how many, and the command that looks closer."""

    severity: Severity
    check: str  # offline, under-min-isr, brokers, quorum, throttles, log-dirs, transactions ...
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
    "Severity",
]
