"""The one place that changes a cluster: a Plan is validated, shown, asked about, sent, reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from kafka_shell import identity, journal
from kafka_shell.context import Context
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.quoting import quote
from kafka_shell.structs import replace

from .counts import name_few, question
from .look import look_at
from .model import Change, Effect, Plan, Step
from .outcome import Done, Outcome
from .results import Failure
from .sending import (
    OUTCOME_UNKNOWN,
    changes_with,
    count_to_report,
    follow,
    leave_to_prompt,
    retry_line,
    send_journalled,
    undo_lines,
)
from .undo import take_back, undo_unknown

_READ = 100  # changes whose fresh state anybody reads

Show = Callable[[Plan, Sequence[str]], None]
Verdicts = dict[Change, Failure]

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
        return Outcome(plan, planned, undo_lines(planned, "planned"), dry_run=True)
    asks = plan.confirm or plan.effect is Effect.DESTROY or guard in ("confirm", "typed")
    told = undo if asks and _is_question(context, guard, yes) else ()
    show(plan, told)
    if _is_refused_partly(plan, verdicts):
        return Outcome(plan, tuple(_not_sent(plan, verdicts)), aborted=True)
    if not plan.steps:
        if elsewhere := follow(plan, context):  # what was asked for may be on its way
            raise elsewhere
        return Outcome(plan, ())
    if len(verdicts) == len(plan.changes):
        refused = tuple(Done(change, "failed", verdicts[change]) for change in plan.changes)
        return Outcome(plan, refused)
    if asks and _confirmed(plan, context, guard, yes):
        plan = _still_the_same(plan, context.cluster)
    # Until the outcome is written, all of it is unknown.
    unknown = undo_unknown(plan.changes)
    intent = journal.record_intent(context, command, plan.changes, unknown)
    try:
        done = send_journalled(plan, context, intent)
    finally:  # what was interrupted has changed something, too
        if context.shell is not None:
            context.shell.refresh(plan.touches)
    leave_to_prompt(plan, context, intent, done)
    left = undo_lines(done)
    return Outcome(
        plan,
        tuple(done),
        left,
        _fresh(plan, context, done),
        told=left == told,
        again=retry_line(command, done),
        look=look_at(changes_with(done, "unknown")),
        entry=intent.id,
    )


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
    asked, total = 0, count_to_report(plan)
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
        if error.code not in OUTCOME_UNKNOWN:
            raise
        late = error.message.removesuffix(": the change may still happen")
        raise ShellError(
            f"{name_few(change.resource for change in step.changes)}: not validated: {late}",
            hint=f"{_NOTHING_SENT} Give it longer with --deadline.",
            code=error.code,
            status=error.status,
        ) from None
    return {
        change: replace(why, hint=_NOTHING_SENT) if why.name in OUTCOME_UNKNOWN else why
        for change, why in found.items()
    }


def _planned(plan: Plan, verdicts: Verdicts) -> Iterable[Done]:
    for change in plan.changes:
        why = verdicts.get(change)
        yield Done(change, "failed" if why else "planned", why)


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


def _still_the_same(plan: Plan, cluster: Any) -> Plan:
    """The plan that was agreed to, on the cluster and the state that it was made for."""
    try:
        cluster.check_identity()
        return _read_again(plan, cluster)
    except ShellError as error:
        if "Nothing was sent" not in error.hint:
            error.hint = "\n".join(filter(None, ("Nothing was sent.", error.hint)))
        raise


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


def _fresh(plan: Plan, context: Context, done: Sequence[Done]) -> Any:
    """The state afterwards; a failure to read it does not undo what was done."""
    ended = sum(item.status == "done" for item in done)
    if plan.fresh is None or not 0 < ended <= _READ:
        return None
    try:
        return plan.fresh(context.cluster)
    except ShellError:
        return None
