"""Policies: what is declared, thresholds, suppressions, and mistakes in the file."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from tests.in_process import Shell

POLICY = """\
[thresholds.T13]
shortest = {shortest}

[[topics]]
match = "{topic},no-such-*"
replication-factor = 1
retention-min = "1d"
naming = "pol[.]x.*"
configs = {{ "cleanup.policy" = "delete", "max.message.bytes" = 1000000 }}

[[acls]]
rule = "allow User:{topic} Read on topic {topic}"

[[quotas]]
user = "{topic}"
key = "producer_byte_rate"
value = "5MB/s"

[[suppress]]
control = "T13"
owner = "team-x"
resource = "{topic}"
reason = "known"
expires = {expires}
"""


def policy(
    folder: Path, topic: str, shortest: int = 3_600_000, expires: str = "2999-01-01"
) -> Path:
    file = folder / "policy.toml"
    file.write_text(POLICY.format(topic=topic, shortest=shortest, expires=expires))
    return file


@pytest.fixture
def topic(shell: Shell) -> str:
    return f"pol.{uuid4().hex[:8]}"


def test_a_declared_policy_is_checked_and_fixed(shell: Shell, topic: str, tmp_path: Path) -> None:
    file = policy(tmp_path, topic)
    shell.ok(f"create-topic {topic} --config retention.ms=60000")
    line = f"spark audit --controls X01 --policy {file}"
    try:
        run = shell(f"{line} --output json")
        assert run.status == 1, str(run)
        found = {f["reason"]: f["remedy"] for f in run.json["findings"]}
        assert found == {
            "name does not match pol[.]x.*": "",
            "retention.ms is 1m, declared: 1d":
                f"alter-configs {topic} retention.ms=86400000",
            "max.message.bytes is 1048588, declared: 1MB":
                f"alter-configs {topic} max.message.bytes=1000000",
            "declared ACL is missing":
                f"alter-acls --add 'allow User:{topic} Read on topic {topic}'",
            "producer_byte_rate is not set, declared: 5MB/s":
                f"alter-quotas --user {topic} producer_byte_rate=5MB/s",
        }  # fmt: skip
        undo = [f["undo"] for f in run.json["findings"] if f["undo"]]
        fixed = shell(f"{line} --fix --risk disruptive --yes")
        assert fixed.status == 0, str(fixed)
        left = shell(f"{line} --output json").json["findings"]
        assert [f["reason"] for f in left] == ["name does not match pol[.]x.*"]
        for back in undo:
            shell.ok(f"{back} --yes")
        assert len(shell(f"{line} --output json").json["findings"]) == 5
    finally:
        shell(f"delete-topic {topic} --yes --if-exists")


def test_a_threshold_and_a_suppression_that_ends(shell: Shell, topic: str, tmp_path: Path) -> None:
    shell.ok(f"create-topic {topic} --config retention.ms=60000")
    line = f"spark audit --controls T13 --policy {tmp_path}/policy.toml"
    try:
        policy(tmp_path, topic)
        assert "1 finding suppressed" in shell.ok(line).out
        policy(tmp_path, topic, expires="2020-01-01")
        run = shell(line)
        assert run.status == 1
        assert "the suppression of T13 by team-x has expired: known" in run.err
        policy(tmp_path, topic, shortest=50_000, expires="2020-01-01")
        assert shell(line).status == 0
    finally:
        shell(f"delete-topic {topic} --yes --if-exists")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[topic]]\nmatch='a'", "Did you mean topics?"),
        ("[[topics]]\nmatsch='a'", "Did you mean match?"),
        ("[[topics]]\nnaming='a'", "match is missing"),
        ("[thresholds.T13]\nlongest=1", "Parameters of T13: shortest"),
        ("[[suppress]]\ncontrol='T01'\nowner='o'\nreason='x'\nexpires='soon'", "2027-01-31"),
        ("[[suppress]]\ncontrol='T01'\nreason='x'\nexpires=2027-01-31", "owner is missing"),
        ("x = ", "not valid TOML"),
        ("[[topics]]\nmatch='a'\nretention-min='soon'", "soon"),
        ("[[quotas]]\nkey='producer_byte_rate'\nvalue=1", "has no entity"),
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


def test_against_a_snapshot_each_difference_is_a_finding(
    shell: Shell, topic: str, tmp_path: Path
) -> None:
    shell.ok(f"create-topic {topic}")
    try:
        shell.ok(f"spark snapshot {tmp_path}/state --no-findings")
        shell.ok(f"alter-configs {topic} retention.ms=1d --yes")
        run = shell(f"spark audit --controls T13 --against {tmp_path}/state --output json")
        assert run.status == 1
        (finding,) = run.json["findings"]
        assert (finding["control"], finding["resource"]) == ("X03", topic)
        assert finding["remedy"] == f"alter-configs --topic={topic} --delete-config=retention.ms"
    finally:
        shell(f"delete-topic {topic} --yes --if-exists")
