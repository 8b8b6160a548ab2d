"""The one place that changes a cluster: validate, show, ask, send and report a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kafka_shell import identity, journal
from kafka_shell.advice import advise
from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.outcome import ChangeResult, JournalEntry, Outcome
from kafka_shell.base.plans import Change, Effect, Plan, Step
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import quote
from kafka_shell.context import Context, confirmed
from kafka_shell.output.change_kinds import undo_lines, unknown_undo_lines
from kafka_shell.output.humanize import change_values, name_few, question
from kafka_shell.output.outcomes import draw_problems
from kafka_shell.output.resource_kinds import command_after, touched
from kafka_shell.output.text import hang, text
from kafka_shell.run.sending import (
    OUTCOME_UNKNOWN,
    changes_with,
    follow,
    follow_in_background,
    outcome_undo_lines,
    progress_total,
    resume_line,
    retry_line,
    send_and_journal,
)
from kafka_shell.wire.failures import OtherClusterError

if TYPE_CHECKING:
    from kafka_shell.base.plans import Runbook
    from kafka_shell.output.writer import Writer


_MAX_FRESH = 100  # changes after which the new state is still shown

# What is confirmed on a terminal: moves of replicas, whose plan has a rollback file, and others.
_ASKED = {("rollback-file", ""), ("replica", "log directory"), ("topic", "partitions")}

# Shows a plan and the commands that will undo it; without these, if nobody is asked.
Show = Callable[[Plan, Sequence[str] | None], None]
Verdicts = dict[Change, Failure]


def execute(
    plan: Plan,
    context: Context,
    *,
    command: str,
    show: Show,
    reveal: Callable[[Any], None],
    dry_run: bool = False,
    yes: str | bool | None = None,
) -> Outcome:
    """Validate, show, ask, read `before` again, journal, send, report, reload, read the new state.

    `yes` is True for --yes, the text of --yes=TEXT, or None. Raises ShellError if nothing was sent:
    a guard forbids it, it was not confirmed, or the cluster has changed since the plan was made.
    """
    book = plan.bookkeeping
    yes = None if context.script.asks else yes
    guard = "" if dry_run else _guard(context, plan)
    _check_consent(context, guard, yes)
    with _before_sending():
        plan = replace(plan, steps=tuple(step.resolved(context.cluster) for step in plan.steps))
        plan = advise(plan, context.cluster)
        verdicts = _validate(plan, context)
    if dry_run:
        planned = tuple(_planned(plan, verdicts))
        return Outcome(plan, planned, outcome_undo_lines(planned, "planned"), dry_run=True)
    confirm = _is_asked(plan, context, guard)
    asks = confirm and not _is_answered(guard, yes)
    shown_undo = undo_lines(plan.changes) if asks else None
    show(plan, shown_undo if plan.sends else ())
    if _is_refused_partly(plan, verdicts):
        return Outcome(plan, tuple(_not_sent(plan, verdicts)), aborted=True)
    if not plan.sends:
        if unexpected_end := follow(plan, context):  # the change may already be in progress
            raise unexpected_end
        if book.undoes and plan.refused.ok:  # the cluster is as it was before those changes
            with journal.undoing(context, book.undoes):
                journal.mark_undone(context, book.undoes)
        return Outcome(plan, ())
    if verdicts and len(verdicts) == len(plan.changes):
        refused = tuple(ChangeResult(change, "failed", verdicts[change]) for change in plan.changes)
        return Outcome(plan, refused)
    if confirm and _confirmed(question(plan.changes, plan.advice.stakes), context, guard, yes):
        with _before_sending():
            plan = _check_unchanged(plan, context.cluster)
    # Until the outcome is written, the outcome of every change is unknown.
    unknown = unknown_undo_lines(plan.changes)
    with journal.undoing(context, book.undoes), journal.continuing(context, book.continues):
        intent = journal.record_intent(context, command, plan.changes, unknown, book.undoes)
        try:
            with _revealing(plan, reveal):
                done = _send(plan, context, intent)
        finally:  # an interrupted plan may have changed something, too
            if context.shell is not None:
                context.shell.refresh(touched(plan.changes))
    follow_in_background(plan, context, intent, done)
    with _revealing(plan, reveal):
        fresh = _fresh(plan, context, done)
    undo = outcome_undo_lines(done)
    return Outcome(
        plan,
        tuple(done),
        undo,
        fresh,
        undo_shown=undo == shown_undo,
        retry=resume_line(plan, intent) or retry_line(plan, command, done),
        check=command_after(changes_with(done, "unknown")),
        entry=intent.id,
    )


@contextmanager
def _before_sending() -> Iterator[None]:
    """Ctrl-C changes nothing."""
    try:
        yield
    except KeyboardInterrupt:
        raise ShellError(
            "interrupted: nothing was changed", code="interrupted", status=Status.INTERRUPTED
        ) from None


@contextmanager
def _revealing(plan: Plan, reveal: Callable[[Any], None]) -> Iterator[None]:
    """Show generated secrets if no outcome will show them: they would be lost."""
    try:
        yield
    except BaseException:
        reveal(plan.bookkeeping.secrets)
        for secret in plan.bookkeeping.made():
            reveal(secret)
        raise


def _send(plan: Plan, context: Context, intent: JournalEntry) -> list[ChangeResult]:
    if plan.bookkeeping.monitor is None:
        return send_and_journal(plan, context, intent)
    with journal.in_use(context, intent.id):
        return send_and_journal(plan, context, intent)


def _is_asked(plan: Plan, context: Context, guard: str) -> bool:
    """Whether the plan is confirmed: always, or on a terminal because data or the leaders of
    several topics move, or partitions are added."""
    if plan.advice.confirm or plan.effect is Effect.DESTROY or guard in ("confirm", "typed"):
        return True
    if context.script.asks:
        return True
    if context.ask is None:
        return False
    led = {each.resource.name.rpartition(":")[0] for each in plan.changes if each.field == "leader"}
    return len(led) > 1 or any((each.resource.kind, each.field) in _ASKED for each in plan.changes)


# -- before anything is sent -----------------------------------------------------------------------


def consent(context: Context, question: str, yes: str | bool | None) -> str | bool:
    """Ask once for several plans that follow one another. Returns the `yes` to execute each of them
    with. Raises ShellError if a guard forbids changes, or if it was not confirmed."""
    guard = _guard_of_changes(context)
    _check_consent(context, guard, yes)
    _confirmed(question, context, guard, yes)
    return _cluster_name(context) if guard == "typed" else True


def _guard(context: Context, plan: Plan) -> str:
    return _guard_of_changes(context) if plan.sends else context.settings.guard


def _guard_of_changes(context: Context) -> str:
    guard, profile = identity.guard_of(context)
    if guard == "read-only":
        raise ShellError(
            f"profile {profile} is read-only (nothing was changed)"
            if profile == context.settings.profile
            else f"profile {profile} makes this cluster read-only (nothing was changed)",
            hint="Use a profile with another guard, or --dry-run to show the plan.",
            code="read-only",
        )
    return guard


def _check_consent(context: Context, guard: str, yes: str | bool | None) -> None:
    """Raise ShellError if --yes=TEXT does not name this cluster: `--yes=no` must not confirm."""
    if isinstance(yes, str) and yes != (name := _cluster_name(context)):
        raise ShellError(
            f"--yes={yes} does not match the cluster name {name}: nothing was changed",
            hint=f"Use {'' if guard == 'typed' else '--yes or '}--yes={quote(name)}.",
            code="declined",
        )


def _is_refused_partly(plan: Plan, verdicts: Verdicts) -> bool:
    """Whether a part of a destructive or whole plan is invalid. Then nothing is sent."""
    invalid = len(plan.refused.failures) + len(verdicts)
    if not plan.whole or not plan.steps or not invalid:
        return False
    return len(verdicts) < len(plan.changes) or not plan.refused.ok


def _not_sent(plan: Plan, verdicts: Verdicts) -> Iterator[ChangeResult]:
    for change in plan.changes:
        failure = verdicts.get(change)
        yield ChangeResult(change, "failed" if failure else "skipped", failure)


def _validate(plan: Plan, context: Context) -> Verdicts:
    """The changes that the broker would refuse, for the APIs that have a validate-only mode."""
    verdicts: Verdicts = {}
    validated, total = 0, progress_total(plan)
    for step in plan.steps:
        if step.validates:
            verdicts.update(_verdicts(step, context))
        if total:
            validated += len(step.changes)
            context.report("Validating", validated, total)
    return verdicts


def _verdicts(step: Step, context: Context) -> Verdicts:
    """The changes of one step that the broker would refuse."""
    try:
        failures = step.send(context.cluster, validate_only=True).failures
    except ShellError as error:
        if error.code not in OUTCOME_UNKNOWN:
            raise
        what = name_few(change.resource for change in step.changes)
        error.message = f"{what}: not validated: {error.message} (nothing was changed)"
        raise
    return {
        change: replace(
            failure, message=f"not validated: {failure.message}", hint="Increase --timeout."
        )
        if failure.name in OUTCOME_UNKNOWN
        else failure
        for change, failure in failures.items()
    }


def _planned(plan: Plan, verdicts: Verdicts) -> Iterable[ChangeResult]:
    for change in plan.changes:
        failure = verdicts.get(change)
        yield ChangeResult(change, "failed" if failure else "planned", failure)


def _is_answered(guard: str, yes: str | bool | None) -> bool:
    """Whether --yes answers the question."""
    return isinstance(yes, str) if guard == "typed" else bool(yes)


def _confirmed(what: str, context: Context, guard: str, yes: str | bool | None) -> bool:
    """True if the user was asked whether to do `what` on this cluster, and agreed; False if --yes
    answered the question. Raises ShellError if it was not confirmed."""
    what = f"{what} on {context.settings.cluster_name}?"
    if guard == "typed":
        return _confirmed_by_name(what, context, yes)
    if yes:
        return False
    if context.ask is None:
        raise _no_terminal("--yes")
    if not confirmed(context.ask, what):
        raise ShellError("not confirmed: nothing was changed", code="declined")
    return True


def _confirmed_by_name(what: str, context: Context, yes: str | bool | None) -> bool:
    name = _cluster_name(context)
    if isinstance(yes, str):
        answer, asked = yes, False
    elif context.ask is None:
        raise _no_terminal(f"--yes={name}")
    else:
        prompt = f"{what} Type {name} to confirm: "
        answer, asked = context.ask(prompt).strip(), True
    if answer != name:
        raise ShellError(
            f"{answer!r} does not match the cluster name {name}: nothing was changed",
            hint=f"Type the cluster name, as the guard of this profile requires: {name}",
            code="declined",
        )
    return asked


def _cluster_name(context: Context) -> str:
    """The profile whose guard applies, else the session's profile or bootstrap servers."""
    return identity.guard_of(context)[1] or context.settings.cluster_name


def _no_terminal(option: str) -> UsageError:
    return UsageError(
        "confirmation is required, but standard input is not a terminal (nothing was changed)",
        hint=f"Use {option} to confirm, or --dry-run to show the plan.",
        code="no-terminal",
    )


def _check_unchanged(plan: Plan, cluster: Any) -> Plan:
    """The plan for the current state. Raises ShellError if it is not the confirmed one."""
    try:
        cluster.check_identity()
        current = replace(plan, steps=tuple(step.reread(cluster) for step in plan.steps))
    except ShellError as error:
        error.message += " (nothing was changed)"
        raise
    for old, new in zip(plan.changes, current.changes, strict=True):
        if old != new:
            field = f" {old.field}" if old.field else ""
            both = replace(old, before=old.replaced, after=new.replaced)
            was, now = (value or "not set" for value in change_values(both))
            raise ShellError(
                f"{old.resource}{field} changed while waiting for confirmation:"
                f" was {was}, is {now} (nothing was changed)",
                hint="Run the command again to see the new plan.",
                code="changed-meanwhile",
            )
    return current


def _fresh(plan: Plan, context: Context, done: Sequence[ChangeResult]) -> Any:
    """What was made, else the new state; None if it cannot be read, or Ctrl-C is pressed meanwhile:
    that is not a failure of the change, whose outcome is still to be shown."""
    if (made := plan.bookkeeping.shown) is not None:
        return made
    applied = sum(item.status == "done" for item in done)
    if plan.fresh is None or not 0 < applied <= _MAX_FRESH:
        return None
    try:
        return plan.fresh(context.cluster)
    except (ShellError, KeyboardInterrupt):
        return None


# Run a runbook: show it, ask once, then apply one plan after the other.


def run(
    runbook: Runbook,
    context: Context,
    writer: Writer,
    *,
    command: str,
    dry_run: bool = False,
    yes: str | bool | None = None,
) -> Status:
    """Run the stages. What is left is read from the cluster, so that the same command continues;
    its line is added to every error. In JSON, YAML and CSV only the state at the end is printed."""
    if dry_run or runbook.refused or runbook.about.ok:
        writer.write(runbook.about)
        if runbook.refused:
            raise ShellError(runbook.refused, code="refused")
        plans = runbook.previews() if dry_run else ()
        ended = [_apply(plan, context, writer, command, None) for plan in plans]
        return _status(all(outcome.ok for outcome in ended))
    page = writer.renderers.page(type(runbook.about))
    if page is not None:
        writer.err.lines(page(runbook.about, writer.err.width))
    agreed = consent(context, runbook.question, yes)
    try:
        _run_stages(runbook, context, writer, command, agreed)
        result = runbook.result()
    except KeyboardInterrupt:
        interrupted = ShellError(
            "interrupted while waiting", code="interrupted", status=Status.INTERRUPTED
        )
        raise _with_lines(interrupted, runbook) from None
    except ShellError as error:
        if isinstance(error, OtherClusterError):
            error.sent = True  # the consent was for the first cluster
        raise _with_lines(error, runbook) from None
    writer.write(result)
    if not result.ok:
        writer.err.lines(text(line, "hint") for line in _lines(runbook))
    return _status(result.ok)


def _status(ok: bool) -> Status:
    return Status.OK if ok else Status.FAILED


def _run_stages(
    runbook: Runbook, context: Context, writer: Writer, command: str, yes: str | bool
) -> None:
    """Apply what is left until nothing is, or until a stage that failed is still left."""
    failed = ""
    while (stage := runbook.next()) is not None and stage.name != failed:
        if stage.message:
            writer.err.lines(hang(text(stage.message, "heading"), writer.err.width, 2))
        ok, plan = True, stage.plan
        if plan is not None and (plan.steps or plan.following.follow or not plan.refused.ok):
            ok = _apply(plan, context, writer, command, yes).ok
        if stage.wait is not None:
            stage.wait(context.report)
        failed = "" if ok or stage.wait is not None else stage.name
        if not failed:
            runbook.done(stage.name)


def _apply(
    plan: Plan, context: Context, writer: Writer, command: str, yes: str | bool | None
) -> Outcome:
    """Apply a plan, or with `yes` None only validate it."""
    outcome = execute(
        plan,
        context,
        command=command,
        show=writer.draw_plan,
        reveal=writer.write,
        dry_run=yes is None,
        yes=yes,
    )
    if writer.format == "table":
        writer.write(outcome)
    else:
        draw_problems(outcome, writer.err)
    return outcome


def _with_lines(error: ShellError, runbook: Runbook) -> ShellError:
    error.hint = "\n".join(filter(None, (error.hint, *_lines(runbook))))
    return error


def _lines(runbook: Runbook) -> list[str]:
    """How to continue, and how to undo what is left behind."""
    undo = runbook.undo()
    return [f"To continue: {runbook.resume}", *([f"To undo: {undo}"] if undo else [])]
