"""Compare two states."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from kafka_shell.admin.users.model import MIN_ITERATIONS
from kafka_shell.language.selectors import select_whole

from .model import (
    ANY_ITERATIONS,
    ASSIGNMENT,
    FACTOR,
    KINDS,
    SHAPE,
    Difference,
    Fields,
    State,
    Value,
    order,
    owner,
    resource_of,
)

_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")  # longer ones are not exact as a double


def differences(before: State, after: State) -> Iterator[Difference]:
    """Every difference. What could not be read on one side is left out."""
    unread = _unread(before, after)
    for kind in KINDS:
        if kind not in unread:
            yield from _of_kind(kind, before.part(kind), after.part(kind), (), unread)


def from_file(now: State, wanted: State) -> Iterator[Difference]:
    """The differences between a cluster and a state file.

    What only the cluster has is a difference if the file names its resource, or if it is within
    the scope of the file.
    """
    unread = _unread(now, wanted)
    for kind in KINDS:
        if kind in unread or not (kind in wanted.parts or kind in wanted.scope):
            continue
        covered = {owner(kind, key) for key in wanted.part(kind)} | scoped(kind, now, wanted)
        covered |= wanted.covered.get(kind, set())
        here = {
            key: fields for key, fields in now.part(kind).items() if owner(kind, key) in covered
        }
        yield from _of_kind(kind, here, wanted.part(kind), SHAPE, unread)


def scoped(kind: str, now: State, wanted: State) -> frozenset[str]:
    """The names (`owner`) of this kind on the cluster that are within the scope of the file."""
    words = wanted.scope.get(kind, ())
    names = list(dict.fromkeys(owner(kind, key) for key in now.part(kind)))
    return select_whole(words, names) if words else frozenset()


def _unread(before: State, after: State) -> Collection[str]:
    return {*before.unread, *before.absent, *after.unread, *after.absent}


def _of_kind(
    kind: str,
    before: Mapping[Any, Fields],
    after: Mapping[Any, Fields],
    optional: Collection[str],
    unread: Collection[str],
) -> Iterator[Difference]:
    """The differences of one kind. A field in `optional` that `after` leaves out is not one."""
    has_whole = kind in ("topics", "acls")
    for key in sorted(before.keys() | after.keys(), key=order):
        old, new = before.get(key), after.get(key)
        if str(resource_of(kind, key)) in unread:
            continue
        if has_whole and (old is None or new is None):
            whole, verb = (old or {}, "delete") if new is None else (new, "create")
            yield Difference(kind, key, verb=verb, whole=whole)
            continue
        yield from _of_fields(kind, key, old or {}, new or {}, optional)


def _of_fields(
    kind: str, key: Any, old: Fields, new: Fields, optional: Collection[str]
) -> Iterator[Difference]:
    for name in dict.fromkeys((*old, *new)):
        if name == ASSIGNMENT and not (name in old and name in new):
            continue  # exported only if asked for
        if name == FACTOR and ASSIGNMENT in new:
            continue  # follows from the assignment
        if name not in new and name in optional:
            continue
        value = new.get(name)
        if kind == "users" and value == ANY_ITERATIONS:
            if name in old:
                continue
            value = MIN_ITERATIONS
        if plain(old.get(name)) != plain(value):
            yield Difference(kind, key, name, old.get(name), value)


def plain(value: Value | None) -> Value | None:
    """A value as brokers understand it: `0.50` is 0.5, `a, b` is `a,b`, `TRUE` is true."""
    if not isinstance(value, str):
        return value
    if value.lower() in ("true", "false"):
        return value.lower()
    if _NUMBER.fullmatch(value):
        return float(value)
    return ",".join(item.strip() for item in value.split(","))
