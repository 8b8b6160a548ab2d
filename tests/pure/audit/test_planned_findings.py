"""The findings that a plan causes: those after it without those before it."""

from __future__ import annotations

from kafka_shell.audit.control import controls_of
from kafka_shell.audit.model import AuditReport, ControlResult, LeftOut
from kafka_shell.base.structs import replace
from kafka_shell.commands.spark.plan import new_findings
from tests.support.audit_report import finding


def report(*resources: str, left_out: int = 0) -> AuditReport:
    rest = (LeftOut("B26", "high", "dev", left_out),) if left_out else ()
    alarms = len(resources) + left_out
    judged = ControlResult("B26", "", "high", "brokers", {"alarm": alarms, "ok": 2})
    found = tuple(finding("B26", "high", each) for each in resources)
    return AuditReport("s", 0, ("dev",), {}, (judged,), found, left_out=rest)


def test_only_findings_that_a_plan_causes_are_counted() -> None:
    found = new_findings(report("broker 1 x", "broker 2 x"), report("broker 2 x", "broker 3 x"))
    assert [each.resource for each in found.findings] == ["broker 3 x"]
    assert found.controls[0].counts == {"alarm": 1, "ok": 2}
    assert new_findings(report("a"), report()).exit_status == 0


def test_alarms_that_are_only_counted_are_compared_by_their_number() -> None:
    same = new_findings(report("a", left_out=5), report("a", left_out=4))
    assert (same.left_out, same.exit_status) == ((), 0)
    more = new_findings(report("a", left_out=5), report("a", left_out=8))
    assert [each.alarms for each in more.left_out] == [3]
    assert more.controls[0].counts["alarm"] == 3 == more.alarms["high"]


def test_what_is_repaired_renames_no_other_finding() -> None:
    controls = controls_of()
    merged = {
        id for id, each in controls.items()
        if each.query({}) != replace(each, merged=False).query({})
    }  # fmt: skip
    assert {"B26", "T13"} <= merged, "of brokers, and of topics with a default"
    alone = replace(controls["B26"], merged=False).query({})
    assert "'brokers '" in controls["B26"].query({}) and "'brokers '" not in alone
    assert "False AND NOT" in replace(controls["T13"], merged=False).query({})
