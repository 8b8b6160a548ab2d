"""Commands that undo changes of committed offsets."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.text import positional, with_option


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `reset-offsets` command with the earlier offsets; `none` deletes an offset."""
    by_topic: dict[str, list[str]] = {}
    for change in changes:
        topic, _, partition = change.field.rpartition(":")
        before = "none" if change.before is None else change.before
        by_topic.setdefault(topic, []).append(f"{partition}={before}")
    offsets = [
        with_option("--offset", f"{topic}:{','.join(pairs)}") for topic, pairs in by_topic.items()
    ]
    kind = ["--type share"] if resource.kind == "share-group-offsets" else []
    return " ".join(["reset-offsets", positional("--group", resource.name), *kind, *offsets])
