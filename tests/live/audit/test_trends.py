"""Trends over snapshots: growth, forecasts, and the history of findings."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.audit import collection, control, history, policy, run, snapshot
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.read_tasks import Target
from kafka_shell.audit.status import STATUS
from kafka_shell.audit.tables import TABLES
from kafka_shell.common.structs import replace
from kafka_shell.context import Resources
from kafka_shell.sandbox.state import Sandbox
from tests.support import cluster_tables
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
    frames = {}
    for name in NAMES:
        rows = dated(changed.get(name, list)(tables.rows(name)))
        given = tables.altered(name, rows).tables[name]
        if name == "disk_replicas" and day < 2:  # as an older version wrote it
            given = given.drop_columns(["offset_lag"])
        frames[name] = engine.session.createDataFrame(given)
    snapshot.write(engine.session, frames, folder, _id(day), large=day == 0)


def _id(day: int) -> str:
    return f"2026010{day + 1}T000000.000Z-0000"


def _copied(folder: str, to: Path, days: Sequence[int]) -> None:
    """Some of the snapshots of a folder."""
    for table in Path(folder).iterdir():
        for day in days:
            part = f"snapshot_id={_id(day)}"
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
    lost = f"table partitions of c in snapshot {_id(2)}: not-read: timed out"
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
    assert "c in 2 snapshots: not-read: no answer" in run.err
    assert {each["what"]: each["snapshots"] for each in run.json if "what" in each} == {
        "topics": 3, "partitions": 2, "lag": 3, "disks": 3,
    }  # fmt: skip
    file = tmp_path / "audit.html"
    shell(f"spark audit --snapshot {state}@{_id(1)} --controls B14 --report {file}")
    assert "Snapshots in which this was not read completely are left out." in file.read_text()


def _audited(engine: Engine, bootstrap: str, folder: Path, control_ids: tuple[str, ...]) -> None:
    """A snapshot of a few tables, with the findings of a few controls, as spark snapshot adds them
    for all."""
    known = control.controls_of()
    chosen = [known[each] for each in control_ids]
    names = {*run.tables_for(chosen, {}, TABLES), "clusters"}
    target = Target("c", "", bootstrap, "/no/config.toml")
    found = collection.collect(engine, (target,), TABLES, names)
    report = run.audit(engine, found, chosen, policy.Policy())
    frame = history.frame(engine, found, report.findings)
    collection.store(engine, replace(found, frames={**found.frames, history.TABLE: frame}),
                     str(folder))  # fmt: skip
    found.release()


def test_findings_are_new_returned_fixed_or_open(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    shell = Shell(tmp_path, sandbox.bootstrap, Resources(spark=engine))
    folder, topic = tmp_path / "state", f"trend.{uuid4().hex[:8]}"
    shell.ok(f"create-topic {topic} --config retention.ms=60000")
    states = []
    try:
        for line in (
            "",
            f"alter-configs {topic} --delete-config retention.ms",
            f"alter-configs {topic} retention.ms=60000 --yes",
            f"alter-configs {topic} flush.ms=1",
        ):
            if line:
                shell.ok(line)
            _audited(engine, sandbox.bootstrap, folder, ("T13", "T16", "T22"))
            found = shell.ok(f"spark trend findings --snapshot {folder} --output json").json
            states.append({f["control"]: f["state"] for f in found if f["resource"] == topic})
        assert states[0]["T13"] == "open"
        assert states[1]["T13"] == "fixed" and states[1]["T16"] == "open"
        assert states[2]["T13"] == "returned"
        assert states[3]["T13"] == "open" and states[3]["T22"] == "new"
        (old,) = (f for f in found if f["resource"] == topic and f["control"] == "T16")
        assert old["since"] == old["first"] < old["until"] == old["now"]

        counts = history.alarms(engine, str(folder))
        now = {severity: points[-1][1] for (_, severity), points in counts.items()}
        assert [len(points) for points in counts.values()] == [4] * 4
        then = [value for _, value in counts["c", "medium"]]
        assert now["critical"] == 0 and then[1] == then[0] - 1 and then[2] == then[0]

        new = f"spark audit --controls T13,T16,T22 --new-only {folder} --output json"
        assert not [f for f in shell(new).json["findings"] if f["resource"] == topic]
        shell.ok(f"create-topic {topic}.more")
        told = shell(new)
        assert told.status == 1
        assert [f["resource"] for f in told.json["findings"]] == [f"{topic}.more"]
        assert "known findings left out" in told.err
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
    _audits(engine, tmp_path, *RUNS)
    found = {
        each.control: (each.state, each.since // DAY, each.until // DAY)
        for each in history.history(engine, str(tmp_path))
    }
    assert found == {results: run for results, run in RUNS.items() if run}


DAY = 86_400_000
STATUSES = {"A": ("alarm",), "s": ("skip",), "e": ("error",), "p": ("alarm", "skip"), "-": ()}


def _audits(engine: Engine, folder: Path, *controls: str) -> list[str]:
    """Write a snapshot for each day since 1970-01-01, with the results of controls, which are their
    names; return the IDs of the snapshots."""
    session, ids = engine.session, []
    for day, results in enumerate(zip(*controls, strict=True)):
        ids.append(f"197001{day + 1:02}T000000.000Z-0000")
        at = datetime.fromtimestamp(day * DAY // 1000, UTC)
        columns = "cluster STRING, cluster_id STRING, collected_at TIMESTAMP"
        clusters = session.createDataFrame([("c", "id", at)], columns)
        rows = [
            ("", None, control, "", "low", status, "", "query failed") if status == "error"
            else ("c", "id", control, "", "low", status, "t" if status == "alarm" else "", "")
            for control, result in zip(controls, results, strict=True)
            for status in STATUSES[result]
        ]  # fmt: skip
        findings = session.createDataFrame(rows, history._DDL)
        tables = {"clusters": clusters, history.TABLE: findings}
        snapshot.write(session, tables, str(folder), ids[-1], large=False)
    return ids


def test_known_findings_are_those_before_the_judged_snapshot(
    engine: Engine, tmp_path: Path
) -> None:
    first, second, third = _audits(engine, tmp_path, "-A-")

    def known(snapshot_id: str) -> set[tuple[str, str, str]]:
        frame = engine.session.createDataFrame([("c", "id")], "cluster STRING, cluster_id STRING")
        of = collection.Collection(snapshot_id, 0, ("c",), {"clusters": frame}, {}, stored=True)
        return history.known(engine, str(tmp_path), of)

    assert known(first) == known(second) == set()
    assert known(third) == {("c", "-A-", "t")}
    assert known("19700104T000000.000Z-0000") == set()


def test_the_report_draws_lines(shell: Shell, folder: str, tmp_path: Path) -> None:
    file = tmp_path / "audit.html"
    shell(f"spark audit --snapshot {folder} --controls B14 --report {file}")
    text = file.read_text()
    assert "Disks over snapshots" in text and text.count("<polyline") > 10
    assert "log.dirs of broker 1 full in 5 days" in text
    assert "Partitions over snapshots" in text
