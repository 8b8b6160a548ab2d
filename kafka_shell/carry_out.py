"""The one place that changes a cluster: a Plan is validated, shown, asked about, sent, reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from kafka_shell import identity, journal
from kafka_shell.context import Context
from kafka_shell.errors import EndedElsewhere, ShellError, Status, UsageError
from kafka_shell.nouns import (
    Change,
    Done,
    Effect,
    Failure,
    JournalEntry,
    Outcome,
    Plan,
    Report,
    Results,
    Step,
)
from kafka_shell.nouns.kinds import counted, name_few, question
from kafka_shell.quoting import quote
from kafka_shell.takeback import take_back, undo_unknown
from kafka_shell.takeback.look import look_at

_READ = 100  # changes whose fresh state anybody reads

# What the prompt sends and what a move's end sends in the background: a throttle that one sets must
# not be lifted by the other before the move that wants it has begun.
_SENDING = Lock()

Show = Callable[[Plan, Sequence[str]], None]
Verdicts = dict[Change, Failure]

# Errors after which a change may still happen: ours of a whole request, Kafka's of one item.
_NOBODY_KNOWS = frozenset({"deadline", "outcome-unknown", "REQUEST_TIMED_OUT"})
_NOTHING_SENT = "Only the validation timed out: nothing was sent."


def carry_out(
    plan: Plan,
    context: Context,
    *,
    command: str,
    show: Show,
    dry_run: bool = False,
    yes: str | bool | None = None,
) -> Outcome:
    """Validate, show, ask, read again, journal, send, report, refresh, read the fresh state.

    `yes` is True for --yes, the text of --yes=TEXT, or None. Raises ShellError where nothing was
    sent: a guard refuses, nobody could be asked, the answer was no, or the cluster changed since.
    """
    guard = "" if dry_run else _guard(context, plan)
    _check_consent(context, yes)
    undo = take_back(plan.changes)
    verdicts = _validate(plan, context)
    if dry_run:
        planned = tuple(_planned(plan, verdicts))
        return Outcome(plan, planned, _undo(planned, "planned"), dry_run=True)
    asks = plan.confirm or plan.effect is Effect.DESTROY or guard in ("confirm", "typed")
    told = undo if asks and _is_question(context, guard, yes) else ()
    show(plan, told)
    if _is_refused_partly(plan, verdicts):
        return Outcome(plan, tuple(_not_sent(plan, verdicts)), aborted=True)
    if not plan.steps:
        if elsewhere := _follow(plan, context):  # what was asked for may be on its way
            raise elsewhere
        return Outcome(plan, ())
    if len(verdicts) == len(plan.changes):
        refused = tuple(Done(change, "failed", verdicts[change]) for change in plan.changes)
        return Outcome(plan, refused)
    if asks and _confirmed(plan, context, guard, yes):
        context.cluster.check_identity()
        plan = _read_again(plan, context.cluster)
    # Until the outcome is written, all of it is unknown.
    unknown = undo_unknown(plan.changes)
    intent = journal.record_intent(context, command, plan.changes, unknown)
    try:
        done = _send_journalled(plan, context, intent)
    finally:  # what was interrupted has changed something, too
        if context.shell is not None:
            context.shell.refresh(plan.touches)
    _leave_to_prompt(plan, context, intent, done)
    left = _undo(done)
    return Outcome(
        plan,
        tuple(done),
        left,
        _fresh(plan, context, done),
        told=left == told,
        again=_again(command, done),
        look=look_at(_ended(done, "unknown")),
        entry=intent.id,
    )


def apply(plan: Plan, cluster: Any) -> Results[Change, Change]:
    """The silent half: send a plan without a word, for programs and demo data."""
    results: Results[Change, Change] = Results()
    for step in plan.steps:
        if plan.chained and not results.ok:
            return results
        results = Results.merge([results, step.send(cluster, validate_only=False)])
    if plan.waited is not None:
        plan.waited(cluster, lambda task, done, total: None)
    after = plan.afterwards if plan.waits else ()
    return Results.merge([results, *(step.send(cluster, validate_only=False) for step in after)])


# -- before anything is sent -----------------------------------------------------------------------


def _guard(context: Context, plan: Plan) -> str:
    if not plan.steps:
        return context.settings.guard
    guard, profile = identity.guard_of(context)
    if guard == "read-only":
        raise ShellError(
            f"profile {profile} is read-only: nothing is changed through it"
            if profile == context.settings.profile
            else f"profile {profile} makes this cluster read-only: nothing is changed",
            hint="Use a profile with another guard, or --dry-run to see the plan.",
            code="read-only",
        )
    return guard


def _check_consent(context: Context, yes: str | bool | None) -> None:
    """Raise where --yes=TEXT names anything but this cluster: `--yes=no` must not be a yes."""
    if isinstance(yes, str) and yes != (name := _cluster_name(context)):
        raise ShellError(
            f"{yes!r} is not {name}: nothing was changed",
            hint=f"--yes takes no value but the cluster's name: --yes or --yes={quote(name)}",
            code="declined",
        )


def _is_refused_partly(plan: Plan, verdicts: Verdicts) -> bool:
    """Whether a part of a plan that destroys is invalid: then none of it is sent."""
    invalid = len(plan.refused.failures) + len(verdicts)
    if plan.effect is not Effect.DESTROY or not plan.steps or not invalid:
        return False
    return len(verdicts) < len(plan.changes) or not plan.refused.ok


def _not_sent(plan: Plan, verdicts: Verdicts) -> Iterator[Done]:
    for change in plan.changes:
        why = verdicts.get(change)
        yield Done(change, "failed" if why else "skipped", why)


def _validate(plan: Plan, context: Context) -> Verdicts:
    """What the broker would refuse, where its API can tell."""
    verdicts: Verdicts = {}
    asked, total = 0, _told(plan)
    for step in plan.steps:
        if step.validates:
            verdicts.update(_verdicts(step, context))
        if total:
            asked += len(step.changes)
            context.report("Asking the broker", asked, total)
    return verdicts


def _verdicts(step: Step, context: Context) -> Verdicts:
    """What the broker would refuse of one step. Nothing was sent, whatever became of the answer."""
    try:
        found = step.send(context.cluster, validate_only=True).failures
    except ShellError as error:
        if error.code not in _NOBODY_KNOWS:
            raise
        late = error.message.removesuffix(": the change may still happen")
        raise ShellError(
            f"{name_few(change.resource for change in step.changes)}: not validated: {late}",
            hint=f"{_NOTHING_SENT} Give it longer with --deadline.",
            code=error.code,
            status=error.status,
        ) from None
    return {
        change: replace(why, hint=_NOTHING_SENT) if why.name in _NOBODY_KNOWS else why
        for change, why in found.items()
    }


def _told(plan: Plan) -> int:
    """How many changes there are to tell the progress of; 0 for a plan of one request. Asked for
    once: a plan makes its changes anew each time."""
    return len(plan.changes) if len(plan.steps) > 1 else 0


def _planned(plan: Plan, verdicts: Verdicts) -> Iterable[Done]:
    for change in plan.changes:
        why = verdicts.get(change)
        yield Done(change, "failed" if why else "planned", why)


def _ended(done: Iterable[Done], status: str) -> Iterable[Change]:
    return (item.change for item in done if item.status == status)


def _undo(done: Sequence[Done], status: str = "done") -> tuple[str, ...]:
    """The commands that undo what ended so, the last first; before them those that undo what may
    have happened, marked as such."""
    return (*undo_unknown(_ended(done, "unknown")), *take_back(_ended(done, status)))


def _is_question(context: Context, guard: str, yes: str | bool | None) -> bool:
    """Whether a person will be asked, as no option answers for them."""
    answered = isinstance(yes, str) if guard == "typed" else bool(yes)
    return context.ask is not None and not answered


def _confirmed(plan: Plan, context: Context, guard: str, yes: str | bool | None) -> bool:
    """Whether a person was asked (and agreed); False where --yes answers for them."""
    if guard == "typed":
        return _typed(plan, context, yes)
    if yes:
        return False
    if context.ask is None:
        raise _nobody_to_ask("--yes")
    if context.ask(f"{question(plan.changes)} [y/N] ").strip().lower() not in ("y", "yes"):
        raise ShellError("not confirmed: nothing was changed", code="declined")
    return True


def _typed(plan: Plan, context: Context, yes: str | bool | None) -> bool:
    name = _cluster_name(context)
    if isinstance(yes, str):
        answer, asked = yes, False
    elif context.ask is None:
        raise _nobody_to_ask(f"--yes={name}")
    else:
        asking = f"{question(plan.changes)} Type {name} to confirm: "
        answer, asked = context.ask(asking).strip(), True
    if answer != name:
        raise ShellError(
            f"{answer!r} is not {name}: nothing was changed",
            hint=f"This profile's guard wants the cluster's name: {name}",
            code="declined",
        )
    return asked


def _cluster_name(context: Context) -> str:
    """What a person calls this cluster: the profile whose guard holds, else its own or its
    address."""
    return identity.guard_of(context)[1] or context.settings.cluster_name


def _nobody_to_ask(option: str) -> UsageError:
    return UsageError(
        "this would have to be confirmed, and there is no terminal to ask at",
        hint=f"Nothing was changed. Add {option} to do it, or --dry-run to see the plan.",
        code="no-terminal",
    )


def _read_again(plan: Plan, cluster: Any) -> Plan:
    """The plan as the cluster is now; an error where it is no longer what was agreed to."""
    steps = tuple(step.again(cluster) for step in plan.steps)
    now = replace(plan, steps=steps)
    for old, new in zip(plan.changes, now.changes, strict=True):
        if old != new:
            field = f" {old.field}" if old.field else ""
            raise ShellError(
                f"{old.resource}{field} changed while the question was open:"
                f" it was {_held(old)}, it is {_held(new)}",
                hint="Nothing was sent. Run the command again to see the new plan.",
                code="changed-meanwhile",
            )
    return now


def _held(change: Change) -> Any:
    value = change.effective if change.before is None else change.before
    return "not set" if value is None else value


# -- sending ---------------------------------------------------------------------------------------


def _send_journalled(
    plan: Plan, context: Context, intent: JournalEntry, before: Sequence[Done] = ()
) -> list[Done]:
    """Send, and write the outcome down with what was done `before` in the same entry."""
    done: list[Done] = []
    try:
        _send(plan, context, done)
    except KeyboardInterrupt:
        look = plan.look or _again(intent.command, done)
        raise _interrupted(done, look, intent) from None
    finally:
        every = [*before, *done]
        journal.record_outcome(context, intent, every, _undo(every))
    return done


def _again(command: str, done: Sequence[Done]) -> str:
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
    counts = {status: len(list(_ended(done, status))) for status in ("done", "unknown", "skipped")}
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
    cluster, left, total = context.cluster, list(plan.steps), _told(plan)
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
    elsewhere = _follow(plan, context)
    with _SENDING:
        for step in plan.afterwards:
            _send_step(step, cluster, done)
    if elsewhere is not None:
        raise elsewhere


def _follow(plan: Plan, context: Context) -> EndedElsewhere | None:
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


def _leave_to_prompt(
    plan: Plan, context: Context, intent: JournalEntry, done: Sequence[Done]
) -> None:
    """Have the prompt follow a change that nobody waits for, over a connection of its own."""
    ended = set(_ended(done, "done"))
    begun = plan.steps and not ended.isdisjoint(plan.steps[-1].changes)  # not its throttle alone
    if plan.follow is None or plan.waits or context.shell is None or not begun:
        return
    shell, apart = context.shell, context.elsewhere(context.settings)

    def work(report: Report) -> str:
        apart.report = report
        try:
            return _followed(plan, apart, intent, done)
        finally:
            apart.close()
            shell.refresh(plan.touches)

    shell.in_background(work, plan.look)


def _followed(plan: Plan, context: Context, intent: JournalEntry, before: Sequence[Done]) -> str:
    """Watch to the end, then do what comes afterwards; what there is to say."""
    command = intent.command
    try:
        elsewhere = _follow(replace(plan, waits=True), context)
        if plan.afterwards:
            last = replace(plan, steps=plan.afterwards, follow=None, afterwards=())
            done = _send_journalled(last, context, intent, before)
            for item in done:
                if item.failure is not None:
                    said = f"{item.change.resource}: {item.failure} ({command})"
                    return "\n".join(filter(None, (said, item.failure.hint)))
        if elsewhere is not None:
            raise elsewhere
    except ShellError as error:
        return "\n".join(filter(None, (f"{error.message} ({command})", error.hint)))
    return f"done: {command}"


def _send_step(step: Step, cluster: Any, done: list[Done]) -> bool:
    """Send one step; whether its answer was lost, so that nobody knows what became of it."""
    try:
        results = step.send(cluster, validate_only=False)
    except ShellError as error:
        status = "unknown" if error.code in _NOBODY_KNOWS else "failed"
        why = Failure(error.code, error.message, hint=error.hint)
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
    return "unknown" if why_not.name in _NOBODY_KNOWS else "failed"


def _fresh(plan: Plan, context: Context, done: Sequence[Done]) -> Any:
    """The state afterwards; a failure to read it does not undo what was done."""
    ended = sum(item.status == "done" for item in done)
    if plan.fresh is None or not 0 < ended <= _READ:
        return None
    try:
        return plan.fresh(context.cluster)
    except ShellError:
        return None
