"""Growth over the snapshots of a folder: a regression line for each series, and its forecast."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kafka_shell.audit import snapshot
from kafka_shell.audit.collection import STATUS
from kafka_shell.audit.engine import Engine, tuned
from kafka_shell.audit.model import Trend
from kafka_shell.audit.remedy import sql_text
from kafka_shell.audit.snapshot import is_catalog
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Rows, with_failures

_DAY_MS = 86_400_000
_FEWEST = 3  # snapshots of a forecast, over at least a day
_FURTHEST_DAYS = 3650.0
_NO_TABLES: Mapping[str, str] = {}
_MANY = 3_000_000  # rows: with fewer, one task is faster than a shuffle
_POINTS = 60  # of a line in a chart
# What is measured -> its table, and SQL: the name of a series, its value and limit, and which rows.
_MEASURES: Mapping[str, tuple[str, str, str, str, str]] = {
    "topics": ("disk_replicas", "topic", "sum(size)", "NULL", "NOT future"),
    "partitions": ("partitions", "'partitions'", "count(*)", "NULL", "true"),
    "lag": ("group_offsets", "`group`", "sum(lag)", "NULL", "lag IS NOT NULL"),
    "disks": ("log_dirs", "concat('broker ', broker_id, ' ', path)", "max(total - usable)",
              "max(total)", "total IS NOT NULL AND usable IS NOT NULL"),
}  # fmt: skip
MEASURES = tuple(_MEASURES)
BYTES = ("topics", "disks")

# Clusters are told apart by their IDs; the newest name of each is shown. A table that was not read
# completely in a snapshot would show less than there is.
_POINTS_OF = """
SELECT '{what}' AS what, c.cluster_id, p.cluster, p.name, unix_millis(p.at) AS ms,
  unix_millis(p.at) / 86400000D AS days, p.value, p.most
FROM (
  SELECT snapshot_id, cluster, {name} AS name, min(collected_at) AS at,
    CAST({value} AS DOUBLE) AS value, CAST({most} AS DOUBLE) AS most
  FROM trend_{table} WHERE {where} GROUP BY ALL
) p
JOIN trend_clusters c ON c.snapshot_id = p.snapshot_id AND c.cluster = p.cluster
LEFT ANTI JOIN trend_collection_status s ON s.snapshot_id = p.snapshot_id
  AND s.cluster = p.cluster AND s.`table` = '{table}' AND s.status = 'error'"""
# What is left out: tables of clusters, or whole clusters (without a table).
_LEFT_OUT = """
WITH tables AS (
  SELECT snapshot_id, cluster, `table`, count_if(status = 'error') AS errors,
    max_by(reason, status = 'error') AS reason,
    max(bool_or(status = 'ok')) OVER (PARTITION BY snapshot_id, cluster) AS reached
  FROM trend_collection_status GROUP BY snapshot_id, cluster, `table`
)
SELECT cluster, IF(reached, `table`, '') AS `table`, count(DISTINCT snapshot_id) AS snapshots,
  max(snapshot_id) AS newest, max_by(reason, snapshot_id) AS reason
FROM tables WHERE errors > 0 AND `table` IN ({tables}) GROUP BY 1, 2 ORDER BY 1, 2"""
_LINES = """
WITH points AS ({points}),
lines AS (
  SELECT what, cluster_id, name, max_by(cluster, ms) AS cluster, count(*) AS n, min(ms) AS first,
    max(ms) AS last, min_by(value, ms) AS before, max_by(value, ms) AS now,
    coalesce(regr_slope(value, days), 0D) AS slope, max_by(most, ms) AS most,
    sort_array(collect_list(struct(ms, value))) AS points
  FROM points GROUP BY what, cluster_id, name
)
SELECT * FROM (
  SELECT *, row_number() OVER (PARTITION BY what ORDER BY abs(slope) DESC, now DESC, cluster, name)
    AS place
  FROM lines
) WHERE place <= {limit} ORDER BY place"""


def trends(engine: Engine, folder_text: str, whats: Iterable[str], limit: int) -> Rows[Trend]:
    """Return the series of these measures that grow or shrink most, over the complete snapshots of
    a folder. Tables that were not read completely, or are lost, are left out, and are failures.
    Raises ShellError if there are no snapshots."""
    folder, _ = snapshot.address(folder_text)
    chosen = tuple(whats)

    def read() -> Rows[Trend]:
        names = {"clusters", *(_MEASURES[what][0] for what in chosen)}
        lost: dict[str, Failure] = {}
        with shown(engine, folder, {*names, STATUS}, lost):
            series = _series(engine.session, chosen, limit)
            return with_failures(series, lost | _left_out(engine.session, names))

    return engine.run("reading the snapshots", read)


@contextmanager
def shown(
    engine: Engine,
    folder: str,
    names: Collection[str],
    lost: dict[str, Failure],
    others: Mapping[str, str] = _NO_TABLES,
) -> Iterator[Mapping[str, Mapping[str, int]]]:
    """Create a view `trend_TABLE` of the rows of each table in the complete snapshots, and of
    `others` (with their columns) that a snapshot has, and tune Spark to their number. Yields the
    number of rows of each table by snapshot, oldest first. A column that an older snapshot does not
    have is null. Tables whose files are missing are added to `lost`.
    """
    session = engine.session
    written: Mapping[str, Mapping[str, snapshot.Stored]] = snapshot.written(session, folder)
    columns = {name: TABLES[name].ddl for name in names}
    columns |= {name: f"{ddl}, snapshot_id STRING" for name, ddl in others.items()}
    counts = {id: {n: each.rows for n, each in of.items()} for id, of in written.items()}
    rows = sum(count.get(name, 0) for count in counts.values() for name in columns)
    with tuned(session, rows if rows > _MANY else 0):
        # The status first: of what it lacks, nothing is known.
        for name, ddl in sorted(columns.items(), key=lambda each: each[0] != STATUS):
            try:
                frame = snapshot.stored(session, folder, name, ddl, written)
            except ShellError as error:
                if error.code != snapshot.DAMAGED or is_catalog(folder):
                    raise
                kept = snapshot.without_lost(session, folder, name, written)
                gone = written.keys() - kept.keys()
                lost[f"table {name} in {_snapshots(gone)}"] = Failure("not-read", error.message)
                frame = snapshot.stored(session, folder, name, ddl, kept)
                for id in gone:
                    counts[id].pop(name, None)
                if name == STATUS:
                    written = kept
            if frame is None and name in names:
                frame = snapshot.local_frame(session, TABLES[name], [])
            if frame is not None:
                frame.createOrReplaceTempView(f"trend_{name}")
        yield counts


def _snapshots(ids: Collection[str]) -> str:
    return f"{len(ids):,} snapshots" if len(ids) > 1 else f"snapshot {min(ids)}"


def _series(session: Any, whats: Sequence[str], limit: int) -> list[Trend]:
    """The series of each measure, in the order of the measures."""
    parts = ("table", "name", "value", "most", "where")
    points = (
        _POINTS_OF.format(what=what, **dict(zip(parts, _MEASURES[what], strict=True)))
        for what in whats
    )
    text = _LINES.format(points="\nUNION ALL".join(points), limit=limit)
    lines = sorted(session.sql(text).collect(), key=lambda row: whats.index(row["what"]))
    return [_trend(row.asDict(), [(p["ms"], p["value"]) for p in row["points"]]) for row in lines]


def _left_out(session: Any, tables: Iterable[str]) -> dict[str, Failure]:
    """What was not read completely of these tables, with the reason of the newest snapshot."""
    found = {}
    for row in session.sql(_LEFT_OUT.format(tables=_listed(tables))).collect():
        name = f"table {row['table']} of {row['cluster']}" if row["table"] else row["cluster"]
        several = row["snapshots"] > 1
        where = f"{row['snapshots']:,} snapshots" if several else f"snapshot {row['newest']}"
        found[f"{name} in {where}"] = Failure("not-read", row["reason"] or "")
    return found


def _listed(tables: Iterable[str]) -> str:
    return ", ".join(map(sql_text, sorted(tables)))


def _trend(row: Mapping[str, Any], points: Sequence[tuple[int, float]]) -> Trend:
    slope = float(row["slope"])
    known = row["n"] >= _FEWEST and row["last"] - row["first"] >= _DAY_MS
    full: float | None = None
    if known and row["most"] and slope > 0:
        days = (row["most"] - row["now"]) / slope
        full = round(max(0.0, days), 1) if days <= _FURTHEST_DAYS else None
    step = max(1, len(points) // _POINTS)
    return Trend(
        what=row["what"],
        cluster=row["cluster"],
        name=row["name"],
        snapshots=row["n"],
        since=row["first"],
        until=row["last"],
        before=row["before"],
        now=row["now"],
        per_day=round(slope, 3) if row["last"] > row["first"] else None,
        in_30_days=max(0.0, round(row["now"] + 30 * slope)) if known else None,
        limit=row["most"],
        full_in_days=full,
        points=tuple(points[::-1][::step][::-1]),
    )
