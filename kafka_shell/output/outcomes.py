"""Render an Outcome: done changes in short, failed and unknown ones in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice

from msgspec import Struct

from kafka_shell.base.outcome import MOVED, ChangeResult, Outcome, has_moves
from kafka_shell.base.plans import Change, Effect, Plan, Resource
from kafka_shell.base.results import Failure, mentions
from kafka_shell.base.structs import replace
from kafka_shell.base.text import common_prefix, is_printable
from kafka_shell.base.units import counted, shorten_command, some
from kafka_shell.output.columns import columns_of
from kafka_shell.output.errors import (
    Place,
    combine_alike,
    error_label,
    failure_lines,
    grouped_failure_lines,
    more_lines,
    same_lines,
)
from kafka_shell.output.humanize import (
    change_values,
    count_changes,
    count_kinds,
    count_records,
    count_verbs,
    done_verb,
    only_offsets,
    past,
)
from kafka_shell.output.resource_kinds import title_of
from kafka_shell.output.styled_stream import StyledStream
from kafka_shell.output.tables import NO_RENDERERS, Renderers, draw_table
from kafka_shell.output.text import Role, Text, hang, text

# Resources of a long plan that have the same changes, or changes of the same fields, together.

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
        key = tuple((*_grouped_fields(change), *_values(change)) for change in changes)
        alike.setdefault(key, []).append(changes)
    return [ChangeGroup(members[0], tuple(members)) for members in alike.values()]


def same_fields(groups: Iterable[ChangeGroup]) -> list[ChangeGroup]:
    """The groups again, those with changes of the same fields as one."""
    alike: dict[tuple[object, ...], list[ChangeGroup]] = {}
    for group in groups:
        alike.setdefault(tuple(map(_grouped_fields, group.changes)), []).append(group)
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


def _grouped_fields(change: Change) -> tuple[object, ...]:
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


# Render a Plan: the changes by resource, and the commands that undo them.
#
# topic orders
#   retention.ms: 7d (default) -> 1d
#   segment.ms: 1h (no change: already set)
# + topic invoices: 6 partitions, replication factor 3
# - topic old: 12 partitions, replication factor 3 (irreversible)
# 3 changes: create 1, alter 1, delete 1

MANY = 19  # more resources than this are grouped and counted; --verbose and JSON list them
NAMES = 200  # of deleted resources in one list
LONG = 40  # more lines of changes than this are counted instead of printed
FOREVER = "irreversible"
TOPIC_ID = "topic ID "  # how the note of a created or deleted topic begins
REMOVED = "(removed)"
_SIGNS: dict[str, tuple[str, Role]] = {
    "create": ("+ ", "added"),
    "delete": ("- ", "removed"),
}


def unchanged_lines(changes: Sequence[Change]) -> Iterator[Text]:
    """`unchanged topic orders: retention.ms`, one line per resource; a count if there are many."""
    groups = by_resource(changes)
    if len(groups) > MANY:
        yield text("unchanged: ", "dim") + text(count_kinds(group[0].resource for group in groups))
        return
    for group in groups:
        yield text("unchanged", "dim") + text(f" {title_of(group[0].resource)}") + _named(group)


def by_resource(changes: Iterable[Change]) -> list[list[Change]]:
    """The changes of each resource."""
    groups: dict[Resource, list[Change]] = {}
    for change in changes:
        groups.setdefault(change.resource, []).append(change)
    return list(groups.values())


def plan_lines(
    plan: Plan,
    undo: Sequence[str] = (),
    renderers: Renderers = NO_RENDERERS,
    *,
    limit: int | None = None,
    room: int | None = None,
    place: Place = str,
    refused: bool = True,
    verbose: bool = False,
) -> Iterator[Text]:
    """The lines of a plan: changes by resource, refusals, warnings, what was not checked, counts,
    the undo; with `verbose` also the IDs of topics."""
    for about in plan.advice.about:
        yield from hang(text(about, "heading"), room, 2)
    changes = _with_unchanged(plan)
    for line in changes_lines(changes if verbose else without_ids(changes), limit):
        yield from hang(line, room, 6)
    yield from figure_lines(plan, renderers, room)
    if refused:
        yield from refused_lines(plan, room, place)
    yield from remark_lines(plan, room)
    if total := closing(plan):
        yield from hang(text(total, "heading"), room, 2)
    yield from undo_lines(undo, lost_by(plan.changes))


def remark_lines(plan: Plan, room: int | None = None, *, notes: bool = True) -> Iterator[Text]:
    """The warnings and notes of the plan, and what was not checked."""
    for warning in [*plan.advice.warnings, *dict.fromkeys(_lookalikes(plan))]:
        yield from hang(text("warning: ", "warning") + text(warning), room, 2)
    for note in plan.advice.notes if notes else ():
        yield from hang(text("note: ", "hint") + text(note), room, 2)
    for left_out in plan.advice.not_checked:
        line = text("not checked: ", "warning") + text(f"{left_out.what}: {left_out.reason}")
        yield from hang(line, room, 2)


def _lookalikes(plan: Plan) -> Iterator[str]:
    """The names that are not ASCII of what the plan destroys or removes, with escapes."""
    for change in plan.changes:
        removes = change.after is None and change.verb != "create"
        if (removes or plan.effect is Effect.DESTROY) and not change.resource.name.isascii():
            spelled = title_of(change.resource).encode("ascii", "backslashreplace").decode()
            yield f"a name that may look like another: {spelled}"


def figure_lines(plan: Plan, renderers: Renderers, room: int | None = None) -> Iterator[Text]:
    """The figures of the plan as pages and tables, with blank lines around if there are several
    lines."""
    every = (
        list(_figures(kind, list(run), renderers, room))
        for kind, run in groupby(plan.advice.figures, type)
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


def without_ids(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes without the IDs of created and deleted topics."""
    return tuple(
        replace(change, note="") if change.note.startswith(TOPIC_ID) else change
        for change in changes
    )


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


def refused_lines(plan: Plan, room: int | None = None, place: Place = str) -> Iterator[Text]:
    """The failures found while planning, those that are alike together."""
    yield from grouped_failure_lines(
        plan.refused.failures, room, most=MANY, listed=full_list("--dry-run"), place=place
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
                _rest([member for rest in alike[number:] for member in rest.members], True), "dim"
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
    """`1 created, 2 altered`."""
    return ", ".join(f"{count:,} {past(verb)}" for verb, count in count_verbs(changes))


def closing(plan: Plan) -> str:
    """The summary of a plan: `2 changes to 2 topics: create 1, delete 1`; empty if the lines say
    it."""
    changes = [each for each in plan.changes if each.resource.kind != "rollback-file"]
    if not changes:
        return "nothing to change" if plan.refused.ok else ""
    if len(changes) > 1 and all(change.of_records for change in changes):
        return f"{changes[0].verb} {count_changes(changes)}"
    verbs = [f"{verb} {count:,}" for verb, count in count_verbs(changes)]
    return f"{count_changes(changes)}: {', '.join(verbs)}" if len(verbs) > 1 else ""


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
        yield _signed(verb, name, "heading")
    mixed = any(_sign(change) for change in fields)
    for change in fields:
        yield text("  ") + _field(change, mixed)


def _resource_line(change: Change, name: str, *, several: bool) -> Text:
    """A created or deleted resource: `+ topic orders: 6 partitions`."""
    line = _signed(change.verb, name, "heading")
    before, after = change_values(change)
    if before and after and change.before != change.after:
        line = line + f": {before} -> {after}"
    elif before or after:
        line = line + f": {before or after}"
    return line + _remarks(replace(change, note="") if several else change)


def _field(change: Change, mixed: bool) -> Text:
    """`key: old (default) -> new`, after a sign if the group has signs."""
    sign = _sign(change)
    lead = text("  " if mixed and not sign else "")
    before, after = change_values(change)
    if change.before is None and change.effective is not None and change.source:
        before += f" ({change.source})"
    line = lead + _signed(sign, change.field, "key")
    if change.before == change.after and change.note and change.reversible:  # already set
        return line + (f": {after}" if after else "") + _remarks(change)
    if before and (after or sign):
        role: Role = "added" if sign != "delete" else "removed"
        line = line + ": " + text(before, "removed") + " -> " + text(after or REMOVED, role)
    elif after:
        line = line + ": " + text(after, "added")
    return line + _remarks(change)


def _remarks(change: Change) -> Text:
    line = text(f" ({change.note})", "dim") if change.note else Text()
    return line if change.reversible else line + " " + text(f"({FOREVER})", "warning")


def _sign(change: Change) -> str:
    """ "create" or "delete" if the field is set or removed at its level, else ""."""
    if change.after is None:
        return "delete" if change.before is not None else ""
    return "create" if change.before is None and change.effective is None else ""


def _signed(verb: str, name: str, role: Role) -> Text:
    sign, role = _SIGNS.get(verb, ("", role))
    return text(sign + name, role)


_UNKNOWN = Failure("UNKNOWN", "no reason given")
_FIELDS = 20  # of one resource are named
VALUES = 4  # of one resource are shown with their values
_LABELS = {"unknown": "outcome unknown", "skipped": "skipped"}
_EXPLANATIONS = {
    "unknown": "the change may still be applied; check before retrying",
    "skipped": "an earlier change failed",
}


def undo_of_outcome(outcome: Outcome) -> Iterator[Text]:
    """The command that undoes the whole change, and what it does not restore."""
    done = [item.change for item in outcome.changes if item.status == "done"]
    forever = {change.resource for change in done if not (change.reversible or change.of_records)}
    several = len(outcome.undo) > 1 and outcome.entry
    undo = [f"undo {outcome.entry}"] if several else outcome.undo
    yield from undo_lines(undo, lost_by(done), outcome.entry)
    if forever and outcome.undo:
        yield text(f"  ({count_kinds(forever)}: {FOREVER})", "warning")
    elif forever:
        yield text("undo:", "hint") + text(f" none ({FOREVER})", "warning")


def draw_problems(outcome: Outcome, stream: StyledStream) -> None:
    """Print failures and what to do next, for every output format; in a dry run also the remarks of
    the plan, which rows do not have."""
    if outcome.dry_run:
        stream.lines(remark_lines(outcome.plan, stream.width))
    stream.lines(problem_lines(outcome, stream.width, stream.place))
    stream.lines(next_lines(outcome))
    if outcome.dry_run:
        stream.line(verdict_of(outcome))


def next_lines(outcome: Outcome) -> Iterator[Text]:
    """How to continue, also with a change that goes on in the background, or may do so."""
    following = outcome.plan.following
    started = following.waited is None and any(item.status == "done" for item in outcome.changes)
    if following.resume and (started or has_moves(outcome.changes, "unknown")):
        yield text("to continue:", "hint") + " " + text(following.resume)
    if outcome.check:
        yield text("see:", "hint") + " " + text(outcome.check)
    if outcome.retry:
        yield text("to continue:", "hint") + " " + text(outcome.retry)
        yield text("details:", "hint") + " " + text(f"journal {outcome.entry} --output json")


def verdict_of(outcome: Outcome) -> Text:
    """The last line of a dry run: whether brokers validated the plan."""
    steps = outcome.plan.steps
    if outcome.plan.whole and steps and not outcome.ok:
        verdict = "nothing was changed; the plan cannot be applied while some items are invalid"
    elif not all(step.validates for step in steps):
        verdict = "nothing was changed (Kafka cannot validate this change)"
        if any(step.validates for step in steps):
            verdict = "nothing was changed (only a part was validated by the brokers)"
    elif steps and all(item.status == "planned" for item in outcome.changes):
        rest = "the plan" if outcome.plan.refused.ok else "the rest"
        return text(f"dry run: nothing was changed; the brokers accept {rest}", "hint")
    else:
        verdict = "nothing was changed"
    return text(f"dry run: {verdict}", "hint")


def done_lines(outcome: Outcome, *, verbose: bool = False) -> Iterator[Text]:
    """`created topic orders`, one line per resource; a count if there are many."""
    done = [item.change for item in outcome.changes if item.status == "done"]
    done = [each for each in done if not _is_kept(each)]
    resources = _done_resources(outcome)
    following = outcome.plan.following
    moves = [change.resource for change in resources if change.resource.kind in MOVED]
    if moves and following.follow is not None and following.waited is None:
        yield text("started moving ", "good") + text(count_kinds(moves))
        return
    if len(resources) > MANY and not verbose:
        verb, *others = dict.fromkeys(change.verb for change in done)
        records = f"{count_records(done)} to " if done[0].of_records else ""
        told = counted_changes(done) if others else records + count_kinds(r.resource for r in done)
        yield text("done: " if others else f"{past(verb)} ", "good") + text(told)
        return
    for changes in by_resource(done if verbose else without_ids(done)):
        yield _done_line(changes)


def _is_kept(change: Change) -> bool:
    """Whether it was left as it was. A password is replaced beside the same iterations."""
    same = change.before is not None and change.before == change.after
    return same and bool(change.note) and change.reversible


def _done_resources(outcome: Outcome) -> list[Change]:
    return set_of_resources([item.change for item in outcome.changes if item.status == "done"])


def _done_line(changes: Sequence[Change]) -> Text:
    verbs = {change.verb for change in changes}
    verb = verbs.pop() if len(verbs) == 1 else "alter"
    if changes[0].of_records:
        return _records_line(changes)
    verb = past(done_verb(changes[0], verb))
    line = text(verb, "good") + " " + text(title_of(changes[0].resource), "name")
    return line + _named(changes)


def _named(changes: Sequence[Change]) -> str:
    """`: retention.ms 7d -> 12h`; of many fields only the names, of many offsets only their number,
    and nothing of a deletion."""
    if len(changes) > VALUES and only_offsets(changes):
        return f": {counted(len(changes), 'partition')}"
    if len(changes) > VALUES:
        return f": {some(list(dict.fromkeys(each.field for each in changes)), _FIELDS)}"
    values = [_value_of(change) for change in changes]
    return f": {', '.join(filter(None, values))}" if any(values) else ""


def _value_of(change: Change) -> str:
    before, after = (
        ("", "") if change.verb == "delete" and not change.field else change_values(change)
    )
    if before and (change.field or after) and change.before != change.after:
        values = f"{before} -> {after or REMOVED}"
    else:
        values = after or before
    note = f"({change.note})" if change.note.startswith(TOPIC_ID) else ""
    return " ".join(filter(None, (change.field, values, note)))


def _records_line(changes: Sequence[Change]) -> Text:
    """`wrote 120 records to partition orders:0: offsets 100-219`."""
    first = changes[0]
    what = count_records(changes) if any(each.records for each in changes) else first.field
    line = text(past(first.verb), "good") + f" {what} to " + text(str(first.resource), "name")
    if first.note:
        return line + f": {first.note}"
    offsets = [str(change.after) for change in changes if change.after is not None]
    if not offsets:
        return line
    word = "offset" if offsets[0].isdigit() and len(offsets) == 1 else "offsets"
    return line + f": {word} {', '.join(offsets)}"


def problem_lines(outcome: Outcome, room: int | None = None, place: Place = str) -> Iterator[Text]:
    """The failed, unknown and skipped changes with their reasons; then the counts."""
    if outcome.dry_run:
        yield from refused_lines(outcome.plan, room, place)
    alike: dict[tuple[str, Resource, str], list[ChangeResult]] = {}
    for item in outcome.changes:  # a request alters all fields of a resource or none
        if item.status not in ("done", "planned") and not (
            outcome.aborted and item.status == "skipped"
        ):
            key = (item.status, item.change.resource, str(item.failure or _UNKNOWN))
            alike.setdefault(key, []).append(item)
    similar: dict[tuple[str, str], list[list[ChangeResult]]] = {}
    for items in alike.values():
        similar.setdefault((items[0].status, _fields(items)), []).append(items)
    for resources in similar.values():
        yield from _problems(resources, outcome.entry, room, place)
    if outcome.aborted:
        yield from _nothing_sent(outcome, room, place)
        return
    line = _counts(outcome)
    if line and not outcome.dry_run:
        yield text(line, "heading")


def _nothing_sent(outcome: Outcome, room: int | None, place: Place) -> Iterator[Text]:
    invalid = {resource.name for resource in outcome.plan.refused.failures}
    invalid |= {item.change.resource.name for item in outcome.changes if item.status == "failed"}
    items = invalid | {item.change.resource.name for item in outcome.changes}
    are = "is" if len(invalid) == 1 else "are"
    message = f"nothing was changed: {len(invalid):,} of {len(items):,} items {are} invalid"
    yield from hang(error_label(place) + text(message), room, 2)
    hint = "Fix or omit the invalid items: one of them rejects the whole command."
    yield from hang(text("hint: ", "hint") + text(hint), room, 2)


def _problems(
    resources: Sequence[Sequence[ChangeResult]], entry: str, room: int | None, place: Place
) -> Iterator[Text]:
    """The changes of each resource, all with the same status and fields; of many with the same
    reason the first, and the names of the rest."""
    status, listed = resources[0][0].status, full_list(f"journal {entry}" if entry else "--dry-run")
    label = error_label(place) if status == "failed" else _label(status)
    reasons = [(items[0].change.resource, items[0].failure or _UNKNOWN) for items in resources]
    changes = {
        (about, str(why)): items for (about, why), items in zip(reasons, resources, strict=True)
    }
    shown, more = combine_alike(reasons, MANY)
    for about, reason, same in shown:
        yield from _problem(label, changes[about, str(reason)], reason, room)
        yield from same_lines(label, same, room, most=MANY, listed=listed)
    yield from more_lines(label, more, room, listed)


def _fields(items: Sequence[ChangeResult]) -> str:
    return some([each.change.field for each in items if each.change.field], _FIELDS)


def _label(status: str) -> Text:
    return text(f"{_LABELS[status]}: ", "warning")


def _problem(
    label: Text, items: Sequence[ChangeResult], reason: Failure, room: int | None
) -> Iterator[Text]:
    """Fields of one resource with the same result."""
    item, failure = items[0], items[0].failure
    fields = _fields(items)
    parts = [part for part in (title_of(item.change.resource), fields) if part]
    if item.status == "failed":
        mentioned = mentions(reason.message, str(item.change.resource))
        parts = parts[1:] if mentioned else parts
        about = " ".join(part for part in parts if not mentions(reason.message, part))
        yield from failure_lines(label, reason, about, room)
        return
    reason_text = f" ({failure.message or failure.name})" if failure else ""
    yield from hang(
        label + text(f"{' '.join(parts)}: {_EXPLANATIONS.get(item.status, '')}{reason_text}"),
        room,
        2,
    )


def _counts(outcome: Outcome) -> str:
    """`2 done, 1 failed`; empty if all changes are done."""
    if outcome.ok or len(outcome.changes) + len(outcome.plan.refused.failures) == 1:
        return ""
    counts: dict[str, int] = {}
    for item in outcome.changes:
        counts[item.status] = counts.get(item.status, 0) + 1
    if outcome.plan.refused.failures:
        counts["rejected"] = len(outcome.plan.refused.failures)
    return ", ".join(f"{count:,} {status}" for status, count in counts.items())
