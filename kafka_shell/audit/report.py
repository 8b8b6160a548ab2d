"""The HTML report of an audit: a single file without external resources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import strftime, strptime
from typing import Any

from msgspec import Struct

from kafka_shell.audit import history
from kafka_shell.audit import snapshot as stores
from kafka_shell.audit.collection import Collection
from kafka_shell.audit.drift import MOST_ROWS, over_snapshots
from kafka_shell.audit.engine import Engine, tuned
from kafka_shell.audit.model import CHANGED, SEVERITIES, AuditFinding, AuditReport, Trend
from kafka_shell.audit.trends import BYTES, trends
from kafka_shell.base import units
from kafka_shell.base.files import open_private
from kafka_shell.base.results import Results
from kafka_shell.base.text import printable

_MOST = 20  # bars per chart
_LINES = 10  # per chart
_WORST = 20  # controls of a fleet
_GRAVEST = 3  # findings of one cluster
_ROWS = 1000  # findings per control
_SNAPSHOTS = 12  # the newest snapshots, in the drift chart
_TEMPLATE = "report.html.j2"

# Tables that the charts read in addition to those of the controls.
TABLES = (
    "replicas", "disk_replicas", "group_offsets", "topic_configs", "batches", "brokers",
)  # fmt: skip

_BROKERS = """
WITH counts AS (
  SELECT cluster, broker_id, count(*) AS replicas, count_if(leader) AS leaders FROM replicas
  GROUP BY cluster, broker_id
), stored AS (
  SELECT cluster, broker_id, sum(size) AS bytes FROM disk_replicas GROUP BY cluster, broker_id
)
SELECT b.cluster, b.broker_id, coalesce(replicas, 0) AS replicas, coalesce(leaders, 0) AS leaders,
  bytes FROM brokers b
LEFT JOIN counts h ON h.cluster = b.cluster AND h.broker_id = b.broker_id
LEFT JOIN stored s ON s.cluster = b.cluster AND s.broker_id = b.broker_id
ORDER BY b.cluster, b.broker_id
"""
_RETENTION = f"""
WITH oldest AS (
  SELECT cluster, topic, min(base_timestamp) AS first, max(collected_at) AS read FROM batches
  WHERE NOT control AND place = 'earliest' GROUP BY cluster, topic
), kept AS (
  SELECT cluster, topic, CAST(value AS BIGINT) AS retention FROM topic_configs
  WHERE key = 'retention.ms' AND CAST(value AS BIGINT) > 0
), compacted AS (
  SELECT cluster, topic FROM topic_configs WHERE key = 'cleanup.policy' AND value = 'compact'
)
SELECT o.cluster, o.topic, unix_millis(o.read) - unix_millis(o.first) AS used, k.retention
FROM oldest o JOIN kept k ON k.cluster = o.cluster AND k.topic = o.topic
LEFT ANTI JOIN compacted c ON c.cluster = o.cluster AND c.topic = o.topic
WHERE o.first IS NOT NULL AND NOT startswith(o.topic, '__')
ORDER BY (unix_millis(o.read) - unix_millis(o.first)) / k.retention DESC, o.topic LIMIT {_MOST}
"""
_LAG = f"""
SELECT cluster, `group`, topic, sum(lag) AS lag FROM group_offsets
GROUP BY cluster, `group`, topic HAVING sum(lag) > 0 ORDER BY lag DESC, `group`, topic LIMIT {_MOST}
"""


class Bar(Struct, frozen=True):
    """A bar. `share` is its length, relative to the longest bar or to a limit."""

    label: str
    value: str
    share: float  # 0 to 1
    over: bool = False
    more: str = ""  # the parts of the value


class Line(Struct, frozen=True):
    """A series over time. `points` are x and y from 0 to 100, y downwards."""

    label: str
    value: str
    points: tuple[tuple[float, float], ...]
    more: str = ""  # a forecast


class Chart(Struct, frozen=True):
    """A chart: title, explanation, and bars or lines."""

    title: str
    about: str
    bars: tuple[Bar, ...] = ()
    lines: tuple[Line, ...] = ()


def charts(engine: Engine, collection: Collection, stored: str = "") -> tuple[Chart, ...]:
    """Return the charts of a collection, with a drift chart if it is `stored` in a snapshot folder.

    Charts whose tables were not read are omitted.
    """
    from pyspark.errors import AnalysisException

    several = len(collection.clusters) > 1

    def rows(sql: str) -> list[Mapping[str, Any]]:
        try:
            return [row.asDict() for row in engine.session.sql(sql).collect()]
        except AnalysisException:  # a table was not read
            return []

    def draw() -> tuple[Chart, ...]:
        with tuned(engine.session, collection.rows):
            return (*_brokers(rows(_BROKERS), several), *_retention(rows(_RETENTION), several),
                    *_lag(rows(_LAG), several))  # fmt: skip

    drawn = engine.run("drawing charts", draw)
    if not stored:
        return drawn
    return (
        *drawn,
        *_alarms(engine, stored, several),
        *_trends(engine, stored, several),
        *_drift(engine, collection, stored),
    )


_TITLES = {
    "disks": ("Disks over snapshots", "Used bytes of log directories, from zero to their size."),
    "topics": ("Topics over snapshots", "Bytes of the topics that grow or shrink most."),
    "partitions": ("Partitions over snapshots", "Number of partitions of the cluster."),
    "lag": ("Lag over snapshots", "Records that the groups have not read yet."),
}

_LEFT_OUT = " Snapshots in which this was not read completely are skipped."


def _trends(engine: Engine, stored: str, several: bool) -> list[Chart]:
    """Return a chart of lines for each measure with at least two snapshots."""
    rows = trends(engine, stored, _TITLES, _LINES)
    found = [each for each in rows if each.until > each.since]
    note = _LEFT_OUT if isinstance(rows, Results) else ""
    return [
        Chart(title, about + note, lines=tuple(_line(t, several) for t in found if t.what == what))
        for what, (title, about) in _TITLES.items()
        if any(t.what == what for t in found)
    ]


def _alarms(engine: Engine, stored: str, several: bool) -> list[Chart]:
    """Return a chart of the number of findings, if at least two snapshots have them."""
    lines = []
    for (cluster, severity), points in history.alarms(engine, stored).items():
        since, until, most = points[0][0], points[-1][0], max(value for _, value in points)
        if until > since and most:
            label = f"{cluster}: {severity}" if several else severity
            value = f"{points[-1][1]:,.0f}"
            lines.append(Line(label, value, _scaled(points, since, until, most)))
    lines.sort(key=lambda line: SEVERITIES.index(line.label.rpartition(" ")[2]))
    about = "Number of findings in the audits of the snapshots."
    return [Chart("Findings over snapshots", about, lines=tuple(lines))] if lines else []


def _scaled(
    points: Sequence[tuple[int, float]], since: int, until: int, top: float
) -> tuple[tuple[float, float], ...]:
    return tuple(
        (
            round(100 * (at - since) / (until - since), 1),
            round(100 - 100 * min(1.0, value / top), 1),
        )
        for at, value in points
    )


def _line(trend: Trend, several: bool) -> Line:
    top = trend.limit or max(value for _, value in trend.points) or 1
    points = _scaled(trend.points, trend.since, trend.until, top)
    label = f"{trend.cluster}: {trend.name}" if several else trend.name
    measure = "bytes" if trend.what in BYTES else ""
    return Line(label, _value(measure, round(trend.now)), points, trend.forecast)


def _drift(engine: Engine, collection: Collection, stored: str) -> list[Chart]:
    """Return a chart of the differences between consecutive snapshots, up to this one."""
    folder, _ = stores.address(stored)
    drifts = engine.run(
        "drawing charts",
        lambda: over_snapshots(engine, folder, collection.snapshot_id, _SNAPSHOTS),
    )
    counts = [(id, Counter(drift.table for drift in found)) for id, found in drifts]
    most = max((count.total() for _, count in counts), default=0) or 1
    bars = tuple(
        Bar(
            _moment(id),
            f"{count.total():,}",
            count.total() / most,
            more=", ".join(
                f"{n:,} in {table.replace('_', ' ')}" for table, n in count.most_common()
            ),
        )
        for id, count in counts
    )
    about = (
        f"Number of differences from the previous snapshot (the newest {MOST_ROWS:,})."
        " Times are in UTC."
    )
    return _chart("Drift over snapshots", about, bars)


def _moment(snapshot_id: str) -> str:
    """Return the start time of a snapshot from its ID."""
    try:
        return strftime("%Y-%m-%d %H:%M:%S", strptime(snapshot_id[:15], "%Y%m%dT%H%M%S"))
    except ValueError:
        return snapshot_id


def _chart(title: str, about: str, bars: tuple[Bar, ...]) -> list[Chart]:
    return [Chart(title, about, bars)] if bars else []


def _label(row: Mapping[str, Any], what: str, several: bool) -> str:
    return f"{row['cluster']}: {what}" if several else what


def _brokers(rows: Sequence[Mapping[str, Any]], several: bool) -> list[Chart]:
    about = {
        "replicas": "Number of replicas per broker.",
        "leaders": "Number of partitions per leader. Clients read from and write to leaders.",
        "bytes": "Size of the replicas per broker.",
    }
    found = []
    for name, text in about.items():
        known = [row for row in rows if row[name] is not None]
        most = max((row[name] for row in known), default=0)
        if not most:
            continue
        if len(known) > _MOST:
            mean = _value(name, round(sum(row[name] for row in known) / len(known)))
            text += f" Top {_MOST} of {len(known):,}; the average is {mean}."
            known = sorted(known, key=lambda row: -row[name])[:_MOST]
        bars = tuple(
            Bar(
                _label(row, f"broker {row['broker_id']}", several),
                _value(name, row[name]),
                row[name] / most,
            )
            for row in known
        )
        found.append(Chart(f"{name.capitalize()} per broker", text, bars))
    return found


def _value(measure: str, amount: int) -> str:
    return units.approximate_bytes(amount) if measure == "bytes" else f"{amount:,}"


def _retention(rows: Sequence[Mapping[str, Any]], several: bool) -> list[Chart]:
    bars = tuple(
        Bar(
            _label(row, row["topic"], several),
            f"{_age(row['used'])} of {_age(row['retention'])}",
            min(1.0, max(0.0, row["used"] / row["retention"])),
            row["used"] > row["retention"],
        )
        for row in rows
    )
    about = "Age of the oldest sampled record, compared with retention.ms."
    return _chart("Actual and configured retention", about, bars)


def _age(milliseconds: int) -> str:
    """Return a rounded duration: `6d`, `3h`."""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)):
        if milliseconds >= size:
            return f"{milliseconds / size:.0f}{unit}"
    return f"{milliseconds}ms"


def _lag(rows: Sequence[Mapping[str, Any]], several: bool) -> list[Chart]:
    most = max((row["lag"] for row in rows), default=1)
    bars = tuple(
        Bar(
            _label(row, f"{row['group']} on {row['topic']}", several),
            f"{row['lag']:,}",
            row["lag"] / most,
        )
        for row in rows
    )
    return _chart("Consumer lag", "Number of records that groups have not read yet.", bars)


_DOCUMENTATION = "https://kafka.apache.org/documentation/"
_CONFIGS = {
    "Topic configs": "topicconfigs_", "Broker configs": "brokerconfigs_",
    "Producer configs": "producerconfigs_", "Consumer configs": "consumerconfigs_",
}  # fmt: skip
_SECTIONS = {
    "Authorization and ACLs": "security_authz", "SCRAM": "security_sasl_scram",
    "Security": "security", "Replication": "replication", "Log compaction": "compaction",
    "Setting quotas": "quotas", "Quotas": "design_quotas", "Monitoring": "monitoring",
    "KRaft": "kraft", "Tiered Storage": "tiered_storage", "Upgrading": "upgrade",
    "Hardware and OS": "hwandos",
}  # fmt: skip
_CONFIG = re.compile(r"[a-z]+(?:\.[a-z]+)+")


def source_url(source: str) -> str:
    """Return the address of the documentation that a control is from, or an empty string."""
    if re.fullmatch(r"https?://[!-~]+", source):
        return source
    if source.startswith("Burrow"):
        return "https://github.com/linkedin/Burrow/wiki/Consumer-Lag-Evaluation-Rules"
    if not source.startswith("Apache Kafka documentation"):
        kip = re.match(r"KIP-\d+", source)
        wiki = "https://cwiki.apache.org/confluence/dosearchsite.action?queryString="
        return f"{wiki}{kip[0]}" if kip else ""
    for title, prefix in _CONFIGS.items():
        if title in source and (config := _CONFIG.search(source)):
            return f"{_DOCUMENTATION}#{prefix}{config[0]}"
    anchor = next((f"#{anchor}" for title, anchor in _SECTIONS.items() if title in source), "")
    return _DOCUMENTATION + anchor


def page(report: AuditReport, drawn: Sequence[Chart]) -> str:
    """Return the report as HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return str(
        environment.get_template(_TEMPLATE).render(
            report=report,
            when=units.format_time(report.collected_at),
            controls={control.control: control for control in report.controls},
            most_rows=_ROWS,
            worst=report.worst[:_WORST],
            gravest=_gravest(report),
            changed=[(state, [c for c in report.changes if c.state == state]) for state in CHANGED],
            source_url=source_url,
            severities=SEVERITIES,
            alarms=report.alarms,
            charts=drawn,
            judged=report.by_cluster,
            clusters=sorted({*report.clusters, *(f.cluster for f in report.findings)} - {""}),
        )
    )


def write(file: Path, text: str) -> None:
    """Write a report to a file that only its owner may access. Raises OSError."""
    special = file.exists() and not file.is_file()  # such as /dev/stdout
    with (
        file.open("w", encoding="utf-8") if special else open_private(file.resolve(), "w") as stream
    ):
        stream.write(text)


def _gravest(report: AuditReport) -> list[AuditFinding]:
    """The first finding of each of the three gravest controls."""
    found: dict[str, AuditFinding] = {}
    for each in report.findings:
        if each.status == "alarm":
            found.setdefault(each.control, each)
    return [*found.values()][:_GRAVEST]
