"""`spark audit --plan`: what a script or state file would do, and the findings it would cause."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from msgspec import Struct

from kafka_shell.audit import proposal, run
from kafka_shell.audit.collection import Collection
from kafka_shell.audit.control import Control
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.model import AuditReport
from kafka_shell.audit.policy import Policy
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Effect, Plan, merge_plans
from kafka_shell.base.results import Failure, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import quote
from kafka_shell.base.units import to_path
from kafka_shell.commands import REGISTRY, function
from kafka_shell.commands.rehearse.run import agree, lines_of_file
from kafka_shell.commands.state.files import is_state_file
from kafka_shell.connection_options import flags_of
from kafka_shell.context import Context
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import commands
from kafka_shell.output.resource_kinds import title_of

# The folders of the commands whose plans are judged.
_PLANNED = {"topics", "configs", "quotas", "client_configs", "users", "acls", "cluster", "state"}


class Planned(Struct, frozen=True):
    """What a script or state file would do: its plan, and the lines that cannot be planned."""

    plan: Plan
    failed: Mapping[str, Failure]


def plan_of(file: str, context: Context) -> Planned:
    """The plans of the lines of a script, or of a state file."""
    lines = (
        (f"apply {quote(file)}",) if is_state_file(to_path(file)) else lines_of_file(to_path(file))
    )
    silent = replace(context, ask=agree)
    plans: list[Plan] = []
    failed: dict[str, Failure] = {}
    parts = ((text[slice(*each.span)].strip(), each) for text in lines for each in commands(text))
    for line, part in parts:
        if part.empty:
            continue
        try:
            invocation = parse(part, REGISTRY, text=line)
        except UsageError as error:
            error.message, error.span = f"{file}: {error.message}: {line}", None
            raise
        if invocation.command.name == "connect" or flags_of(invocation):
            raise UsageError(
                f"{file}: a plan is of the current cluster: {line}",
                hint="Use one file for each cluster.",
            )
        if invocation.command.effect is Effect.READ:
            continue
        try:
            if invocation.command.run.partition(".")[0] not in _PLANNED:
                raise ShellError(
                    f"{invocation.command.name} is not supported by --plan", code="not-judged"
                )
            plan = function(invocation.command.run)(invocation, silent)
            if not isinstance(plan, Plan):
                raise ShellError("the command has several steps", code="not-judged")
        except ShellError as error:
            failed[line] = as_failure(error)
        else:
            plans.append(plan)
            failed |= {str(about): why for about, why in plan.refused.failures.items()}
    return Planned(merge_plans(plans), failed)


def after(
    planned: Planned,
    engine: Engine,
    collection: Collection,
    controls: Sequence[Control],
    policy: Policy,
    dev: Container[str],
) -> AuditReport:
    """The findings that the cluster would have after the plan, and does not have now. Only controls
    of tables that differ are evaluated. What brokers or topics have in common is not merged: one
    of them that the plan repairs would make the others a new finding."""
    plan = planned.plan
    then = engine.run("planning", lambda: proposal.after(engine.session, collection, plan, TABLES))
    chosen = [
        replace(each, merged=False) for each in controls
        if run.tables_for([each], policy.thresholds, TABLES) & then.changed
    ]  # fmt: skip
    found, report = (
        run.audit(engine, each, chosen, policy, None, dev) for each in (collection, then.collection)
    )
    new = new_findings(found, report)
    reasons = dict.fromkeys(
        proposal.described(then.left_out, title_of), "--plan does not support this change"
    )
    reasons |= {about: why.message for about, why in planned.failed.items()}
    return run.with_unjudged(new, reasons)


def new_findings(before: AuditReport, after: AuditReport) -> AuditReport:
    """Return the report after a plan with the findings that are not in the one before."""
    known = {(each.control, each.resource, each.status) for each in before.findings}
    kept = (
        each for each in after.findings
        if each.resource in TABLES or (each.control, each.resource, each.status) not in known
    )  # fmt: skip
    counts = {(each.control, each.cluster): each.alarms for each in before.left_out}
    left_out = [
        replace(each, alarms=each.alarms - counts.get((each.control, each.cluster), 0))
        for each in after.left_out
    ]
    return run.only(after, kept, [each for each in left_out if each.alarms > 0])
