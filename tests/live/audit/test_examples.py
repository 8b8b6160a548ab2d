"""Whole audits of the demo data, whose faults are known, and with few permissions."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from kafka_shell.admin.wire.requests import as_request
from kafka_shell.admin.wire.runner import Runner
from kafka_shell.admin.wire.versions import api_name
from kafka_shell.audit.engine import Engine
from kafka_shell.commands.spark import commands as spark
from kafka_shell.commands.spark import controls, trend
from kafka_shell.context import Resources
from kafka_shell.language.command import Command, Example
from kafka_shell.sandbox.state import Sandbox
from tests.support import api_table as apis
from tests.support.in_process_shell import Shell

# What somebody did wrong at the demo company.
FAULTS = {
    "T05": {"payments.authorized", "payments.captured"},
    "T12": {"billing.credit-notes", "billing.invoices", "tmp.anna-test", "web.clickstream"},
    "T14": {
        "analytics.revenue-daily", "analytics.sessions-hourly", "customers.support-tickets",
        "orders.placed.dlq", "orders.returns", "payments.captured", "payments.refunds",
        "shipping.parcels.dlq",
    },
    "T19": {"payments.fraud-scores", "shipping.parcels", "web.clickstream", "web.searches"},
    "T20": {"shipping.labels"},
    "T25": {
        "billing.credit-notes", "billing.invoices", "customers.consents", "orders.returns",
        "payments.authorized", "payments.captured", "payments.refunds",
        "shipping.carrier-webhooks",
    },
    "Q02": {
        "client-id legacy-exporter consumer_byte_rate",
        "client-id web-frontend producer_byte_rate",
    },
    "Q04": {
        "client-id web-frontend producer_byte_rate",
        "user svc-payments client-id checkout producer_byte_rate",
    },
    "Q06": {"user alice", "user carol"},
    "S08": {
        "allow User:alice Write on topic invoices.legacy",
        "allow User:reporting Read on prefixed topic *",
    },
    "S10": {"user bob SCRAM-SHA-512", "user carol SCRAM-SHA-256"},
    "D06": {"customers.support-tickets"},
}  # fmt: skip
# What one broker on a laptop is: a single copy of everything, no encryption, one process.
LAPTOP = {"T01", "B01", "B02", "B03", "B04", "B05", "B06", "B07", "B17", "B18", "B20", "S01", "S16"}
# Habits more than faults, of a good part of the topics and of groups that only left commits.
HABITS = {"T15", "T16", "T29", "T30", "G07"}


def test_the_demo_company_has_exactly_its_faults(shell: Shell) -> None:
    run = shell("spark audit --output json")
    assert run.status == 1, str(run)
    found: dict[str, set[str]] = defaultdict(set)
    for each in run.json["findings"]:
        if each["status"] == "alarm":
            found[each["control"]].add(each["resource"])
    assert set(found) == {*FAULTS, *LAPTOP, *HABITS}
    assert {control: found[control] for control in FAULTS} == FAULTS
    assert found["T01"] == set(shell.ok("list-topics").out.split())
    errors = [each for each in run.json["findings"] if each["status"] == "error"]
    assert errors == []


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
        run = shell("spark audit --controls T01,T13,T30,S05,S09,Q01,B01 --output json"
                    f" --command-config {alice}")  # fmt: skip
        findings = run.json["findings"]
        judged = {(each["control"], each["status"]) for each in findings}
        assert ("T01", "alarm") in judged, "what she may see is judged"
        skipped: dict[str, str] = {}
        for each in findings:
            if each["status"] == "skip":
                skipped[each["control"]] = skipped.get(each["control"], "") + each["reason"]
        assert set(skipped) >= {"S05", "S09", "Q01", "B01", "T30"}
        assert not judged & {("T30", "alarm"), ("Q01", "alarm"), ("S09", "alarm")}
        assert "some groups may not be visible" in skipped["T30"]
        assert "only topics that you may DESCRIBE are visible" in skipped["T01"]
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


EXAMPLES = [
    (command, example)
    for command in (*spark.COMMANDS, *controls.COMMANDS, *trend.COMMANDS)
    for example in command.examples
]


@pytest.mark.parametrize(
    ("command", "example"), EXAMPLES, ids=[example.line for _, example in EXAMPLES]
)
def test_an_example_works_and_sends_what_its_command_declares(
    command: Command, example: Example, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: set[int] = set()
    job = Runner.job

    def recorded(self, call, deadline):  # type: ignore[no-untyped-def]
        if call.request is not None:
            sent.add(as_request(call.request).api_key)
        return job(self, call, deadline)

    monkeypatch.setattr(Runner, "job", recorded)
    if command.name == "spark trend":
        less = "" if "findings" in example.line else "--no-findings"
        shell.ok(f"spark snapshot {shell.home}/kafka-state {less}")
        sent.clear()
    done = shell(example.line.replace("/tmp/", f"{shell.home}/"))
    assert done.status == example.status, str(done)
    extra = sent - set(command.apis) - set(apis.COMMON)
    assert not extra, f"{command.name} does not declare {[api_name(key) for key in extra]}"
