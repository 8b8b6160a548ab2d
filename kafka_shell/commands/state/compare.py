"""Compare two states."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from kafka_shell.language.selectors import select

from .model import ASSIGNMENT, KINDS, SHAPE, Difference, Fields, State, order, owner


def differences(before: State, after: State) -> Iterator[Difference]:
    """Every difference of the kinds that both states have."""
    for kind in _common(before, after):
        yield from _of_kind(kind, before.part(kind), after.part(kind), ())


def from_file(now: State, wanted: State) -> Iterator[Difference]:
    """The differences between a cluster and a state file.

    What only the cluster has is a difference if the file names its resource, or if it is within
    the scope of the file.
    """
    for kind in _common(now, wanted):
        covered = {owner(kind, key) for key in wanted.part(kind)} | scoped(kind, now, wanted)
        here = {
            key: fields for key, fields in now.part(kind).items() if owner(kind, key) in covered
        }
        yield from _of_kind(kind, here, wanted.part(kind), SHAPE)


def scoped(kind: str, now: State, wanted: State) -> frozenset[str]:
    """The names (`owner`) of this kind on the cluster that are within the scope of the file."""
    words = wanted.scope.get(kind, ())
    names = list(dict.fromkeys(owner(kind, key) for key in now.part(kind)))
    return frozenset(select(words, names).names) if words else frozenset()


def _common(before: State, after: State) -> list[str]:
    both = (before.parts.keys() | before.scope.keys()) & (after.parts.keys() | after.scope.keys())
    return [kind for kind in KINDS if kind in both]


def _of_kind(
    kind: str,
    before: Mapping[Any, Fields],
    after: Mapping[Any, Fields],
    optional: Collection[str],
) -> Iterator[Difference]:
    """The differences of one kind. A field in `optional` that `after` leaves out is not one."""
    has_whole = kind in ("topics", "acls")
    for key in sorted(before.keys() | after.keys(), key=order):
        old, new = before.get(key), after.get(key)
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
        if name not in new and name in optional:
            continue
        if old.get(name) != new.get(name):
            yield Difference(kind, key, name, old.get(name), new.get(name))
