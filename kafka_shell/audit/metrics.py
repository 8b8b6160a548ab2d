"""The metrics of an audit in Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kafka_shell.audit.model import AuditReport

_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_Samples = Iterable[tuple[Mapping[str, str], float]]  # labels and value


def metrics(report: AuditReport) -> str:
    """Return gauges: findings, results that were not checked, suppressed findings, and whether and
    when the clusters were read."""
    found: Counter[tuple[str, ...]] = Counter()
    unchecked: Counter[tuple[str, ...]] = Counter()
    for each in report.findings:
        key = (each.cluster, each.control, each.severity, each.owner)
        if each.status == "alarm":
            found[key] += 1
        elif each.status in ("skip", "error"):
            unchecked[key] += 1
    for rest in report.left_out:
        found[rest.cluster, rest.control, rest.severity, ""] += rest.alarms
    names = ("cluster", "control", "severity", "owner")

    def counts(of: Counter[tuple[str, ...]]) -> _Samples:
        for values, count in sorted(of.items()):
            yield dict(zip(names, values, strict=True)), count

    read = (({"cluster": name}, float(name not in report.unread)) for name in report.clusters)
    gauges: list[tuple[str, str, _Samples]] = [
        ("findings", "Findings of the audit.", counts(found)),
        ("not_checked", "Results of controls that were skipped or failed.", counts(unchecked)),
        ("suppressed_findings", "Findings suppressed by the policy.", [({}, report.suppressed)]),
        ("controls", "Controls that were evaluated.", [({}, len(report.controls))]),
        ("cluster_read", "Whether the cluster could be read (1) or not (0).", read),
        ("collected_timestamp_seconds", "When the state of the clusters was collected.",
         [({}, report.collected_at / 1000)]),
    ]  # fmt: skip
    return "".join(_gauge(f"kafka_sh_audit_{name}", about, of) for name, about, of in gauges)


def _gauge(name: str, about: str, samples: _Samples) -> str:
    lines = [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
    for labels, value in samples:
        pairs = (f'{key}="{text.translate(_ESCAPED)}"' for key, text in labels.items())
        named = ",".join(pairs)
        lines.append(f"{name}{{{named}}} {value!r}" if named else f"{name} {value!r}")
    return "\n".join(lines) + "\n"
