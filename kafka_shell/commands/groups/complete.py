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


def offer_targets(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return where to reset to; after `group:` the groups, after `file:` the files."""
    head, colon, rest = request.prefix.partition(":")
    if colon and head in ("group", "file"):
        inner = known.names("groups", rest) if head == "group" else known.files(rest)
        offered = (replace(each, text=f"{head}:{each.text}") for each in inner.offered)
        return replace(inner, offered=tuple(offered))
    return known.times(request.prefix, _TARGETS)


def needs_of_targets(request: CompletionRequest, view: ClusterView) -> Sequence[Key]:
    """The parts of the view that `offer_targets` reads."""
    return ("groups",) if request.prefix.startswith("group:") else ()


def offer_partitions(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return partitions, or the topics in which the group of the line has offsets; if these are
    unknown, all topics."""
    if request.part == "partition":
        return known.partitions(request.key, request.prefix)
    group = _group(request)
    topics = known.view.group_topics.get(group) if group else None
    offered = known.topics(request.prefix, topics.value) if topics else None
    return offered if offered and offered.offered else known.topics(request.prefix)


def _group(request: CompletionRequest) -> TopicsOf | None:
    names = [*request.words.get("groups", ()), *request.words.get("group", ())]
    return TopicsOf(names[0]) if len(names) == 1 and not is_pattern(names[0]) else None


def needs_of_partitions(request: CompletionRequest, view: ClusterView) -> Sequence[Key]:
    """The parts of the view that `offer_partitions` reads."""
    group = _group(request)
    return ("topics", group) if group else ("topics",)
