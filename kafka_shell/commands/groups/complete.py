"""Completion of offsets to reset, and of the partitions of a group."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.base.structs import replace
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.language.kinds import is_pattern
from kafka_shell.view.candidates import Candidates, Catalog
from kafka_shell.view.view import ClusterView, Key, TopicsOf

_TARGETS = {
    "earliest": "the first offset",
    "latest": "the end of the log",
    "current": "the committed offsets",
    "+10": "10 offsets forward",
    "-10": "10 offsets back",
    "group:": "the offsets of another group",
    "file:": "the offsets of a CSV file",
}


def offer_targets(found: CompletionRequest, known: Catalog) -> Candidates:
    """Return where to reset to; after `group:` the groups, after `file:` the files."""
    head, colon, rest = found.prefix.partition(":")
    if colon and head in ("group", "file"):
        inner = known.names("groups", rest) if head == "group" else known.files(rest)
        offered = (replace(each, text=f"{head}:{each.text}") for each in inner.offered)
        return replace(inner, offered=tuple(offered))
    return known.times(found.prefix, _TARGETS)


def needs_of_targets(found: CompletionRequest, view: ClusterView) -> Sequence[Key]:
    """The parts of the view that `offer_targets` reads."""
    return ("groups",) if found.prefix.startswith("group:") else ()


def offer_partitions(found: CompletionRequest, known: Catalog) -> Candidates:
    """Return partitions, or the topics in which the group of the line has offsets; if these are
    unknown, all topics."""
    if found.part == "partition":
        return known.partitions(found.key, found.prefix)
    group = _group(found)
    topics = known.view.group_topics.get(group) if group else None
    offered = known.topics(found.prefix, topics.value) if topics else None
    return offered if offered and offered.offered else known.topics(found.prefix)


def _group(found: CompletionRequest) -> TopicsOf | None:
    names = [*found.words.get("groups", ()), *found.words.get("group", ())]
    return TopicsOf(names[0]) if len(names) == 1 and not is_pattern(names[0]) else None


def needs_of_partitions(found: CompletionRequest, view: ClusterView) -> Sequence[Key]:
    """The parts of the view that `offer_partitions` reads."""
    group = _group(found)
    return ("topics", group) if group else ("topics",)
