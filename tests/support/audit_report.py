"""Findings of a report."""

from __future__ import annotations

from kafka_shell.audit.model import (
    AuditFinding,
)


def finding(control: str, severity: str, resource: str, remedy: str = "") -> AuditFinding:
    return AuditFinding(
        control, f"{control}'s title", severity, "alarm", "dev", resource, "why", remedy
    )


FINDINGS = (
    finding("T01", "critical", "orders"),
    finding("T05", "high", "payments", "alter-configs payments a='b c'"),
    finding("T16", "low", "web"),
    finding("T24", "low", "orders"),
)
