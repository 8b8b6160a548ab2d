"""Run an audit: evaluate controls on a collection and build the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import date

from kafka_shell.audit.collection import Collection, mentioned
from kafka_shell.audit.control import Control
from kafka_shell.audit.drift import TOO_MANY, between, left_out, unread
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.evaluate import evaluate, in_order
from kafka_shell.audit.model import (
    RISKS,
    SEVERITIES,
    AuditFinding,
    AuditReport,
    ControlResult,
    Drift,
    LeftOut,
)
from kafka_shell.audit.policy import DRIFT, PLANNED, STATE, Policy
from kafka_shell.audit.snapshot import is_snapshot
from kafka_shell.audit.table import Table
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.plans import Change
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import quote
from kafka_shell.base.units import ConfigType, format_config_value

Thresholds = Mapping[str, Mapping[str, str]]


def tables_for(
    controls: Sequence[Control], thresholds: Thresholds, tables: Mapping[str, Table]
) -> set[str]:
    """Return the names of the tables that these controls read."""
    names: set[str] = set()
    for control in controls:
        names |= mentioned(control.query(thresholds.get(control.id, {})), tables)
    return names


def audit(
    engine: Engine,
    collection: Collection,
    controls: Sequence[Control],
    policy: Policy,
    against: tuple[str, Collection] | None = None,
    dev: Container[str] = (),
) -> AuditReport:
    """Evaluate controls on a collection, and compare it with `against` (a name and a collection).
    Findings of clusters in `dev` are at most medium."""
    collection.show()
    done: list[str] = []
    today = date.today()
    found = engine.run(
        "evaluating controls",
        lambda: evaluate(
            engine.session,
            controls,
            policy.thresholds,
            collection.status,
            done,
            engine.stopped,
            policy.suppressed(today),
        ),
        lambda: (len(done), len(controls)),
    )
    kept = [
        replace(each, severity=_severity(each.severity, each.cluster, dev))
        for each in found.findings
        if not policy.suppresses(each, today)
    ]
    judged = tuple(_judged(control, found.counts) for control in controls)
    report = AuditReport(
        collection.snapshot_id,
        collection.collected_at,
        collection.clusters,
        dict(collection.unread),
        judged,
        # The report lists clusters that could not be read once.
        in_order(f for f in kept if not (f.status == "skip" and f.cluster in collection.unread)),
        sum(each.counts.get("suppressed", 0) for each in judged),
        tuple(
            LeftOut(control.control, _severity(control.severity, cluster, dev), cluster, count)
            for control in judged
            for (id, cluster), count in sorted(found.left_out.items())
            if id == control.control
        ),
    )
    if against is None:
        return report
    differences, control = _compare(engine, collection, *against)
    return _with_findings(report, control, differences, policy)


def with_state(
    report: AuditReport,
    file: str,
    cluster: str,
    changes: Sequence[Change],
    unread: Mapping[str, Failure],
    policy: Policy,
) -> AuditReport:
    """Add the findings of X01: `changes` lead from the cluster to the state file."""
    title, remedy = f"Differs from the state file {file}", f"apply {quote(file)}"

    def finding(change: Change) -> AuditFinding:
        before = "not set" if change.before is None else change.before
        why = f"{change.field} is {before}, declared: {change.after}"
        named = change.resource.kind in ("topic", "acl", "feature")
        where = change.resource.name if named else str(change.resource)
        if change.verb == "delete" or (change.field and change.after is None):  # by apply --prune
            return AuditFinding(STATE, title, "high", "alarm", cluster, where, "not declared")
        return AuditFinding(
            STATE, title, "high", "alarm", cluster, where,
            why if change.field else "declared, but missing", remedy, "", RISKS[-1],
        )  # fmt: skip

    alarms = [*map(finding, changes)]
    skipped = [
        AuditFinding(STATE, title, "high", "skip", cluster, about, why.message)
        for about, why in unread.items()
    ]
    about = "The cluster should match the state file."
    result = ControlResult(STATE, title, "high", "drift", {}, about, file)
    return _with_findings(report, result, [*alarms, *skipped], policy)


def _with_findings(
    report: AuditReport, control: ControlResult, found: Sequence[AuditFinding], policy: Policy
) -> AuditReport:
    """Add the results of something that is no query, without those of clusters that could not be
    read, which are listed once."""
    today = date.today()
    found = [f for f in found if not (f.status == "skip" and f.cluster in report.unread)]
    kept = [each for each in found if not policy.suppresses(each, today)]
    counts = {"alarm": 0, "skip": 0} | Counter(each.status for each in kept)
    known = len(found) - len(kept)
    judged = replace(control, counts={**counts, "suppressed": known})
    return replace(
        report,
        findings=in_order((*report.findings, *kept)),
        controls=(*report.controls, judged),
        suppressed=report.suppressed + known,
    )


def with_unjudged(report: AuditReport, reasons: Mapping[str, str]) -> AuditReport:
    """Add the changes of a plan that were not judged, with the reasons."""
    title, (cluster, *_) = "Changes that are not judged", report.clusters
    skipped = [
        AuditFinding(PLANNED, title, "medium", "skip", cluster, about, why)
        for about, why in reasons.items()
    ]
    about = "The findings of the other changes are complete."
    control = ControlResult(PLANNED, title, "medium", "drift", {}, about)
    return _with_findings(report, control, skipped, Policy()) if skipped else report


def _severity(severity: str, cluster: str, dev: Container[str]) -> str:
    """The severity of a finding in a cluster."""
    return max(severity, "medium", key=SEVERITIES.index) if cluster in dev else severity


def with_suppressed(result: ControlResult, count: int) -> ControlResult:
    """Return the result with so many more alarms counted as suppressed."""
    if not count:
        return result
    alarms = result.counts.get("alarm", 0) - count
    known = result.counts.get("suppressed", 0) + count
    return replace(result, counts={**result.counts, "alarm": alarms, "suppressed": known})


def only(
    report: AuditReport, findings: Iterable[AuditFinding], left_out: Sequence[LeftOut]
) -> AuditReport:
    """Return the report with only these findings, and the numbers of alarms that are left."""
    kept = tuple(findings)
    alarms = Counter(each.control for each in kept if each.status == "alarm")
    for rest in left_out:
        alarms[rest.control] += rest.alarms
    controls = tuple(
        replace(each, counts={**each.counts, "alarm": alarms[each.control]})
        if each.counts.get("alarm")
        else each
        for each in report.controls
    )
    return replace(report, findings=kept, controls=controls, left_out=tuple(left_out))


def _compare(
    engine: Engine, collection: Collection, name: str, other: Collection
) -> tuple[list[AuditFinding], ControlResult]:
    """Return the findings of X02 (another cluster) or X03 (an earlier snapshot): one per
    difference, and what could not be compared."""
    earlier = is_snapshot(name)
    id = DRIFT[1] if earlier else DRIFT[0]
    title = f"Differs from {'the snapshot' if earlier else 'the cluster'} {name}"
    drifts, complete = engine.run("comparing", lambda: between(other, collection, TABLES))
    skipped = engine.run("comparing", lambda: [
        *((cluster, "cluster", "only on one side: not compared")
          for cluster in left_out(other, collection)),
        *((cluster, table, f"missing resources are not compared: {why}")
          for (cluster, table), why in (unread(other) | unread(collection)).items()),
        *(() if complete else ((", ".join(collection.clusters), "differences", TOO_MANY),)),
    ])  # fmt: skip
    findings = [
        AuditFinding(
            id, title, "medium", "alarm", drift.cluster, drift.resource, _reason(drift),
            drift.undo, "", _risk(drift) if drift.undo else "", changes=drift.changes,
        )
        for drift in drifts
    ]  # fmt: skip
    findings += [
        AuditFinding(id, title, "medium", "skip", cluster, resource, why)
        for cluster, resource, why in skipped
    ]
    return findings, ControlResult(
        id, title, "medium", "drift", {},
        "Each change of configs, topics, ACLs, quotas and users should be intended.", name,
    )  # fmt: skip


def _risk(drift: Drift) -> str:
    """The risk of undoing a difference: a topic is deleted with its records, and a lower retention
    deletes records, too."""
    return "irreversible" if drift.table in ("topics", "topic_configs") else "disruptive"


def _reason(drift: Drift) -> str:
    what = f"{drift.table.replace('_', ' ')}{' ' + drift.field if drift.field else ''}"
    if drift.change == "changed":
        before, after = (_shown(drift.field, value) for value in (drift.before, drift.after))
        return f"{what} changed from {before} to {after}"
    return f"{what} {drift.change}"


def _shown(key: str, value: str | None) -> str:
    """A config value as describe-configs prints it."""
    return "unset" if value is None else format_config_value(key, ConfigType.UNKNOWN, value)


def _judged(control: Control, counts: Counter[tuple[str, str]]) -> ControlResult:
    by_status = {
        status: count for (id, status), count in sorted(counts.items()) if id == control.id
    }
    return ControlResult(
        control.id, control.title, control.severity.name.lower(), control.family, by_status,
        control.description, control.source,
    )  # fmt: skip
