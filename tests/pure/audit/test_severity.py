"""The severity of findings by environment, and the exit status of a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.audit.model import AuditReport, LeftOut
from kafka_shell.audit.run import _severity
from kafka_shell.settings import development_profiles
from tests.support.audit_report import finding


@pytest.mark.parametrize(
    ("severity", "in_dev"),
    [("critical", "medium"), ("high", "medium"), ("medium", "medium"), ("low", "low")],
)
def test_findings_of_a_development_cluster_are_at_most_medium(severity: str, in_dev: str) -> None:
    assert _severity(severity, "test", {"test"}) == in_dev
    assert _severity(severity, "prod", {"test"}) == severity


def test_profiles_development_profiles(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        '[profiles.a]\nenvironment = "dev"\n[profiles.b]\nenvironment = "prod"\n[profiles.c]\n'
    )
    assert development_profiles(file) == {"a"}
    file.write_text('[profiles]\na = 1\n[profiles.b]\nenvironment = "dev"\nguards = "none"\n')
    assert development_profiles(file) == {"b"}, "a malformed profile is reported where it is read"


@pytest.mark.parametrize(
    ("severity", "fail_on", "status"),
    [("high", "high", 1), ("critical", "high", 1), ("medium", "high", 0), ("low", "low", 1),
     ("high", "critical", 0)],
)  # fmt: skip
def test_the_exit_status_is_1_from_a_severity_on(severity: str, fail_on: str, status: int) -> None:
    found = (finding("T01", severity, "orders"),)
    assert AuditReport("s", 0, (), {}, (), found, fail_on=fail_on).exit_status == status
    rest = (LeftOut("T01", severity, "prod", 2),)
    report = AuditReport("s", 0, (), {}, (), (), left_out=rest, fail_on=fail_on)
    assert report.exit_status == status
    assert AuditReport("s", 0, (), {"gone": "refused"}, (), ()).exit_status == 3
