"""The inverse of changes: the changes that undo them."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.structs import replace

_OPPOSITE = {"create": "delete", "delete": "create"}


def reverse(change: Change) -> Change:
    """The change from the state after this one to the state before it."""
    verb = _OPPOSITE.get(change.verb, change.verb)
    return Change(change.resource, verb, change.field, change.after, change.before)


def net(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes, oldest first, as one: each field from its first value to its last one, in the
    order of the last changes. A field or resource that is as it was before is left out."""
    fields: dict[tuple[Resource, str], list[Change]] = {}
    for change in changes:
        key = change.resource, change.field
        fields[key] = [*fields.pop(key, ())[:1], change]
    every = ((some[0], some[-1]) for some in fields.values())
    return tuple(
        replace(last, before=first.before, reversible=first.reversible)
        for first, last in every
        if (first.before != last.after if first.field else first.verb == last.verb)
    )


def inverse(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes that undo these, without what is irreversible: the resource that was changed last
    comes first. Of a new resource nothing but its creation is undone."""
    by_resource: dict[Resource, list[Change]] = {}
    for change in net(changes):
        if change.reversible:
            by_resource.setdefault(change.resource, []).append(change)
    return tuple(
        reverse(change)
        for some in reversed(by_resource.values())
        for change in [one for one in some if one.verb == "create"] or some
    )
