"""spark test-controls: user-defined controls are evaluated on given rows."""

# ruff: noqa: E501 - a table of TOML is one line

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process_shell import Shell

CONTROL = """\
-- title: Topics without an owner in their name
-- severity: low
-- description: Topic names begin with the team that owns them.
-- source: internal guidelines
-- parameter: separator = .
-- fix: group resource
SELECT cluster, topic AS resource,
  CASE WHEN instr(topic, '{separator}') > 0 THEN 'ok' ELSE 'alarm' END AS status,
  concat('no team; ', {size partitions}) AS reason
FROM topics WHERE NOT internal
"""
TESTS = """\
[[test]]
name = "the team comes first"
topics = [{ topic = "a b", partitions = 2048 }, { topic = "web.orders" },
          { topic = "__x", internal = true }]
expect = [
  { resource = "a b", status = "alarm", reason = "no team; 2.0 KiB", remedy = "delete-group 'a b'" },
  { resource = "web.orders", status = "ok" },
]

[[test]]
name = "another separator"
thresholds = { separator = "/" }
topics = [{ topic = "web.orders", cluster = "west" }]
expect = [{ resource = "web.orders", cluster = "west", status = "SECOND" }]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "rules"
    made.mkdir()
    (made / "U01.sql").write_text(CONTROL)
    return made


def test_expectations_are_compared_with_what_the_control_finds(shell: Shell, folder: Path) -> None:
    (folder / "U01.test.toml").write_text(TESTS.replace("SECOND", "alarm"))
    (folder / "U02.sql").write_text(CONTROL.replace("U01", "U02"))
    run = shell.ok(f"spark test-controls {folder} --output json")
    assert [(each["control"], each["status"]) for each in run.json["results"]] == [
        ("U01", "passed"), ("U01", "passed"), ("U02", "untested")]  # fmt: skip

    text = TESTS.replace("SECOND", "ok").replace('"__x", internal = true', '"x"')
    (folder / "U01.test.toml").write_text(text)
    run = shell(f"spark test-controls {folder}")
    assert run.status == 1, str(run)
    assert "unexpected alarm: x: no team; 0 B" in run.out
    assert "web.orders: status is 'alarm', expected 'ok'" in run.out
    assert "2 failed, 1 untested" in run.out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[test]]\nexpect=[]", "expect is missing"),
        ("[[test]]\ntopic=[]", "Did you mean topics?"),
        ("[[test]]\ntopics=[{topics='a'}]\nexpect=[{resource='a'}]", "topics has no column topics"),
        ("[[test]]\nthresholds={most=1}\nexpect=[{resource='a'}]", "no parameter most"),
        ("x=", "invalid TOML"),
    ],
)
def test_a_mistake_in_a_test_is_named(shell: Shell, folder: Path, text: str, says: str) -> None:
    (folder / "U01.test.toml").write_text(text)
    run = shell(f"spark test-controls {folder}")
    assert run.status == 2, str(run)
    assert "U01.test.toml" in run.err and says in run.err


def test_a_folder_has_a_policy_and_controls(shell: Shell, folder: Path) -> None:
    (folder / "policy.toml").write_text(
        "[thresholds.U01]\nseparator='#'\n[[suppress]]\ncontrol='U01'\nowner='team-x'\n"
        "resource='orders.*'\nreason='old'\nexpires=2999-01-01\n"
    )
    run = shell(f"spark audit --controls U01 --policy {folder} --fail-on any --output json")
    assert run.status == 1, str(run)
    found = {each["resource"] for each in run.json["findings"]}
    assert "web.clickstream" in found and "orders.placed" not in found
    assert run.json["suppressed"] > 0
