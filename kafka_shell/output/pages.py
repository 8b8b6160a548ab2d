"""Nouns that fill a page of their own, and those whose rows make more than one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..nouns import (
    ClusterMetadata,
    ConfigEntry,
    Finding,
    Health,
    JournalEntry,
    Quorum,
    Severity,
    Topic,
    TopicDescription,
)
from ..nouns.config_table import ConfigTable
from ..nouns.sandbox import SandboxReport
from .columns import COLUMNS, OVERRIDE, PARTITION, columns_of
from .config_pages import config_pages
from .kip248 import kip248_table
from .people import local_time, plural
from .tables import NOTHING, cell_of, draw_table
from .text import Role, Text, hang, join, pad, text, wrap

Page = Callable[[Any, int | None], Iterator[Text]]


def _summary(width: int | None, *facts: Text | str) -> Iterator[Text]:
    """Facts three spaces apart, so that the eye parts them; on more lines where they need it."""
    line = Text()
    for fact in facts:
        piece = text(fact) if isinstance(fact, str) else fact
        if piece and line and width is not None and line.width + 3 + piece.width > width:
            yield line
            line = Text()
            piece = text("  ") + piece
        if piece:
            line = line + ("   " if line else "") + piece
    yield line


def topic_page(description: TopicDescription, width: int | None) -> Iterator[Text]:
    """A topic: summary, partitions (those a filter left), and the configs set at its own level."""
    yield from _topic_summary(description.topic, width)
    partitions = description.topic.partitions if description.shown is None else description.shown
    if partitions:
        yield Text()
        yield from draw_table(PARTITION, partitions, width=width)
    if description.overrides:
        yield Text()
        yield from draw_table(OVERRIDE, description.overrides, width=width)


def _topic_summary(topic: Topic, width: int | None) -> Iterator[Text]:
    leaderless = sum(partition.leader is None for partition in topic.partitions)
    under = sum(partition.under_replicated for partition in topic.partitions)
    yield from _summary(
        width,
        text(f"topic {topic.name}", "heading"),
        plural(len(topic.partitions), "partition"),
        f"replication factor {topic.replication_factor}",
        "internal" if topic.internal else "",
        text(f"{leaderless} offline", "bad") if leaderless else "",
        text(f"{under} under-replicated", "warning") if under else "",
        text(f"id {topic.id}", "dim") if topic.id else "",
    )


def bare_topic_page(topic: Topic, width: int | None) -> Iterator[Text]:
    """A topic without its configs."""
    yield from topic_page(TopicDescription(topic), width)


def cluster_page(cluster: ClusterMetadata, width: int | None) -> Iterator[Text]:
    """The cluster: counts, then its brokers."""
    inner = f" ({cluster.internal_topics} internal)" if cluster.internal_topics else ""
    yield from _summary(
        width,
        text(f"cluster {cluster.cluster_id}", "heading"),
        text("no controller", "bad")
        if cluster.controller is None
        else f"controller {cluster.controller}",
        plural(len(cluster.brokers), "broker"),
        plural(cluster.topics, "topic") + inner,
        plural(cluster.partitions, "partition"),
        text(f"reached by {cluster.bootstrap}", "dim") if cluster.bootstrap else "",
    )
    if cluster.brokers:
        yield Text()
        yield from draw_table(COLUMNS[type(cluster.brokers[0])], cluster.brokers, width=width)


def quorum_page(quorum: Quorum, width: int | None) -> Iterator[Text]:
    """The metadata quorum: its leader, then its voters and observers."""
    yield from _summary(
        width,
        text("metadata quorum", "heading"),
        f"leader {quorum.leader}",
        f"epoch {quorum.leader_epoch}",
        f"high watermark {quorum.high_watermark}",
    )
    if quorum.replicas:
        yield Text()
        yield from draw_table(COLUMNS[type(quorum.replicas[0])], quorum.replicas, width=width)


_SEVERITY: dict[Severity, Role] = {
    Severity.CRITICAL: "bad",
    Severity.WARNING: "warning",
    Severity.NOTE: "dim",
}
_LABEL = 10


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
    yield from _summary(width, _verdict(health), about)
    for finding in sorted(health.findings, key=lambda finding: finding.severity):
        yield Text()
        yield from _finding(finding, width)


def _verdict(health: Health) -> Text:
    if health.ok:
        notes = plural(len(health.findings), "note")
        return text("all is well" + (f", but for {notes}" if health.findings else ""), "good")
    counted = (
        (sum(finding.severity is severity for finding in health.findings), severity)
        for severity in (Severity.CRITICAL, Severity.WARNING)
    )
    words = [
        plural(count, severity.name.lower(), "critical" if severity is Severity.CRITICAL else "")
        for count, severity in counted
        if count
    ]
    worst: Role = "bad" if "critical" in words[0] else "warning"
    return text("not healthy: " + ", ".join(words), worst)


def _finding(finding: Finding, width: int | None) -> Iterator[Text]:
    indent = Text((("", " " * _LABEL),))
    room = max(20, (width or 10_000) - indent.width)
    label = pad(text(finding.severity.name, _SEVERITY[finding.severity]), _LABEL)
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


def facts_page(noun: Any, width: int | None) -> Iterator[Text]:
    """Any noun as `field  value` lines; fields that are empty are left out."""
    pairs = [(column.heading.lower(), cell_of(column, noun)) for column in columns_of(noun)]
    shown = [(name, value) for name, value in pairs if value is not NOTHING]
    room = max([0, *(len(name) for name, _ in shown)])
    for name, value in shown:
        yield from hang(pad(text(name, "key"), room + 2) + value, width, room + 2)


def journal_page(entries: Sequence[JournalEntry], width: int | None) -> Iterator[Text]:
    """What was changed, when and where; the lines that take it back are whole, to be copied."""
    for entry in entries:
        role: Role = "good" if entry.status == "done" else "warning"
        yield join(
            "  ",
            (
                text(entry.id, "dim"),
                text(local_time(int(entry.time) * 1000), "dim"),
                text(entry.bootstrap),
                text(entry.status, role),
                text(entry.command),
            ),
        )
        for line in entry.undo:
            yield text("  take it back: ", "hint") + text(line)


PAGES: dict[type, Page] = {
    TopicDescription: topic_page,
    Topic: bare_topic_page,
    ClusterMetadata: cluster_page,
    Quorum: quorum_page,
    Health: health_page,
    SandboxReport: facts_page,
    ConfigTable: kip248_table,
}
SEQUENCES: dict[type, Callable[[Sequence[Any], int | None], Iterator[Text]]] = {
    ConfigEntry: config_pages,
    JournalEntry: journal_page,
}
