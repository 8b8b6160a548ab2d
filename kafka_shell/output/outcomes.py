"""What became of a plan: what is done in short, what failed or is unknown in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kafka_shell.plan.model import Change, Effect
from kafka_shell.plan.outcome import Done, Outcome
from kafka_shell.plan.results import Failure, names

from .errors import failure_lines
from .pane import Pane
from .plans import (
    LONG,
    MANY,
    counted,
    lost_by,
    plan_lines,
    refused_lines,
    same_for,
    set_of_resources,
    undo_lines,
)
from .text import Text, hang, text

if TYPE_CHECKING:
    from .writer import Writer

_PAST = {"create": "created", "delete": "deleted", "abort": "aborted", "fence": "fenced"}
FRESH = 10  # resources whose fresh state is shown
_LABELS = {"unknown": "outcome unknown", "skipped": "skipped"}
_OTHER = {
    "unknown": "it may still happen; check before retrying",
    "skipped": "not sent, as something before it failed",
}


def draw_outcome(outcome: Outcome, writer: Writer) -> None:
    """Done changes and the fresh state on `out`; failed and unknown ones, and the undo, on `err`.

    The undo is not told again where it was told before a question.

    What was refused while planning was shown with the plan and is only counted here. A dry run
    is its plan, on `out`, with all refusals and the broker's verdicts on `err`.
    """
    if outcome.dry_run:
        pane = writer.out
        limit = LONG if pane.terminal else None
        pane.lines(plan_lines(outcome.plan, limit=limit, room=pane.width, refused=False))
        writer.err.lines(trouble_lines(outcome, writer.err.width))
        planned = (item.change for item in outcome.changes if item.status == "planned")
        pane.lines(undo_lines(outcome.undo, lost_by(planned)))
        writer.err.line(_verdict(outcome))
        return
    writer.out.lines(done_lines(outcome))
    writer.err.lines(trouble_lines(outcome, writer.err.width))
    if not outcome.told:
        done = (item.change for item in outcome.changes if item.status == "done")
        writer.err.lines(undo_lines(outcome.undo, lost_by(done), outcome.entry))
    if len(_done_resources(outcome)) <= FRESH:
        writer.write(outcome.fresh)
    writer.err.lines(look_lines(outcome))


def draw_trouble(outcome: Outcome, pane: Pane) -> None:
    """What did not go well, in every format."""
    pane.lines(trouble_lines(outcome, pane.width))
    pane.lines(look_lines(outcome))
    if outcome.dry_run:
        pane.line(_verdict(outcome))


def look_lines(outcome: Outcome) -> Iterator[Text]:
    """`look: <line>` after a change that goes on by itself and that nobody followed."""
    plan = outcome.plan
    done = any(item.status == "done" for item in outcome.changes)
    if plan.look and plan.waited is None and done:
        yield text("look:", "hint") + " " + text(plan.look)
    if outcome.look:
        yield text("look:", "hint") + " " + text(outcome.look)
    if outcome.again:
        yield text("to go on:", "hint") + " " + text(outcome.again)
        yield text("which they are:", "hint") + " " + text(f"journal {outcome.entry} --output json")


def _verdict(outcome: Outcome) -> Text:
    """What a dry run says of itself, and what the broker says to the plan."""
    steps = outcome.plan.steps
    if outcome.plan.effect is Effect.DESTROY and steps and not outcome.ok:
        said = "nothing would be sent while some items are invalid; nothing was changed"
    elif not all(step.validates for step in steps):
        said = "nothing was changed (the broker was not asked: its API cannot only validate)"
        if any(step.validates for step in steps):
            said = "nothing was changed (the broker was asked about a part only)"
    elif steps and all(item.status == "planned" for item in outcome.changes):
        rest = "it" if outcome.plan.refused.ok else "the rest"
        return text(f"dry run: the broker accepts {rest}; nothing was changed", "hint")
    else:
        said = "nothing was changed"
    return text(f"dry run: {said}", "hint")


def done_lines(outcome: Outcome) -> Iterator[Text]:
    """`created topic orders`, a line a resource; counts where there are many."""
    done = [item.change for item in outcome.changes if item.status == "done"]
    resources = _done_resources(outcome)
    if len(resources) > MANY:
        yield text("done: ", "good") + text(counted(done))
        return
    for first in resources:
        yield _did([change for change in done if change.resource == first.resource])


def _done_resources(outcome: Outcome) -> list[Change]:
    return set_of_resources([item.change for item in outcome.changes if item.status == "done"])


def _did(changes: Sequence[Change]) -> Text:
    verbs = {change.verb for change in changes}
    past = _PAST.get(verbs.pop(), "altered") if len(verbs) == 1 else "altered"
    fields = ", ".join(dict.fromkeys(change.field for change in changes if change.field))
    line = text(past, "good") + " " + text(str(changes[0].resource), "name")
    return line + (f": {fields}" if fields else "")


def trouble_lines(outcome: Outcome, room: int | None = None) -> Iterator[Text]:
    """All that failed or is unknown, each with its reason; then the counts."""
    if outcome.dry_run:
        yield from refused_lines(outcome.plan, room)
    alike: dict[tuple[str, str], list[Done]] = {}
    for item in outcome.changes:
        if item.status not in ("done", "planned") and not (
            outcome.aborted and item.status == "skipped"
        ):
            reason = item.failure.name if item.failure else ""
            alike.setdefault((item.status, reason), []).append(item)
    for items in alike.values():
        yield from _troubles(items, outcome.entry, room)
    if outcome.aborted:
        yield from _nothing_sent(outcome, room)
        return
    line = _counts(outcome)
    if line and not outcome.dry_run:
        yield text(line, "heading")


def _nothing_sent(outcome: Outcome, room: int | None) -> Iterator[Text]:
    invalid = {resource.name for resource in outcome.plan.refused.failures}
    invalid |= {item.change.resource.name for item in outcome.changes if item.status == "failed"}
    asked = invalid | {item.change.resource.name for item in outcome.changes}
    are = "is" if len(invalid) == 1 else "are"
    said = f"nothing was sent: {len(invalid):,} of {len(asked):,} items {are} invalid"
    yield from hang(text("error: ", "error") + text(said), room, 2)
    hint = "A command that destroys data does all of it or nothing. Leave the invalid items out."
    yield from hang(text("hint: ", "hint") + text(hint), room, 2)


def _troubles(items: Sequence[Done], entry: str, room: int | None) -> Iterator[Text]:
    """What ended alike, each by itself; of very many their number and the first of them."""
    resources = set_of_resources([item.change for item in items])
    if len(resources) <= MANY:
        for item in items:
            yield from _trouble(item, room)
        return
    yield from _trouble(items[0], room)
    status = items[0].status
    lead = text("error: ", "error") if status == "failed" else _label(status)
    yield from hang(lead + text(same_for([r.resource for r in resources], entry)), room, 2)


def _label(status: str) -> Text:
    return text(f"{_LABELS[status]}: ", "warning")


def _trouble(item: Done, room: int | None) -> Iterator[Text]:
    failure = item.failure
    parts = [part for part in (str(item.change.resource), item.change.field) if part]
    if item.status == "failed":
        told = failure or Failure("UNKNOWN", "no reason given")
        about = " ".join(part for part in parts if not names(told.message, part))
        yield from failure_lines(told, about, room)
        return
    why = f" ({failure})" if failure else ""
    yield from hang(
        _label(item.status) + text(f"{' '.join(parts)}: {_OTHER.get(item.status, '')}{why}"),
        room,
        2,
    )


def _counts(outcome: Outcome) -> str:
    """`2 done, 1 failed`; nothing where all is done."""
    if outcome.ok or len(outcome.changes) + len(outcome.plan.refused.failures) == 1:
        return ""
    counts: dict[str, int] = {}
    for item in outcome.changes:
        counts[item.status] = counts.get(item.status, 0) + 1
    if outcome.plan.refused.failures:
        counts["refused"] = len(outcome.plan.refused.failures)
    return ", ".join(f"{count:,} {status}" for status, count in counts.items())
