"""The Spark session of this process."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyspark import SparkContext

from kafka_shell.audit.engine import Engine
from tests.support.waiting import wait_for


def test_progress_counts_the_tasks_of_all_jobs_so_far(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If it counted those of the current one only, the time left would jump."""
    context = engine.session.sparkContext
    seen: list[tuple[int, int]] = []
    gates: dict[int, Path] = {}  # what lets the tasks of a job end, by the total that was reported

    def report(task: str, done: int, total: int | None) -> None:
        if task == "waiting" and total is not None and total > 1:
            seen.append((done, total))
            gates[total].touch()

    def job(gate: Path) -> None:
        """Six tasks."""

        def task(_: int) -> None:
            while not gate.exists():
                time.sleep(0.02)

        context.parallelize(range(6), 6).foreach(task)

    monkeypatch.setattr(engine, "report", report)
    stages = context.statusTracker().getActiveStageIds
    for attempt in range(2):
        seen.clear()
        gates.update({total: tmp_path / f"{attempt}.{total}" for total in (6, 12)})
        wait_for("Spark has noticed that other jobs have ended", lambda: not stages())
        engine.run("waiting", lambda: [job(gates[6]), job(gates[12])])
        assert seen == sorted(seen), seen
        assert seen[-1][1] == 12, f"two jobs of six tasks: {seen}"


def test_work_goes_on_if_its_progress_cannot_be_read(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[SparkContext] = []

    def reset(context: SparkContext) -> None:
        asked.append(context)
        raise ConnectionResetError

    def work() -> int:
        wait_for("the progress was read", lambda: bool(asked))
        return 6

    monkeypatch.setattr(SparkContext, "statusTracker", reset)
    assert engine.run("waiting", work) == 6
