"""The lines of this shell that take a change back: `before` is there for free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby

from kafka_shell.structs import replace

from .model import Change, Resource

Line = Callable[[Resource, Sequence[Change]], str]

_ACLS = "alter-acls"  # takes any number of them
_ACLS_A_LINE = 8
UNKNOWN = "  # outcome unknown"

# The kind of a resource -> the family whose undo.py has `line(resource, changes)`.
_FAMILIES: dict[str, str] = {
    "topic": "configs",
    "broker": "configs",
    "broker-default": "configs",
    "logger": "configs",
    "group": "configs",
    "client-metrics": "configs",
    "user": "quotas",
    "user-default": "quotas",
    "client-id": "quotas",
    "client-id-default": "quotas",
    "ip": "quotas",
    "ip-default": "quotas",
    "client-config": "client_configs",
    "acl": "acls",
    "token": "acls",
    "partition": "partitions",
    "replica": "partitions",
    "rollback-file": "partitions",
    "group-offsets": "groups",
    "share-group-offsets": "groups",
    "feature": "cluster",
    "voter": "cluster",
}


def take_back(changes: Iterable[Change]) -> tuple[str, ...]:
    """One line for each resource, the last changed first; ACLs share lines. What cannot be taken
    back has none."""
    return tuple(_joined(reversed(_lines(changes))))


def undo_unknown(changes: Iterable[Change]) -> tuple[str, ...]:
    """The lines that undo changes whose outcome is unknown: each says so, and deletes a topic only
    where it exists."""
    return tuple(
        f"{line}{' --if-exists' if line.startswith('delete-topic ') else ''}{UNKNOWN}"
        for line in reversed(_lines(changes))
    )


def _lines(changes: Iterable[Change]) -> list[str]:
    by_resource: dict[Resource, dict[str, Change]] = {}
    for change in changes:
        if change.reversible:
            fields = by_resource.setdefault(change.resource, {})
            # What was altered twice (a throttle, set and lifted) is as it was before the first.
            first = fields.pop(key) if (key := _key(change)) in fields else change
            fields[key] = replace(change, before=first.before)
    lines = (
        _line(about, [each for each in fields.values() if not _is_as_before(each)])
        for about, fields in by_resource.items()
    )
    return [line for line in lines if line]


def _is_as_before(change: Change) -> bool:
    return bool(change.field) and change.before == change.after


def _key(change: Change) -> str:
    """What one change of a resource replaces: its field; a creation and a deletion are two."""
    return change.field or change.verb


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """The lines, those about ACLs some at a time in one."""
    for about_acls, run in groupby(lines, lambda line: line.startswith(_ACLS)):
        if not about_acls:
            yield from run
            continue
        options = [line.removeprefix(_ACLS) for line in run]
        for at in range(0, len(options), _ACLS_A_LINE):
            yield _ACLS + "".join(options[at : at + _ACLS_A_LINE])


def _line(resource: Resource, changes: Sequence[Change]) -> str:
    family = _FAMILIES.get(resource.kind)
    if family is None or not changes:
        return ""
    line: Line = import_module(f"kafka_shell.commands.{family}.undo").line
    return line(resource, changes)
