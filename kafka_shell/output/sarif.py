"""Convert an audit report to SARIF 2.1.0, for code scanning dashboards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from kafka_shell.audit.model import AuditFinding, AuditReport, ControlResult

_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_KINDS = {"alarm": "fail", "info": "informational", "skip": "review", "error": "review"}


def sarif(value: object) -> dict[str, Any]:
    """The report as a SARIF run. Raises TypeError for any other value."""
    if not isinstance(value, AuditReport):
        raise TypeError("only an audit report can be converted to SARIF")
    rules = [
        {
            "id": control.control,
            "shortDescription": {"text": control.title},
            "fullDescription": {"text": control.description or control.title},
            "help": {"text": _help(control)},
            "defaultConfiguration": {"level": _LEVELS[control.severity]},
            "properties": {
                "severity": control.severity,
                "tags": [control.family],
                "source": control.source,
            },
        }
        for control in value.controls
    ]
    run = {
        "tool": {"driver": {"name": "kafka.sh", "rules": rules}},
        "automationDetails": {"id": f"kafka.sh/{value.snapshot_id}"},
        "results": _results(value.findings),
        "invocations": [
            {
                "executionSuccessful": not value.unread,
                "exitCode": value.exit_status,
                "toolExecutionNotifications": list(_unread(value)),
            }
        ],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def _help(control: ControlResult) -> str:
    source = f"Source: {control.source}." if control.source else ""
    return " ".join(filter(None, (control.description, source))) or control.title


def _results(findings: Iterable[AuditFinding]) -> list[dict[str, Any]]:
    """The results. A resource can have several of one control, which are numbered."""
    seen: Counter[str] = Counter()
    results = []
    for finding in findings:
        where = "/".join(filter(None, (finding.cluster, finding.resource)))
        fingerprint = f"{finding.control}:{where}"
        seen[fingerprint] += 1
        if seen[fingerprint] > 1:
            fingerprint += f"#{seen[fingerprint]}"
        results.append(_result(finding, where, fingerprint))
    return results


def _result(finding: AuditFinding, where: str, fingerprint: str) -> dict[str, Any]:
    return {
        "ruleId": finding.control,
        "kind": _KINDS[finding.status],
        # SARIF has levels for failed results only.
        "level": _LEVELS[finding.severity] if finding.status == "alarm" else "none",
        "message": {"text": finding.reason},
        "locations": [
            {
                "logicalLocations": [
                    {
                        "name": finding.resource or finding.cluster,
                        "fullyQualifiedName": where,
                        "kind": "resource",
                    }
                ]
            }
        ],
        "partialFingerprints": {"resource/v1": fingerprint},
        "properties": {
            "status": finding.status,
            "severity": finding.severity,
            "cluster": finding.cluster,
            "remedy": finding.remedy,
            "undo": finding.undo,
            "risk": finding.risk,
        },
    }


def _unread(report: AuditReport) -> Iterable[dict[str, Any]]:
    for cluster, reason in report.unread.items():
        yield {"level": "error", "message": {"text": f"{cluster} could not be read: {reason}"}}
