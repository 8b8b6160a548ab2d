"""The lines of this shell that take a change back: `before` is there for free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby

from kafka_shell.nouns import Change, Resource

Line = Callable[[Resource, Sequence[Change]], str]

_ACLS = "alter-acls"  # takes any number of them
_ACLS_A_LINE = 8

# The kind of a resource -> the module of this package whose `line(resource, changes)` knows how.
_FAMILIES: dict[str, str] = {
    "topic": "configs",
    "broker": "configs",
    "broker-default": "configs",
    "logger": "configs",
    "group": "configs",
    "client-metrics": "configs",
    "user": "clients",
    "user-default": "clients",
    "client-id": "clients",
    "client-id-default": "clients",
    "ip": "clients",
    "ip-default": "clients",
    "client-config": "client_configs",
    "acl": "access",
    "token": "access",
    "partition": "partitions",
    "replica": "partitions",
    "rollback-file": "reassignment",
    "group-offsets": "groups",
    "share-group-offsets": "groups",
    "feature": "quorum",
    "voter": "quorum",
}


def take_back(changes: Iterable[Change]) -> tuple[str, ...]:
    """One line for each resource, the last changed first; ACLs share lines. What cannot be taken
    back has none."""
    by_resource: dict[Resource, list[Change]] = {}
    for change in changes:
        if change.reversible:
            by_resource.setdefault(change.resource, []).append(change)
    lines = [_line(resource, group) for resource, group in by_resource.items()]
    return tuple(_joined(line for line in reversed(lines) if line))


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
    if family is None:
        return ""
    line: Line = import_module(f"{__name__}.{family}").line
    return line(resource, changes)
