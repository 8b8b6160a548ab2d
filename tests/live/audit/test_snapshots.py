"""Snapshots that are incomplete, damaged, concurrent or of other clusters."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from threading import Thread

import pytest
from pyarrow import compute, parquet

from kafka_shell.audit import compaction, snapshot
from kafka_shell.audit.collection import STATUS
from kafka_shell.audit.engine import Engine
from kafka_shell.context import Resources
from kafka_shell.sandbox.state import Sandbox
from tests.support import cluster_tables, snapshot_files
from tests.support.in_process_shell import Shell


def taken(shell: Shell, folder: Path) -> str:
    """The ID of a new snapshot."""
    return str(shell.ok(f"spark snapshot {folder} --no-findings --output json").json["snapshot_id"])


@pytest.fixture(scope="module")
def pair(
    demo_sandbox: Sandbox, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str, str]:
    """A folder with two snapshots of the demo company, and their IDs."""
    home = tmp_path_factory.mktemp("pair")
    shell = Shell(home, demo_sandbox.bootstrap, Resources(spark=engine))
    return home / "state", taken(shell, home / "state"), taken(shell, home / "state")


def test_only_whole_snapshots_are_read(
    shell: Shell, pair: tuple[Path, str, str], tmp_path: Path
) -> None:
    whole, first, second = pair
    folder = shutil.copytree(whole, tmp_path / "state")
    newest = "spark sql 'select distinct snapshot_id from topics' --output json --snapshot"

    # Interrupted: the last table to be written is missing.
    shutil.rmtree(folder / "snapshots" / second)
    assert shell.ok(f"{newest} {folder}").json == [{"snapshot_id": first}]
    run = shell(f"spark audit --controls T16 --snapshot {folder}@{second}")
    assert run.status == 1 and "or is incomplete" in run.err, str(run)

    # Damaged: a table has lost its rows.
    for part in (folder / "topics" / first).rglob("*.parquet"):
        part.unlink()
    run = shell(f"spark audit --controls T16 --snapshot {folder}")
    assert run.status == 1 and "is damaged: topics has 0 rows" in run.err, str(run)
    run = shell(f"spark diff {folder} now")
    assert run.status == 1 and "is damaged" in run.err, str(run)
    count = "spark sql 'select count(*) as n from clusters' --output json --snapshot"
    assert shell.ok(f"{count} {folder}").json == [{"n": 1}], "only tables that are needed are read"

    # Lost: a table would seem to have no rows in all snapshots.
    shutil.rmtree(folder / "disk_replicas" / first)
    run = shell(f"spark trend topics --snapshot {folder}")
    assert run.status == 1 and "a part of table disk_replicas is missing" in run.err, str(run)


def test_a_table_that_an_older_version_did_not_write_was_not_read(
    shell: Shell, pair: tuple[Path, str, str], tmp_path: Path
) -> None:
    whole, _, id = pair
    folder = shutil.copytree(whole, tmp_path / "state")
    shutil.rmtree(folder / "acls")
    (manifest,) = (folder / "snapshots" / id).rglob("*.parquet")
    rows = parquet.ParquetFile(manifest).read()
    manifest.with_name(f".{manifest.name}.crc").unlink()
    parquet.write_table(rows.filter(compute.field("table") != "acls"), manifest)
    run = shell(f"spark audit --controls S05,T16 --snapshot {folder} --output json")
    found = {(each["control"], each["status"]): each["reason"] for each in run.json["findings"]}
    assert "the snapshot does not contain this table" in found["S05", "skip"], str(run)
    assert ("T16", "alarm") in found and ("T16", "skip") not in found


def test_a_table_that_has_not_changed_is_stored_once(
    shell: Shell, pair: tuple[Path, str, str]
) -> None:
    folder, first, second = pair
    assert [path.name for path in (folder / "topics").iterdir()] == [first]
    rows = "select snapshot_id, min(collected_at) as at, count(*) as n from topics group by 1"
    one, two = (
        shell.ok(f"spark sql '{rows}' --snapshot {folder}@{id} --output json").json[0]
        for id in (first, second)
    )
    assert (one["snapshot_id"], two["snapshot_id"]) == (first, second)
    assert one["n"] == two["n"] > 0 and one["at"] < two["at"], "the time is that of the snapshot"


def test_an_object_store_has_each_snapshot_in_full(engine: Engine, tmp_path: Path) -> None:
    """Its rules delete objects by their age."""
    store, ddl = f"file://{tmp_path}/state", "cluster STRING, snapshot_id STRING"
    rows = engine.session.createDataFrame([("a", "")], ddl)
    for id in ("first", "second"):
        snapshot.write(engine.session, {"clusters": rows}, store, id)
    for table in ("clusters", "snapshots"):
        shutil.rmtree(tmp_path / "state" / table / "first")
    known = snapshot.written(engine.session, store)
    found = snapshot.stored(engine.session, store, "clusters", ddl, known).collect()
    assert [tuple(row) for row in found] == [("a", "second")]


NAMES = ("clusters", "log_dirs", "partitions", STATUS)


def test_old_snapshots_expire_and_small_files_are_merged(
    shell: Shell, demo_sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    tables = cluster_tables.read(demo_sandbox.bootstrap, NAMES[:-1])
    rows = tables.rows("partitions")
    ids = [f"202601{day:02}T000000.000Z-0000" for day in range(1, 21)]
    for day, id in enumerate(ids):
        given = tables.altered("partitions", rows[: 10 + day]).tables
        snapshot_files.write({name: given[name] for name in NAMES}, str(folder), id)
    before = trend(shell, folder)
    others = [folder / "partitions" / "mine", folder / "photos" / ids[0]]
    for other in others:
        other.mkdir(parents=True)
    assert compaction.tidy(engine.session, str(folder)) == []
    assert trend(shell, folder) == before, "while the old files are still there"
    assert compaction.tidy(engine.session, str(folder)) == []
    assert all(other.is_dir() for other in others)
    others[0].rmdir()
    assert {name: len([*(folder / name).iterdir()]) for name in (*NAMES, "snapshots")} == (
        dict.fromkeys((*NAMES, "snapshots"), 1)
    )
    assert trend(shell, folder) == before
    keep = time.time() - compaction.taken_at(ids[15]) + 60  # type: ignore[operator]
    assert compaction.tidy(engine.session, str(folder), keep) == ids[:15]
    assert [value for _, value in trend(shell, folder)] == [10 + day for day in range(15, 20)]
    assert compaction.tidy(engine.session, str(folder), 1.0) == ids[15:19], "the newest stays"
    run = shell(f"spark sql 'select 1 from clusters' --snapshot {folder}@{ids[0]}")
    assert run.status == 1 and "does not exist" in run.err
    run = shell("spark snapshot catalog:audits --keep 90d")
    assert run.status == 2 and "--keep requires a local directory" in run.err


def trend(shell: Shell, folder: Path) -> list[tuple[int, float]]:
    (one,) = shell.ok(f"spark trend partitions --snapshot {folder} --output json").json
    return [(at, value) for at, value in one["points"]]


@pytest.mark.parametrize("table", ["acls", "snapshots"])  # the first and the last one
def test_a_snapshot_that_cannot_be_written(shell: Shell, tmp_path: Path, table: str) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / table).touch()
    run = shell(f"spark snapshot {folder} --no-findings")
    assert run.status == 1, str(run)
    assert f"error: cannot write the snapshot to {folder}: " in run.err, str(run)
    assert "(the incomplete snapshot is ignored)" in run.err
    (folder / table).unlink()
    run = shell(f"spark trend --snapshot {folder}")
    assert run.status == 1 and "no complete snapshot" in run.err, str(run)


@pytest.mark.usefixtures("few_tables")
def test_two_snapshots_at_once_into_one_folder(
    demo_sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    shells = [
        Shell(tmp_path / name, demo_sandbox.bootstrap, Resources(spark=engine)) for name in "ab"
    ]
    runs = [Thread(target=taken, args=(shell, folder)) for shell in shells]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    ids = [path.name for path in (folder / "snapshots").iterdir()]
    assert len(set(ids)) == 2
    for id in ids:
        rows = shells[0].ok(
            f"spark sql 'select count(*) as n, count(distinct topic) as d from topics'"
            f" --snapshot {folder}@{id} --output json"
        )
        assert rows.json[0]["n"] == rows.json[0]["d"] > 0

    (folder / "topics" / "20250101T000000.000Z-abcd").symlink_to(tmp_path)
    run = shells[0].ok(f"spark snapshot {folder} --no-findings")
    assert "older files could not be tidied up: " in run.err, "the snapshot is complete"


@pytest.mark.usefixtures("few_tables")
def test_a_snapshot_is_compared_with_its_own_cluster(
    shell: Shell, pair: tuple[Path, str, str], sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    whole, _, mine = pair
    folder = shutil.copytree(whole, tmp_path / "state")
    other = Shell(tmp_path / "other", sandbox.bootstrap, Resources(spark=engine))
    theirs = taken(other, folder)
    assert shell.ok(f"spark diff {folder} now").err.strip() == "no differences", "not the newest"
    run = shell(f"spark diff {folder}@{theirs} now")
    assert run.status == 1 and "no cluster is on both sides" in run.err, str(run)

    shell.profile("one", shell.bootstrap)
    shell.profile("two", sandbox.bootstrap)
    fleet = str(tmp_path / "fleet")
    shell.ok(f"spark snapshot {fleet} --no-findings --clusters one,two")
    run = shell.ok(f"spark diff {fleet} now")
    assert "no differences" in run.err and "two is only on one side: not compared" in run.err
    found = shell(f"spark audit --controls T04 --against {fleet} --output json").json["findings"]
    skipped = [each["cluster"] for each in found if each["control"] == "X03"]
    assert skipped == ["two"]
    assert mine != theirs
