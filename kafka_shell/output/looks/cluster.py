"""The cluster as a whole: its brokers, its health."""

from __future__ import annotations

from collections.abc import Iterator

from ...nouns.cluster import ClusterMetadata, Finding, Health, Severity
from ...nouns.topics import Broker
from ..page import Page, summary
from ..people import plural
from ..tables import Column, draw_table
from ..text import Role, Text, hang, pad, text, wrap

_LABEL = 10
_SEVERITY_LABEL = 13

COLUMNS: dict[type, tuple[Column, ...]] = {
    Broker: (
        Column("BROKER", lambda b: b.id, "right", "name"),
        Column("HOST", lambda b: b.host),
        Column("PORT", lambda b: b.port or None, "right"),
        Column("RACK", lambda b: b.rack),
        Column("VERSION", lambda b: b.version),
        Column("STATE", lambda b: _state(b)),
        Column("ROLE", lambda b: "controller" if b.controller else None, role="good"),
    ),
    Finding: (
        Column("SEVERITY", lambda f: _words(f.severity)),
        Column("CHECK", lambda f: f.check),
        Column("COUNT", lambda f: f.count, "right"),
        Column("SUMMARY", lambda f: f.summary, give="wrap"),
        Column("LOOK", lambda f: f.look, role="hint"),
    ),
}


def _state(broker: Broker) -> Text | None:
    return text(broker.state, "" if broker.state == "up" else "bad") if broker.state else None


def _controller(cluster: ClusterMetadata) -> str | Text:
    if cluster.controller is not None:
        return f"controller {cluster.controller}"
    unknown = any(what == "controller" for what, _ in cluster.not_read)
    return text("controller not known", "warning") if unknown else text("no controller", "bad")


def cluster_page(cluster: ClusterMetadata, width: int | None) -> Iterator[Text]:
    """The cluster: counts, then its brokers."""
    inner = f" ({cluster.internal_topics} internal)" if cluster.internal_topics else ""
    yield from summary(
        width,
        text(f"cluster {cluster.cluster_id}", "heading"),
        _controller(cluster),
        plural(sum(broker.state != "absent" for broker in cluster.brokers), "broker"),
        plural(cluster.topics, "topic") + inner,
        plural(cluster.partitions, "partition"),
        text(f"reached by {cluster.bootstrap}", "dim") if cluster.bootstrap else "",
    )
    if cluster.brokers:
        yield Text()
        yield from draw_table(COLUMNS[type(cluster.brokers[0])], cluster.brokers, width=width)
    if cluster.features:
        yield Text()
        told = ", ".join(f"{each.name} {each.release or each.level}" for each in cluster.features)
        yield from hang(text("features", "heading") + f"  {told}", width, _LABEL)
    if cluster.not_read:
        yield Text()
        for what, why in cluster.not_read:
            said = f"not read: {what}: {why.message}" + (f" ({why.hint})" if why.hint else "")
            yield from hang(text(said, "warning"), width, _LABEL)


_SEVERITY: dict[Severity, Role] = {
    Severity.CRITICAL: "bad",
    Severity.WARNING: "warning",
    Severity.NOT_CHECKED: "warning",
    Severity.NOTE: "dim",
}


def health_page(health: Health, width: int | None) -> Iterator[Text]:
    """One screen, worst first; a friendly line when all is well."""
    size = ", ".join(
        (
            plural(health.brokers, "broker"),
            plural(health.topics, "topic"),
            plural(health.partitions, "partition"),
        )
    )
    about = text(f"cluster {health.cluster_id}: {size}", "dim")
    yield from summary(width, _verdict(health), about)
    for finding in sorted(health.findings, key=lambda finding: finding.severity):
        yield Text()
        yield from _finding(finding, width)


def _verdict(health: Health) -> Text:
    if health.ok:
        notes = plural(len(health.findings), "note")
        return text("healthy" + (f", {notes}" if health.findings else ""), "good")
    counted = (
        (sum(finding.severity is severity for finding in health.findings), severity)
        for severity in (Severity.CRITICAL, Severity.WARNING, Severity.NOT_CHECKED)
    )
    words = [
        f"{count:,} {_words(severity)}"
        if severity is not Severity.WARNING
        else plural(count, "warning")
        for count, severity in counted
        if count
    ]
    worst: Role = "bad" if "critical" in words[0] else "warning"
    known = any(finding.severity < Severity.NOT_CHECKED for finding in health.findings)
    return text(("unhealthy: " if known else "unknown: ") + ", ".join(words), worst)


def _words(severity: Severity) -> str:
    return severity.name.lower().replace("_", " ")


def _finding(finding: Finding, width: int | None) -> Iterator[Text]:
    indent = Text((("", " " * _SEVERITY_LABEL),))
    room = max(20, (width or 10_000) - indent.width)
    label = pad(
        text(_words(finding.severity).upper(), _SEVERITY[finding.severity]), _SEVERITY_LABEL
    )
    first, *rest = wrap(text(finding.summary), room)
    yield label + first
    for line in rest:
        yield indent + line
    if finding.examples:
        for line in wrap(text(_examples(finding), "name"), room):
            yield indent + line
    if finding.look:
        yield indent + text(finding.look, "hint")


def _examples(finding: Finding) -> str:
    more = finding.count - len(finding.examples)
    return ", ".join(finding.examples) + (f" and {more:,} more" if more > 0 else "")


PAGES: dict[type, Page] = {
    ClusterMetadata: cluster_page,
    Health: health_page,
}
ROWS = {
    ClusterMetadata: lambda cluster: cluster.brokers,
    Health: lambda health: health.findings,
}
