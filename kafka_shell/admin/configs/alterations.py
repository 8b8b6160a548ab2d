"""What an alteration of configs changes: each value before and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_shell.admin.configs.checks import LIST_OPS, is_settable
from kafka_shell.admin.configs.known import inherited
from kafka_shell.admin.configs.losses import DataLoss, losses
from kafka_shell.admin.configs.model import (
    HIDDEN,
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    own_source,
)
from kafka_shell.common.config_units import same_value
from kafka_shell.common.structs import replace
from kafka_shell.plan.model import Change, Resource


def changes_of(
    resource: ConfigResource,
    alterations: Sequence[ConfigAlteration],
    known: Mapping[str, ConfigEntry],
) -> list[tuple[Change, DataLoss | None]]:
    """The changes of one resource, each with what it deletes."""
    changes = [
        change_of(resource, alteration, known.get(alteration.key)) for alteration in alterations
    ]
    after = {
        change.field: inherited(known[change.field]) if change.after is None else str(change.after)
        for change in changes
        if change.field in known and change.before != change.after
    }
    lost = losses(resource, known, after)
    return [
        (replace(change, lost=lost[change.field].final), lost[change.field])
        if change.field in lost
        else (change, None)
        for change in changes
    ]


def change_of(
    resource: ConfigResource, alteration: ConfigAlteration, entry: ConfigEntry | None
) -> Change:
    """The change of one config. Without an entry, its value before is unknown."""
    is_own = entry is not None and entry.source is own_source(resource)
    value = entry.value if entry is not None else None
    before, effective = (value, None) if is_own else (None, value)
    after, note = _after(alteration, entry, is_own)
    reversible = True
    if entry is not None and entry.sensitive:
        before, effective = HIDDEN if is_own else None, None
        after = None if alteration.op is ConfigOp.DELETE else HIDDEN
        note = "sensitive: the value is not shown"
    elif entry is not None and before is not None and not is_settable(entry, before):
        note = "the previous value is invalid and cannot be restored"
        reversible = False
    return Change(
        Resource(resource.kind, resource.name),
        "alter",
        alteration.key,
        before,
        after,
        note=note,
        reversible=reversible and before is not HIDDEN,
        effective=effective,
        source="" if entry is None or entry.source is ConfigSource.UNKNOWN else entry.source.label,
    )


def _after(
    alteration: ConfigAlteration, entry: ConfigEntry | None, is_own: bool
) -> tuple[str | None, str]:
    """The new value at the resource's own level, and a note."""
    if alteration.op is ConfigOp.DELETE:
        return None, _inherited_note(entry) if is_own else "no change: not set"
    after, note = alteration.value, ""
    if alteration.op in LIST_OPS:
        start, note = _list_before(alteration, entry, is_own)
        after = _list_after(start, alteration)
    if is_own and entry is not None and same_value(entry.name, entry.value, after, entry.type):
        return entry.value, "no change: already set"
    return after, note


def _inherited_note(entry: ConfigEntry | None) -> str:
    """A note with the value that is inherited after the deletion, if synonyms are known."""
    weaker = [s for s in entry.synonyms if s.source is not entry.source] if entry else []
    if not weaker:
        return "falls back to the default"
    below, name = weaker[0], entry.name if entry else ""
    prefix = "" if below.name == name else f"{below.name}="  # another key may have another unit
    return f"falls back to {prefix}{below.value} ({below.source.label})"


def _list_before(
    alteration: ConfigAlteration, entry: ConfigEntry | None, is_own: bool
) -> tuple[str, str]:
    """The list that the broker alters: its own, else Kafka's default (not the inherited value)."""
    if entry is None or is_own:
        return (entry.value or "" if entry else ""), ""
    defaults = [s.value or "" for s in entry.synonyms if s.source is ConfigSource.DEFAULT]
    start = defaults[0] if defaults else ""
    if not defaults and entry.source is ConfigSource.DEFAULT:
        start = entry.value or ""
    if start == (entry.value or ""):
        return start, ""
    verb = "appended to" if alteration.op is ConfigOp.APPEND else "subtracted from"
    return start, f"{verb} Kafka's default {start or '(empty)'}, not the effective value"


def _list_after(current: str, alteration: ConfigAlteration) -> str:
    items = _items(current)
    given = _items(alteration.value or "")
    if alteration.op is ConfigOp.APPEND:
        return ",".join(dict.fromkeys(items + given))
    return ",".join(item for item in items if item not in given)


def _items(text: str) -> list[str]:
    return [item for item in map(str.strip, text.split(",")) if item]
