"""Trends over snapshots: growth, forecasts, and the history of findings."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow
import pytest

from kafka_shell.audit import collection, history, snapshot
from kafka_shell.audit.collection import STATUS
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.model import SEVERITIES, AuditFinding, AuditReport, ControlResult
from kafka_shell.context import Resources
from kafka_shell.sandbox.state import Sandbox
from tests.support import cluster_tables, snapshot_files
from tests.support.in_process_shell import Shell

GIB = 1 << 30
NAMES = (
    "clusters", "log_dirs", "partitions", "disk_replicas", "group_offsets", "collection_status",
)  # fmt: skip
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def folder(demo_sandbox: Sandbox, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Snapshots of five days: the rows of one real cluster, dated back, and with other sizes."""
    tables = cluster_tables.read(demo_sandbox.bootstrap, NAMES[:-1])
    made = str(tmp_path_factory.mktemp("trends") / "state")
    for day in range(5):
        _write(engine, tables, made, day)
    return made


def _write(engine: Engine, tables: cluster_tables.ClusterTables, folder: str, day: int) -> None:
    def dated(rows: Rows) -> Rows:
        back = timedelta(days=4 - day)
        return [row | {"collected_at": row["collected_at"] - back} for row in rows]

    changed: dict[str, Callable[[Rows], Rows]] = {
        "log_dirs": lambda rows: [
            row | {"total": 100 * GIB, "usable": (90 - 10 * day) * GIB} for row in rows
        ],
        "partitions": lambda rows: rows[: 10 + day],
    }
    written = {}
    for name in NAMES:
        rows = dated(changed.get(name, list)(tables.rows(name)))
        given = tables.altered(name, rows).tables[name]
        if name == "disk_replicas" and day < 2:  # as an older version wrote it
            given = given.drop_columns(["offset_lag"])
        written[name] = given
    if day == 0:  # Spark and this test write the same
        session = engine.session
        frames = {name: session.createDataFrame(given) for name, given in written.items()}
        snapshot.write(session, frames, folder, _id(day))
    else:
        snapshot_files.write(written, folder, _id(day))


def _id(day: int) -> str:
    return f"2026010{day + 1}T000000.000Z-0000"


def _copied(folder: str, to: Path, days: Sequence[int]) -> None:
    """Some of the snapshots of a folder."""
    for table in Path(folder).glob("[!.]*"):
        for day in days:
            part = _id(day)
            shutil.copytree(table / part, to / table.name / part)


def trends(shell: Shell, folder: str, what: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shell.ok(
        f"spark trend {what} --snapshot {folder} --output json"
    ).json
    return found


def test_a_growing_disk_is_forecast(shell: Shell, folder: str) -> None:
    found = trends(shell, folder, "disks")
    assert found and {each["snapshots"] for each in found} == {5}
    for each in found:
        assert each["per_day"] == pytest.approx(10 * GIB, rel=0.001)
        assert each["full_in_days"] == pytest.approx(5, abs=0.1)
        assert len(each["points"]) == 5
    shown = shell.ok(f"spark trend disks --snapshot {folder}").out
    assert "log.dirs of broker 1 full in 5 days" in shown
    assert re.search(r"50.0 GiB +\+10.0 GiB", shown), shown


def test_counts_and_older_snapshots(shell: Shell, folder: str) -> None:
    (one,) = trends(shell, folder, "partitions")
    assert (one["before"], one["now"]) == (10, 14)
    assert one["per_day"] == pytest.approx(1) and one["in_30_days"] == 44
    found = trends(shell, folder)
    assert {each["what"] for each in found} == {"topics", "partitions", "lag", "disks"}
    assert all(each["snapshots"] == 5 for each in found)
    assert len([each for each in found if each["what"] == "topics"]) == 5


@pytest.mark.parametrize("table", ["partitions", STATUS])
def test_a_lost_part_is_reported_and_the_others_are_shown(
    shell: Shell, folder: str, tmp_path: Path, table: str
) -> None:
    _copied(folder, tmp_path / "state", range(5))
    shutil.rmtree(tmp_path / "state" / table / _id(2))
    run = shell(f"spark trend partitions --snapshot {tmp_path}/state --output json")
    assert run.status == 1, str(run)
    assert f"table {table} in snapshot {_id(2)}" in run.err
    (one,) = (each for each in run.json if "what" in each)
    assert one["snapshots"] == 4


def test_two_snapshots_are_no_forecast(shell: Shell, folder: str, tmp_path: Path) -> None:
    _copied(folder, tmp_path / "state", (0, 4))
    found = trends(shell, str(tmp_path / "state"), "disks")
    assert {(each["full_in_days"], each["in_30_days"]) for each in found} == {(None, None)}
    told = shell(f"spark trend findings --snapshot {tmp_path}/state")
    assert told.status == 1 and "has findings" in told.err
    assert shell("spark trend disks").status == 2


def test_what_was_not_read_completely_is_left_out(
    shell: Shell, demo_sandbox: Sandbox, engine: Engine, folder: str, tmp_path: Path
) -> None:
    tables, state = cluster_tables.read(demo_sandbox.bootstrap, NAMES[:-1]), tmp_path / "state"
    _copied(folder, state, (0, 1))
    status = tables.rows(STATUS)
    failed = [
        {**row, "slice": "a .. b", "status": "error", "rows": 0, "reason": "timed out"}
        for row in status
        if row["table"] == "partitions"
    ]
    partly = tables.altered(STATUS, status + failed)
    partly = partly.altered("partitions", tables.rows("partitions")[:3])
    _write(engine, partly, str(state), 2)
    lost = f"table partitions of c in snapshot {_id(2)}: timed out"
    run = shell(f"spark trend partitions --snapshot {state} --output json")
    assert run.status == 1 and lost in run.err, str(run)
    one, failure = run.json
    assert [value for _, value in one["points"]] == [10, 11]
    assert failure["error"] == "not-read"
    shell.ok(f"spark trend disks --snapshot {state}")

    nothing = [{**row, "status": "error", "rows": 0, "reason": "no answer"} for row in status]
    for day in (3, 4):
        _write(engine, tables.altered(STATUS, nothing), str(state), day)
    run = shell(f"spark trend --snapshot {state} --output json")
    assert run.status == 1 and lost in run.err
    assert "c in 2 snapshots: no answer" in run.err
    assert {each["what"]: each["snapshots"] for each in run.json if "what" in each} == {
        "topics": 3, "partitions": 2, "lag": 3, "disks": 3,
    }  # fmt: skip
    file = tmp_path / "audit.html"
    shell(f"spark audit --snapshot {state}@{_id(1)} --controls B14 --report {file}")
    assert "Snapshots in which this was not read completely are skipped." in file.read_text()


@pytest.mark.usefixtures("few_tables", "few_controls")
def test_findings_are_new_fixed_or_open(sandbox: Sandbox, engine: Engine, tmp_path: Path) -> None:
    shell = Shell(tmp_path, sandbox.bootstrap, Resources(spark=engine))
    folder, topic = tmp_path / "state", f"trend.{uuid4().hex[:8]}"
    unclean = "--config unclean.leader.election.enable=true"
    shell.ok(f"create-topic {topic} --config retention.ms=60000 {unclean}")
    try:
        shell.ok(f"spark snapshot {folder}")
        shell.ok(f"alter-configs {topic} flush.ms=1 --delete-config retention.ms")
        shell.ok(f"spark snapshot {folder}")
        shown = shell.ok(f"spark trend findings --snapshot {folder} --output json").json
        found = {each["control"]: each for each in shown if each["resource"] == topic}
        states = {id: found[id]["state"] for id in ("T13", "T05", "T22")}
        assert states == {"T13": "fixed", "T05": "open", "T22": "new"}
        old = found["T05"]
        assert old["since"] == old["first"] < old["until"] == old["now"]

        new = f"spark audit --controls T13,T05,T22 --new-only {folder} --output json"
        assert not [f for f in shell(new).json["findings"] if f["resource"] == topic]
        shell.ok(f"create-topic {topic}.more {unclean}")
        told = shell(new)
        assert told.status == 1
        assert [f["resource"] for f in told.json["findings"]] == [f"{topic}.more"]
        assert "known findings excluded" in told.err
    finally:
        shell(f"delete-topic {topic},{topic}.more --yes --if-exists")


# The results of a control in five audits, oldest first -> state of its finding, and the first and
# last audit of its latest run. A: alarm; s: skip; e: the query failed; p: alarm and skip.
RUNS = {
    "---AA": ("open", 3, 4),
    "----A": ("new", 4, 4),
    "---A-": ("fixed", 3, 3),
    "--A--": None,
    "--A-A": ("returned", 4, 4),
    "-A-AA": ("open", 3, 4),
    "--AsA": ("open", 2, 4),
    "-AeeA": ("open", 1, 4),
    "-A-sA": ("returned", 4, 4),
    "---As": ("not checked", 3, 3),
    "---Ae": ("not checked", 3, 3),
    "--A-e": None,
    "--Ase": None,
    "--As-": ("fixed", 2, 2),
    "-AsAp": ("open", 1, 4),
}


def test_audits_that_could_not_check_a_finding(engine: Engine, tmp_path: Path) -> None:
    _audits(tmp_path, *RUNS)
    found = {
        each.control: (each.state, each.since // DAY, each.until // DAY)
        for each in history.history(engine, str(tmp_path))[0]
    }
    assert found == {results: run for results, run in RUNS.items() if run}
    alarms = [sum(each[day] in "Ap" for each in RUNS) for day in range(5)]
    assert history.alarms(engine, str(tmp_path)) == {
        ("c", severity): [
            (day * DAY, count * (severity == "low")) for day, count in enumerate(alarms)
        ]
        for severity in SEVERITIES
    }


DAY = 86_400_000
FINDINGS = pyarrow.schema([(name, pyarrow.string()) for name in history._COLUMNS])
STATUSES = {"A": ("alarm",), "s": ("skip",), "e": ("error",), "p": ("alarm", "skip"), "-": ()}


def _audits(folder: Path, *controls: str) -> list[str]:
    """Write a snapshot for each day since 1970-01-01, with the results of controls, which are their
    names; return the IDs of the snapshots."""
    ids = []
    for day, results in enumerate(zip(*controls, strict=True)):
        ids.append(f"197001{day + 1:02}T000000.000Z-0000")
        at = datetime.fromtimestamp(day * DAY // 1000, UTC)
        clusters = [{"cluster": "c", "cluster_id": "id", "collected_at": at}]
        rows = [
            ("", None, control, "", "low", status, "", "query failed") if status == "error"
            else ("c", "id", control, "", "low", status, "t" if status == "alarm" else "", "")
            for control, result in zip(controls, results, strict=True)
            for status in STATUSES[result]
        ]  # fmt: skip
        given = [dict(zip(history._COLUMNS, row, strict=True)) for row in rows]
        findings = pyarrow.Table.from_pylist(given, FINDINGS)
        tables = {"clusters": pyarrow.Table.from_pylist(clusters), history.TABLE: findings}
        snapshot_files.write(tables, str(folder), ids[-1])
    return ids


def test_changes_are_those_since_the_audit_before_this_one(engine: Engine, tmp_path: Path) -> None:
    first, second, third = _audits(tmp_path, "-A-")
    session, later = engine.session, "19700104T000000.000Z-0000"
    alarm = AuditFinding("-A-", "", "low", "alarm", "c", "t", "")
    control = ControlResult("-A-", "", "low", "", {})

    def changes(id: str, *findings: AuditFinding) -> list[str]:
        at = datetime.fromtimestamp((int(id[6:8]) - 1) * DAY // 1000, UTC)
        ddl = "cluster STRING, cluster_id STRING, collected_at TIMESTAMP, snapshot_id STRING"
        frame = session.createDataFrame([("c", "id", at, id)], ddl)
        of = collection.Collection(id, 0, ("c",), {"clusters": frame}, {}, stored=True)
        report = AuditReport(id, 0, ("c",), {}, (control,), findings)
        found = history.changes(engine, str(tmp_path), of, report)
        return [each.state for each in found]

    assert (changes(first), changes(first, alarm)) == ([], ["new"])
    assert (changes(second), changes(second, alarm)) == ([], ["new"])
    assert (changes(third), changes(third, alarm)) == (["fixed"], [])
    assert (changes(later), changes(later, alarm)) == ([], ["returned"])


def test_the_report_draws_lines(shell: Shell, folder: str, tmp_path: Path) -> None:
    file = tmp_path / "audit.html"
    shell(f"spark audit --snapshot {folder} --controls B14 --report {file}")
    text = file.read_text()
    assert "Disks over snapshots" in text and text.count("<polyline") > 10
    assert "log.dirs of broker 1 full in 5 days" in text
    assert "Partitions over snapshots" in text
