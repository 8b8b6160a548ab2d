"""Run a runbook: show it, ask once, then apply one plan after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.admin.wire.failures import OtherClusterError
from kafka_shell.context import Context
from kafka_shell.errors import ShellError, Status
from kafka_shell.output.plans import draw_plan
from kafka_shell.output.text import hang, text
from kafka_shell.plan.model import Plan
from kafka_shell.plan.outcome import Outcome
from kafka_shell.run.execute import consent, execute

if TYPE_CHECKING:
    from kafka_shell.output.writer import Writer
    from kafka_shell.plan.runbook import Runbook, Stage


def run(
    runbook: Runbook,
    context: Context,
    writer: Writer,
    *,
    command: str,
    dry_run: bool = False,
    yes: str | bool | None = None,
) -> Status:
    """Run the stages until one fails. What is left is read from the cluster, so that the same
    command continues; its line is added to every error. In JSON, YAML and CSV only the state at the
    end is printed."""
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
    stages = runbook.stages()
    try:
        stage = next(stages)
        while True:
            stage = stages.send(_run_stage(stage, context, writer, command, yes))
    except StopIteration:
        return
    finally:
        stages.close()


def _run_stage(
    stage: Stage, context: Context, writer: Writer, command: str, yes: str | bool
) -> Outcome | None:
    if stage.message:
        writer.err.lines(hang(text(stage.message, "heading"), writer.err.width, 2))
    if stage.wait is not None:
        stage.wait(context.report)
    return None if stage.plan is None else _apply(stage.plan, context, writer, command, yes)


def _apply(
    plan: Plan, context: Context, writer: Writer, command: str, yes: str | bool | None
) -> Outcome:
    """Apply a plan, or with `yes` None only validate it."""
    outcome = execute(
        plan,
        context,
        command=command,
        show=lambda plan, undo: draw_plan(plan, undo, writer),
        reveal=writer.write,
        dry_run=yes is None,
        yes=yes,
    )
    if writer.format == "table":
        writer.write(outcome)
    else:
        from kafka_shell.output.outcomes import draw_problems

        draw_problems(outcome, writer.err)
    return outcome


def _with_lines(error: ShellError, runbook: Runbook) -> ShellError:
    error.hint = "\n".join(filter(None, (error.hint, *_lines(runbook))))
    return error


def _lines(runbook: Runbook) -> list[str]:
    """How to continue, and how to undo what is left behind."""
    undo = runbook.undo()
    return [f"To continue: {runbook.resume}", *([f"To undo: {undo}"] if undo else [])]
