"""Evaluation of controls: counts, findings, and changed Spark configs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_shell.audit.collection import Status, TableStatus
from kafka_shell.audit.control import Control, Level
from kafka_shell.audit.engine import SMALL_DATA_CONFIGS, Engine
from kafka_shell.audit.evaluate import evaluate
from kafka_shell.audit.remedy import Fix
from kafka_shell.base.structs import replace

MOST = 100
TOPICS = MOST * 3
SQL = """\
SELECT cluster, topic AS resource, CASE WHEN id % 3 = 0 THEN 'alarm' ELSE 'ok' END AS status,
  'why' AS reason FROM topics -- all of them"""


@pytest.fixture(autouse=True)
def few_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer of a control are returned than by default: what is returned costs time."""
    monkeypatch.setattr("kafka_shell.audit.evaluate.MOST_FINDINGS", MOST)


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


def test_control_of_a_user_cannot_run_a_program(engine: Engine, tmp_path: Path) -> None:
    ran = f"SELECT TRANSFORM(topic) USING 'touch {tmp_path}/ran' AS (topic) FROM topics"
    program = control(
        "U01",
        SQL.replace("topics --", f"(SELECT 'dev' AS cluster, topic, 0 AS id FROM ({ran})) --"),
    )
    found = evaluate(session(engine, 1), [program, control("U02", SQL)], {}, status(1))
    assert found.counts == {("U01", "error"): 1, ("U02", "alarm"): 1}
    assert "a query cannot run a program" in found.findings[0].reason, found.findings
    assert not (tmp_path / "ran").exists()


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
    assert found.left_out == {("U01", "dev"): TOPICS - MOST}
    returned = [each.control for each in found.findings]
    assert {id: returned.count(id) for id in returned} == {
        "U01": MOST,
        "U02": 1,
        "U04": TOPICS // 3,
    }


@pytest.mark.parametrize("rows", [TOPICS, 10_000_000], ids=["few", "many"])
def test_alarms_are_returned_before_what_is_not_an_alarm(engine: Engine, rows: int) -> None:
    own = session(engine, 6 * MOST)  # more than are returned of each of its 4 tasks
    last = SQL.replace("'ok'", "'info'").replace("id % 3 = 0", "id % 150 = 149")
    found = evaluate(own, [control("U01", last)], {}, status(rows))
    assert found.counts == {("U01", "alarm"): 4, ("U01", "info"): 6 * MOST - 4}
    assert [each.status for each in found.findings].count("alarm") == 4
    assert not found.left_out


def test_the_configs_of_the_session_are_restored_and_those_of_the_user_are_kept(
    engine: Engine,
) -> None:
    own = session(engine, 3)
    own.conf.set("spark.sql.shuffle.partitions", "7")
    before = {key: own.conf.get(key, None) for key in SMALL_DATA_CONFIGS}
    assert len(evaluate(own, [control("U01", SQL)], {}, status(3)).findings) == 1
    assert {key: own.conf.get(key, None) for key in SMALL_DATA_CONFIGS} == before


@pytest.mark.parametrize("rows", [TOPICS, 10_000_000], ids=["few", "many"])
def test_suppressed_alarms_are_counted_apart_and_not_returned(engine: Engine, rows: int) -> None:
    own = session(engine, TOPICS)
    everything = control("U01", SQL.replace("id % 3 = 0", "true"))
    told = {"U01": "resource RLIKE '^t[0-4]' AND cluster RLIKE '^dev$'"}
    found = evaluate(own, [everything], {}, status(rows), suppressed=told)
    left = sum(f"t{number}"[1] not in "01234" for number in range(TOPICS))
    assert found.counts == {("U01", "suppressed"): TOPICS - left, ("U01", "alarm"): left}
    assert len(found.findings) == min(left, MOST)
    assert not [each for each in found.findings if each.resource[1] in "01234"]
    assert found.left_out.total() == left - len(found.findings)


@pytest.mark.parametrize("given", ["'ALARM'", "CAST(NULL AS STRING)"])
@pytest.mark.parametrize("rows", [3, 10_000_000], ids=["few", "many"])
def test_a_status_that_does_not_exist_is_an_error(engine: Engine, rows: int, given: str) -> None:
    wrong = control("U01", SQL.replace("CASE WHEN id % 3 = 0 THEN 'alarm' ELSE 'ok' END", given))
    found = evaluate(session(engine, 3), [wrong], {}, status(rows))
    assert found.counts == {("U01", "error"): 3}
    assert all(each.reason.startswith("invalid status ") for each in found.findings), found.findings


@pytest.mark.parametrize(
    ("fix", "said"),
    [
        (Fix("quota", "NULL", "'producer_byte_rate'", "1"), "undo"),
        (Fix("quota", "'user app'", "NULL", "1"), "undo"),
        (Fix("quota", "'user app'", "array(struct(null AS key, 1 AS value))[]", "1"), "undo"),
        (Fix("quota", "'user app'", "'producer_byte_rate'", "'many'"), "'many'"),
        (Fix("", field="retention.ms", after="1"), "undo"),
    ],
    ids=["name", "field", "fields", "value", "topic"],
)
def test_a_fix_without_a_value_is_no_remedy(engine: Engine, fix: Fix, said: str) -> None:
    own = session(engine, 1)
    own.sql(
        "SELECT 'dev' AS cluster, 't' AS topic, 'retention.ms' AS key, '2' AS value,"
        " false AS overridden, '2' AS inherited"
    ).createOrReplaceTempView("topic_configs")
    sql = SQL.replace("'why'", "'undo it'")
    wrong = replace(control("U01", sql), fixes=(fix,))
    found = evaluate(own, [wrong, control("U02", SQL)], {}, status(1))
    assert found.counts == {("U01", "alarm"): 1, ("U02", "alarm"): 1}
    own_finding = next(each for each in found.findings if each.control == "U01")
    assert said in own_finding.reason
    assert bool(own_finding.remedy) == (not fix.kind)


def test_topics_with_a_default_are_one_finding_only_if_merged(engine: Engine) -> None:
    own = session(engine, 7)
    own.sql(
        "SELECT cluster, topic, 'retention.ms' AS key, '2' AS value, topic = 't0' AS overridden,"
        " '2' AS inherited FROM topics WHERE id % 3 = 0"
    ).createOrReplaceTempView("topic_configs")
    one = replace(control("U01", SQL), fixes=(Fix("", field="retention.ms", after="1"),))
    for merged, names in (
        (True, {"t0", "default of retention.ms"}),
        (False, {"t0", "t3", "t6"}),
    ):
        found = evaluate(own, [replace(one, merged=merged)], {}, status(7))
        assert {each.resource for each in found.findings if each.status == "alarm"} == names
