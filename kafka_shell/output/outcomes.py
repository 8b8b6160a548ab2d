"""Render an Outcome: done changes in short, failed and unknown ones in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kafka_shell.common.units import some
from kafka_shell.output.counts import count_kinds, count_records, past
from kafka_shell.output.errors import combine_alike, failure_lines, more_lines, same_lines
from kafka_shell.output.plans import (
    LONG,
    MANY,
    counted_changes,
    full_list,
    lost_by,
    plan_lines,
    refused_lines,
    remark_lines,
    set_of_resources,
    undo_lines,
)
from kafka_shell.output.resource_kinds import title_of
from kafka_shell.output.styled_stream import StyledStream
from kafka_shell.output.text import Text, hang, text
from kafka_shell.plan.model import Change, Effect, Resource
from kafka_shell.plan.outcome import ChangeResult, Outcome, has_moves
from kafka_shell.plan.results import Failure, mentions

if TYPE_CHECKING:
    from kafka_shell.output.writer import Writer

_UNKNOWN = Failure("UNKNOWN", "no reason given")
_FIELDS = 20  # of one resource are named
FRESH = 10  # the fresh state is printed for at most this many resources
_LABELS = {"unknown": "outcome unknown", "skipped": "skipped"}
_EXPLANATIONS = {
    "unknown": "the change may still be applied; check before retrying",
    "skipped": "an earlier change failed",
}


def draw_outcome(outcome: Outcome, writer: Writer) -> None:
    """Print done changes and the fresh state to `out`; failures and the undo commands to `err`.

    The undo commands are not repeated if the question already showed them. Failures found while
    planning were shown with the plan and are only counted. For a dry run, the plan is printed to
    `out`, failures and the verdict of the brokers to `err`.
    """
    if outcome.dry_run:
        stream = writer.out
        limit = LONG if stream.terminal and not writer.verbose else None
        lines = plan_lines(
            outcome.plan, (), writer.renderers, limit=limit, room=stream.width, refused=False
        )
        stream.lines(lines)
        writer.err.lines(problem_lines(outcome, writer.err.width))
        planned = (item.change for item in outcome.changes if item.status == "planned")
        stream.lines(undo_lines(outcome.undo, lost_by(planned)))
        writer.err.line(_verdict(outcome))
        return
    writer.out.lines(done_lines(outcome, verbose=writer.verbose))
    writer.err.lines(problem_lines(outcome, writer.err.width))
    if not outcome.undo_shown:
        done = (item.change for item in outcome.changes if item.status == "done")
        writer.err.lines(undo_lines(outcome.undo, lost_by(done), outcome.entry))
    fresh = outcome.fresh if len(_done_resources(outcome)) <= FRESH else None
    writer.write(fresh)
    secrets = outcome.plan.secrets
    if secrets and any(item.status in ("done", "unknown") for item in outcome.changes):
        if fresh is not None:
            writer.out.line(Text())
        writer.write(secrets)
    writer.err.lines(next_lines(outcome))


def draw_problems(outcome: Outcome, stream: StyledStream) -> None:
    """Print failures and what to do next, for every output format; in a dry run also the remarks of
    the plan, which rows do not have."""
    if outcome.dry_run:
        stream.lines(remark_lines(outcome.plan, stream.width))
    stream.lines(problem_lines(outcome, stream.width))
    stream.lines(next_lines(outcome))
    if outcome.dry_run:
        stream.line(_verdict(outcome))


def next_lines(outcome: Outcome) -> Iterator[Text]:
    """`see: <command>` for a change that continues in the background, or may do so, and how to
    continue."""
    plan = outcome.plan
    started = plan.waited is None and any(item.status == "done" for item in outcome.changes)
    if plan.resume and (started or has_moves(outcome.changes, "unknown")):
        label = "to continue:" if plan.partial else "see:"
        yield text(label, "hint") + " " + text(plan.resume)
        if plan.cancel:
            yield text("to cancel:", "hint") + " " + text(plan.cancel)
    if outcome.check:
        yield text("see:", "hint") + " " + text(outcome.check)
    if outcome.retry:
        yield text("to continue:", "hint") + " " + text(outcome.retry)
        yield text("details:", "hint") + " " + text(f"journal {outcome.entry} --output json")


def _verdict(outcome: Outcome) -> Text:
    """The last line of a dry run: whether brokers validated the plan."""
    steps = outcome.plan.steps
    whole = outcome.plan.whole or outcome.plan.effect is Effect.DESTROY
    if whole and steps and not outcome.ok:
        verdict = "nothing was changed; the plan cannot be applied while some items are invalid"
    elif not all(step.validates for step in steps):
        verdict = "nothing was changed (not validated: this API has no validate-only mode)"
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
    resources = _done_resources(outcome)
    begun = outcome.plan.partial and outcome.plan.waited is None
    if done and begun and outcome.plan.later:
        yield text("started: ", "good") + text(_started(resources, outcome.plan.later))
        return
    if done and (begun or (len(resources) > MANY and not verbose)):
        yield text("started: " if begun else "done: ", "good") + text(counted_changes(done))
        return
    by_resource: dict[Resource, list[Change]] = {}
    for change in done:
        by_resource.setdefault(change.resource, []).append(change)
    for changes in by_resource.values():
        yield _done_line(changes)


def _started(done: Sequence[Change], later: int) -> str:
    """`2 partitions; 4 more in later batches`. What is sent later counts as done, too."""
    moved = [each.resource for each in done if each.resource.kind == "partition"]
    return f"{count_kinds(moved[later:]) or 'nothing new'}; {later:,} more in later batches"


def _done_resources(outcome: Outcome) -> list[Change]:
    return set_of_resources([item.change for item in outcome.changes if item.status == "done"])


def _done_line(changes: Sequence[Change]) -> Text:
    verbs = {change.verb for change in changes}
    verb = verbs.pop() if len(verbs) == 1 else "alter"
    if changes[0].of_records:
        return _records_line(changes)
    fields = some(list(dict.fromkeys(each.field for each in changes if each.field)), _FIELDS)
    line = text(past(verb), "good") + " " + text(title_of(changes[0].resource), "name")
    return line + (f": {fields}" if fields else "")


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


def problem_lines(outcome: Outcome, room: int | None = None) -> Iterator[Text]:
    """The failed, unknown and skipped changes with their reasons; then the counts."""
    if outcome.dry_run:
        yield from refused_lines(outcome.plan, room)
    by_resource: dict[tuple[str, Resource, str], list[ChangeResult]] = {}
    for item in outcome.changes:  # a request alters all fields of a resource or none
        if item.status not in ("done", "planned") and not (
            outcome.aborted and item.status == "skipped"
        ):
            key = (item.status, item.change.resource, str(item.failure or _UNKNOWN))
            by_resource.setdefault(key, []).append(item)
    similar: dict[tuple[str, str], list[list[ChangeResult]]] = {}
    for items in by_resource.values():
        similar.setdefault((items[0].status, _fields(items)), []).append(items)
    for resources in similar.values():
        yield from _problems(resources, outcome.entry, room)
    if outcome.aborted:
        yield from _nothing_sent(outcome, room)
        return
    line = _counts(outcome)
    if line and not outcome.dry_run:
        yield text(line, "heading")


def _nothing_sent(outcome: Outcome, room: int | None) -> Iterator[Text]:
    invalid = {resource.name for resource in outcome.plan.refused.failures}
    invalid |= {item.change.resource.name for item in outcome.changes if item.status == "failed"}
    items = invalid | {item.change.resource.name for item in outcome.changes}
    are = "is" if len(invalid) == 1 else "are"
    message = f"nothing was changed: {len(invalid):,} of {len(items):,} items {are} invalid"
    yield from hang(text("error: ", "error") + text(message), room, 2)
    hint = "Correct or leave out the invalid items: this command changes everything or nothing."
    yield from hang(text("hint: ", "hint") + text(hint), room, 2)


def _problems(
    resources: Sequence[Sequence[ChangeResult]], entry: str, room: int | None
) -> Iterator[Text]:
    """The changes of each resource, all with the same status and fields; of many with the same
    reason the first, and the names of the rest."""
    status, listed = resources[0][0].status, full_list(f"journal {entry}" if entry else "--dry-run")
    label = text("error: ", "error") if status == "failed" else _label(status)
    reasons = [(items[0].change.resource, items[0].failure or _UNKNOWN) for items in resources]
    changes = {
        (about, str(why)): items for (about, why), items in zip(reasons, resources, strict=True)
    }
    shown, more = combine_alike(reasons, MANY)
    for about, reason, same in shown:
        yield from _problem(changes[about, str(reason)], reason, room)
        yield from same_lines(label, same, room, most=MANY, listed=listed)
    yield from more_lines(label, more, room, listed)


def _fields(items: Sequence[ChangeResult]) -> str:
    return some([each.change.field for each in items if each.change.field], _FIELDS)


def _label(status: str) -> Text:
    return text(f"{_LABELS[status]}: ", "warning")


def _problem(items: Sequence[ChangeResult], reason: Failure, room: int | None) -> Iterator[Text]:
    """Fields of one resource with the same result."""
    item, failure = items[0], items[0].failure
    fields = _fields(items)
    parts = [part for part in (title_of(item.change.resource), fields) if part]
    if item.status == "failed":
        mentioned = mentions(reason.message, str(item.change.resource))
        parts = parts[1:] if mentioned else parts
        about = " ".join(part for part in parts if not mentions(reason.message, part))
        yield from failure_lines(reason, about, room)
        return
    reason_text = f" ({failure})" if failure else ""
    yield from hang(
        _label(item.status)
        + text(f"{' '.join(parts)}: {_EXPLANATIONS.get(item.status, '')}{reason_text}"),
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
        counts["refused"] = len(outcome.plan.refused.failures)
    return ", ".join(f"{count:,} {status}" for status, count in counts.items())
