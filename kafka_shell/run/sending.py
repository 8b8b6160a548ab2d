"""Sending the steps of a plan in order, following long-running changes, and journaling both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

from kafka_shell import journal
from kafka_shell.base.errors import ShellError, Status, UnexpectedEnd
from kafka_shell.base.outcome import ChangeResult, JournalEntry, has_moves
from kafka_shell.base.plans import (
    SENDING,
    Change,
    Monitor,
    Order,
    Outcomes,
    Plan,
    Report,
    Step,
    StepInterrupted,
)
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.commands.options import add_resume
from kafka_shell.context import Context
from kafka_shell.output.change_kinds import undo_lines, unknown_undo_lines
from kafka_shell.output.resource_kinds import hint_of, touched
from kafka_shell.wire.failures import OtherClusterError

_READ_S = 3.0  # after Ctrl-C, to read which changes were applied
# Error codes after which a change may still happen: ours for a request, Kafka's for an item.
OUTCOME_UNKNOWN = frozenset({"deadline", "outcome-unknown", "REQUEST_TIMED_OUT"})


def send_and_journal(
    plan: Plan, context: Context, intent: JournalEntry, before: Sequence[ChangeResult] = ()
) -> list[ChangeResult]:
    """Send the plan and write the outcome to the journal entry, after that of the changes
    `before`."""
    done: list[ChangeResult] = []
    monitor = plan.bookkeeping.monitor or Monitor()

    def save(progress: dict[str, Any]) -> None:
        journal.record_progress(context, intent, progress)
        monitor.saved = progress

    monitor.report, monitor.save = context.report, save
    try:
        _send(plan, context, done)
    except KeyboardInterrupt:
        resume = continue_line(plan, intent, done)
        raise _interrupted(done, resume, intent) from None
    except OtherClusterError as error:
        error.sent = True
        error.hint = f"To see the changes made before, run journal {intent.id}"
        raise
    except ShellError as error:  # of the wait
        if any(item.status in ("failed", "unknown") for item in done):
            line = f"To see which changes were applied, run journal {intent.id}"
            error.hint = "\n".join(filter(None, (error.hint, line)))
        if outcome_undo_lines(done):
            error.hint = f"{error.hint}\nTo undo: undo {intent.id}".strip()
        raise
    finally:
        all_done = [*before, *done]
        undo = outcome_undo_lines(all_done)
        intent = replace(intent, progress=monitor.saved)
        entry = journal.record_outcome(context, intent, all_done, undo)
        if entry.status == "done" and plan.refused.ok:
            journal.mark_undone(context, plan.bookkeeping.undoes)
    return done


def continue_line(plan: Plan, entry: JournalEntry, done: Sequence[ChangeResult]) -> str:
    """The command that continues an interrupted plan, or an empty string."""
    if plan.bookkeeping.repeatable and any(item.status in ("unknown", "skipped") for item in done):
        return entry.command
    waiting = [replace(item, status="skipped") if _is_throttled(item) else item for item in done]
    return (
        plan.following.resume
        or resume_line(plan, entry)
        or retry_line(plan, entry.command, waiting)
    )


def _is_throttled(item: ChangeResult) -> bool:
    """Whether a quota refused it, so that it may succeed later."""
    return item.failure is not None and item.failure.name == "THROTTLING_QUOTA_EXCEEDED"


def retry_line(plan: Plan, command: str, done: Sequence[ChangeResult]) -> str:
    """The command that retries the unsent changes, or an empty string."""
    if plan.bookkeeping.repeatable:
        return command if any(item.status == "skipped" for item in done) else ""
    skipped = [item.change for item in done if item.status == "skipped"]
    if not skipped or any(change.resource.kind != "topic" for change in skipped):
        return ""
    create = any(change.verb == "create" for change in skipped)
    if not create or "--if-not-exists" in command:
        return command
    options, dashes, names = command.partition(" -- ")
    return f"{options} --if-not-exists{dashes}{names}"


def resume_line(plan: Plan, entry: JournalEntry) -> str:
    """The command that continues a plan that saved its progress, or an empty string."""
    monitor = plan.bookkeeping.monitor
    saved = monitor.saved if monitor is not None else {}
    return replace(entry, progress=saved).continuation


def _interrupted(done: Sequence[ChangeResult], resume: str, intent: JournalEntry) -> ShellError:
    others = {"unknown": "with unknown outcome", "failed": "not applied", "skipped": "not sent"}
    counts = Counter(item.status for item in done)
    if any(item.change.of_records for item in done):
        when = _records_written(done)
    elif any(counts[status] for status in others):
        applied = f"{counted(counts['done'], 'change')} applied"
        parts = (f"{counts[status]:,} {what}" for status, what in others.items() if counts[status])
        when = f": {', '.join([applied, *parts])}"
    else:
        when = " after all changes were sent"
    undo = " and how to undo it" if any(item.change.reversible for item in done) else ""
    return ShellError(
        f"interrupted{when}",
        hint=f"To see what was changed{undo}: journal {intent.id}"
        + (f"\nTo continue: {resume}" if resume else ""),
        code="interrupted",
        status=Status.INTERRUPTED,
    )


def _records_written(done: Sequence[ChangeResult]) -> str:
    counts = {
        status: sum(change.records for change in changes_with(done, status))
        for status in ("done", "unknown")
    }
    unknown = f", {counts['unknown']:,} with unknown outcome" if counts["unknown"] else ""
    return f": {counted(counts['done'], 'record')} written{unknown}"


def _send(plan: Plan, context: Context, done: list[ChangeResult]) -> None:
    """Send the steps in order, and append to `done`. Steps after one without answer are skipped.
    Moves that were started are followed nevertheless: their throttle is removed at their end."""
    cluster, left, total = context.cluster, list(plan.steps), progress_total(plan)
    chained = Order.CHAINED in plan.order
    try:
        stop = False
        with _sending(context):
            while left and not stop:
                stop = _send_step(left.pop(0), cluster, done)
                if total:
                    context.report("Applying changes", len(done), total)
                stop = stop or (chained and any(item.status != "done" for item in done))
    finally:
        done.extend(ChangeResult(change, "skipped") for step in left for change in step.changes)
    if plan.following.waited is None or (stop and not has_moves(done, "done")):
        return
    unexpected_end = follow(plan, context)
    with SENDING:
        for step in plan.following.afterwards:
            _send_step(step, cluster, done)
    if unexpected_end is not None:
        raise unexpected_end


@contextmanager
def _sending(context: Context) -> Iterator[None]:
    """Wait until no other plan is being sent. Raises ShellError at the deadline."""
    task = "Waiting until another change is sent"
    waited = False
    while not SENDING.acquire(timeout=1):
        waited = True
        context.report(task, 0, None)
        context.cluster.pause(0, "another change is still being sent")
    if waited:
        context.report(task, 1, 1)
    try:
        yield
    finally:
        SENDING.release()


def follow(plan: Plan, context: Context) -> UnexpectedEnd | None:
    """Wait for the end of a long-running change, if the plan waits. Returns the error of an
    unexpected end. Raises ShellError if the wait itself failed."""
    if plan.following.waited is None:
        return None
    try:
        plan.following.waited(context.cluster, context.report)
    except UnexpectedEnd as error:
        return error
    except ShellError as error:
        add_resume(error, plan.following.resume)
        raise
    return None


def follow_in_background(
    plan: Plan, context: Context, intent: JournalEntry, done: Sequence[ChangeResult]
) -> None:
    """Follow a change that the plan does not wait for from the prompt, over its own connection."""
    # Changes of configs alone are its throttle.
    started = any(change.resource.kind != "throttle" for change in changes_with(done, "done"))
    following = plan.following
    if following.follow is None or following.waits or context.shell is None or not started:
        return
    shell, background = context.shell, context.with_settings(context.settings)
    # The prompt may be connected to another cluster when it ends.
    plan = plan.followed(resume=context.settings.connecting(plan.following.resume))

    def work(report: Report) -> str:
        try:
            reporting = replace(background, report=report)
            return _follow_and_finish(plan, reporting, intent, done)
        finally:
            background.close()
            shell.refresh(touched(plan.changes))

    shell.in_background(work, plan.following.resume, context.settings)


def _follow_and_finish(
    plan: Plan, context: Context, intent: JournalEntry, before: Sequence[ChangeResult]
) -> str:
    """Wait for the end, then send the steps of `afterwards`. Returns the message for the user."""
    command = intent.command
    try:
        unexpected_end = follow(plan.followed(waits=True), context)
        failed = _finish(plan, context, intent, before)
        if failed:
            return "\n".join(_failure_lines(failed, command))
        if unexpected_end is not None:
            raise unexpected_end
    except ShellError as error:
        return "\n".join(filter(None, (f"{error.message} ({command})", hint_of(error))))
    return f"done: {command}"


def _failure_lines(failed: Sequence[ChangeResult], command: str) -> Iterator[str]:
    """A line for each failure, and the hint of several once."""
    for item in failed:
        yield f"{item.change.resource}: {item.failure} ({command})"
    yield from dict.fromkeys(
        item.failure.hint for item in failed if item.failure and item.failure.hint
    )


def _finish(
    plan: Plan, context: Context, intent: JournalEntry, before: Sequence[ChangeResult]
) -> list[ChangeResult]:
    """Send the steps of `afterwards`. Returns what failed."""
    if not plan.following.afterwards:
        return []
    last = replace(plan, steps=plan.following.afterwards).followed(follow=None, afterwards=())
    sent = send_and_journal(last, context, intent, before)
    return [item for item in sent if item.failure is not None]


def _send_step(step: Step, cluster: Any, done: list[ChangeResult]) -> bool:
    """Send one step and append to `done`. Returns whether the request as a whole failed."""
    try:
        results = step.send(cluster, validate_only=False)
    except ShellError as error:
        status = "unknown" if error.code in OUTCOME_UNKNOWN else "failed"
        failure = as_failure(error)
        done.extend(ChangeResult(change, status, failure) for change in step.changes)
        return True
    except KeyboardInterrupt as interrupted:
        known = interrupted.outcomes if isinstance(interrupted, StepInterrupted) else Results()
        done.extend(_outcomes(step, known, _shown(step, cluster, known)))
        raise
    except BaseException:  # a signal or a bug: the request may have been sent
        done.extend(ChangeResult(change, "unknown") for change in step.changes)
        raise
    done.extend(_outcomes(step, results))
    return False


def _outcomes(
    step: Step, results: Outcomes, shown: Set[Change] = frozenset()
) -> Iterator[ChangeResult]:
    """The status of each change of the step, or of those that it returns instead. A change without
    a result has an unknown outcome, unless the cluster has `shown` it."""
    planned = step.changes
    known = results.values.keys() | results.failures.keys()
    instead = (*results.values, *results.failures) if known.isdisjoint(planned) else ()
    for change in instead or planned:
        item_failure = results.failures.get(change)
        if change not in known or (_status(item_failure) == "unknown" and change in shown):
            yield ChangeResult(change, "done" if change in shown else "unknown")
            continue
        applied = results.values.get(change, change)  # the broker may have changed the value
        yield ChangeResult(applied, _status(item_failure), item_failure)


def _shown(step: Step, cluster: Any, known: Outcomes) -> Set[Change]:
    """The changes that the cluster shows after Ctrl-C, unless all are known to be done."""
    if known.values.keys() >= {*step.changes}:
        return frozenset()
    try:
        with cluster.within(_READ_S):
            return step.shown(cluster)
    except (ShellError, KeyboardInterrupt):  # Ctrl-C again
        return frozenset()


def _status(failure: Failure | None) -> str:
    if failure is None:
        return "done"
    return "unknown" if failure.name in OUTCOME_UNKNOWN else "failed"


def changes_with(done: Iterable[ChangeResult], status: str) -> Iterable[Change]:
    """The changes that have this status."""
    return (item.change for item in done if item.status == status)


def outcome_undo_lines(done: Sequence[ChangeResult], status: str = "done") -> tuple[str, ...]:
    """The commands that undo the changes with this status, the last one first. Before them those
    that undo changes with unknown outcome, marked as such."""
    return (
        *unknown_undo_lines(changes_with(done, "unknown")),
        *undo_lines(changes_with(done, status)),
    )


def progress_total(plan: Plan) -> int:
    """The number of changes for progress reports, or 0 for a plan of one request. Call it once: a
    plan builds its changes each time."""
    return len(plan.changes) if len(plan.steps) > 1 else 0
