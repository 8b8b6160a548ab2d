"""Evaluating controls: what is counted, what is returned, and which Spark configs are changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_shell.audit.control import Control, Level
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.evaluate import MOST_FINDINGS, evaluate
from kafka_shell.audit.status import Status, TableStatus
from kafka_shell.audit.tuning import FOR_FEW

TOPICS = MOST_FINDINGS * 3
SQL = """\
SELECT cluster, topic AS resource, CASE WHEN id % 3 = 0 THEN 'alarm' ELSE 'ok' END AS status,
  'why' AS reason, NULL AS remedy, NULL AS undo FROM topics -- all of them"""


def control(id: str, sql: str) -> Control:
    return Control(id, id, Level.LOW, "", "", sql, Path("none"))


def session(engine: Engine, topics: int) -> Any:
    """A view with this many topics."""
    own = engine.session.newSession()
    own.sql(
        f"SELECT 'dev' AS cluster, concat('t', id) AS topic, id FROM range(0, {topics}, 1, 4)"
    ).createOrReplaceTempView("topics")
    return own


def status(rows: int) -> Status:
    """What says that this many rows were read."""
    return {("dev", "topics"): TableStatus(is_read=True, rows=rows)}


@pytest.mark.parametrize("rows", [TOPICS, 10_000_000], ids=["few", "many"])
def test_all_results_are_counted_however_many_are_returned(engine: Engine, rows: int) -> None:
    failing = control("U02", SQL.replace("'why'", "CAST(topic AS INT)"))
    everything = control("U01", SQL.replace("id % 3 = 0", "id % 2 < 2"))
    nothing = control("U03", SQL + "\nWHERE id < 0")
    own = session(engine, TOPICS)
    found = evaluate(own, [everything, failing, nothing, control("U04", SQL)], {}, status(rows))
    assert found.counts == {
        ("U01", "alarm"): TOPICS,
        ("U02", "error"): 1,
        ("U04", "alarm"): TOPICS // 3,
        ("U04", "ok"): TOPICS - TOPICS // 3,
    }
    assert found.left_out == {("U01", "dev"): TOPICS - MOST_FINDINGS}
    returned = [each.control for each in found.findings]
    assert {id: returned.count(id) for id in returned} == {
        "U01": MOST_FINDINGS,
        "U02": 1,
        "U04": TOPICS // 3,
    }


def test_the_configs_of_the_session_are_restored_and_those_of_the_user_are_kept(
    engine: Engine,
) -> None:
    own = session(engine, 3)
    own.conf.set("spark.sql.shuffle.partitions", "7")
    before = {key: own.conf.get(key, None) for key in FOR_FEW}
    assert len(evaluate(own, [control("U01", SQL)], {}, status(3)).findings) == 1
    assert {key: own.conf.get(key, None) for key in FOR_FEW} == before
