"""The Spark session of this process."""

from __future__ import annotations

import pytest
from pyspark import SparkContext

from kafka_shell.audit.engine import Engine
from tests.support.waiting import wait_for

SLOW = "SELECT reflect('java.lang.Thread', 'sleep', id * 0 + 150) FROM range(0, 6, 1, 6)"


def test_progress_counts_the_tasks_of_all_jobs_so_far(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it counted those of the current one only, the time left would jump."""
    session = engine.session
    seen: list[tuple[int, int]] = []

    def report(task: str, done: int, total: int | None) -> None:
        if task == "waiting" and total is not None and total > 1:
            seen.append((done, total))

    monkeypatch.setattr(engine, "report", report)
    stages = session.sparkContext.statusTracker().getActiveStageIds
    for _ in range(2):
        seen.clear()
        wait_for("Spark has noticed that other jobs have ended", lambda: not stages())
        engine.run("waiting", lambda: [session.sql(SLOW).collect() for _ in range(2)])
        assert seen == sorted(seen), seen
        assert seen[-1][1] == 12, f"two jobs of six tasks: {seen}"


def test_work_goes_on_if_its_progress_cannot_be_read(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[SparkContext] = []

    def reset(context: SparkContext) -> None:
        asked.append(context)
        raise ConnectionResetError

    monkeypatch.setattr(SparkContext, "statusTracker", reset)
    assert len(engine.run("waiting", lambda: engine.session.sql(SLOW).collect())) == 6
    assert asked
