"""The lines of this shell that take a change back: `before` is there for free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_shell.language.tokens import quote
from kafka_shell.nouns import Change, Resource

_SUBJECTS = {
    "topic": "{}",
    "broker": "--broker-id {}",
    "broker-default": "--broker-default",
    "logger": "--logger {}",
    "group": "--group {}",
    "client-metrics": "--client-metrics {}",
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
        return f"delete-{resource.kind} {quote(resource.name)}"
    subject = _SUBJECTS.get(resource.kind)
    if subject is None:
        return ""
    words = [subject.format(quote(resource.name))]
    for change in changes:
        if change.before == change.after:
            continue
        if change.before is None:
            words.append(f"--delete-config {quote(change.field)}")
        else:
            words.append(quote(f"{change.field}={change.before}"))
    return " ".join(["alter-configs", *words]) if len(words) > 1 else ""
