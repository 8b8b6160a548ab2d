"""Metrics of audits, read by Prometheus' own parser."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from kafka_shell.audit.metrics import metrics
from kafka_shell.audit.model import AuditFinding, AuditReport, ControlResult, LeftOut
from kafka_shell.base.files import write_whole

parser = pytest.importorskip("prometheus_client.parser")  # of the extra `test`
HOSTILE = 'a"b\\c\nd{e="f"} 1'


def of(
    cluster: str, control: str, severity: str, status: str = "alarm", owner: str = ""
) -> AuditFinding:
    return AuditFinding(control, "", severity, status, cluster, "r", "why", owner=owner)


def samples(report: AuditReport) -> dict[tuple[str, ...], float]:
    """The values by name and labels, as Prometheus reads them."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in parser.text_string_to_metric_families(metrics(report))
        for sample in family.samples
    }


def test_findings_are_counted_by_cluster_control_and_severity() -> None:
    report = AuditReport(
        "s", 1_700_000_000_500, ("prod", "dev", "lost"), {"lost": "no response"},
        (ControlResult("T04", "", "high", "topics", {}),),
        (
            of("prod", "T04", "high", owner="web"), of("prod", "T04", "high", owner="web"),
            of("prod", "T04", "high"), of("dev", "T04", "medium"), of("dev", "T16", "low", "info"),
            of("prod", "S05", "high", "skip"), of("", "U01", "low", "error"),
        ),
        suppressed=4,
        left_out=(LeftOut("T04", "high", "prod", 30),),
    )  # fmt: skip
    assert samples(report) == {
        ("kafka_sh_audit_findings", "prod", "T04", "high", "web"): 2,
        ("kafka_sh_audit_findings", "prod", "T04", "high", ""): 31,
        ("kafka_sh_audit_findings", "dev", "T04", "medium", ""): 1,
        ("kafka_sh_audit_not_checked", "prod", "S05", "high", ""): 1,
        ("kafka_sh_audit_not_checked", "", "U01", "low", ""): 1,
        ("kafka_sh_audit_suppressed_findings",): 4,
        ("kafka_sh_audit_controls",): 1,
        ("kafka_sh_audit_cluster_read", "prod"): 1,
        ("kafka_sh_audit_cluster_read", "dev"): 1,
        ("kafka_sh_audit_cluster_read", "lost"): 0,
        ("kafka_sh_audit_collected_timestamp_seconds",): 1_700_000_000.5,
    }


def test_a_name_cannot_forge_a_metric() -> None:
    found = samples(AuditReport("s", 0, (HOSTILE,), {}, (), (of(HOSTILE, "T04", "high"),)))
    assert found["kafka_sh_audit_findings", HOSTILE, "T04", "high", ""] == 1
    assert found["kafka_sh_audit_cluster_read", HOSTILE] == 1
    assert len(found) == 5


def test_the_file_is_replaced_as_a_whole_and_others_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "audit.prom"
    write_whole(file, "old\n")
    file.chmod(0o644)
    with file.open() as reading:
        write_whole(file, "new\n")
        assert reading.read() == "old\n", "who reads the old file reads all of it"
    assert file.read_text() == "new\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert [*tmp_path.iterdir()] == [file]
