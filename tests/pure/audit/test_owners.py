"""Owners of resources, and findings that are accepted."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from kafka_shell.audit import owners, policy
from kafka_shell.audit.control import controls_of
from kafka_shell.audit.model import AuditFinding, AuditReport, ControlResult
from kafka_shell.audit.run import with_suppressed
from kafka_shell.base.errors import ShellError
from tests.support.audit_report import FINDINGS, finding

FILE = """\
[[owner]]
team = "web"
resource = "web*,orders"
[[owner]]
team = "data"
resource = "orders,pay*"
cluster = "dev*"
[[owner]]
team = "platform"
resource = "*"
"""


def read(folder: Path, text: str = FILE) -> tuple[owners.Owner, ...]:
    file = folder / owners.FILE
    file.write_text(text)
    return owners.read(file)


@pytest.mark.parametrize(
    ("cluster", "resource", "team"),
    [
        ("dev", "orders", "web"), ("dev", "orders:12", "web"), ("dev", "orders.x", "platform"),
        ("dev-1", "payments", "data"), ("prod", "payments", "platform"), ("", "", "platform"),
    ],
)  # fmt: skip
def test_the_first_pattern_that_matches_decides(
    tmp_path: Path, cluster: str, resource: str, team: str
) -> None:
    assert owners.owner_of(read(tmp_path), cluster, resource) == team


def test_findings_of_a_team_and_what_was_not_checked_are_kept(tmp_path: Path) -> None:
    skipped = AuditFinding("S05", "", "high", "skip", "dev", "acls", "not authorized")
    controls = (
        ControlResult("T01", "", "critical", "topics", {"alarm": 1, "ok": 3}),
        ControlResult("T05", "", "high", "topics", {"alarm": 1}),
    )
    report = AuditReport("s", 0, ("dev",), {}, controls, (*FINDINGS, skipped))
    found = owners.of_team(owners.with_owners(report, read(tmp_path)), "data")
    assert [(each.control, each.owner) for each in found.findings] == [
        ("T05", "data"), ("S05", "platform"),
    ]  # fmt: skip
    assert [each.counts for each in found.controls] == [{"alarm": 0, "ok": 3}, {"alarm": 1}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[owners]]\nteam='a'", "unknown section [owners]"),
        ("[[owner]]\nteam='a'", "resource is missing in [[owner]] 1"),
        ("[[owner]]\nteam='a'\nresource='b'\nowner='c'", "unknown key owner"),
        ("[[owner]]\nteam='a'\nresource='/(/'", "invalid pattern '/(/'"),
        ("owner = 'a'", "owner must be written as [[owner]]"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ShellError) as raised:
        read(tmp_path, text)
    assert says in str(raised.value)


def test_no_file_means_no_owners(tmp_path: Path) -> None:
    assert owners.read(tmp_path / owners.FILE) == ()
    with pytest.raises(ShellError) as raised:
        owners.require_team(read(tmp_path), "dta", tmp_path)
    assert "data" in raised.value.hint


@pytest.mark.parametrize(
    "resource",
    ["orders", "orders.*", "brokers 1, 2, 3", "allow User:* Read on topic 'a'", 'a"\\b', "/x/"],
)
def test_an_accepted_finding_is_suppressed_and_no_other(tmp_path: Path, resource: str) -> None:
    known = controls_of()
    accepted = finding("T01", "high", resource)
    others = [finding("T01", "high", name) for name in (f"{resource}x", "orders.x", "brokers 1")]
    until = date(2027, 1, 31)
    file = tmp_path / policy.FILE
    text = policy.accepted([accepted, accepted], 'agreed with \u00e4 "team"', until, "me")
    file.write_text(text)
    found = policy.read(file, known)
    assert len(found.suppressions) == 1
    assert found.suppressions[0].owner == "me"
    assert found.suppresses(accepted, until)
    assert not found.suppresses(accepted, date(2027, 2, 1))
    assert not any(found.suppresses(each, until) for each in others if each.resource != resource)


def test_suppressed_alarms_are_counted_apart() -> None:
    result = ControlResult("X03", "", "medium", "drift", {"alarm": 5, "skip": 1})
    assert with_suppressed(result, 2).counts == {"alarm": 3, "skip": 1, "suppressed": 2}
    assert with_suppressed(with_suppressed(result, 2), 3).counts["suppressed"] == 5
    assert with_suppressed(result, 0) is result
