"""The steps of a plan on their way: sent in order, followed to their end, kept in the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any

from kafka_shell import journal
from kafka_shell.context import Context
from kafka_shell.errors import EndedElsewhere, ShellError, Status
from kafka_shell.structs import replace

from .counts import counted
from .look import hint_of
from .model import Change, Plan, Report, Step
from .outcome import Done, JournalEntry
from .results import Failure
from .undo import take_back, undo_unknown

# Errors after which a change may still happen: ours of a whole request, Kafka's of one item.
OUTCOME_UNKNOWN = frozenset({"deadline", "outcome-unknown", "REQUEST_TIMED_OUT"})

# What the prompt sends and what a move's end sends in the background: a throttle that one sets must
# not be lifted by the other before the move that wants it has begun.
_SENDING = Lock()


def send_journalled(
    plan: Plan, context: Context, intent: JournalEntry, before: Sequence[Done] = ()
) -> list[Done]:
    """Send, and write the outcome down with what was done `before` in the same entry."""
    done: list[Done] = []
    try:
        _send(plan, context, done)
    except KeyboardInterrupt:
        look = plan.look or retry_line(intent.command, done)
        raise _interrupted(done, look, intent) from None
    finally:
        every = [*before, *done]
        journal.record_outcome(context, intent, every, undo_lines(every))
    return done


def retry_line(command: str, done: Sequence[Done]) -> str:
    """The line that does what was not sent, and leaves alone what is done; none where there is no
    such."""
    left = [item.change for item in done if item.status == "skipped"]
    if not left or any(change.resource.kind != "topic" for change in left):
        return ""
    create = any(change.verb == "create" for change in left)
    if not create or "--if-not-exists" in command:
        return command
    options, dashes, names = command.partition(" -- ")
    return f"{options} --if-not-exists{dashes}{names}"


def _interrupted(done: Sequence[Done], look: str, intent: JournalEntry) -> ShellError:
    counts = {
        status: len(list(changes_with(done, status))) for status in ("done", "unknown", "skipped")
    }
    if counts["unknown"] or counts["skipped"]:
        when = (
            f": {counted(counts['done'], 'change')} done, {counts['unknown']:,} with unknown"
            f" outcome, {counts['skipped']:,} not sent"
        )
    else:
        when = " after everything was sent"
    return ShellError(
        f"interrupted{when}",
        hint=f"See what was done, and the undo: journal {intent.id}"
        + (f"\nTo go on: {look}" if look else ""),
        code="interrupted",
        status=Status.INTERRUPTED,
    )


def _send(plan: Plan, context: Context, done: list[Done]) -> None:
    """Send the steps in order into `done`; the steps after one with no answer are skipped."""
    cluster, left, total = context.cluster, list(plan.steps), count_to_report(plan)
    try:
        stop = False
        with _SENDING:
            while left and not stop:
                stop = _send_step(left.pop(0), cluster, done)
                if total:
                    context.report("Changing", len(done), total)
                stop = stop or (plan.chained and any(item.status != "done" for item in done))
    finally:
        done.extend(Done(change, "skipped") for step in left for change in step.changes)
    if plan.waited is None or stop:
        return
    elsewhere = follow(plan, context)
    with _SENDING:
        for step in plan.afterwards:
            _send_step(step, cluster, done)
    if elsewhere is not None:
        raise elsewhere


def follow(plan: Plan, context: Context) -> EndedElsewhere | None:
    """Watch a long change to its end, if the plan wants that; what is wrong with the end. Raises
    ShellError where the end was not seen."""
    if plan.waited is None:
        return None
    try:
        plan.waited(context.cluster, context.report)
    except EndedElsewhere as error:
        return error
    except ShellError as error:
        error.hint = "\n".join(filter(None, (error.hint, plan.look and f"To go on: {plan.look}")))
        raise
    return None


def leave_to_prompt(
    plan: Plan, context: Context, intent: JournalEntry, done: Sequence[Done]
) -> None:
    """Have the prompt follow a change that nobody waits for, over a connection of its own."""
    ended = set(changes_with(done, "done"))
    begun = plan.steps and not ended.isdisjoint(plan.steps[-1].changes)  # not its throttle alone
    if plan.follow is None or plan.waits or context.shell is None or not begun:
        return
    shell, apart = context.shell, context.elsewhere(context.settings)

    def work(report: Report) -> str:
        try:
            return _followed(plan, replace(apart, report=report), intent, done)
        finally:
            apart.close()
            shell.refresh(plan.touches)

    shell.in_background(work, plan.look)


def _followed(plan: Plan, context: Context, intent: JournalEntry, before: Sequence[Done]) -> str:
    """Watch to the end, then do what comes afterwards; what there is to say."""
    command = intent.command
    try:
        elsewhere = follow(replace(plan, waits=True), context)
        if plan.afterwards:
            last = replace(plan, steps=plan.afterwards, follow=None, afterwards=())
            done = send_journalled(last, context, intent, before)
            for item in done:
                if item.failure is not None:
                    said = f"{item.change.resource}: {item.failure} ({command})"
                    return "\n".join(filter(None, (said, hint_of(item.failure))))
        if elsewhere is not None:
            raise elsewhere
    except ShellError as error:
        return "\n".join(filter(None, (f"{error.message} ({command})", hint_of(error))))
    return f"done: {command}"


def _send_step(step: Step, cluster: Any, done: list[Done]) -> bool:
    """Send one step; whether its answer was lost, so that nobody knows what became of it."""
    try:
        results = step.send(cluster, validate_only=False)
    except ShellError as error:
        status = "unknown" if error.code in OUTCOME_UNKNOWN else "failed"
        why = Failure(error.code, error.message, hint=error.hint, see=error.see)
        done.extend(Done(change, status, why) for change in step.changes)
        return True
    except BaseException:  # Ctrl-C, a signal, a mistake of ours: it may have been sent by then
        done.extend(Done(change, "unknown") for change in step.changes)
        raise
    for change in step.changes:
        why_not = results.failures.get(change)
        told = results.values.get(change, change)  # it may have become something else
        done.append(Done(told, _status(why_not), why_not))
    return False


def _status(why_not: Failure | None) -> str:
    if why_not is None:
        return "done"
    return "unknown" if why_not.name in OUTCOME_UNKNOWN else "failed"


def changes_with(done: Iterable[Done], status: str) -> Iterable[Change]:
    return (item.change for item in done if item.status == status)


def undo_lines(done: Sequence[Done], status: str = "done") -> tuple[str, ...]:
    """The commands that undo what ended so, the last first; before them those that undo what may
    have happened, marked as such."""
    return (
        *undo_unknown(changes_with(done, "unknown")),
        *take_back(changes_with(done, status)),
    )


def count_to_report(plan: Plan) -> int:
    """How many changes there are to tell the progress of; 0 for a plan of one request. Asked for
    once: a plan makes its changes anew each time."""
    return len(plan.changes) if len(plan.steps) > 1 else 0
