"""Run an audit: evaluate controls on a collection and build the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date

from kafka_shell.audit.collection import Collection, mentioned
from kafka_shell.audit.control import Control
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.evaluate import EvaluationProgress, evaluate, in_order
from kafka_shell.audit.model import AuditFinding, AuditReport, ControlResult, Drift, LeftOut
from kafka_shell.audit.policy import DRIFT, Policy
from kafka_shell.audit.snapshot import is_snapshot
from kafka_shell.audit.table import Table
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.structs import replace
from kafka_shell.base.units import ConfigType, format_config_value

Thresholds = Mapping[str, Mapping[str, str]]


def tables_for(
    controls: Sequence[Control], thresholds: Thresholds, tables: Mapping[str, Table]
) -> set[str]:
    """Return the names of the tables that these controls read."""
    names: set[str] = set()
    for control in controls:
        names |= mentioned(control.query(thresholds.get(control.id, {})), tables)
        names |= {*control.needs, *control.requires} & tables.keys()
    return names


def audit(
    engine: Engine,
    collection: Collection,
    controls: Sequence[Control],
    policy: Policy,
    against: tuple[str, Collection] | None = None,
) -> AuditReport:
    """Evaluate controls on a collection, and compare it with `against` (a name and a
    collection)."""
    collection.show()
    at, today = EvaluationProgress(), date.today()
    found = engine.run(
        "evaluating controls",
        lambda: evaluate(
            engine.session,
            controls,
            policy.thresholds,
            collection.status,
            at,
            engine.stopped,
            engine.opened.keep,
            policy.suppressed(today),
        ),
        lambda: (len(at.done), len(controls)),
        lambda: at.name,
    )
    findings = found.findings
    judged = [_judged(control, found.counts) for control in controls]

    def suppressed(each: AuditFinding) -> bool:
        return any(suppression.covers(each, today) for suppression in policy.suppressions)

    if against is not None:
        differences, summary = _compare(engine, collection, *against)
        findings += differences
        judged.append(_with_suppressed(summary, sum(map(suppressed, differences))))
    kept = [each for each in findings if not suppressed(each)]
    return AuditReport(
        collection.snapshot_id,
        collection.collected_at,
        collection.clusters,
        dict(collection.unread),
        tuple(judged),
        # The report lists clusters that could not be read once.
        in_order(f for f in kept if not (f.status == "skip" and f.cluster in collection.unread)),
        sum(each.counts.get("suppressed", 0) for each in judged),
        tuple(
            LeftOut(control.control, control.severity, cluster, count)
            for control in judged
            for (id, cluster), count in sorted(found.left_out.items())
            if id == control.control
        ),
    )


def _with_suppressed(result: ControlResult, count: int) -> ControlResult:
    """The result with so many alarms counted as suppressed."""
    if not count:
        return result
    counts = {**result.counts, "alarm": result.counts["alarm"] - count, "suppressed": count}
    return replace(result, counts=counts)


def _compare(
    engine: Engine, collection: Collection, name: str, other: Collection
) -> tuple[list[AuditFinding], ControlResult]:
    """Return the findings of X02 (another cluster) or X03 (an earlier snapshot): one per
    difference, and what could not be compared."""
    from kafka_shell.audit.drift import between, left_out, unread

    earlier = is_snapshot(name)
    id = DRIFT[1] if earlier else DRIFT[0]
    title = f"Differs from {'the snapshot' if earlier else 'the cluster'} {name}"
    keep = engine.opened.keep
    drifts = engine.run("comparing", lambda: between(other, collection, TABLES, keep))
    skipped = engine.run("comparing", lambda: [
        *((cluster, "cluster", "only on one side: not compared")
          for cluster in left_out(other, collection)),
        *((cluster, table, f"what is missing is not compared: {why}")
          for (cluster, table), why in (unread(other) | unread(collection)).items()),
    ])  # fmt: skip
    findings = [
        AuditFinding(
            id, title, "medium", "alarm", drift.cluster, drift.resource, _reason(drift),
            drift.undo, "", True if drift.undo else None, _risk(drift) if drift.undo else "",
        )
        for drift in drifts
    ]  # fmt: skip
    counts = {"alarm": len(findings), "skip": len(skipped)}
    findings += [
        AuditFinding(id, title, "medium", "skip", cluster, resource, why)
        for cluster, resource, why in skipped
    ]
    return findings, ControlResult(
        id, title, "medium", "drift", counts,
        "Configs, topics, ACLs, quotas and users should change only on purpose.", name,
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
