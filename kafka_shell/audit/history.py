"""Findings over the snapshots of a folder: new, open, returned, fixed, and since when."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kafka_shell.audit import snapshot, trends
from kafka_shell.audit.collection import Collection
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.model import CHANGED, AuditFinding, AuditReport, FindingHistory
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace

TABLE = "findings"
NO_FINDINGS = "no-findings"
MOST_ROWS = 10_000  # of a history, in the memory of this program
_COLUMNS = ("cluster", "cluster_id", "control", "title", "severity", "status", "resource", "reason")
_DDL = ", ".join(f"`{name}` STRING" for name in _COLUMNS)
_CLUSTERS = ("cluster", "cluster_id", "collected_at", "snapshot_id")

_AUDITS = """
WITH audits AS (
  SELECT c.cluster_id, m.snapshot_id, max(c.cluster) AS cluster,
    unix_millis(min(c.collected_at)) AS ms,
    row_number() OVER (PARTITION BY c.cluster_id ORDER BY m.snapshot_id DESC) AS back
  FROM trend_audits m JOIN trend_clusters c ON c.snapshot_id = m.snapshot_id
  GROUP BY c.cluster_id, m.snapshot_id
)"""
_COUNTS = f"""{_AUDITS}
SELECT a.cluster_id, max_by(a.cluster, a.ms) OVER (PARTITION BY a.cluster_id) AS cluster,
  a.severity, a.ms, a.alarms
FROM (
  SELECT a.cluster_id, a.cluster, a.ms, s.severity, count(f.control) AS alarms
  FROM audits a CROSS JOIN (VALUES ('critical'), ('high'), ('medium'), ('low')) AS s(severity)
  LEFT JOIN trend_findings f ON f.snapshot_id = a.snapshot_id AND f.cluster_id = a.cluster_id
    AND f.severity = s.severity AND f.status = 'alarm'
  GROUP BY a.cluster_id, a.cluster, a.ms, s.severity
) a ORDER BY a.ms
"""

# One row per alarm and run: consecutive audits that have it, or in which its control could not be
# evaluated, as these say nothing about it. An error of a query is of all clusters; its
# cluster is empty, which is null in Parquet.
_RUNS = f"""{_AUDITS},
alarms AS (
  SELECT DISTINCT f.cluster_id, f.control, f.title, f.severity, f.resource, a.back, a.ms
  FROM trend_findings f
  JOIN audits a ON a.snapshot_id = f.snapshot_id AND a.cluster_id = f.cluster_id
  WHERE f.status = 'alarm'
),
unknown AS (
  SELECT DISTINCT a.cluster_id, f.control, a.back, a.ms FROM trend_findings f
  JOIN audits a ON a.snapshot_id = f.snapshot_id
    AND (a.cluster_id = f.cluster_id OR coalesce(f.cluster, '') = '')
  WHERE f.status IN ('skip', 'error')
),
seen AS (
  SELECT *, true AS found FROM alarms
  UNION ALL
  SELECT k.cluster_id, k.control, NULL, NULL, k.resource, u.back, u.ms, false
  FROM (SELECT DISTINCT cluster_id, control, resource FROM alarms) k
  JOIN unknown u ON u.cluster_id = k.cluster_id AND u.control = k.control
  LEFT ANTI JOIN alarms a ON a.cluster_id = k.cluster_id AND a.control = k.control
    AND a.resource = k.resource AND a.back = u.back
),
numbered AS (
  SELECT *, back - row_number() OVER (
    PARTITION BY cluster_id, control, resource ORDER BY back) AS run FROM seen
),
runs AS (
  SELECT cluster_id, control, resource, max_by(title, -back) FILTER (WHERE found) AS title,
    max_by(severity, -back) FILTER (WHERE found) AS severity, min(back) AS back,
    min(back) FILTER (WHERE found) AS newest, min(ms) FILTER (WHERE found) AS since,
    max(ms) FILTER (WHERE found) AS until, count_if(found) AS times
  FROM numbered GROUP BY cluster_id, control, resource, run HAVING count_if(found) > 0
)"""

# One row per alarm that is in one of the newest two audits of its cluster, or was last not checked
# and is now fixed.
_HISTORY = f"""{_RUNS},
latest AS (
  SELECT *, row_number() OVER (PARTITION BY cluster_id, control, resource ORDER BY back) AS place,
    min(since) OVER (PARTITION BY cluster_id, control, resource) AS first,
    count(*) OVER (PARTITION BY cluster_id, control, resource) AS runs
  FROM runs
),
counted AS (SELECT cluster_id, count(*) AS audits, max(ms) AS now, max_by(cluster, ms) AS cluster
  FROM audits GROUP BY cluster_id)
SELECT c.cluster, l.control, l.title, l.severity, l.resource,
  CASE
    WHEN l.back > 1 THEN 'fixed'
    WHEN l.newest > 1 THEN 'not checked'
    WHEN l.times > 1 OR c.audits = 1 THEN 'open'
    WHEN l.runs > 1 THEN 'returned'
    ELSE 'new'
  END AS state,
  l.since, l.until, l.first, c.now
FROM latest l JOIN counted c ON c.cluster_id = l.cluster_id
WHERE l.place = 1 AND (l.newest <= 2 OR l.back = 2)
ORDER BY array_position(array('new', 'returned', 'fixed', 'not checked', 'open'), state),
  array_position(array('critical', 'high', 'medium', 'low'), l.severity), l.control, l.resource,
  c.cluster
"""


def frame(engine: Engine, collection: Collection, findings: Iterable[AuditFinding]) -> Any:
    """Return the findings as a data frame, to be written with a snapshot."""
    ids = collection.cluster_ids
    rows = [
        (each.cluster, ids.get(each.cluster), each.control, each.title, each.severity, each.status,
         each.resource, each.reason)
        for each in findings
    ]  # fmt: skip
    return engine.session.createDataFrame(rows, _DDL)


def history(
    engine: Engine, folder_text: str
) -> tuple[tuple[FindingHistory, ...], dict[str, Failure]]:
    """Return the alarms of the newest two audits of each cluster, with their states, at most
    MOST_ROWS, and what is left out. Raises ShellError if no snapshot has findings."""
    folder, _ = snapshot.address(folder_text)
    lost: dict[str, Failure] = {}

    def read() -> tuple[FindingHistory, ...]:
        with _shown(engine, folder, lost):
            return _rows(engine.session)

    found = engine.run("reading the snapshots", read)
    if len(found) > MOST_ROWS:
        lost["findings"] = Failure("too-many", f"only the first {MOST_ROWS:,} are shown")
    return found[:MOST_ROWS], lost


def _rows(session: Any) -> tuple[FindingHistory, ...]:
    rows = session.sql(_HISTORY).limit(MOST_ROWS + 1).collect()
    return tuple(FindingHistory(**row.asDict()) for row in rows)


def alarms(engine: Engine, folder_text: str) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Return the number of alarms over time, by cluster and severity. Empty without findings."""
    folder, _ = snapshot.address(folder_text)

    def read() -> dict[tuple[str, str], list[tuple[int, float]]]:
        found: dict[tuple[str, str], list[tuple[int, float]]] = {}
        try:
            with _shown(engine, folder, {}):
                rows = engine.session.sql(_COUNTS).collect()
        except ShellError as error:
            if error.code != NO_FINDINGS:
                raise
            return found
        for row in rows:
            points = found.setdefault((row["cluster"], row["severity"]), [])
            points.append((row["ms"], float(row["alarms"])))
        return found

    return engine.run("reading the snapshots", read)


@contextmanager
def _shown(
    engine: Engine, folder: str, lost: dict[str, Failure], before: str = ""
) -> Iterator[None]:
    """Create the views of the findings of the snapshots, or of those `before` an ID. Raises
    ShellError if no snapshot has any."""
    session = engine.session
    with trends.shown(engine, folder, {"clusters"}, lost, {TABLE: _DDL}) as written:
        audits = [id for id, tables in written.items() if TABLE in tables]
        if not audits:
            raise ShellError(
                f"no snapshot in {folder} has findings",
                hint=f"Run spark snapshot {folder} to write one.",
                code=NO_FINDINGS,
            )
        ids = [id for id in audits if not before or id < before]
        rows = session.createDataFrame([(id,) for id in ids], "snapshot_id STRING")
        rows.createOrReplaceTempView("trend_audits")
        for name, columns in (("findings", "*"), ("clusters", _CLUSTERS)):
            frame = session.table(f"trend_{name}").select(*columns)
            frame.where(frame["snapshot_id"].isin(ids)).createOrReplaceTempView(f"trend_{name}")
        yield


def changes(
    engine: Engine, folder_text: str, collection: Collection, report: AuditReport
) -> tuple[FindingHistory, ...]:
    """Return the findings that are new, returned or fixed since the audit of each cluster before
    this one in the snapshots. Raises ShellError if no snapshot has findings."""
    folder, _ = snapshot.address(folder_text)
    id, clusters = collection.snapshot_id, collection.cluster_ids

    def read() -> tuple[FindingHistory, ...]:
        session = engine.session
        with _shown(engine, folder, {}, id):
            at = f"'{id}' AS snapshot_id"
            now = {
                "findings": frame(engine, collection, report.findings).selectExpr("*", at),
                "clusters": collection.frames["clusters"].select(*_CLUSTERS),
                "audits": session.sql(f"SELECT {at}"),
            }
            for name, rows in now.items():
                view = f"trend_{name}"
                session.table(view).unionByName(rows).createOrReplaceTempView(view)
            return _rows(session)

    found = engine.run("reading the snapshots", read)
    if len(found) > MOST_ROWS:
        raise ShellError(
            f"more than {MOST_ROWS:,} findings to compare with {folder}",
            hint="Use --controls, or audit fewer clusters at once.",
            code="too-many",
        )
    return comparable(found, report, clusters)


def comparable(
    found: Iterable[FindingHistory], report: AuditReport, clusters: Container[str]
) -> tuple[FindingHistory, ...]:
    """Return the new, returned and fixed findings. All of a first audit are new. Findings of
    controls and clusters that this audit did not read, or not in full, may not be fixed."""
    controls = {each.control for each in report.controls}
    limited = {(each.control, each.cluster) for each in report.left_out}
    named = (
        replace(each, state="new") if each.state == "open" and each.since == each.now else each
        for each in found
        if each.control in controls and each.cluster in clusters
    )
    return tuple(
        each
        for each in named
        if each.state in CHANGED
        and not (each.state == "fixed" and (each.control, each.cluster) in limited)
    )
