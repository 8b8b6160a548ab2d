"""Counts of resources in Kafka's terms: `6 topics`, `16 offsets of 1 group`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kafka_shell.common.units import counted
from kafka_shell.output.resource_kinds import kind_of, title_of
from kafka_shell.plan.model import Change, Resource

_MAX_NAMES = 3
_OFFSETS = ("group-offsets", "share-group-offsets")
_VERBS = ("create", "alter", "delete", "abort", "fence", "write", "copy")
_PAST = {"write": "wrote", "copy": "copied"}


def count_kinds(resources: Iterable[Resource]) -> str:
    """`2 topics, 1 broker`. Each resource is counted once."""
    every = ((kind_of(each), each.name) for each in resources)
    unique = dict.fromkeys((kind.term or kind.name, name) for kind, name in every)
    counts = Counter(term for term, _ in unique)
    return ", ".join(counted(count, term) for term, count in counts.items())


def name_few(resources: Iterable[Resource]) -> str:
    """`topic a, topic b`, or `30 topics, a to z` for more than three resources."""
    unique = list(dict.fromkeys(resources))
    if len(unique) <= _MAX_NAMES:
        return ", ".join(map(title_of, unique))
    return f"{count_kinds(unique)}, {unique[0].name} to {unique[-1].name}"


def count_changes(changes: Iterable[Change]) -> str:
    """`3 changes to 2 topics`, `16 offsets of 1 group`."""
    changes = list(changes)
    if changes and all(change.of_records for change in changes):
        return f"{count_records(changes)} to {name_few(each.resource for each in changes)}"
    resources = count_kinds(change.resource for change in changes)
    if changes and _only_offsets(changes):
        return f"{counted(len(changes), 'offset')} of {resources}"
    return f"{counted(len(changes), 'change')} to {resources}"


def count_verbs(changes: Iterable[Change]) -> list[tuple[str, int]]:
    """(verb, number of changes), in the order of a summary."""
    counts = Counter(change.verb for change in changes)
    return [(verb, counts[verb]) for verb in _VERBS if counts[verb]]


def past(verb: str) -> str:
    """`created`, `altered`."""
    return _PAST.get(verb) or verb + ("d" if verb.endswith("e") else "ed")


def count_records(changes: Iterable[Change]) -> str:
    """`1,200 records`, or `records` if their number is unknown."""
    count = sum(change.records for change in changes)
    return counted(count, "record") if count else "records"


def question(changes: Iterable[Change], stakes: str = "") -> str:
    """What would happen and how much of it: `Delete 6 topics (1.2 GiB, 3 groups)?`, `Apply 3
    changes to 2 topics?`."""
    asked = _question(changes)
    return f"{asked} ({stakes})?" if stakes else f"{asked}?"


def _question(changes: Iterable[Change]) -> str:
    changes = [change for change in changes if change.resource.kind != "rollback-file"]
    verbs = {change.verb for change in changes}
    verb = verbs.pop() if len(verbs) == 1 else "alter"
    if changes and changes[0].of_records:
        return f"{verb.capitalize()} {count_changes(changes)}"
    if verb != "alter" and not any(change.field for change in changes):
        return f"{verb.capitalize()} {count_kinds(change.resource for change in changes)}"
    if changes and _only_offsets(changes):
        return f"{'Delete' if verb == 'delete' else 'Reset'} {count_changes(changes)}"
    deleted = [c.resource for c in changes if c.verb == "delete" and not c.field]
    rest = [change for change in changes if change.field]
    if verb == "delete" and _only_offsets(rest):
        return f"Delete {count_kinds(deleted)} with {counted(len(rest), 'committed offset')}"
    tail = f", which deletes {count_kinds(deleted)}" if deleted else ""
    return f"Apply {count_changes(changes)}{tail}"


def _only_offsets(changes: Iterable[Change]) -> bool:
    return all(change.resource.kind in _OFFSETS for change in changes)
