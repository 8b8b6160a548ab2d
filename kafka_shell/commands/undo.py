"""The commands of this shell that undo changes, derived from `Change.before`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.structs import replace
from kafka_shell.output.resource_kinds import kind_of

Line = Callable[[Resource, Sequence[Change]], str]

_ACLS = "alter-acls"  # accepts any number of ACLs
_ACLS_PER_LINE = 8
UNKNOWN = "  # outcome unknown"


def undo_lines(changes: Iterable[Change]) -> tuple[str, ...]:
    """The commands that undo the changes, the last change first. One command per resource, except
    that ACLs are combined; irreversible changes have none."""
    return tuple(_combine_acls(reversed(_lines(changes))))


def unknown_undo_lines(changes: Iterable[Change]) -> tuple[str, ...]:
    """The commands that undo changes whose outcome is unknown. Each has a comment that says so, and
    delete-topic has --if-exists."""
    return tuple(
        f"{line}{' --if-exists' if line.startswith('delete-topic ') else ''}{UNKNOWN}"
        for line in reversed(_lines(changes))
    )


def _lines(changes: Iterable[Change]) -> list[str]:
    by_resource: dict[tuple[Resource, str], dict[str, Change]] = {}
    for change in changes:
        if change.reversible:
            fields = by_resource.setdefault((change.resource, _command_of(change)), {})
            # A field that is altered twice (a throttle that is set and removed) gets the value that
            # it had before the first change.
            first = fields.pop(key) if (key := _key(change)) in fields else change
            fields[key] = replace(change, before=first.before)
    lines = (
        _line(resource, [change for change in fields.values() if not _has_no_effect(change)])
        for (resource, _), fields in by_resource.items()
    )
    return [line for line in lines if line]


def _command_of(change: Change) -> str:
    """Distinguishes the commands for one resource: a user has quotas and SCRAM credentials."""
    return "scram" if change.field.startswith("SCRAM-") else ""


def _has_no_effect(change: Change) -> bool:
    return bool(change.field) and change.before == change.after


def _key(change: Change) -> str:
    """The key of a change within its resource: the field, or the verb (create and delete)."""
    return change.field or change.verb


def _combine_acls(lines: Iterable[str]) -> Iterator[str]:
    """The lines, with up to eight ACLs combined in one."""
    for is_acls, run in groupby(lines, lambda line: line.startswith(_ACLS)):
        if not is_acls:
            yield from run
            continue
        options = [line.removeprefix(_ACLS) for line in run]
        for at in range(0, len(options), _ACLS_PER_LINE):
            yield _ACLS + "".join(options[at : at + _ACLS_PER_LINE])


def _line(resource: Resource, changes: Sequence[Change]) -> str:
    family = kind_of(resource).undo
    if not family or not changes:
        return ""
    line: Line = import_module(f"{__package__}.{family}.undo").line
    return line(resource, changes)
