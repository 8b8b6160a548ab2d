"""Findings and reports of audits, and the tables that audits read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import groupby

from msgspec import Struct, field

from kafka_shell.base.plans import Change

SEVERITIES = ("critical", "high", "medium", "low")
WEBHOOK_FORMATS = ("json", "slack")
CHANGED = ("new", "returned", "fixed")  # states of findings since the previous audit
RISKS = ("safe", "disruptive", "irreversible")  # of a remedy


class AuditFinding(Struct, frozen=True):
    """The result of one control for one resource. Field names are part of the JSON and SARIF
    output.

    `status` is ok, info, alarm, skip (not checked, see `reason`) or error. `remedy` and `undo` are
    kafka.sh commands, or empty, and `changes` are what the remedy does. `owner` is the team that
    owns the resource, or empty.
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
    risk: str = ""
    owner: str = ""
    changes: tuple[Change, ...] = ()


class AuditControl(Struct, frozen=True):
    """A control as `spark controls` shows it. `description` says what is at risk, and `source`
    where the rule is from. `risk` is that of its remedy, or empty.
    """

    control: str
    title: str
    severity: str
    family: str
    description: str
    source: str
    tags: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    risk: str = ""
    file: str = ""


class ExplainedControl(AuditControl, frozen=True):
    """One control, shown as a page with its query."""

    query: str = ""


class ControlResult(Struct, frozen=True):
    """The results of one control: the number of resources per status. `description` and `source`
    as in `AuditControl`."""

    control: str
    title: str
    severity: str
    family: str
    counts: Mapping[str, int]  # by status
    description: str = ""
    source: str = ""


class ClusterResult(Struct, frozen=True):
    """The results of one cluster: alarms per severity, and what was not checked."""

    cluster: str
    alarms: Mapping[str, int]
    unchecked: int = 0
    unread: str = ""


class LeftOut(Struct, frozen=True):
    """The number of alarms of a control on a cluster that are not in the findings of the report."""

    control: str
    severity: str
    cluster: str
    alarms: int


class Spread(Struct, frozen=True):
    """A control, the number of its findings, and the clusters that have them."""

    control: str
    title: str
    severity: str
    findings: int
    clusters: tuple[str, ...]


class FamilyResult(Struct, frozen=True):
    """The results of a family of controls: alarms per severity, and resources per status."""

    name: str
    controls: int
    alarms: Mapping[str, int]
    statuses: Counter[str]  # empty if the clusters have nothing that its controls check


class FindingGroup(Struct, frozen=True):
    """The findings of one control with the same status, and the number of all of them."""

    findings: tuple[AuditFinding, ...]
    total: int


class FindingHistory(Struct, frozen=True):
    """A finding over snapshots. `state` is new, returned, fixed, open or not checked; `since` and
    `until` are of its latest run of snapshots, `first` is when it was first seen, and `now` the
    newest snapshot; all in epoch milliseconds.
    """

    cluster: str
    control: str
    title: str
    severity: str
    resource: str
    state: str
    since: int
    until: int
    first: int
    now: int
    owner: str = ""


class AuditReport(Struct, frozen=True):
    """The result of an audit. `findings` are the results that are not ok, most severe first;
    `unread` are the clusters that could not be read, with the reason. `left_out` counts
    the alarms that are not in `findings`: those of a control are limited. `fail_on` is the lowest
    severity of a finding that makes the exit status 1. `changes` are the findings that are new,
    returned or fixed since the previous audit, if there are snapshots to compare with. `not_sent`
    is why they could not be posted, or empty.
    """

    snapshot_id: str
    collected_at: int  # epoch milliseconds
    clusters: tuple[str, ...]
    unread: Mapping[str, str]
    controls: tuple[ControlResult, ...]
    findings: tuple[AuditFinding, ...]
    suppressed: int = 0
    left_out: tuple[LeftOut, ...] = ()
    fail_on: str = SEVERITIES[-1]
    changes: tuple[FindingHistory, ...] = ()
    not_sent: str = ""

    @property
    def counted(self) -> Counter[tuple[str, str, str]]:
        """The number of alarms by severity, control and cluster, with those that are left out."""
        alarms = (each for each in self.findings if each.status == "alarm")
        found = Counter((each.severity, each.control, each.cluster) for each in alarms)
        for rest in self.left_out:
            found[rest.severity, rest.control, rest.cluster] += rest.alarms
        return found

    @property
    def alarms(self) -> Counter[str]:
        """The number of alarms per severity."""
        found: Counter[str] = Counter()
        for (severity, _, _), count in self.counted.items():
            found[severity] += count
        return found

    @property
    def unchecked(self) -> int:
        """The number of results of controls that could not be evaluated."""
        return sum(each.status in ("skip", "error") for each in self.findings)

    @property
    def by_cluster(self) -> tuple[ClusterResult, ...]:
        """The results of each cluster, the one with the most severe alarms first."""
        alarms: dict[str, Counter[str]] = {name: Counter() for name in self.clusters}
        for (severity, _, name), count in self.counted.items():
            alarms.setdefault(name, Counter())[severity] += count
        unchecked = Counter(f.cluster for f in self.findings if f.status in ("skip", "error"))
        judged = (
            ClusterResult(name, found, unchecked[name], self.unread.get(name, ""))
            for name, found in alarms.items()
        )
        return tuple(sorted(judged, key=lambda c: [-c.alarms.get(each, 0) for each in SEVERITIES]))

    @property
    def worst(self) -> tuple[Spread, ...]:
        """The controls with findings: the most severe first, then those of most clusters."""
        counts: dict[tuple[str, str], Counter[str]] = {}
        titles = {each.control: each.title for each in self.findings}
        titles |= {each.control: each.title for each in self.controls}
        for (severity, control, cluster), count in self.counted.items():
            counts.setdefault((severity, control), Counter())[cluster] += count
        spread = (
            Spread(control, titles.get(control, ""), severity, found.total(), tuple(sorted(found)))
            for (severity, control), found in counts.items()
        )
        return tuple(sorted(
            spread,
            key=lambda s: (SEVERITIES.index(s.severity), -len(s.clusters), -s.findings, s.control),
        ))  # fmt: skip

    @property
    def families(self) -> tuple[FamilyResult, ...]:
        """The results of each family, in the order of the controls."""
        found: dict[str, FamilyResult] = {}
        for control in self.controls:
            before = found.get(control.family, FamilyResult(control.family, 0, {}, Counter()))
            alarms = Counter(before.alarms)
            alarms[control.severity] += control.counts.get("alarm", 0)
            statuses = Counter(before.statuses)
            statuses.update(control.counts)
            found[control.family] = FamilyResult(
                control.family, before.controls + 1, alarms, statuses
            )
        return tuple(found.values())

    @property
    def groups(self) -> tuple[FindingGroup, ...]:
        """The findings by control and status, in order."""
        left_out: Counter[str] = Counter()
        for rest in self.left_out:
            left_out[rest.control] += rest.alarms
        runs = groupby(self.findings, lambda each: (each.control, each.status))
        groups = ((tuple(run), left_out[id] * (status == "alarm")) for (id, status), run in runs)
        return tuple(FindingGroup(found, len(found) + rest) for found, rest in groups)

    @property
    def exit_status(self) -> int:
        """0 for no findings from `fail_on` on, 1 for such findings or if a control of such a
        severity could not be checked or changes not be posted, 3 for an unreachable cluster."""
        if self.unread:
            return 3
        if self.not_sent:
            return 1
        failing = SEVERITIES[: SEVERITIES.index(self.fail_on) + 1]
        unchecked = (f.severity for f in self.findings if f.status in ("error", "skip"))
        return int(any(each in failing for each in (*unchecked, *self.alarms)))


class ControlTest(Struct, frozen=True):
    """The result of one test of a control: passed, failed, error, or untested if it has none."""

    control: str
    test: str
    status: str
    reason: str = ""


class ControlTests(Struct, frozen=True):
    """The results of tests of controls."""

    results: tuple[ControlTest, ...]

    @property
    def exit_status(self) -> int:
        """1 if a test failed."""
        return int(any(each.status in ("failed", "error") for each in self.results))


class AuditColumn(Struct, frozen=True):
    """A column of an audit table. `type` is its Spark type."""

    table: str
    column: str
    type: str
    required: bool
    about: str


class AuditTable(Struct, frozen=True):
    """An audit table and its columns."""

    name: str
    about: str
    columns: tuple[AuditColumn, ...] = ()


class AuditSnapshot(Struct, frozen=True):
    """A snapshot that was written: number of rows by table. `unread` as in a report; `incomplete`
    are tables that could not be read, fully or partly, with the reason; `expired` are the IDs of
    snapshots that were deleted."""

    snapshot_id: str
    folder: str
    clusters: tuple[str, ...]
    unread: Mapping[str, str]
    rows: Mapping[str, int] = field(default_factory=dict)
    incomplete: Mapping[str, str] = field(default_factory=dict)
    expired: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        """0, 1 if a table could not be read, or 3 if a cluster could not be read."""
        return 3 if self.unread else int(bool(self.incomplete))


class WrittenRows(Struct, frozen=True):
    """The rows of a query that were written to a folder."""

    folder: str
    rows: int


class Trend(Struct, frozen=True):
    """A series over snapshots: `before` at `since`, `now` at `until`, and its regression line.

    Values are bytes (topics, disks) or counts (partitions, lag). `limit` is the size of a disk.
    What needs more snapshots, or more than their time, is None.
    """

    what: str  # topics, partitions, lag, disks
    cluster: str
    name: str
    snapshots: int
    since: int  # epoch milliseconds
    until: int
    before: float
    now: float
    per_day: float | None = None
    in_30_days: float | None = None
    limit: float | None = None
    full_in_days: float | None = None
    points: tuple[tuple[int, float], ...] = ()  # (time, value), oldest first

    @property
    def forecast(self) -> str:
        """`log.dirs of broker 3 full in 23 days`, or an empty string."""
        if self.full_in_days is None:
            return ""
        _, broker, path = self.name.split(" ", 2)
        days = round(self.full_in_days)
        when = "today" if days < 1 else f"in {days:,} {'day' if days == 1 else 'days'}"
        return f"log.dirs of broker {broker} full {when}: {path}"


class SparkServer(Struct, frozen=True):
    """The local Spark server: running or stopped. It ends `ends_at` if it is not used until then.
    Times are epoch milliseconds."""

    state: str
    address: str | None = None
    pid: int | None = None
    started_at: int | None = None
    ends_at: int | None = None


class Drift(Struct, frozen=True):
    """A difference between two collections. `undo` is the command that reverts it, or empty, and
    `changes` are what it does."""

    cluster: str
    table: str
    resource: str
    change: str  # appeared, vanished, changed
    field: str = ""
    before: str | None = None
    after: str | None = None
    undo: str = ""
    changes: tuple[Change, ...] = ()
