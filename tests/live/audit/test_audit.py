"""spark audit: findings, exit statuses, formats, what cannot be read, and --fix."""

from __future__ import annotations

import operator
from pathlib import Path
from uuid import uuid4

import pytest
from pyarrow import parquet

from kafka_shell.audit.collection import Collection
from kafka_shell.audit.engine import Engine
from kafka_shell.context import Resources
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect
from tests.support.group_data import commit
from tests.support.in_process_shell import Shell

FIELDS = ["control", "title", "severity", "status", "cluster", "resource", "reason", "remedy",
          "undo", "risk", "owner", "changes"]  # fmt: skip

CONTROL = """\
-- title: Own control
-- severity: {severity}
-- tags: own
-- description: For this test.
-- source: This test.
SELECT cluster, topic AS resource, CASE WHEN topic = '{topic}' THEN 'alarm' ELSE 'ok' END AS status,
  'it is there' AS reason FROM topics
"""
# An alarm of every topic.
EVERY = CONTROL.replace("CASE WHEN topic = '{topic}' THEN 'alarm' ELSE 'ok' END", "'alarm'")


def own(shell: Shell, text: str, name: str = "U01.sql") -> None:
    folder = shell.home / "config" / "controls"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_a_finding_has_the_fields_that_are_promised_and_the_status_is_1(shell: Shell) -> None:
    own(shell, EVERY.format(id="U01", severity="high"))
    run = shell("spark audit --controls U01 --output json")
    assert run.status == 1
    names = shell.ok("list-topics").out.split()
    findings = run.json["findings"]
    assert [list(finding) for finding in findings] == [FIELDS] * len(names)
    assert {finding["resource"] for finding in findings} == set(names)
    assert run.json["clusters"] == [shell.bootstrap]
    (control,) = run.json["controls"]
    assert (control["description"], control["source"]) == ("For this test.", "This test.")


def test_a_clean_audit_is_0_and_says_so(shell: Shell) -> None:
    own(shell, CONTROL.format(id="U01", severity="low", topic="no such topic"))
    run = shell.ok("spark audit --controls U01")
    assert run.out.startswith("no findings")


def test_a_severity_leaves_out_controls_below_it(shell: Shell) -> None:
    own(shell, CONTROL.format(id="U01", severity="low", topic="orders.placed"))
    assert shell("spark audit --controls own --output csv --fail-on any").status == 1
    shell.ok("spark audit --controls own --output csv")
    run = shell.ok("spark audit --controls own --severity high")
    assert "0 controls" in run.out


def test_a_word_that_is_no_control_is_a_usage_error(shell: Shell) -> None:
    run = shell("spark audit --controls securty")
    assert run.status == 2
    assert "Did you mean security?" in run.err


def test_a_malformed_control_names_its_file_and_line(shell: Shell) -> None:
    own(shell, "-- title: t\n-- severity low\nSELECT 1\n")
    run = shell("spark audit")
    assert run.status != 0
    assert "U01.sql:2:" in run.err


def test_a_failed_query_does_not_affect_other_controls(shell: Shell) -> None:
    own(shell, CONTROL.format(id="U01", severity="low", topic="orders.placed"))
    own(shell, CONTROL.format(id="U02", severity="low", topic="x").replace("topics\n", "topics t"
        " WHERE CAST(topic AS INT) > 0\n"), "U02.sql")  # fmt: skip
    run = shell("spark audit --controls own --output json")
    statuses = {(f["control"], f["status"]) for f in run.json["findings"]}
    assert statuses == {("U01", "alarm"), ("U02", "error")}
    (error,) = (f for f in run.json["findings"] if f["status"] == "error")
    assert "query failed" in error["reason"] and "\n" not in error["reason"]


def test_sarif_has_a_result_a_finding(shell: Shell) -> None:
    own(shell, EVERY.format(id="U01", severity="critical"))
    run = shell("spark audit --controls U01 --output sarif")
    assert run.status == 1
    (one,) = run.json["runs"]
    assert run.json["version"] == "2.1.0"
    assert {result["ruleId"] for result in one["results"]} == {"U01"}
    assert one["tool"]["driver"]["rules"][0]["id"] == "U01"
    assert one["results"][0]["level"] == "error"
    rule = one["tool"]["driver"]["rules"][0]
    assert rule["fullDescription"]["text"] == "For this test."
    assert rule["help"]["text"].endswith("Source: This test..")


def test_an_unreachable_cluster_is_reported_and_the_other_is_audited(
    shell: Shell, tmp_path: Path
) -> None:
    shell.profile("here", shell.bootstrap)
    shell.profile("gone", "127.0.0.1:1")
    shell.profile("wrong", shell.bootstrap, **{"command-config": "/no/such.properties"})
    folder = tmp_path / "found"
    run = shell(
        f"spark audit --clusters here,gone,wrong --controls T16 --findings {folder} --output json"
    )
    assert run.status == 3, str(run)
    assert {f["cluster"] for f in run.json["findings"]} == {"here"}
    assert list(run.json["unread"]) == ["gone", "wrong"]
    assert "127.0.0.1:1" in run.json["unread"]["gone"]
    assert "/no/such.properties cannot be read" in run.json["unread"]["wrong"]
    written = parquet.read_table(folder).to_pylist()
    assert {row["reason"] for row in written if row["cluster"] == "gone"} == {
        f"{table} could not be read: refused: {run.json['unread']['gone']}"
        for table in ("topic_configs", "topics")
    }


def test_missing_permissions_are_reported_as_skipped_controls(
    secure_sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    admin = secure_sandbox.client_properties["admin-sasl-plaintext"]
    alice = secure_sandbox.client_properties["alice-sasl-plaintext"]
    shell = Shell(tmp_path, secure_sandbox.bootstraps["SASL_PLAINTEXT"], Resources(spark=engine))
    rule = "allow User:alice Describe,DescribeConfigs on topic half-seen"
    shell.ok(f"create-topic half-seen --command-config {admin}")
    shell.ok(f"alter-acls --add '{rule}' --command-config {admin}")
    try:
        own(shell, EVERY.format(id="U01", severity="high"))
        run = shell("spark audit --controls U01,T13,T30,S05,S09,Q01,B01 --output json"
                    f" --command-config {alice}")  # fmt: skip
        findings = run.json["findings"]
        judged = {(each["control"], each["status"]) for each in findings}
        assert ("U01", "alarm") in judged, "what she may see is judged"
        skipped: dict[str, str] = {}
        for each in findings:
            if each["status"] == "skip":
                skipped[each["control"]] = skipped.get(each["control"], "") + each["reason"]
        assert set(skipped) >= {"S05", "S09", "Q01", "B01", "T30"}
        assert not judged & {("T30", "alarm"), ("Q01", "alarm"), ("S09", "alarm")}
        assert "some groups may not be visible" in skipped["T30"]
        assert "topics without DESCRIBE permission are hidden" in skipped["U01"]
        assert all("could not be read: " in why for why in skipped.values())
        assert "describe" in skipped["S05"].lower(), "the permission that is missing"
        ok = {c["control"] for c in run.json["controls"] if set(c["counts"]) == {"ok"}}
        assert not ok & set(skipped), "what could not be read is not ok"
        fixed = shell(f"spark audit --controls S05 --fix --command-config {alice}")
        assert fixed.status == 1 and "no finding has a remedy" in fixed.err, str(fixed)
        rows = shell("spark sql 'select topic from topics where cluster not in"
                     f" (select cluster from acls)' --command-config {alice}")  # fmt: skip
        assert rows.status == 1 and "table acls of" in rows.err, str(rows)
        written = shell(
            f"spark snapshot {tmp_path / 'state'} --no-findings --command-config {alice}"
        )
        assert written.status == 1 and "table acls of" in written.out, str(written)
        same = shell(f"spark diff {tmp_path / 'state'} now --command-config {alice}")
        assert same.status == 1 and "table acls of" in same.err, str(same)
        assert "no differences" not in same.err, "what could not be read is not the same"
    finally:
        shell(f"alter-acls --remove '{rule}' --yes --command-config {admin}")
        shell(f"delete-topic half-seen --yes --command-config {admin}")


def test_an_unknown_profile_is_reported(shell: Shell) -> None:
    shell.profile("here", shell.bootstrap)
    run = shell("spark audit --clusters her")
    assert run.status == 2
    assert "Did you mean here?" in run.err


def test_a_secret_on_the_command_line_is_not_sent_to_executors(shell: Shell) -> None:
    run = shell("spark audit --adminclient-property sasl.password=hunter2")
    assert run.status == 2
    assert "config.toml" in run.err and "hunter2" not in run.err


def test_fix_shows_one_plan_carries_it_out_and_the_control_is_ok(shell: Shell) -> None:
    topic = f"fix.{uuid4().hex[:8]}"
    shell.ok(f"create-topic {topic} --config retention.ms=60000")
    try:
        found = shell("spark audit --controls T13 --output json").json["findings"]
        (finding,) = (f for f in found if f["resource"] == topic)
        assert finding["remedy"].startswith(f"alter-configs {topic} retention.ms=")
        assert finding["risk"] == "safe"
        (change,) = finding["changes"]
        assert (change["field"], change["before"]) == ("retention.ms", "60000")
        dry = shell("spark audit --controls T13 --fix --dry-run")
        assert topic in dry.out and dry.status == 0, str(dry)
        declined = shell("spark audit --controls T13 --fix", answer="n")
        assert declined.status == 1 and "nothing was changed" in declined.err
        silent = shell("spark audit --controls T13 --fix")
        assert silent.status == 2 and "--yes" in silent.err
        done = shell("spark audit --controls T13 --fix", answer="y")
        assert done.status == 0, str(done)
        shell.ok("spark audit --controls T13")
        (entry,) = shell.ok("journal --last 1 --output json").json
        assert "spark audit --controls T13 --fix" in entry["command"]
        shell.ok(f"undo {entry['id']} --yes")
        shown = shell.ok(f"describe-configs {topic} retention.ms --output json").json
        assert shown[0]["value"] == "60000", shown
    finally:
        shell(f"delete-topic {topic} --yes --if-exists")


# What somebody does wrong -> the controls that find it, with a remedy.
FAULTS = {
    "create-topic {n}.log --config unclean.leader.election.enable=true --config retention.ms=60000"
    " --config segment.ms=30000 --config compression.type=gzip --config max.message.bytes=20000000"
    " --config message.timestamp.after.max.ms=9223372036854775807 --config flush.messages=1"
    " --config leader.replication.throttled.replicas=0:1": "T05 T13 T19 T20 T21 T22 T23",
    "create-topic {n}.table --config cleanup.policy=compact --config delete.retention.ms=1000"
    " --config min.cleanable.dirty.ratio=0.95": "T17 T18",
    "create-topic {n}.late --config segment.ms=1209600000": "T15",
    "create-topic {n}.same --config max.message.bytes=1048588": "T25",
    "alter-acls --add 'allow User:{n} Create on topic {n}.log'": "Q06",
    "alter-acls --add 'allow User:{n} Read on prefixed topic {n}'": "",
    "alter-acls --add 'allow User:{n} Describe on topic {n}.log'": "S07",
    "alter-acls --add 'allow User:{n} Write on topic {n}.gone'": "S08",
    "alter-quotas --user {n} producer_byte_rate=100 request_percentage=5000": "Q04 Q05",
    "alter-client-configs --user {n} acks=1 session.timeout.ms=12000 heartbeat.interval.ms=9000"
    " --yes": "C01 C03",
}


def test_remedies_end_alarms_and_undo_brings_them_back(
    sandbox: Sandbox, engine: Engine, tmp_path: Path, name: str
) -> None:
    shell = Shell(tmp_path, sandbox.bootstrap, Resources(spark=engine))
    controls = {each for found in FAULTS.values() for each in found.split()}

    def alarms() -> dict[tuple[str, str], dict[str, str]]:
        run = shell(f"spark audit --controls {','.join(controls)} --output json")
        return {
            (each["control"], each["resource"]): each
            for each in run.json["findings"]
            if name in each["resource"] and each["remedy"]
        }

    for line in FAULTS:
        shell.ok(line.format(n=name))
    try:
        before = alarms()
        assert {control for control, _ in before} == controls
        for each in before.values():
            shell.ok(f"{each['remedy']} --yes")
        assert alarms().keys() & before.keys() == set()
        for each in reversed(before.values()):
            shell.ok(f"{each['undo']} --yes")
        assert alarms().keys() == before.keys()
    finally:
        shell(f"delete-topic {name}.* --yes")
        shell(f"alter-acls --remove 'any User:{name} any' --yes")
        shell(f"alter-quotas --user {name} --delete-config producer_byte_rate,request_percentage"
              ",controller_mutation_rate")  # fmt: skip
        shell(f"alter-client-configs --user {name} --yes --delete-config"
              " acks,session.timeout.ms,heartbeat.interval.ms")  # fmt: skip


def test_fix_never_takes_a_name_for_an_option(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    """The remedy of a group called `--group=NAME` must not delete the group NAME."""
    shell = Shell(tmp_path, sandbox.bootstrap, Resources(spark=engine))
    topic, group = (f"{kind}-{uuid4().hex[:8]}" for kind in ("read", "enricher"))
    hostile = [f"--group={group}", f"{group} --yes", f"{group};exit", "--all-topics"]
    shell.ok(f"create-topic {topic}")
    shell.ok("create-topic gone.by.now")
    with connect(sandbox) as cluster:
        commit(cluster, group, topic, 0)
        for name in hostile:
            commit(cluster, name, "gone.by.now", 0)
    shell.ok("delete-topic gone.by.now --yes")
    found = shell("spark audit --controls G07 --output json").json["findings"]
    remedies = {each["resource"]: each["remedy"] for each in found}
    assert {f"group {name}" for name in hostile} <= remedies.keys(), remedies
    done = shell("spark audit --controls G07 --fix --risk irreversible --yes --output json")
    assert done.status == 0, str(done)
    left = shell.ok("list-groups").out.splitlines()
    assert group in left
    assert not set(hostile) & set(left)


def test_remedies_that_contradict_each_other_are_not_both_applied(shell: Shell) -> None:
    topic = f"twice.{uuid4().hex[:8]}"
    shell.ok(f"create-topic {topic}")
    for id, value in (("Y01", 1), ("Y02", 2)):
        text = CONTROL.format(id=id, severity="high", topic=topic).replace(
            "SELECT cluster",
            f"-- fix: topic resource 'flush.messages' = {value}\n-- risk: safe\nSELECT cluster",
        )
        own(shell, text, f"{id}.sql")
    try:
        run = shell("spark audit --controls Y01,Y02 --fix --yes")
        assert run.status == 1, str(run)
        assert "flush.messages=2 conflicts with alter-configs" in run.err
        shown = shell.ok(f"describe-configs {topic} flush.messages --output json").json
        assert shown[0]["value"] == "1", shown
    finally:
        shell(f"delete-topic {topic} --yes")


def test_fix_with_nothing_to_mend_says_so(shell: Shell) -> None:
    run = shell.ok("spark audit --controls T13 --fix")
    assert "no finding has a remedy" in run.err


def test_fix_is_for_one_cluster(shell: Shell) -> None:
    shell.profile("here", shell.bootstrap)
    shell.profile("there", shell.bootstrap)
    run = shell("spark audit --clusters here,there --fix")
    assert run.status == 2 and "one cluster at a time" in run.err


def test_fix_audits_the_cluster_that_it_changes(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.profile("here", "127.0.0.1:1")
    line = f"spark audit --profile here --broker {shell.bootstrap} --clusters here --controls T13"
    run = shell.ok(f"{line} --fix")
    assert "no finding has a remedy" in run.err
    monkeypatch.setattr(Collection, "cluster_ids", {"here": "that-of-an-executor"})
    run = shell(f"{line} --fix")
    assert run.status == 1 and "the cluster that was read is that-of-an-executor" in run.err


def test_executors_write_what_is_reported(shell: Shell, tmp_path: Path) -> None:
    own(shell, CONTROL.format(id="U01", severity="low", topic="orders.placed"))
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[suppress]]\ncontrol = "T16"\nowner = "team"\nreason = "demo"\n'
        'resource = "orders.*"\nexpires = 2099-01-01\n'
    )
    folder = tmp_path / "found"
    line = f"spark audit --controls U01,T16,T13,T15 --policy {policy} --findings {folder}"
    line += " --fail-on any"
    run = shell(f"{line} --output json")
    assert run.status == 1, str(run)
    rows = parquet.read_table(folder).to_pylist()
    found = [{key: value for key, value in row.items() if value is not None} for row in rows]
    reported = [{key: value for key, value in each.items() if key != "changes"}
                for each in run.json["findings"]]  # fmt: skip
    by = operator.itemgetter("control", "resource")
    assert sorted(found, key=by) == sorted(reported, key=by)
    assert {"U01", "T16"} < {each["control"] for each in found}
    again = shell(line)
    assert again.status == 2 and "already exists" in again.err


@pytest.mark.parametrize("control", ["X01", "X02", "X03"])
def test_a_control_of_an_option_that_is_not_given_is_refused(shell: Shell, control: str) -> None:
    run = shell(f"spark audit --controls {control}")
    assert run.status == 2 and f"control {control} requires --against" in run.err, str(run)
