"""Which snapshots expire, and which parts of tables are merged."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.audit import collection, compaction
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.jvm import SparkTarget
from kafka_shell.audit.snapshot import Stored

DAY = 86_400.0


def test_old_snapshots_expire_but_never_the_newest_or_one_of_an_unknown_time() -> None:
    ids = [f"202601{day:02}T120000.000Z-abcd" for day in range(1, 6)]
    now = compaction.taken_at("20260106T120000.000Z-abcd")
    assert now is not None
    assert compaction.expired(ids, 3 * DAY, now) == ids[:2]
    assert compaction.expired(ids, 1.0, now) == ids[:4]
    assert compaction.expired(ids[:1], 1.0, now) == []
    assert compaction.expired(["baseline", *ids], 1.0, now) == ids[:4]
    assert compaction.expired(ids, 90 * DAY, now) == []


def test_a_part_is_counted_once_and_large_parts_are_not_merged() -> None:
    """Snapshot b has the topics of a; c is in a part with many rows."""
    known = {
        "a": {"topics": Stored(5, "a", "a"), "acls": Stored(0, "a", "a")},
        "b": {"topics": Stored(5, "a", "a")},
        "c": {"topics": Stored(2_000_000, "c", "c")},
        "d": {"topics": Stored(7, "d", "d")},
    }
    assert compaction._small_parts(known) == {"topics": {"a": 5, "d": 7}}


def test_only_directories_with_the_names_of_parts_are_deleted(tmp_path: Path) -> None:
    used, unused = (f"2026010{day}T120000.000Z-abcd" for day in (1, 2))
    others = {"20250101T000000-backup-of-bob", "20250101T000000.000Z-abcd.old", "mine"}
    for name in (used, unused, f"{used}+123", *others):
        (tmp_path / "topics" / name).mkdir(parents=True)
    files = {"20250101T000000.tar", "20250101T000000.000Z-abcd"}
    for name in files:
        (tmp_path / "topics" / name).touch()
    known = {used: {"topics": Stored(1, used, used)}}
    compaction._delete_unused(str(tmp_path), known)
    assert {path.name for path in (tmp_path / "topics").iterdir()} == {used, *others, *files}


def test_a_folder_is_local_only_if_spark_runs_on_this_machine(tmp_path: Path) -> None:
    def is_local(store: str, target: SparkTarget) -> bool:
        engine = Engine(tmp_path, lambda task, done, total: None, spark_target=target)
        return collection.is_local(engine, store)

    assert is_local("/data", SparkTarget("local[2]"))
    assert not is_local("/data", SparkTarget(remote="sc://host"))
    assert not is_local("/data", SparkTarget("spark://host:7077"))
    assert not is_local("s3a://data", SparkTarget("local[2]"))
    assert not is_local("catalog:audits", SparkTarget("local[2]"))
