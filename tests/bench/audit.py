"""Measures audits: all controls on generated fleets, and collection from one real broker.

    python -m tests.bench.audit [--whole] [--memory 8g] [--only judging|collecting]

The snapshot of a fleet is written and evaluated by separate processes, whose memory is measured
separately.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import psutil

from kafka_shell.audit import collection, control, run, snapshot
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.policy import Policy
from kafka_shell.audit.table import DDL, Table
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import Target
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import SandboxOptions

T = TypeVar("T")

_POLL_S = 0.2
_SLOWEST = 8
_TOPICS_A_LINE = 400
COLLECTED = ("topics", "partitions", "replicas", "topic_configs", "disk_replicas",
             "partition_offsets")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fleet:
    """How large a fleet is. Topics and partitions are those of all clusters, three copies each."""

    clusters: int
    topics: int
    partitions: int

    @property
    def brokers(self) -> int:
        """Of each cluster: about 3,500 replicas on each, in three racks."""
        return max(3, -(-3 * self.partitions // self.clusters // 3500 // 3) * 3)


FLEETS = (Fleet(1, 1_000, 70_000), Fleet(10, 10_000, 700_000))
WHOLE = Fleet(100, 100_000, 7_000_000)
# Topics, and partitions of each: first as topics are added, then as each has more partitions.
GROWTH = ((1_000, 1), (2_000, 1), (4_000, 1)), ((100, 30), (100, 60), (100, 120))


def main() -> int:
    """Print the tables; the exit status is 0 however long anything took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--whole", action="store_true", help=f"judge {WHOLE.partitions:,} too")
    parser.add_argument("--memory", default="", help="the heap of Spark's driver; else its default")
    parser.add_argument("--only", choices=("judging", "collecting"), help="one of the two")
    parser.add_argument("--slowest", action="store_true", help="name the slowest controls too")
    given = parser.parse_args()
    if given.memory:
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory {given.memory} pyspark-shell"
    with tempfile.TemporaryDirectory() as folder:
        if given.only != "collecting":
            fleets = (*FLEETS, WHOLE) if given.whole else FLEETS
            judge_all(fleets, Path(folder), given.slowest)
        if given.only != "judging":
            collect_all(Path(folder))
    return 0


def say(line: str) -> None:
    """A line, seen at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def spark(folder: Path) -> Iterator[Engine]:
    """Spark as the program starts it."""
    engine = Engine(folder / "spark", lambda task, done, total: None)
    try:
        yield engine
    finally:
        engine.stop()


# -- judging ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judged:
    """How judging one fleet went. `peak` are bytes of this process and its JVM."""

    seconds: float
    peak: int
    findings: int
    errors: tuple[str, ...]
    slowest: tuple[tuple[str, float], ...]


def judge_all(fleets: Sequence[Fleet], folder: Path, slowest: bool) -> None:
    """Write each fleet's snapshot, and judge it by every control."""
    say(f"{'clusters':>8}{'topics':>10}{'partitions':>12}{'seconds':>9}{'s per million':>15}"
        f"{'peak memory':>13}{'GiB per million':>17}{'findings':>10}")  # fmt: skip
    for fleet in fleets:
        where = folder / f"fleet-{fleet.partitions}"
        apart(write, fleet, where)
        found = apart(judge, where, slowest)
        held, millions = found.peak / 2**30, fleet.partitions / 1e6
        say(f"{fleet.clusters:>8,}{fleet.topics:>10,}{fleet.partitions:>12,}{found.seconds:>9.1f}"
            f"{found.seconds / millions:>15.1f}{held:>9.1f} GiB{held / millions:>17.1f}"
            f"{found.findings:>10,}")  # fmt: skip
        for error in found.errors:
            say(f"  {error}")
        for id, seconds in found.slowest:
            say(f"  {id} {seconds:.1f} s, alone")


def apart(work: Callable[..., T], *given: object) -> T:
    """What `work` returns, done by a process of its own: its JVM goes with it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def judge(folder: Path, slowest: bool) -> Judged:
    """Every control over the snapshot there, as `spark audit --snapshot` does it."""
    controls = tuple(control.controls_of(folder / "none").values())
    with spark(folder) as engine, peak_memory() as peak:
        began = time.perf_counter()
        found = collection.of_snapshot(engine, str(folder / "state"), TABLES, TABLES)
        report = run.audit(engine, found, controls, Policy())
        seconds = time.perf_counter() - began
        errors = tuple(f"{f.control}: {f.reason}" for f in report.findings if f.status == "error")
        alone = _alone(engine, found, controls) if slowest else ()
        return Judged(seconds, peak[0], len(report.findings), errors, alone)


def _alone(
    engine: Engine, found: collection.Collection, controls: Sequence[control.Control]
) -> tuple[tuple[str, float], ...]:
    times = {}
    for each in controls:
        began = time.perf_counter()
        run.audit(engine, found, (each,), Policy())
        times[each.id] = time.perf_counter() - began
    return tuple(sorted(times.items(), key=lambda pair: -pair[1])[:_SLOWEST])


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """The most bytes, so far, that this process and its children held at once."""
    peak, ended, own = [0], threading.Event(), psutil.Process()

    def watch() -> None:
        while not ended.wait(_POLL_S):
            held = 0
            for process in (own, *own.children(recursive=True)):
                with suppress(psutil.Error):
                    held += process.memory_info().rss
            peak[0] = max(peak[0], held)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


# -- made-up fleets --------------------------------------------------------------------------------


_ID = "20260131T120000.000Z-0000"


def write(fleet: Fleet, folder: Path) -> None:
    """A snapshot of it: each table as SQL makes it; those that no query is for are empty."""
    with spark(folder) as engine:
        for name, sql in _VIEWS.items():
            engine.session.sql(_filled(sql, fleet)).createOrReplaceTempView(name)
        frames = {}
        for name, table in TABLES.items():
            sql = _MADE.get(name, "")
            frame = (
                engine.session.sql(_filled(sql, fleet))
                if sql
                else engine.session.createDataFrame([], table.ddl)
            )
            frames[name] = _exact(frame, table)
        snapshot.write(engine.session, frames, str(folder / "state"), _ID)


def _filled(sql: str, fleet: Fleet) -> str:
    numbers = {
        "CLUSTERS": fleet.clusters,
        "TOPICS": fleet.topics,
        "PARTITIONS": fleet.partitions,
        "BROKERS": fleet.brokers,
        "EACH": fleet.partitions // fleet.topics,
    }
    for name, number in numbers.items():
        sql = sql.replace(f"${name}", str(number))
    return sql


def _exact(frame: Any, table: Table) -> Any:
    """With the common columns, and every column as the table has it; what is left out is null."""
    from pyspark.sql import functions as f

    common = {
        "collected_at": f.lit("2026-01-31 12:00:00"),
        "snapshot_id": f.lit(_ID),
    }
    given = {name: f.col(name) for name in frame.columns} | common
    return frame.select(
        *(
            given.get(column.name, f.lit(None)).cast(DDL[column.type]).alias(column.name)
            for column in table.all_columns
        )
    )


# A topic in a hundred has a fault: which of ten kinds is `fault`, 0 is none.
_VIEWS = {
    "made_topics": """
SELECT id, concat('c', id % $CLUSTERS) AS cluster, concat('team', id % 50, '.topic', id) AS topic,
  CASE WHEN id DIV $CLUSTERS % 100 = 7 THEN 1 + id DIV $CLUSTERS DIV 100 % 10 ELSE 0 END AS fault
FROM range($TOPICS)""",
    "made_brokers": """
SELECT concat('c', id DIV $BROKERS) AS cluster, CAST(id % $BROKERS AS INT) AS broker_id
FROM range($CLUSTERS * $BROKERS)""",
    "made_partitions": """
SELECT t.*, CAST(p.id % $EACH AS INT) AS partition,
  CASE WHEN p.id % $EACH = 0 THEN t.fault ELSE 0 END AS broken,
  transform(sequence(0, 2), n -> CAST(
    (t.id DIV $CLUSTERS * $EACH + p.id % $EACH + n) % $BROKERS AS INT)) AS replicas
FROM range($PARTITIONS) p JOIN made_topics t ON t.id = p.id DIV $EACH""",
}

_TOPIC_CONFIGS: Mapping[str, str] = {
    "cleanup.policy": "CASE WHEN id % 10 = 3 THEN 'compact' ELSE 'delete' END",
    "compression.type": "CASE fault WHEN 1 THEN 'gzip' ELSE 'producer' END",
    "delete.retention.ms": "'86400000'",
    "flush.messages": "'9223372036854775807'",
    "flush.ms": "'9223372036854775807'",
    "leader.replication.throttled.replicas": "''",
    "max.compaction.lag.ms": "'604800000'",
    "max.message.bytes": "'1048588'",
    "message.timestamp.after.max.ms": "'3600000'",
    "message.timestamp.type": "'CreateTime'",
    "min.cleanable.dirty.ratio": "'0.5'",
    "min.insync.replicas": "CASE fault WHEN 2 THEN '1' ELSE '2' END",
    "retention.bytes": "'-1'",
    "retention.ms": "CASE fault WHEN 3 THEN '60000' WHEN 4 THEN '-1' ELSE '604800000' END",
    "segment.ms": "'86400000'",
    "unclean.leader.election.enable": "CASE fault WHEN 5 THEN 'true' ELSE 'false' END",
}
_BROKER_CONFIGS: Mapping[str, str] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "auto.create.topics.enable": "false",
    "default.replication.factor": "3",
    "group.max.session.timeout.ms": "1800000",
    "group.min.session.timeout.ms": "6000",
    "min.insync.replicas": "2",
    "num.io.threads": "8",
    "num.network.threads": "3",
    "num.replica.fetchers": "2",
    "offsets.retention.minutes": "10080",
    "process.roles": "broker",
    "quota.window.num": "11",
    "quota.window.size.seconds": "1",
    "replica.fetch.max.bytes": "1048576",
    "transaction.max.timeout.ms": "900000",
}

_MADE = {
    "clusters": """
SELECT concat('c', id) AS cluster, 'made-up' AS cluster_id, '' AS bootstrap, '4.3' AS version,
  $BROKERS AS brokers, $TOPICS DIV $CLUSTERS AS topics, $PARTITIONS DIV $CLUSTERS AS partitions
FROM range($CLUSTERS)""",
    "brokers": """
SELECT *, 'broker' AS host, 9092 AS port, concat('rack', broker_id % 3) AS rack, '4.3' AS version
FROM made_brokers""",
    "broker_configs": f"""
SELECT b.*, key, value, 'static_broker' AS source, 'string' AS type, true AS read_only,
  false AS sensitive, value AS static_value, array('static_broker') AS levels,
  concat(key, '=', value) AS pair
FROM made_brokers b CROSS JOIN (VALUES {", ".join(map(str, _BROKER_CONFIGS.items()))})
  AS k(key, value)""",
    "log_dirs": """
SELECT *, '/data' AS path, false AS cordoned, 3500 AS replicas, 0 AS incoming,
  bigint(1e12) AS size, bigint(2e12) AS total, bigint(1e12) AS usable
FROM made_brokers""",
    "topics": """
SELECT *, uuid() AS topic_id, false AS internal, $EACH AS partitions,
  CASE fault WHEN 6 THEN 2 ELSE 3 END AS min_factor, 3 AS max_factor
FROM made_topics""",
    "topic_configs": f"""
SELECT cluster, topic, key, value, CASE WHEN fault > 0 THEN 'dynamic_topic' ELSE 'default_config'
  END AS source, false AS overridden, value AS inherited
FROM (SELECT *, explode(map({", ".join(f"'{key}', {sql}" for key, sql in _TOPIC_CONFIGS.items())}))
  AS (key, value) FROM made_topics)""",
    "partitions": """
SELECT *, CASE broken WHEN 7 THEN NULL WHEN 8 THEN replicas[1] ELSE replicas[0] END AS leader,
  5 AS leader_epoch, replicas[0] AS preferred_leader,
  CASE broken WHEN 9 THEN slice(replicas, 1, 2) ELSE replicas END AS isr,
  array() AS offline
FROM made_partitions""",
    "replicas": """
SELECT cluster, topic, partition, position, broker_id,
  position = CASE broken WHEN 7 THEN -1 WHEN 8 THEN 1 ELSE 0 END AS leader,
  NOT (broken = 9 AND position = 2) AS in_sync, false AS offline
FROM (SELECT *, posexplode(replicas) AS (position, broker_id) FROM made_partitions)""",
    "disk_replicas": """
SELECT cluster, broker_id, '/data' AS path, topic, partition,
  CASE broken WHEN 10 THEN bigint(5e9) ELSE bigint(1e8) + id % 1000 END AS size, 0 AS offset_lag,
  false AS future
FROM (SELECT *, explode(replicas) AS broker_id FROM made_partitions)""",
    "partition_offsets": """
SELECT *, 1000 AS earliest, 1000000 AS latest, 999000 AS records,
  timestamp'2026-01-31 11:00:00' AS newest_record
FROM made_partitions""",
    "groups": """
SELECT DISTINCT cluster, concat('team', id % 50) AS group, 'consumer' AS type, 'Stable' AS state,
  'consumer' AS protocol, 0 AS coordinator, 3 AS members, concat('team', id % 50) AS word
FROM made_topics""",
    "group_offsets": """
SELECT *, concat('team', id % 50) AS group, 999999 AS offset, 1000000 AS latest, 1 AS lag
FROM made_partitions""",
    "collection_status": f"""
SELECT concat('c', id) AS cluster, explode(array({", ".join(repr(name) for name in TABLES)}))
  AS `table`, '' AS slice, 'ok' AS status, 0 AS rows, 1.0 AS seconds
FROM range($CLUSTERS)""",
}


# -- collecting ------------------------------------------------------------------------------------


def collect_all(folder: Path) -> None:
    """Collect what grows with topics and partitions from one broker, as it gets more of them."""
    with spark(folder) as engine:
        say(f"\n{'topics':>8}{'partitions':>12}{'seconds':>9}{'ms':>16}{'ms of those added':>24}")
        for number, (steps, per) in enumerate(zip(GROWTH, ("topic", "partition"), strict=True)):
            sandbox = start(SandboxOptions(folder / f"sandbox-{number}", port=0))
            try:
                collect_steps(engine, sandbox.bootstrap, steps, per)
            finally:
                wipe(sandbox.folder)


def collect_steps(
    engine: Engine, bootstrap: str, steps: Sequence[tuple[int, int]], per: str
) -> None:
    """Each step is measured beside the one before it: what was added costs the difference."""
    target = Target("bench", bootstrap=bootstrap, config_file="/nonexistent")
    there, before = 0, 0.0
    for at, (topics, partitions) in enumerate(steps):
        if at and topics == steps[at - 1][0]:
            admin(bootstrap, "alter-topic", range(topics), "--partitions", str(partitions))
        else:
            have = steps[at - 1][0] if at else 0
            admin(bootstrap, "create-topic", range(have, topics), "--partitions", str(partitions))
        if not at:
            collected(engine, target)  # warms the JVM
        seconds = min(collected(engine, target) for _ in range(5))
        count = topics if per == "topic" else topics * partitions
        added = f"{(seconds - before) / (count - there) * 1e3:.2f} a {per}" if at else ""
        each = f"{seconds / count * 1e3:.2f} {per}"
        say(f"{topics:>8,}{topics * partitions:>12,}{seconds:>9.2f}{each:>16}{added:>24}")
        there, before = count, seconds


def admin(bootstrap: str, verb: str, numbers: range, *words: str) -> None:
    """A line of the shell about topics, some hundred at a time."""
    names = [f"topic{number}" for number in numbers]
    for at in range(0, len(names), _TOPICS_A_LINE):
        subprocess.run(
            [sys.executable, "-m", "kafka_shell", "--broker", bootstrap, verb,
             *names[at : at + _TOPICS_A_LINE], *words, "--timeout", "120s"],
            check=True, capture_output=True,
        )  # fmt: skip


def collected(engine: Engine, target: Target) -> float:
    """Seconds that one collection takes."""
    began = time.perf_counter()
    found = collection.collect(engine, (target,), TABLES, COLLECTED)
    seconds = time.perf_counter() - began
    found.release()
    if found.unread:
        raise SystemExit(f"could not be read: {found.unread}")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
