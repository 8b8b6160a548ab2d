"""The lines of this shell that take a change back: `before` is there for free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_shell.language.tokens import quote
from kafka_shell.nouns import Change, Resource

_SUBJECTS = {
    "broker": "--broker-id",
    "broker-default": "--broker-default",
    "logger": "--logger",
    "group": "--group",
    "client-metrics": "--client-metrics",
}


def take_back(changes: Iterable[Change]) -> tuple[str, ...]:
    """One line for each resource, the last changed first; what cannot be taken back has none."""
    by_resource: dict[Resource, list[Change]] = {}
    for change in changes:
        if change.reversible:
            by_resource.setdefault(change.resource, []).append(change)
    lines = [_line(resource, group) for resource, group in by_resource.items()]
    return tuple(reversed([line for line in lines if line]))


def _line(resource: Resource, changes: Sequence[Change]) -> str:
    if any(change.verb == "create" for change in changes):
        name = _word("--topic", resource.name)
        return f"delete-topic {name}" if resource.kind == "topic" else ""
    subject = _subject(resource)
    if not subject:
        return ""
    words = [subject]
    for change in changes:
        if change.before == change.after:
            continue
        if change.before is None:
            words.append(_option("--delete-config", change.field))
        else:
            words.append(_word("--add-config", f"{change.field}={change.before}"))
    return " ".join(["alter-configs", *words]) if len(words) > 1 else ""


def _subject(resource: Resource) -> str:
    if resource.kind == "topic":
        return _word("--topic", resource.name)
    option = _SUBJECTS.get(resource.kind, "")
    return _option(option, resource.name) if option and resource.name else option


def _word(option: str, text: str) -> str:
    """A bare word, but behind its option where it would be taken for one."""
    return _option(option, text) if text.startswith("-") else quote(text)


def _option(option: str, value: str) -> str:
    return f"{option}={quote(value)}" if value.startswith("-") else f"{option} {quote(value)}"
