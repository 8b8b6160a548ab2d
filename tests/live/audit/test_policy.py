"""Policy files: declared state, thresholds, suppressions and errors."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.audit import control
from kafka_shell.audit import policy as policies
from kafka_shell.audit.policy import Policy
from kafka_shell.base.units import NUMBER
from tests.support.in_process_shell import Shell

POLICY = """\
[thresholds.T13]
shortest = {shortest}

[[suppress]]
control = "T13"
owner = "team-x"
resource = "{topic}"
reason = "known"
expires = {expires}
"""


def policy(
    folder: Path, topic: str, shortest: object = 3_600_000, expires: str = "2999-01-01"
) -> Path:
    file = folder / "policy.toml"
    file.write_text(POLICY.format(topic=topic, shortest=shortest, expires=expires))
    return file


SUPPRESS = "[[suppress]]\ncontrol='T01'\nowner='o'\nreason='x'\n"


@pytest.fixture
def topic(shell: Shell) -> str:
    return f"pol.{uuid4().hex[:8]}"


def test_each_difference_from_a_state_file_is_a_finding(
    shell: Shell, topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "state.yaml"
    file.write_text(f"""\
version: 1
topics:
  {topic}: {{ configs: {{ retention.ms: 1d }} }}
acls:
  topic {topic}: [allow User:{topic} Read]
quotas:
  user {topic}: {{ producer_byte_rate: 5MB/s }}
""")
    shell.ok(f"create-topic {topic} --config retention.ms=60000")
    line = f"spark audit --controls X01 --against {file}"
    try:
        run = shell(f"{line} --output json")
        assert run.status == 1, str(run)
        found = {f["resource"]: (f["control"], f["reason"], f["remedy"])
                 for f in run.json["findings"]}  # fmt: skip
        assert found == {
            topic: ("X01", "retention.ms is 60000, declared: 86400000", f"apply {file}"),
            f"allow User:{topic} Read on topic {topic}":
                ("X01", "declared, but missing", f"apply {file}"),
            f"user {topic}":
                ("X01", "producer_byte_rate is not set, declared: 5000000.0", f"apply {file}"),
        }  # fmt: skip
        shell.ok(f"{line} --fix --risk irreversible --yes")
        assert shell.ok(f"{line} --output json").json["findings"] == []
    finally:
        shell(f"delete-topic {topic} --yes --if-exists")
        shell(f"alter-acls --remove 'allow User:{topic} Read on topic {topic}' --yes")
        shell(f"alter-quotas --user {topic} --delete-config producer_byte_rate --yes")


def test_a_threshold_and_a_suppression_that_ends(shell: Shell, topic: str, tmp_path: Path) -> None:
    shell.ok(f"create-topic {topic} --config retention.ms=60000")
    line = f"spark audit --controls T13 --fail-on any --policy {tmp_path}/policy.toml"
    try:
        policy(tmp_path, topic)
        assert "1 finding suppressed" in shell.ok(line).out
        policy(tmp_path, topic, expires="2020-01-01")
        run = shell(line)
        assert run.status == 1
        assert "the suppression of T13 by team-x has expired: known" in run.err
        policy(tmp_path, topic, shortest=50_000, expires="2020-01-01")
        assert shell(line).status == 0
        policy(tmp_path, topic, shortest='"2m"', expires="2020-01-01")
        assert topic in shell(line).out
        policy(tmp_path, topic, shortest='"50s"', expires="2020-01-01")
        assert shell(line).status == 0
    finally:
        shell(f"delete-topic {topic} --yes --if-exists")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[suppres]]\ncontrol='a'", "Did you mean suppress?"),
        ("[[suppress]]\ncontrl='T01'", "Did you mean control?"),
        ("[[topics]]\nmatch='a'", "--against STATE-FILE"),
        ("[thresholds.T13]\nlongest=1", "Parameters of T13: shortest"),
        ("[[suppress]]\ncontrol='T01'\nowner='o'\nreason='x'\nexpires='soon'", "2027-01-31"),
        ("[[suppress]]\ncontrol='T01'\nreason='x'\nexpires=2027-01-31", "owner is missing"),
        (SUPPRESS + "expires=2027-01-31T00:00:00", "expires must be a date"),
        (SUPPRESS + "expires=2027-01-31\nresource=5", "resource must be a string, got 5"),
        ("[thresholds.T13]\nshortest='soon'", "shortest must be a duration, got 'soon'"),
        ("[thresholds.T27]\nmost='7d'", "most must be a size, got '7d'"),
        ("[thresholds.T16]\nmost='7d'", "[thresholds.T16]: most must be a number, got '7d'"),
        ("[thresholds.T16]\nmost=true", "most must be a number, got True"),
        ("[thresholds.T24]\npattern=5", "pattern must be a string, got 5"),
        ("[thresholds]\nT13=5", "[thresholds.CONTROL]"),
        ("x = ", "invalid TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named(shell: Shell, tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    run = shell(f"spark audit --policy {file}")
    assert run.status == 2, str(run)
    assert str(file) in run.err and says in run.err


def test_a_policy_that_is_not_there(shell: Shell, tmp_path: Path) -> None:
    run = shell(f"spark audit --policy {tmp_path}/none.toml")
    assert run.status == 2 and "No such file" in run.err


def read(folder: Path, text: str) -> Policy:
    file = folder / "policy.toml"
    file.write_text(text)
    return policies.read(file, control.controls_of())


def test_units_of_thresholds(tmp_path: Path) -> None:
    text = "[thresholds.T14]\nlongest='90d'\n[thresholds.T27]\nmost='2TiB'\n"
    text += "[thresholds.B08]\nbehind_ms='1m'\n[thresholds.D05]\nover=2.5\n"
    assert read(tmp_path, text).thresholds == {
        "T14": {"longest": "7776000000"},
        "T27": {"most": "2199023255552"},
        "B08": {"behind_ms": "60000"},
        "D05": {"over": "2.5"},
    }


def test_parameters_with_units_exist() -> None:
    known = control.controls_of()
    for id, name in policies._DURATIONS | policies._SIZES:
        assert NUMBER.fullmatch(known[id].parameters[name])
