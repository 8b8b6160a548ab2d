"""Policy files: declared state, thresholds, suppressions and errors."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.audit import control
from kafka_shell.audit import policy as policies
from kafka_shell.audit.collection import STATUS
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.policy import Policy
from kafka_shell.base.units import NUMBER
from kafka_shell.sandbox.state import Sandbox
from tests.support import cluster_tables
from tests.support.in_process_shell import Shell

POLICY = """\
[thresholds.T13]
shortest = {shortest}

[[topics]]
match = "{topic},no-such-*"
replication-factor = 1
retention-min = "1d"
naming = "pol[.]x.*"
configs = {{ "cleanup.policy" = "delete, compact", "max.message.bytes" = 1000000 }}

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
    folder: Path, topic: str, shortest: object = 3_600_000, expires: str = "2999-01-01"
) -> Path:
    file = folder / "policy.toml"
    file.write_text(POLICY.format(topic=topic, shortest=shortest, expires=expires))
    return file


SUPPRESS = "[[suppress]]\ncontrol='T01'\nowner='o'\nreason='x'\n"


@pytest.fixture
def topic(shell: Shell) -> str:
    return f"pol.{uuid4().hex[:8]}"


def test_a_declared_policy_is_checked_and_fixed(shell: Shell, topic: str, tmp_path: Path) -> None:
    file = policy(tmp_path, topic)
    policy_of_topic = "--config cleanup.policy=compact,delete"
    shell.ok(f"create-topic {topic} --config retention.ms=60000 {policy_of_topic}")
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
        policy(tmp_path, topic, shortest='"2m"', expires="2020-01-01")
        assert topic in shell(line).out
        policy(tmp_path, topic, shortest='"50s"', expires="2020-01-01")
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
        (SUPPRESS + "expires=2027-01-31T00:00:00", "expires must be a date"),
        (SUPPRESS + "expires=2027-01-31\nresource=5", "resource must be a string, got 5"),
        ("[thresholds.T13]\nshortest='soon'", "shortest must be a duration, got 'soon'"),
        ("[thresholds.T27]\nmost='7d'", "most must be a size, got '7d'"),
        ("[thresholds.T16]\nmost='7d'", "[thresholds.T16]: most must be a number, got '7d'"),
        ("[thresholds.T16]\nmost=true", "most must be a number, got True"),
        ("[thresholds.T24]\npattern=5", "pattern must be a string, got 5"),
        ("[thresholds]\nT13=5", "[thresholds.CONTROL]"),
        ("x = ", "not valid TOML"),
        ("[[topics]]\nmatch='a'\nreplication-factor='three'", "must be an integer"),
        (
            "[[quotas]]\nuser='a'\nuser-default=true\nkey='producer_byte_rate'\nvalue=1",
            "a name and a default",
        ),
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
        file = tmp_path / "policy.toml"
        file.write_text(SUPPRESS.replace("T01", "X03") + "expires=2999-01-01\n")
        line = f"spark audit --controls T13 --against {tmp_path}/state --policy {file}"
        hidden = shell.ok(f"{line} --output json").json
        assert (hidden["suppressed"], hidden["controls"][-1]["counts"]) == (
            1, {"alarm": 0, "skip": 0, "suppressed": 1}
        )  # fmt: skip
    finally:
        shell(f"delete-topic {topic} --yes --if-exists")


def read(folder: Path, text: str) -> Policy:
    file = folder / "policy.toml"
    file.write_text(text)
    return policies.read(file, control.controls_of(), lambda rule: [rule])


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


def test_a_rule_that_checks_nothing_is_reported(shell: Shell, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(f"""\
[[topics]]
match = "{topic}"
replication-factor = 1
configs = {{ "retention.mss" = "1" }}

[[topics]]
match = "payment.captured"
configs = {{ "cleanup.policy" = "delete" }}
""")
    shell.ok(f"create-topic {topic}")
    try:
        run = shell(f"spark audit --controls X01 --policy {file} --output json")
        assert run.status == 1, str(run)
        assert {(f["status"], f["resource"], f["reason"]) for f in run.json["findings"]} == {
            ("skip", topic, "no topic has a config retention.mss"),
            ("skip", "payment.captured", "no topic matches payment.captured"),
        }
    finally:
        shell(f"delete-topic {topic} --yes --if-exists")


def test_a_declared_quota_of_a_name_with_a_space(shell: Shell, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    quota = f"client-id = 'my app'\nuser = '{topic}'\nkey = 'producer_byte_rate'"
    file.write_text(f"[[quotas]]\n{quota}\nvalue = '5MB/s'")
    line = f"spark audit --controls X01 --policy {file} --output json"
    (missing,) = shell(line).json["findings"]
    assert missing["resource"] == f"user {topic} client-id 'my app'"
    shell.ok(f"{missing['remedy']} --yes")
    try:
        assert shell.ok(line).json["findings"] == []
    finally:
        shell.ok(f"{missing['undo']} --yes")


def test_what_could_not_be_read_is_not_missing(
    demo_sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    text = """\
[[topics]]
match = "orders.placed,none"
replication-factor = 100
configs = { "no.such.config" = "1" }
[[topics]]
match = "none"
configs = { "no.such.config" = "1" }
[[acls]]
rule = "User:x"
[[quotas]]
user = "x"
key = "producer_byte_rate"
value = 1
"""
    declared = read(tmp_path, text).declared
    assert declared is not None
    found = cluster_tables.read(demo_sandbox.bootstrap, ("clusters", "topics", "topic_configs"))
    found = found.altered("acls", []).altered("quotas", [])
    judged = found.judge(engine.session, [declared])
    assert {each.reason for each in judged} == {
        "replication factor 1, declared: 100", "no topic has a config no.such.config",
        "no topic matches none", "declared ACL is missing",
        "producer_byte_rate is not set, declared: 1",
    }  # fmt: skip
    failed = [
        {**row, "table": name, "status": "error", "rows": 0, "error": "E", "reason": "why"}
        for row in found.rows(STATUS)[:1]
        for name in ("topics", "topic_configs", "acls", "quotas")
    ]
    found = found.altered(STATUS, found.rows(STATUS) + failed)
    judged = found.judge(engine.session, [declared])
    assert {each.reason for each in judged if each.status == "alarm"} == {
        "replication factor 1, declared: 100"
    }
    assert {each.reason for each in judged if each.status != "alarm"} == {
        f"{name} could not be read: E: why"
        for name in ("topics", "topic_configs", "acls", "quotas")
    }
