"""One audit: the controls chosen, judged over a collection, as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from kafka_shell.errors import UsageError, did_you_mean

from .collection import Collection, mentioned
from .control import FAMILIES, Control, Level
from .engine import Engine
from .evaluate import evaluate, in_order
from .model import AuditFinding, AuditReport, Drift, JudgedControl
from .policy import Policy
from .snapshot import is_snapshot
from .table import Table
from .tables import TABLES

Thresholds = Mapping[str, Mapping[str, str]]


def choose(
    controls: Mapping[str, Control], words: Iterable[str], threshold: str = ""
) -> tuple[Control, ...]:
    """The controls of these ids, families and tags (none: all), at or above a severity.

    Raises UsageError for a word that is none of them.
    """
    wanted = [word.strip() for word in words if word.strip()]
    chosen = {id for word in wanted for id in _meant(controls, word)} if wanted else set(controls)
    lowest = Level[threshold.upper()] if threshold else max(Level)
    return tuple(
        control for id, control in controls.items() if id in chosen and control.severity <= lowest
    )


def _meant(controls: Mapping[str, Control], word: str) -> set[str]:
    found = {
        id
        for id, control in controls.items()
        if word.upper() == id or word.lower() in (control.family, *map(str.lower, control.tags))
    }
    if not found and word.lower() not in FAMILIES.values():
        tags = {tag for control in controls.values() for tag in control.tags}
        raise UsageError(
            f"{word!r} is no control, family or tag",
            hint=did_you_mean(
                word, [*controls, *FAMILIES.values(), *sorted(tags)],
                f"Families: {', '.join(FAMILIES.values())}",
            ),
            code="no-control",
        )  # fmt: skip
    return found


def tables_for(
    controls: Sequence[Control], thresholds: Thresholds, tables: Mapping[str, Table]
) -> set[str]:
    """What has to be collected for these controls."""
    return {
        name
        for control in controls
        for name in {*mentioned(control.query(thresholds.get(control.id, {})), tables),
                     *control.needs} & tables.keys()
    }  # fmt: skip


def audit(
    engine: Engine,
    collection: Collection,
    controls: Sequence[Control],
    policy: Policy,
    against: tuple[str, Collection] | None = None,
) -> AuditReport:
    """Judge a collection by these controls; and, `against` another, by how it differs."""
    collection.show()
    done: list[None] = []
    findings, counts = engine.run(
        "judging",
        lambda: evaluate(engine.session, controls, policy.thresholds, lambda: done.append(None)),
        lambda: (len(done), len(controls)),
    )
    judged = [_judged(control, counts) for control in controls]
    if against is not None:
        differs, how = _differs(engine, collection, *against)
        findings += differs
        judged.append(how)
    today = date.today()
    kept = [f for f in findings if not any(s.covers(f, today) for s in policy.suppressions)]
    return AuditReport(
        collection.snapshot_id,
        collection.collected_at,
        collection.clusters,
        dict(collection.unread),
        tuple(judged),
        in_order(_told_once(kept, collection.unread)),
        len(findings) - len(kept),
    )


def _differs(
    engine: Engine, collection: Collection, name: str, other: Collection
) -> tuple[list[AuditFinding], JudgedControl]:
    """X02 (a peer cluster) or X03 (an earlier snapshot): a finding a difference."""
    from .drift import between

    earlier = is_snapshot(name)
    id = "X03" if earlier else "X02"
    title = f"Differs from {'the snapshot' if earlier else 'the cluster'} {name}"
    drifts = engine.run("comparing", lambda: between(other, collection, TABLES))
    findings = [
        AuditFinding(
            id, title, "medium", "alarm", drift.cluster, drift.resource, _told(drift),
            drift.undo, "", True if drift.undo else None, "disruptive" if drift.undo else "",
        )
        for drift in drifts
    ]  # fmt: skip
    return findings, JudgedControl(id, title, "medium", "drift", {"alarm": len(findings)})


def _told(drift: Drift) -> str:
    what = f"{drift.table.replace('_', ' ')}{' ' + drift.field if drift.field else ''}"
    if drift.change == "changed":
        return f"{what} was {drift.before}, is {drift.after}"
    return f"{what} {drift.change}"


def _judged(control: Control, counts: Counter[tuple[str, str]]) -> JudgedControl:
    of = {status: count for (id, status), count in sorted(counts.items()) if id == control.id}
    return JudgedControl(
        control.id, control.title, control.severity.name.lower(), control.family, of
    )


def _told_once(
    findings: Iterable[AuditFinding], unread: Mapping[str, str]
) -> Iterable[AuditFinding]:
    """Without what is skipped as its whole cluster is unread: the report says that once."""
    return (f for f in findings if not (f.status == "skip" and f.cluster in unread))
