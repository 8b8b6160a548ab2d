"""Render a Plan: the changes by resource, and the commands that undo them.

topic orders
  retention.ms: 7d -> 1d (was default config)
  segment.ms: 1h (no change: already set)
+ topic invoices: 6 partitions, replication factor 3
- topic old: 12 partitions, replication factor 3 (irreversible)
3 changes: create 1, alter 1, delete 1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING

from kafka_shell.common.escaping import is_printable
from kafka_shell.common.structs import replace
from kafka_shell.common.units import shorten_command
from kafka_shell.output.columns import columns_of
from kafka_shell.output.counts import count_changes, count_kinds, count_records, count_verbs, past
from kafka_shell.output.errors import grouped_failure_lines
from kafka_shell.output.grouping import ChangeGroup, same_changes, same_fields
from kafka_shell.output.humanize import change_values
from kafka_shell.output.renderers import NO_RENDERERS, Renderers
from kafka_shell.output.resource_kinds import title_of
from kafka_shell.output.styled_stream import StyledStream
from kafka_shell.output.tables import draw_table
from kafka_shell.output.text import Role, Text, hang, text
from kafka_shell.plan.model import Change, Plan

if TYPE_CHECKING:
    from kafka_shell.output.writer import Writer

MANY = 19  # more resources than this are grouped and counted; --verbose and JSON list them
NAMES = 200  # of deleted resources in one list
LONG = 40  # more lines of changes than this are counted instead of printed
FOREVER = "irreversible"
REMOVED = "(removed)"
_SIGNS: dict[str, tuple[str, Role]] = {
    "create": ("+", "added"),
    "delete": ("-", "removed"),
}


def draw_plan(
    plan: Plan, undo: Sequence[str], writer: Writer, *, stream: StyledStream | None = None
) -> None:
    """Print a plan to `writer.err`, or to `stream`; `undo` are the commands that will undo it.

    A long plan is shortened, but a dry run (a `stream`) only on a terminal.
    """
    short = stream is None or stream.terminal
    stream = stream or writer.err
    limit = LONG if short and not writer.verbose else None
    stream.lines(plan_lines(plan, undo, writer.renderers, limit=limit, room=stream.width))


def plan_lines(
    plan: Plan,
    undo: Sequence[str] = (),
    renderers: Renderers = NO_RENDERERS,
    *,
    limit: int | None = None,
    room: int | None = None,
    refused: bool = True,
) -> Iterator[Text]:
    """The lines of a plan: changes by resource, refusals, warnings, what was not checked, counts,
    the undo."""
    for about in plan.about:
        yield from hang(text(about, "heading"), room, 2)
    for line in changes_lines(_with_unchanged(plan), limit):
        yield from hang(line, room, 6)
    yield from figure_lines(plan, renderers, room)
    if refused:
        yield from refused_lines(plan, room)
    yield from remark_lines(plan, room)
    if len(plan.changes) != 1 and (plan.changes or plan.refused.ok):
        yield from hang(text(closing(plan), "heading"), room, 2)
    yield from undo_lines(undo, lost_by(plan.changes))


def remark_lines(plan: Plan, room: int | None = None) -> Iterator[Text]:
    """The warnings and notes of the plan, and what was not checked."""
    for warning in plan.warnings:
        yield from hang(text("warning: ", "warning") + text(warning), room, 2)
    for name in dict.fromkeys(title_of(each.resource) for each in plan.changes if _is_marked(each)):
        spelled = name.encode("ascii", "backslashreplace").decode()
        mark = text("warning: ", "warning") + text(f"a name that may look like another: {spelled}")
        yield from hang(mark, room, 2)
    for note in plan.notes:
        yield from hang(text("note: ", "hint") + text(note), room, 2)
    for each in plan.not_checked:
        line = text("not checked: ", "warning") + text(f"{each.what}: {each.reason}")
        yield from hang(line, room, 2)


def _is_marked(change: Change) -> bool:
    """Whether a change deletes what has a name that is not ASCII."""
    return change.verb == "delete" and not change.resource.name.isascii()


def figure_lines(plan: Plan, renderers: Renderers, room: int | None = None) -> Iterator[Text]:
    """The figures of the plan as pages and tables, with blank lines around if there are several
    lines."""
    every = (
        list(_figures(kind, list(run), renderers, room))
        for kind, run in groupby(plan.figures, type)
    )
    runs = [lines for lines in every if lines]
    if len(runs) == 1 and len(runs[0]) == 1:
        yield from runs[0]
        return
    for lines in runs:
        yield Text()
        yield from lines
    if runs:
        yield Text()


def _figures(
    kind: type, rows: Sequence[object], renderers: Renderers, room: int | None
) -> Iterator[Text]:
    """Figures of the same kind."""
    page = renderers.page(kind)
    if page is None:
        yield from draw_table(columns_of(rows[0], renderers), rows, width=room)
    else:
        yield from (line for row in rows for line in page(row, room))


def _with_unchanged(plan: Plan) -> tuple[Change, ...]:
    """All changes, with unchanged ones next to the other changes of their resource."""
    if not plan.unchanged:
        return plan.changes
    both = plan.changes + plan.unchanged
    places = {change.resource: place for place, change in reversed(list(enumerate(both)))}
    return tuple(sorted(both, key=lambda change: places[change.resource]))


def lost_by(changes: Iterable[Change]) -> str:
    """What undoing these changes does not restore."""
    return "; ".join(dict.fromkeys(change.lost for change in changes if change.lost))


def refused_lines(plan: Plan, room: int | None = None) -> Iterator[Text]:
    """The failures found while planning, those that are alike together."""
    yield from grouped_failure_lines(
        plan.refused.failures, room, most=MANY, listed=full_list("--dry-run")
    )


def full_list(command: str) -> str:
    """Where all failures are listed. A repeated command must not apply the plan."""
    return f"for the full list, use {command} --output json"


def undo_lines(undo: Sequence[str], lost: str = "", entry: str = "") -> Iterator[Text]:
    """`undo: <command>`, or several commands below `undo:`, unwrapped for copying.

    Very many, very long and unprintable commands are left to the journal (`entry`). `lost` is what
    they do not restore.
    """
    if not undo:
        return
    lead = text("undo:", "hint")
    source = f"see journal {entry} --undo" if entry else "saved in the journal when applied"
    if len(undo) > MANY:
        yield lead + f" {len(undo):,} commands ({source})"
    elif not all(map(is_printable, undo)):
        one = len(undo) == 1
        reason = f"{'it contains' if one else 'they contain'} control characters"
        yield lead + f" not shown: {reason} (saved in the journal)"
    else:
        short = [shorten_command(command) for command in undo]
        shown = [
            cut if cut == command else f"{cut} ({source})"
            for cut, command in zip(short, undo, strict=True)
        ]
        yield from [lead + f" {shown[0]}"] if len(shown) == 1 else [lead, *map(text, shown)]
    if lost:
        yield text(f"  ({lost})", "warning")


def changes_lines(changes: Sequence[Change], limit: int | None) -> Iterator[Text]:
    """The changes by resource; with a `limit`, many resources with the same changes together, and
    after so many lines a count of the rest."""
    shown = 0
    groups = [list(group) for _, group in groupby(changes, lambda change: change.resource)]
    if limit is not None and len(groups) > MANY:
        yield from _grouped_lines(groups, limit)
        return
    for number, group in enumerate(groups):
        lines = list(_resource_lines(group))
        left = groups[number:]
        if limit is not None and shown + len(lines) > limit and (number or len(lines) > limit):
            lines = lines[: limit - shown] if not number else []
            yield from lines
            yield text(_rest(left, bool(number)), "dim")
            return
        shown += len(lines)
        yield from lines


def _grouped_lines(groups: Sequence[Sequence[Change]], limit: int) -> Iterator[Text]:
    """`+ 20 topics, parcels.*: 6 partitions`: resources with the same changes in one place. If
    they are still too many, those whose values alone differ are shown together, too."""
    alike = same_changes(groups)
    if len(list(islice(chain.from_iterable(map(_group_lines, alike)), limit + 1))) > limit:
        alike = same_fields(alike)
    shown = 0
    for number, group in enumerate(alike):
        lines = list(_group_lines(group))
        if shown and shown + len(lines) > limit:
            yield text(
                _rest([each for rest in alike[number:] for each in rest.members], True), "dim"
            )
            break
        shown += len(lines)
        yield from lines
    if any(group.values_differ for group in alike):
        yield text("(values differ between the resources; to list them, use --verbose)", "dim")


def _group_lines(group: ChangeGroup) -> Iterator[Text]:
    about = None if len(group.members) == 1 else group.title
    yield from _resource_lines(group.changes, about)
    if about and group.changes[0].verb == "delete" and not group.changes[0].reversible:
        names = [member[0].resource.name for member in group.members]  # what is lost is named
        more = f" and {len(names) - NAMES:,} more" if len(names) > NAMES else ""
        yield text(" " * 6) + text(", ".join(names[:NAMES]), "name") + text(more, "dim")


def _rest(groups: Sequence[Sequence[Change]], whole: bool) -> str:
    changes = [change for group in groups for change in group]
    lead = "... and" if whole else "... in total,"
    kinds = count_kinds(change.resource for change in changes)
    return f"{lead} {kinds} ({counted_changes(changes)})"


def set_of_resources(changes: Sequence[Change]) -> list[Change]:
    """The first change of each resource."""
    return list({change.resource: change for change in reversed(changes)}.values())[::-1]


def counted_changes(changes: Sequence[Change]) -> str:
    """`1 created, 2 altered`; `wrote 900 records to 3 partitions`."""
    if changes and all(change.of_records for change in changes):
        places = count_kinds(change.resource for change in changes)
        return f"{past(changes[0].verb)} {count_records(changes)} to {places}"
    return ", ".join(f"{count:,} {past(verb)}" for verb, count in count_verbs(changes))


def closing(plan: Plan) -> str:
    """The summary of a plan: `2 changes to 2 topics: create 1, delete 1`."""
    changes = [each for each in plan.changes if each.resource.kind != "rollback-file"]
    refused = len(plan.refused.failures)
    tail = f"; {refused:,} refused" if refused else ""
    if not changes:
        return f"nothing to change{tail}"
    if all(change.of_records for change in changes):
        return f"{changes[0].verb} {count_changes(changes)}{tail}"
    verbs = ", ".join(f"{verb} {count:,}" for verb, count in count_verbs(changes))
    return f"{count_changes(changes)}: {verbs}{tail}"


def _resource_lines(changes: Sequence[Change], about: str | None = None) -> Iterator[Text]:
    """The lines of one resource: a heading and its fields, or one line for the whole resource.

    `about` names several resources with these changes."""
    name = about or title_of(changes[0].resource)
    whole = [change for change in changes if not change.field]
    for change in whole:
        yield _resource_line(change, name, several=about is not None)
    fields = [change for change in changes if change.field]
    if fields and not whole:
        created = all(change.verb == "create" for change in fields)
        deleted = all(change.verb == "delete" for change in fields)
        verb = "create" if created else "delete" if deleted else "alter"
        yield _signed(verb) + text(name, "heading")
    mixed = any(_sign(change) for change in fields)
    for change in fields:
        yield text("  ") + _field(change, mixed)


def _resource_line(change: Change, name: str, *, several: bool) -> Text:
    """A created or deleted resource: `+ topic orders: 6 partitions`."""
    line = _signed(change.verb) + text(name, "heading")
    before, after = change_values(change)
    if before and after and change.before != change.after:
        line = line + f": {before} -> {after}"
    elif before or after:
        line = line + f": {before or after}"
    return line + _remarks(replace(change, note="") if several else change)


def _field(change: Change, mixed: bool) -> Text:
    """`key: old -> new (was default config)`, after a sign if the group has signs."""
    sign = _sign(change)
    lead = _signed(sign) if sign else text("  " if mixed else "")
    before, after = change_values(change)
    line = lead + text(change.field, "key")
    if change.before == change.after and change.note and change.reversible:  # already set
        return line + (f": {after}" if after else "") + _remarks(change)
    if before and (after or sign):
        role: Role = "added" if sign != "delete" else "removed"
        line = line + f": {before} -> " + text(after or REMOVED, role)
    elif after:
        line = line + ": " + text(after, "added")
    if change.before is None and change.effective is not None and change.source:
        line = line + text(f" (was {_lower(change.source)})", "dim")
    return line + _remarks(change)


def _remarks(change: Change) -> Text:
    line = text(f" ({change.note})", "dim") if change.note else Text()
    return line if change.reversible else line + " " + text(f"({FOREVER})", "warning")


def _sign(change: Change) -> str:
    """ "create" or "delete" if the field is set or removed at its level, else ""."""
    if change.after is None:
        return "delete" if change.before is not None else ""
    return "create" if change.before is None and change.effective is None else ""


def _signed(verb: str) -> Text:
    sign, role = _SIGNS.get(verb, ("", ""))
    return text(sign, role) + text(" ") if sign else Text()


def _lower(source: str) -> str:
    return source[:1].lower() + source[1:]
