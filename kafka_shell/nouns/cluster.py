"""The cluster as a whole: its brokers, its health."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, TypeVar, overload

from .results import Failure
from .topics import Broker

if TYPE_CHECKING:
    from .quorum import Feature

Row = TypeVar("Row", covariant=True)


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
    """One line of `health`: what is wrong, with how many, and the command that looks closer."""

    severity: Severity
    check: str  # offline, under-min-isr, brokers, quorum, throttles, log-dirs, transactions ...
    summary: str
    count: int
    examples: tuple[str, ...] = ()
    look: str = ""


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
class Nothing:
    """An answer without rows, and what a person is told of it (on standard error)."""

    note: str


class Lazy(Sequence[Row]):
    """Rows that are made when they are looked at: of a hundred thousand, mostly the names do."""

    def __init__(self, names: Sequence[str], make: Callable[[str], Row]) -> None:
        self.names = names
        self._make = make

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Lazy[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Lazy[Row]:
        if isinstance(index, slice):
            return Lazy(self.names[index], self._make)
        return self._make(self.names[index])


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of which a person mostly wants one field: printed bare, one a line, unless `long`."""

    rows: Sequence[object]
    field: str = "name"
    long: bool = False

    def bare(self) -> list[str]:
        """That field of each row."""
        if isinstance(self.rows, Lazy):
            return list(self.rows.names)
        return [str(getattr(row, self.field)) for row in self.rows]


__all__ = [
    "Broker",
    "ClusterMetadata",
    "Finding",
    "Health",
    "Lazy",
    "Listing",
    "Nothing",
    "Severity",
]
