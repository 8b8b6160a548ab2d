"""Conflicts of an undo: values that were changed again since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_shell.common.config_units import same_value
from kafka_shell.common.structs import replace
from kafka_shell.plan.model import Change, Plan


def conflicts(net: Iterable[Change], plan: Plan, by: str) -> Iterator[str]:
    """The values that are neither those after the changes nor those before them."""
    current = {
        (change.resource, change.field): change for change in (*plan.changes, *plan.unchanged)
    }
    for change in net:
        now = current.get((change.resource, change.field))
        if now is None:
            continue
        if not change.field and change.verb in ("create", "delete"):
            known = change.resource.kind == "topic" and change.note and now.note
            # The last word is the topic ID: earlier versions spelled the rest in another way.
            if known and now.note.split()[-1] != change.note.split()[-1]:
                yield (
                    f"{change.resource} was deleted and re-created since {by}"
                    f" ({now.note}, not {change.note})"
                )
        elif not any(
            same_value(change.field, now.before, value) for value in (change.after, change.before)
        ):
            if change.resource.kind == "logger" and change.after is None:
                continue  # brokers do not return whether a level is inherited
            yield _difference(change, now, by)


def _difference(change: Change, now: Change, by: str) -> str:
    from kafka_shell.output.humanize import change_values

    value, after = change_values(replace(change, before=now.before, after=change.after))
    changed = f"{by} set it to {after}" if after else f"{by} deleted it"
    return f"{about_change(change)} is now {value or 'not set'}; {changed}"


def about_change(change: Change) -> str:
    """The resource and field of a change."""
    return " ".join(filter(None, (str(change.resource), change.field)))
