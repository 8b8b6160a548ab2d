"""Files of controls: the catalogue's are well formed, and what is malformed says where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_shell.audit.control import FAMILIES, Control, Level, load, parse
from kafka_shell.audit.tables import TABLES
from kafka_shell.errors import ShellError

FOLDER = Path(__file__).parents[2] / "kafka_shell" / "audit" / "controls"
CONTROLS = load(FOLDER)

GOOD = """\
-- id: U01
-- title: A title
-- severity: high
-- description: What is wrong
--   and why.
-- source: This test
-- tags: one, two
-- needs: topics
-- parameter: most = 3
-- remedy: dynamic, safe
SELECT cluster, topic AS resource, 'ok' AS status, '{most}' AS reason, NULL AS remedy,
  NULL AS undo FROM topics;
"""


def test_a_control_is_read_with_all_it_says() -> None:
    control = parse(GOOD, Path("U01.sql"))
    assert control.id == "U01" and control.severity is Level.HIGH and control.family == "own"
    assert control.description == "What is wrong and why."
    assert control.tags == ("one", "two") and control.needs == ("topics",)
    assert control.dynamic and control.risk == "safe"
    assert "'3' AS reason" in control.query({})
    assert "'5' AS reason" in control.query({"most": "5"})
    assert not control.query({}).endswith(";")


def test_required_configs() -> None:
    text = GOOD.replace("-- remedy:", "-- wants: topic_configs a.b, c.d\n-- remedy:")
    control = parse(text, Path("U01.sql"))
    assert control.wants == (("topic_configs", "a.b"), ("topic_configs", "c.d"))
    assert control.requires == {"clusters", "topic_configs"}


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("-- title: A title\n", "", 1, "`-- title:` is missing"),
        ("id: U01", "id: U1x", 1, "a letter and two or three digits"),
        ("severity: high", "severity: awful", 3, "one of critical, high, medium, low"),
        ("-- tags:", "-- tgas:", 7, "unknown metadata"),
        ("most = 3", "most", 9, "name = value"),
        ("dynamic, safe", "dynamic, nice", 10, "safe, disruptive, irreversible"),
        ("'{most}'", "'{least}'", 11, "`-- parameter: least = ...` is missing"),
        ("SELECT", "DELETE", 11, "expected a SELECT"),
        ("-- source", "-- title: Another\n-- source", 6, "is set twice"),
        ("-- remedy", "-- wants: topics a\n-- remedy", 10, "topic_configs or broker_configs"),
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


def test_a_duplicate_id_is_rejected_and_later_folders_take_precedence(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "U01.sql").write_text(GOOD)
    (two / "U01.sql").write_text(GOOD.replace("A title", "Another"))
    assert load(one, two)["U01"].title == "Another"
    (one / "U02.sql").write_text(GOOD)
    with pytest.raises(ShellError, match=r"already used in U01\.sql"):
        load(one)


def test_every_control_of_ours_is_complete() -> None:
    for name, control in CONTROLS.items():
        check_complete(name, control)


def check_complete(name: str, control: Control) -> None:
    assert control.path.name == f"{name}.sql" and name[0] in FAMILIES
    assert control.tags and control.needs and control.source, name
    assert control.description.endswith("."), name
    assert set(control.needs) <= set(TABLES), name
    read = {table for table in TABLES if re.search(rf"\b(FROM|JOIN) {table}\b", control.sql)}
    assert read - {"clusters"} <= set(control.needs), f"{name}: `needs` is incomplete"
    assert {table for table, _ in control.wants} <= set(control.needs), name
    for column in ("AS resource", "AS status", "AS reason", "AS remedy", "AS undo"):
        assert column in control.sql, name
    for parameter in control.parameters:
        assert "{" + parameter + "}" in control.sql, f"{parameter} of {name} is not used"


def test_the_catalogue_is_there() -> None:
    wanted = {"T": 30, "B": 23, "S": 17, "Q": 6, "G": 8, "C": 3, "D": 8}
    ids = {
        f"{letter}{number:02}" for letter, last in wanted.items() for number in range(1, last + 1)
    }
    assert ids == set(CONTROLS)
