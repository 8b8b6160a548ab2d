"""`spark audit`: check clusters with controls, and apply the remedies."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from kafka_shell.answers import Nothing
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language import kinds
from kafka_shell.language.command import Command, Example, Invocation, Option
from kafka_shell.plan.model import Effect, Plan
from kafka_shell.structs import replace
from kafka_shell.units import to_path

from .kinds import AUDIT_CONTROL
from .sources import READ_APIS, SOURCE_OPTIONS, SPARK_OPTIONS, collected, side_of

if TYPE_CHECKING:
    from kafka_shell.audit.control import Control
    from kafka_shell.audit.model import AuditReport
    from kafka_shell.audit.policy import Policy
    from kafka_shell.context import Context


def audit(invocation: Invocation, context: Context) -> AuditReport | Plan | Nothing:
    """Check clusters with the controls; with --fix, plan the remedies."""
    from kafka_shell.audit import require_spark

    require_spark()
    from kafka_shell.audit import drift, report, run
    from kafka_shell.audit.tables import TABLES

    if invocation["fix"]:
        _check_fix(invocation, context)
    controls, policy = _controls(invocation, context)
    names = run.tables_for(controls, policy.thresholds, TABLES)
    other = invocation["against"]
    if other:
        names |= set(drift.KEYS)
    if invocation["report"]:
        names |= set(report.TABLES)
    with collected(invocation, context, names) as (engine, collection):
        against = (other, side_of(other, engine, context)) if other else None
        found = run.audit(engine, collection, controls, policy, against)
        if invocation["report"]:
            drawn = report.charts(engine, collection, invocation["snapshot"] or "")
            _write_report(invocation["report"], report.page(found, drawn))
    return _fix(found, context) if invocation["fix"] else found


def _controls(invocation: Invocation, context: Context) -> tuple[tuple[Control, ...], Policy]:

    from kafka_shell.audit import control, policy, run

    known = control.controls_of(context.paths.config / "controls")
    words = [name for word in invocation["controls"] for name in word.split(",")]
    declared = policy.Policy()
    if invocation["policy"]:
        declared = policy.read(to_path(invocation["policy"]), known)
        for each in declared.expired(date.today()):
            context.note(f"the suppression of {each.control} has expired: {each.reason}")
    if declared.declared is not None:
        known[policy.ID] = declared.declared
    try:
        return run.choose(known, words, invocation["severity"] or ""), declared
    except UsageError as error:
        error.span = invocation.span("controls")
        raise


def _write_report(file: str, page: str) -> None:
    try:
        to_path(file).write_text(page, encoding="utf-8")
    except OSError as error:
        raise ShellError(f"cannot write {file}: {error.strerror}", code="not-written") from None


def _check_fix(invocation: Invocation, context: Context) -> None:
    if invocation["output"] == "sarif":
        raise UsageError("--fix cannot be used with --output sarif")
    if invocation["snapshot"]:
        raise UsageError(
            "--fix cannot be used with --snapshot",
            hint="Leave out --snapshot to audit the current cluster.",
        )
    named = [name for word in invocation["clusters"] for name in word.split(",")]
    if named and named != [context.settings.profile]:
        raise UsageError(
            "--fix can change only one cluster at a time",
            hint=f"Use spark audit --profile {named[0]} --fix.",
            span=invocation.span("clusters"),
        )


def _fix(report: AuditReport, context: Context) -> Plan | Nothing:
    """One plan with the remedies of all findings; it asks for confirmation."""
    from kafka_shell.plan.model import Resource, merge_plans
    from kafka_shell.plan.results import Failure, Results

    remedies: dict[str, list[str]] = {}
    for finding in report.findings:
        if finding.remedy:
            remedies.setdefault(finding.remedy, []).append(finding.resource)
    if not remedies:
        return Nothing("no finding has a remedy that can be applied")
    plans, failed = [], {}
    for line, resources in remedies.items():
        try:
            plans.append(_plan_of(line, resources, context))
        except ShellError as error:
            failed[Resource("remedy", line)] = Failure(error.code, error.message, hint=error.hint)
    merged = merge_plans([*plans, Plan(Effect.CHANGE, (), refused=Results({}, failed))])
    return replace(merged, confirm=True, fresh=None)


def _plan_of(line: str, resources: list[str], context: Context) -> Plan:
    """The plan of a remedy. Raises ShellError if it would change other resources."""
    from kafka_shell.audit.remedy import outside
    from kafka_shell.commands import REGISTRY
    from kafka_shell.language.parse import parse
    from kafka_shell.language.tokens import tokenize

    invocation = parse(tokenize(line), REGISTRY, text=line)
    plan = invocation.command.run(invocation, context)
    if not isinstance(plan, Plan):
        raise ShellError(f"{line} changes nothing", code="no-plan")
    if others := outside(plan, resources):
        raise ShellError(
            f"the remedy of {resources[0]} would also change {others[0]}",
            hint="The remedy was not applied. Run it yourself if you want this change.",
            code="outside-finding",
        )
    return plan


COMMANDS = (
    Command(
        name="spark audit",
        summary="Audit clusters with controls, and show findings with remedies.",
        family="audit",
        run=audit,
        apis=READ_APIS,
        effect=Effect.CHANGE,
        options=(
            *SOURCE_OPTIONS,
            Option("--controls", AUDIT_CONTROL, "Only controls with these IDs, families or tags.",
                   many=True),
            Option("--severity", kinds.CHOICE, "Only controls with at least this severity.",
                   choices=("critical", "high", "medium", "low")),
            Option("--output", kinds.CHOICE, "The output format.",
                   choices=("table", "json", "yaml", "csv", "sarif")),
            Option("--policy", kinds.FILE,
                   "A TOML file with the policy, thresholds and suppressions."),
            Option("--against", kinds.TEXT, "Also compare with a snapshot (DIR) or a profile.",
                   metavar="WHAT"),
            Option("--report", kinds.FILE, "Also write the report as an HTML file."),
            Option("--fix", kinds.FLAG, "Apply the remedies; asks for confirmation."),
            *SPARK_OPTIONS,
        ),
        search=("check", "controls", "compliance", "findings", "lint"),
        description=(
            "The state of the clusters is collected as tables; each control is a query over them."
            " Add your own controls as .sql files in the folder controls next to config.toml.\n"
            "Exit status: 0 without findings, 1 with findings, 3 if a cluster could not be read. A"
            " control that cannot be evaluated is listed as skip, with the reason."
        ),
        examples=(
            Example("spark audit", "audit this cluster with all controls", status=1),
            Example("spark audit --controls security --severity high --output json",
                    "print severe security findings as JSON", status=1),
            Example("spark audit --controls T13 --fix --dry-run",
                    "preview the remedies of one control"),
        ),
    ),
)  # fmt: skip
