"""Control files: the built-in ones are valid, and errors name the line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_shell.audit.control import FAMILIES, Control, Level, expand, load, parse
from kafka_shell.audit.policy import select_controls
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.errors import ShellError
from tests.support.places import CONTROLS

FOLDER = CONTROLS
CONTROLS = load(FOLDER)

GOOD = """\
-- title: A title
-- severity: high
-- description: What is wrong
--   and why.
-- source: This test
-- tags: one, two
-- parameter: most = 3
-- fix: retention.ms = 1
-- risk: safe
SELECT cluster, topic AS resource, 'ok' AS status, '{most}' AS reason
  FROM topics;
"""


def test_a_control_is_read_with_all_it_says() -> None:
    control = parse(GOOD, Path("U01.sql"))
    assert control.id == "U01" and control.severity is Level.HIGH and control.family == "own"
    assert control.description == "What is wrong and why."
    assert control.tags == ("one", "two") and control.needs == ("topics",)
    assert control.risk == "safe"
    assert "'3' AS reason" in control.query({})
    assert "'5' AS reason" in control.query({"most": "5"})
    assert not control.query({}).endswith(";")


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("-- title: A title\n", "", 1, "`-- title:` is missing"),
        ("severity: high", "severity: awful", 2, "one of critical, high, medium, low"),
        ("-- tags:", "-- tgas:", 6, "unknown metadata"),
        ("most = 3", "most", 7, "name = value"),
        ("risk: safe", "risk: nice", 9, "risk must be safe"),
        ("'{most}'", "'{least}'", 10, "`-- parameter: least = ...` is missing"),
        ("SELECT", "DELETE", 10, "must start with select"),
        ("-- source", "-- title: Another\n-- source", 5, "is set twice"),
        ("fix: retention.ms = 1", "fix: topics a b = 1", 8, "must be one of acl, broker"),
    ],
)
def test_a_malformed_file_is_rejected_with_its_line(
    old: str, new: str, line: int, said: str
) -> None:
    assert old in GOOD
    with pytest.raises(ShellError) as caught:
        parse(GOOD.replace(old, new, 1), Path("own/U01.sql"))
    assert said in caught.value.message
    assert caught.value.message.startswith(f"own/U01.sql:{line}: "), caught.value.message


def test_the_id_is_the_name_of_the_file_and_later_folders_take_precedence(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "U01.sql").write_text(GOOD)
    (two / "U01.sql").write_text(GOOD.replace("A title", "Another"))
    assert load(one, two)["U01"].title == "Another"
    (one / "own.sql").write_text(GOOD)
    with pytest.raises(ShellError, match="a letter and two or three digits"):
        load(one)


def test_the_tables_that_a_query_reads_are_found() -> None:
    query = """WITH x AS (SELECT * FROM topics t, brokers AS b) -- FROM groups
SELECT acls, quorum FROM x JOIN Partitions ON true GROUP BY cluster, replicas"""
    control = parse(GOOD[: GOOD.index("SELECT")] + query, Path("U01.sql"))
    assert set(control.needs) == {"topics", "brokers", "partitions"}


def test_every_control_of_ours_is_complete() -> None:
    for name, control in CONTROLS.items():
        check_complete(name, control)


def check_complete(name: str, control: Control) -> None:
    assert control.path.name == f"{name}.sql" and name[0] in FAMILIES
    assert control.tags and control.needs and control.source, name
    assert control.description.endswith("."), name
    assert "AS reason" in control.sql and "resource" in control.sql, name
    assert re.search(r"AS status|'(alarm|info)[:']", control.sql), name
    fixed = control.sql + "".join(each.after + each.condition for each in control.fixes)
    for parameter in control.parameters:
        assert "{" + parameter + "}" in fixed, f"{parameter} of {name} is not used"


# Tables that may lack rows although `absence` does not name them, and why that is no alarm.
NO_ALARM = {
    ("B03", "features"): "only for undo",
    ("B10", "broker_configs"): "the configs of a broker are read together",
    ("D01", "record_samples"): "only for the estimated saving",
    ("D02", "batches"): "the rate is then unknown",
    ("G08", "features"): "the cluster may then lack the protocol",
    ("Q02", "broker_configs"): "only for the remedy",
    ("Q02", "topic_configs"): "only for the remedy",
    ("S07", "acls"): "the ACL is then needed",
    ("S12", "broker_configs"): "the config is then not dynamic",
    ("S13", "broker_configs"): "the config is then not dynamic",
    ("S14", "broker_configs"): "the config is then not dynamic",
    ("S08", "acls"): "the ACLs are joined with themselves",
    ("T04", "partitions"): "only for the remedy",
    ("T26", "partitions"): "only for the remedy",
    ("T12", "disk_replicas"): "the size is then unknown: not checked",
    ("T12", "log_dirs"): "the size is then unknown: not checked",
    ("T07", "clusters"): "the partitions are then findings of their own",
    ("T08", "clusters"): "the partitions are then findings of their own",
    ("T09", "clusters"): "the partitions are then findings of their own",
    ("B05", "clusters"): "the brokers are then those that are online",
    ("B24", "partitions"): "fewer partitions are counted",
    ("B24", "topic_configs"): "fewer partitions are counted",
}


def test_tables_whose_missing_rows_can_raise_an_alarm_are_in_absence() -> None:
    undeclared = {
        (name, table)
        for name, control in CONTROLS.items()
        for table in _may_lack_rows(expand(control.sql)) - set(control.absence)
    }
    assert undeclared == set(NO_ALARM)


# Fewer rows make a count, an average or the newest value look bad.
COUNTED = {
    "B04": {"brokers"}, "B05": {"brokers"}, "B06": {"quorum"}, "B13": {"replicas", "disk_replicas"},
    "B19": {"features"}, "B22": {"broker_configs"}, "D06": {"group_offsets", "batches"},
    "G01": {"group_commits"}, "G02": {"group_commits"}, "G03": {"group_commits"},
    "G04": {"group_commits"}, "Q03": {"listeners"}, "Q05": {"broker_configs"},
    "S08": {"listeners"}, "T28": {"disk_replicas"}, "T29": {"partition_offsets"},
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_tables_of_which_fewer_rows_can_raise_an_alarm_are_in_absence(name: str) -> None:
    assert COUNTED[name] <= set(CONTROLS[name].absence)


def test_tables_that_may_lack_rows() -> None:
    sql = """WITH a AS (SELECT x FROM topics), b AS (SELECT count(*) FROM (SELECT * FROM a))
    SELECT x FROM brokers JOIN groups LEFT JOIN b LEFT ANTI JOIN acls LEFT JOIN (
      SELECT y FROM quotas) q WHERE x NOT IN (SELECT x FROM quorum)"""
    assert _may_lack_rows(sql) == {"topics", "acls", "quotas", "quorum"}


def _may_lack_rows(sql: str) -> set[str]:
    """The tables of LEFT JOIN, LEFT ANTI JOIN, NOT IN and NOT EXISTS, also those within a WITH."""
    queries = {m[1]: _in_brackets(sql, m.end()) for m in re.finditer(r"\b(\w+) AS \(", sql)}
    found = set()
    for match in re.finditer(r"\bLEFT (?:ANTI )?JOIN (\w+|\()", sql):
        part = _in_brackets(sql, match.end()) if match[1] == "(" else f"FROM {match[1]}"
        found |= _tables_of(part, queries)
    for match in re.finditer(r"\bNOT (?:IN|EXISTS) \((?=\s*SELECT)", sql):
        found |= _tables_of(_in_brackets(sql, match.end()), queries)
    return found


def _tables_of(sql: str, queries: Mapping[str, str]) -> set[str]:
    names = set(re.findall(r"\b(?:FROM|JOIN) (\w+)", sql))
    inner = (_tables_of(queries[name], queries) for name in names & set(queries))
    return (names & set(TABLES)).union(*inner)


def _in_brackets(sql: str, start: int) -> str:
    """The text from here to the closing bracket."""
    depth = 1
    for at in range(start, len(sql)):
        depth += {"(": 1, ")": -1}.get(sql[at], 0)
        if not depth:
            return sql[start:at]
    return sql[start:]


def test_the_catalogue_is_there() -> None:
    wanted = {"T": 33, "B": 26, "S": 19, "Q": 7, "G": 9, "C": 3, "D": 8}
    ids = {
        f"{letter}{number:02}" for letter, last in wanted.items() for number in range(1, last + 1)
    }
    assert ids == set(CONTROLS)


def test_opinions_are_evaluated_only_if_they_are_selected() -> None:
    def chosen(*words: str) -> set[str]:
        return {control.id for control in select_controls(CONTROLS, words)}

    opinions = chosen("opinion")
    assert opinions == {
        "T14", "T16", "T19", "T24", "T25", "T29", "T30", "G06", "G07", "G08", "B12", "B16", "B17",
        "B18", "B21", "C01", "C02", "C03", "Q01", "Q03", "D06",
    }  # fmt: skip
    assert chosen() == set(CONTROLS) - opinions and chosen("all") == set(CONTROLS)
    assert chosen("clients", "T14") == {"C01", "C02", "C03", "T14"}


@pytest.mark.parametrize(
    ("risk", "names"),
    [
        ("disruptive", "B03 B11 Q02 Q04 Q06 T01 T02 T03 T04 T06 T11 T25 T26"),
        ("irreversible", "B19 B22 G05 G07 S09 S10 T07"),
        ("safe", "S07 T10 T13"),
    ],
)
def test_the_risk_of_a_remedy_follows_from_its_changes(risk: str, names: str) -> None:
    assert {name: CONTROLS[name].risk for name in names.split()} == dict.fromkeys(
        names.split(), risk
    )
