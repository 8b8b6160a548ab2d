"""Tables and pages of audits: reports, snapshots, tables and differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_shell.audit.model import (
    CHANGED,
    SEVERITIES,
    AuditColumn,
    AuditControl,
    AuditFinding,
    AuditReport,
    AuditSnapshot,
    AuditTable,
    ControlTest,
    ControlTests,
    Drift,
    ExplainedControl,
    FindingGroup,
    FindingHistory,
    SparkServer,
    Trend,
    WrittenRows,
)
from kafka_shell.base.units import approximate_bytes, approximate_duration, counted
from kafka_shell.output.columns import summary
from kafka_shell.output.humanize import local_time
from kafka_shell.output.tables import Column, Page, draw_table
from kafka_shell.output.text import Role, Text, hang, pad, text

_SOON_DAYS = 30
_EMPTY = text("nothing to check", "dim")
_SHOWN = 10  # findings per control, if there are several controls
_ROLES: dict[str, Role] = {"critical": "bad", "high": "bad", "medium": "warning", "low": "dim"}
_TEST_ROLES: dict[str, Role] = {"passed": "good", "untested": "dim"}
_STATE_ROLES: dict[str, Role] = {
    "new": "bad", "returned": "bad", "fixed": "good", "not checked": "dim",
}  # fmt: skip
_RISK_ROLES: dict[str, Role] = {"disruptive": "warning", "irreversible": "bad"}

COLUMNS: dict[type, tuple[Column, ...]] = {
    AuditControl: (
        Column("CONTROL", lambda c: c.control, role="name"),
        Column("SEVERITY", lambda c: text(c.severity, _ROLES[c.severity])),
        Column("FAMILY", lambda c: c.family),
        Column("TITLE", lambda c: c.title, overflow="wrap"),
        Column("REMEDY", lambda c: _risk(c.risk)),
    ),
    ControlTest: (
        Column("CONTROL", lambda t: t.control, role="name"),
        Column("TEST", lambda t: t.test),
        Column("STATUS", lambda t: text(t.status, _TEST_ROLES.get(t.status, "bad"))),
        Column("REASON", lambda t: t.reason, overflow="wrap"),
    ),
    WrittenRows: (
        Column("DIRECTORY", lambda w: w.folder, role="name", overflow="wrap"),
        Column("ROWS", lambda w: f"{w.rows:,}", "right"),
    ),
    Trend: (
        Column("KIND", lambda t: t.what),
        Column("CLUSTER", lambda t: t.cluster, overflow="wrap"),
        Column("NAME", lambda t: t.name, role="name", overflow="wrap", least=16),
        Column("NOW", lambda t: _amount(t, t.now), "right"),
        Column("PER DAY", lambda t: _amount(t, t.per_day, "+"), "right"),
        Column("IN 30 DAYS", lambda t: _amount(t, t.in_30_days), "right"),
        Column("SINCE", lambda t: local_time(t.since // 1000 * 1000)[:10], overflow="drop"),
        Column("FORECAST", lambda t: _forecast(t), overflow="wrap"),
    ),
    FindingHistory: (
        Column("STATE", lambda h: text(h.state, _STATE_ROLES.get(h.state, ""))),
        Column("AGE", lambda h: approximate_duration((h.now - h.since) / 1000), "right"),
        Column("CONTROL", lambda h: h.control, role="name"),
        Column("SEVERITY", lambda h: text(h.severity, _ROLES[h.severity])),
        Column("CLUSTER", lambda h: h.cluster, overflow="wrap"),
        Column("RESOURCE", lambda h: h.resource, overflow="wrap", least=16),
        Column("TITLE", lambda h: h.title, overflow="drop"),
    ),
    AuditTable: (
        Column("TABLE", lambda t: t.name, role="name"),
        Column("COLUMNS", lambda t: len(t.columns), "right"),
        Column("DESCRIPTION", lambda t: t.about, overflow="wrap"),
    ),
    AuditColumn: (
        Column("TABLE", lambda c: c.table),
        Column("COLUMN", lambda c: c.column, role="name"),
        Column("TYPE", lambda c: c.type),
        Column("DESCRIPTION", lambda c: c.about, overflow="wrap"),
    ),
    SparkServer: (
        Column("STATE", lambda s: text(s.state, "good" if s.state == "running" else "dim")),
        Column("ADDRESS", lambda s: s.address, role="name"),
        Column("PID", lambda s: s.pid, "right"),
        Column("STARTED", lambda s: s.started_at and local_time(s.started_at)),
        Column("ENDS IF IDLE", lambda s: s.ends_at and local_time(s.ends_at)),
    ),
    Drift: (
        Column("CLUSTER", lambda d: d.cluster),
        Column("TABLE", lambda d: d.table),
        Column("RESOURCE", lambda d: d.resource, role="name"),
        Column("CHANGE", lambda d: d.change),
        Column("FIELD", lambda d: d.field),
        Column("BEFORE", lambda d: d.before, role="removed"),
        Column("AFTER", lambda d: d.after, role="added"),
        Column("UNDO", lambda d: d.undo, role="hint", overflow="wrap"),
    ),
}


def report_page(report: AuditReport, width: int | None) -> Iterator[Text]:
    """The verdict, a table by family and severity, then the findings of each control."""
    yield from summary(
        width,
        _verdict(report),
        counted(len(report.clusters), "cluster"),
        counted(len(report.controls), "control"),
        text(f"collected {local_time(report.collected_at)}", "dim"),
    )
    for cluster, reason in report.unread.items():
        yield from hang(text(f"{cluster} could not be read: ", "bad") + reason, width, 2)
    changes = Counter(each.state for each in report.changes)
    if changes:
        states = ", ".join(f"{changes[state]:,} {state}" for state in CHANGED if changes[state])
        yield text(f"since the previous audit: {states}")
    if report.not_sent:
        yield from hang(text(f"not posted: {report.not_sent}", "bad"), width, 2)
    if report.suppressed:
        suppressed = f"{counted(report.suppressed, 'finding')} suppressed by the policy"
        yield text(suppressed, "dim")
    if any(control.counts for control in report.controls):
        yield Text()
        yield from draw_table(_SUMMARY, report.families, width=width)
    if len(report.clusters) > 1:
        yield Text()
        yield from draw_table(_CLUSTERS, report.by_cluster, width=width)
        yield Text()
        clusters = len(report.clusters)
        for each in report.worst[:_SHOWN]:
            severity = text(f"{each.severity} ", _ROLES[each.severity])
            where = f" on {len(each.clusters)} of {counted(clusters, 'cluster')}: {each.title}"
            yield from hang(severity + text(each.control, "name") + where, width, 2)
    groups = [each for each in report.groups if each.findings[0].status in ("alarm", "info")]
    yield from _grouped(groups, width)
    yield from _not_evaluated([f for f in report.findings if f.status in ("skip", "error")], width)


def _verdict(report: AuditReport) -> Text:
    found = report.alarms
    if not found:
        return text("no findings", "" if report.exit_status else "good")
    words = ", ".join(f"{found[each]:,} {each}" for each in SEVERITIES if found[each])
    worst = next(each for each in SEVERITIES if found[each])
    return text(f"{counted(sum(found.values()), 'finding')}: {words}", _ROLES[worst])


def _severity(name: str) -> Column:
    role = _ROLES[name]
    return Column(name.upper(), lambda f: f.alarms.get(name) or None, "right", role)


_SUMMARY = (
    Column("FAMILY", lambda f: f.name, role="name"),
    Column("CONTROLS", lambda f: f.controls, "right"),
    *map(_severity, SEVERITIES),
    Column("OK", lambda f: f.statuses["ok"] or (None if f.statuses else _EMPTY), "right", "good"),
    Column("SKIP", lambda f: f.statuses["skip"] or None, "right"),
    Column("ERROR", lambda f: f.statuses["error"] or None, "right", "bad"),
)


_CLUSTERS = (
    Column("CLUSTER", lambda c: c.cluster, role="name"),
    *map(_severity, SEVERITIES),
    Column("NOT CHECKED", lambda c: "unreachable" if c.unread else c.unchecked or None, "right"),
)  # fmt: skip


def _risk(risk: str) -> Text:
    return text(risk, _RISK_ROLES.get(risk, ""))


def control_page(control: ExplainedControl, width: int | None) -> Iterator[Text]:
    """One control: what is at risk, where the rule is from, what it reads, and its query."""
    yield from summary(
        width,
        text(control.control, "name") + " " + text(control.title, "heading"),
        text(control.severity, _ROLES[control.severity]),
        control.family,
    )
    yield from hang(text(control.description), width, 0)
    yield Text()
    facts = {
        "source": text(control.source),
        "tags": text(", ".join(control.tags)),
        "reads": text(", ".join(control.tables)),
        "parameters": text(", ".join(f"{k} = {v}" for k, v in control.parameters.items())),
        "remedy": _risk(control.risk),
        "file": text(control.file),
    }
    for name, value in facts.items():
        if value:
            yield from hang(pad(text(name, "key"), 12) + value, width, 12)
    yield from (Text(), *(text(line, "sql") for line in control.query.splitlines()))


def _grouped(groups: Sequence[FindingGroup], width: int | None) -> Iterator[Text]:
    several_clusters = len({f.cluster for group in groups for f in group.findings}) > 1
    for group in groups:
        first = group.findings[0]
        yield Text()
        label = text(first.severity if first.status == "alarm" else "info", _ROLES[first.severity])
        yield label + " " + text(first.control, "name") + " " + text(first.title, "heading")
        shown = group.findings if len(groups) == 1 else group.findings[:_SHOWN]
        room = max((len(_where(f, several_clusters)) for f in shown), default=0)
        room = min(room, 48)
        for finding in shown:
            yield from _finding(finding, several_clusters, room, width)
        if more := group.total - len(shown):
            use = f"to see them, use --controls {first.control} with the same options"
            yield text(f"  and {more:,} more ({use})", "dim")


def _where(finding: AuditFinding, several: bool) -> str:
    return f"{finding.cluster}: {finding.resource}" if several else finding.resource


def _finding(finding: AuditFinding, several: bool, room: int, width: int | None) -> Iterator[Text]:
    where = text(_where(finding, several), "name")
    gap = "" if where.width <= room else "  "
    line = text("  ") + pad(where, room + 2) + gap + text(finding.reason)
    if finding.owner:
        line = line + text(f" ({finding.owner})", "dim")
    yield from hang(line, width, room + 4)
    if finding.remedy:
        line = text(finding.remedy, "hint")
        if finding.risk != "safe":
            line = line + "   (" + _risk(finding.risk) + ")"
        yield from hang(text("    ") + line, width, 6)


def _not_evaluated(findings: Sequence[AuditFinding], width: int | None) -> Iterator[Text]:
    """The controls that could not be evaluated, grouped by reason."""
    by: dict[tuple[str, str, str], list[str]] = {}
    for f in findings:
        by.setdefault((f.status, f.cluster, f.reason), []).append(f.control)
    if by:
        yield Text()
        yield text("not evaluated", "heading")
    for (status, cluster, reason), controls in by.items():
        what = ", ".join(dict.fromkeys(controls))
        line = text(f"  {status} ", "bad" if status == "error" else "dim") + text(what, "name")
        line = line + (f" on {cluster}" if cluster else "") + ": " + text(reason)
        yield from hang(line, width, 4)


def snapshot_page(snapshot: AuditSnapshot, width: int | None) -> Iterator[Text]:
    """The folder of a snapshot, and the rows of each table."""
    yield from summary(
        width,
        text(f"snapshot {snapshot.snapshot_id}", "heading"),
        f"in {snapshot.folder}",
        counted(len(snapshot.clusters), "cluster"),
    )
    if snapshot.expired:
        yield text(f"{counted(len(snapshot.expired), 'older snapshot')} deleted", "dim")
    for about, reason in {**snapshot.unread, **snapshot.incomplete}.items():
        yield from hang(text(f"{about} could not be read: ", "bad") + reason, width, 2)
    yield Text()
    columns = (
        Column("TABLE", lambda row: row[0], role="name"),
        Column("ROWS", lambda row: row[1], "right"),
    )
    yield from draw_table(columns, list(snapshot.rows.items()), width=width)


def _amount(trend: Trend, value: float | None, sign: str = "") -> str:
    """`+1.2 GiB`, `-30`: bytes or a count, rounded; nothing for None."""
    if value is None:
        return ""
    size = abs(value)
    if trend.what in ("topics", "disks"):
        shown = approximate_bytes(round(size))
    elif 0 < size < 0.05:
        return "<0.1" if value > 0 else ">-0.1"
    else:
        shown = f"{size:,.0f}" if size >= 10 or size == int(size) else f"{size:.1f}"
    return ("-" if value < 0 else sign if value else "") + shown


def _forecast(trend: Trend) -> Text:
    soon = trend.full_in_days is not None and trend.full_in_days < _SOON_DAYS
    return text(trend.forecast, "bad" if soon else "warning")


def tests_page(tests: ControlTests, width: int | None) -> Iterator[Text]:
    """A row for each test, and their number."""
    yield from draw_table(COLUMNS[ControlTest], list(tests.results), width=width)
    counts = Counter(each.status for each in tests.results)
    yield text(
        ", ".join(f"{count:,} {status}" for status, count in counts.items()) or "no controls"
    )


PAGES: dict[type, Page] = {
    ControlTests: tests_page,
    ExplainedControl: control_page,
    AuditReport: report_page,
    AuditSnapshot: snapshot_page,
}
ROWS = {
    AuditReport: lambda report: report.findings,
    ControlTests: lambda tests: tests.results,
}
