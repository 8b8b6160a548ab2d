"""Resources of a long plan that have the same changes, or changes of the same fields, together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from kafka_shell.common.structs import replace
from kafka_shell.common.text import common_prefix
from kafka_shell.output.counts import count_kinds
from kafka_shell.output.humanize import change_values
from kafka_shell.plan.model import Change, Resource

LISTED = 3  # more different values than this are counted


class ChangeGroup(Struct, frozen=True):
    """Resources that are shown together: the changes of each in `members`, and in `changes` those
    that stand for them all. If `values_differ`, `changes` has the values of all as text."""

    changes: Sequence[Change]
    members: tuple[Sequence[Change], ...]
    values_differ: bool = False

    @property
    def title(self) -> str:
        """`20 topics, parcels.*`, or `20 topics, orders to web` if the names begin differently."""
        resources = [member[0].resource for member in self.members]
        return f"{count_kinds(resources)}, {_which(resources)}"


def same_changes(resources: Iterable[Sequence[Change]]) -> list[ChangeGroup]:
    """The resources, given by their changes, in groups with exactly the same changes."""
    alike: dict[tuple[object, ...], list[Sequence[Change]]] = {}
    for changes in resources:
        key = tuple((*_fields(change), *_values(change)) for change in changes)
        alike.setdefault(key, []).append(changes)
    return [ChangeGroup(members[0], tuple(members)) for members in alike.values()]


def same_fields(groups: Iterable[ChangeGroup]) -> list[ChangeGroup]:
    """The groups again, those with changes of the same fields as one."""
    alike: dict[tuple[object, ...], list[ChangeGroup]] = {}
    for group in groups:
        alike.setdefault(tuple(map(_fields, group.changes)), []).append(group)
    return [same[0] if len(same) == 1 else _merge_groups(same) for same in alike.values()]


def _merge_groups(groups: Sequence[ChangeGroup]) -> ChangeGroup:
    """One group of several: `retention.ms: 1d, 3d -> 7d`, `retention.ms: 40 values -> 7d`."""
    columns = zip(*(group.changes for group in groups), strict=True)
    members = tuple(member for group in groups for member in group.members)
    return ChangeGroup([_merged_change(column) for column in columns], members, values_differ=True)


def _merged_change(changes: Sequence[Change]) -> Change:
    first = changes[0]
    if len(set(map(_values, changes))) == 1:
        return first
    shown = [change_values(change) for change in changes]
    before, after = (_joined([pair[place] for pair in shown]) for place in (0, 1))
    return replace(
        first,
        before=before if first.before is not None else None,
        effective=before if first.effective is not None else None,
        after=after if first.after is not None else None,
        note="",
    )


def _joined(values: Sequence[str]) -> str:
    different = list(dict.fromkeys(values))
    return ", ".join(different) if len(different) <= LISTED else f"{len(different):,} values"


def _fields(change: Change) -> tuple[object, ...]:
    """What kind of change this is, apart from its values and the name of the resource."""
    kind, name = change.resource.kind, change.resource.name
    # ACLs are the same on resources of the same type.
    name = name.rpartition(" ")[0] if kind == "acl" else ""
    absent = tuple(value is None for value in (change.before, change.effective, change.after))
    return (
        kind,
        name,
        change.verb,
        change.field,
        absent,
        change.source,
        change.reversible,
        change.lost,
    )


def _values(change: Change) -> tuple[object, ...]:
    note = "" if change.verb in ("create", "delete") else change.note
    return change.before, change.after, change.effective, note


def _which(resources: Sequence[Resource]) -> str:
    names = sorted(resource.name for resource in resources)
    prefix = common_prefix(names)
    return f"{prefix}*" if len(prefix) > 1 else f"{names[0]} to {names[-1]}"
