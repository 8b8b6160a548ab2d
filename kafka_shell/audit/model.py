"""What an audit found, and the tables it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

SEVERITIES = ("critical", "high", "medium", "low")


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One judgement of one control on one resource. The fields' names are a promise (JSON, SARIF).

    `status` is ok, info, alarm, skip (could not be judged: `reason` says why) or error.
    `remedy` and `undo` are lines of this shell, or empty. `dynamic` tells whether the remedy needs
    no restart.
    """

    control: str
    title: str
    severity: str  # critical, high, medium, low
    status: str
    cluster: str
    resource: str
    reason: str
    remedy: str = ""
    undo: str = ""
    dynamic: bool | None = None
    risk: str = ""


@dataclass(frozen=True, slots=True)
class JudgedControl:
    """How one control came out: how many resources were judged ok, alarm and so on."""

    control: str
    title: str
    severity: str
    family: str
    counts: Mapping[str, int]  # by status


@dataclass(frozen=True)
class AuditReport:
    """A whole audit: what was judged of which clusters. `findings` hold what is not ok, the worst
    first; `unread` are clusters of which nothing could be read, and why.
    """

    snapshot_id: str
    collected_at: int  # epoch milliseconds
    clusters: tuple[str, ...]
    unread: Mapping[str, str]
    controls: tuple[JudgedControl, ...]
    findings: tuple[AuditFinding, ...]
    suppressed: int = 0

    @property
    def alarms(self) -> Counter[str]:
        """How many alarms of each severity."""
        return Counter(f.severity for f in self.findings if f.status == "alarm")

    @property
    def exit_status(self) -> int:
        """0 clean, 1 findings (or a control that could not be run), 3 a cluster was not read."""
        if self.unread:
            return 3
        return int(any(f.status in ("alarm", "error") for f in self.findings))


@dataclass(frozen=True, slots=True)
class AuditColumn:
    """One column of a table of an audit. `type` is Spark's name of it."""

    table: str
    column: str
    type: str
    required: bool
    about: str


@dataclass(frozen=True, slots=True)
class AuditTable:
    """One table of an audit, and what it holds."""

    name: str
    about: str
    columns: tuple[AuditColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditSnapshot:
    """A snapshot that was written: rows by table. `unread` as in a report."""

    snapshot_id: str
    folder: str
    clusters: tuple[str, ...]
    unread: Mapping[str, str]
    rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def exit_status(self) -> int:
        """0, or 3 where a cluster was not read."""
        return 3 if self.unread else 0


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference between two collections. `undo` is the line that takes it back, or empty."""

    cluster: str
    table: str
    resource: str
    change: str  # appeared, vanished, changed
    field: str = ""
    before: str | None = None
    after: str | None = None
    undo: str = ""
