"""Which snapshots expire, and which parts of tables are merged."""

from __future__ import annotations

from kafka_shell.audit import compaction
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
