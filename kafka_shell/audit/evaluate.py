"""Evaluate controls: run their SQL on the tables of a collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .control import Control
from .model import SEVERITIES, AuditFinding
from .remedy import single_command
from .session import SHUFFLE_PARTITIONS, sentence

_AT_ONCE = 4
_MANY = 200_000  # rows of all tables together
_BY_ROWS = {  # values for few and for many rows
    "spark.sql.codegen.wholeStage": ("false", "true"),
    "spark.sql.codegen.factoryMode": ("NO_CODEGEN", "FALLBACK"),
    "spark.sql.shuffle.partitions": ("1", SHUFFLE_PARTITIONS),
}
_LEFT_OUT = " (remedy omitted: not a single printable command)"

Judged = tuple[list[AuditFinding], Counter[tuple[str, str]]]


def evaluate(
    session: Any,
    controls: Sequence[Control],
    thresholds: Mapping[str, Mapping[str, str]],
    judged: Callable[[], None] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Judged:
    """Return the findings that are not ok, and the number of results by (control, status).

    The tables are temporary views of the session. A control whose SQL fails becomes an error
    finding. `judged` is called after each control; no further one is begun once `stopped`.
    """
    _fit(session)
    unread = _unread(session)

    def judge(control: Control) -> Judged:
        if stopped():
            return [], Counter()
        return _judge(session, control, thresholds.get(control.id, {}), unread)

    findings: list[AuditFinding] = []
    counts: Counter[tuple[str, str]] = Counter()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for found, counted in pool.map(judge, controls):
            findings += found
            counts += counted
            judged()
    return findings, counts


def _fit(session: Any) -> None:
    """Disable code generation for few rows, where compiling a query takes longer than running
    it."""
    read = session.sql("SELECT coalesce(sum(`rows`), 0) AS n FROM collection_status").first()["n"]
    for key, (few, many) in _BY_ROWS.items():
        session.conf.set(key, few if read < _MANY else many)


def _judge(
    session: Any,
    control: Control,
    thresholds: Mapping[str, str],
    unread: Mapping[tuple[str, str], str],
) -> Judged:
    counts: Counter[tuple[str, str]] = Counter()
    skipped = _skipped(control, unread)
    uncertain = {cluster for cluster, table in unread if table in control.absence}
    try:
        found = []
        for row in _judgements(session.sql(control.query(thresholds))).collect():
            given = [_finding(control, each.asDict()) for each in row["found"]]
            # What seems to be missing there may only not have been read.
            kept = [each for each in given if each.cluster not in uncertain]
            counts[control.id, row["status"]] += row["n"] - len(given) + len(kept)
            found += kept
    except Exception as error:
        found = [_of(control, "", "", "error", f"query failed: {sentence(error)}")]
        counts[control.id, "error"] += 1
    for finding in skipped:
        counts[control.id, "skip"] += 1
        found.append(finding)
    return found, counts


def _judgements(rows: Any) -> Any:
    """Return a row per status: the count, and the rows that are not ok. A single Spark job."""
    from pyspark.sql import functions as f

    given = f.struct(*(f.col(name) for name in rows.columns))
    return rows.groupBy("status").agg(
        f.count(f.lit(1)).alias("n"),
        f.collect_list(f.when(f.col("status") != "ok", given)).alias("found"),
    )


def _unread(session: Any) -> dict[tuple[str, str], str]:
    """Return why tables could not be read, fully or partly, by (cluster, table)."""
    rows = session.sql(
        "SELECT cluster, `table`, first(concat_ws(': ', error, reason)) AS why, count(*) AS n"
        " FROM collection_status WHERE status = 'error' GROUP BY cluster, `table`"
    ).collect()
    return {
        (row["cluster"], row["table"]): row["why"]
        + ("" if row["n"] == 1 else f" (and {row['n'] - 1} more)")
        for row in rows
    }


def _skipped(control: Control, unread: Mapping[tuple[str, str], str]) -> list[AuditFinding]:
    """Return a skip finding per cluster and required table that could not be read."""
    required = {*control.needs, *control.absence, *(table for table, _ in control.wants)}
    return [
        _of(control, cluster, table, "skip", f"{table} could not be read: {why}")
        for (cluster, table), why in sorted(unread.items())
        if table in required
    ]


def _finding(control: Control, row: Mapping[str, Any]) -> AuditFinding:
    given = row.get("remedy") or "", row.get("undo") or ""
    remedy, undo = map(single_command, given)
    left_out = _LEFT_OUT if (remedy, undo) != given else ""
    return _of(
        control, row["cluster"], row["resource"], row["status"], f"{row['reason']}{left_out}",
        remedy, undo,
    )  # fmt: skip


def _of(
    control: Control,
    cluster: str,
    resource: str,
    status: str,
    reason: str,
    remedy: str = "",
    undo: str = "",
) -> AuditFinding:
    return AuditFinding(
        control.id, control.title, control.severity.name.lower(), status, cluster, resource,
        reason, remedy, undo, control.dynamic if remedy else None, control.risk if remedy else "",
    )  # fmt: skip


def in_order(findings: Iterable[AuditFinding]) -> tuple[AuditFinding, ...]:
    """Sort findings: alarms first, then by severity, control, cluster and resource."""
    statuses = ["alarm", "error", "skip", "info"]
    return tuple(
        sorted(
            findings,
            key=lambda f: (
                statuses.index(f.status) if f.status in statuses else len(statuses),
                SEVERITIES.index(f.severity), f.control, f.cluster, f.resource,
            ),
        )
    )  # fmt: skip
