"""`spark audit`: check clusters with controls, and apply the remedies."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from getpass import getuser
from pathlib import Path
from ssl import SSLContext

from kafka_shell.admin.acls import read
from kafka_shell.audit import (
    drift,
    findings,
    history,
    metrics,
    owners,
    policy,
    proposal,
    report,
    run,
    webhook,
)
from kafka_shell.audit.collection import Collection, unread_tables
from kafka_shell.audit.control import AclRemovals, Control, acl_removal, resources_outside
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.model import RISKS, AuditFinding, AuditReport, FindingHistory
from kafka_shell.audit.owners import Owner
from kafka_shell.audit.policy import DRIFT, STATE, Policy, select_controls
from kafka_shell.audit.run import with_state
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError, pointing_at
from kafka_shell.base.files import read_text, write_whole
from kafka_shell.base.plans import Advice, Effect, NotChecked, Plan, Resource, Secret, merge_plans
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, to_path
from kafka_shell.commands import REGISTRY, function
from kafka_shell.commands.spark.plan import after, plan_of
from kafka_shell.commands.spark.sources import (
    collected,
    collection_of,
    owners_of,
    policy_of,
    wait_for_import,
)
from kafka_shell.commands.spark.spec import FAIL_ON, SAMPLED
from kafka_shell.commands.state.compare import StateSource, compare_sources, this_cluster
from kafka_shell.commands.state.files import is_state_file, load
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.settings import development_profiles

_APPLY_IT = "To apply a remedy anyway, run its command."


def audit(invocation: Invocation, context: Context) -> AuditReport | Plan | NoRows:
    """Check clusters with the controls; with --fix, plan the remedies."""
    for option in ("report", "findings", "metrics", "webhook", "accept"):
        if invocation[option]:
            context.refuse_dry_run(f"spark audit --{option}")
    wait_for_import(context)

    if invocation["fix"]:
        _check_fix(invocation, context)
    planned = None
    if invocation["plan"]:
        _check_one_cluster(invocation, context, "--plan")
        planned = plan_of(invocation["plan"], context)
    before = invocation["new-only"] or invocation["snapshot"] or ""
    url = webhook.url_of(invocation["webhook"]) if invocation["webhook"] else None
    trust = webhook.trust_of(url, context.settings.connection) if url is not None else None
    folder = findings.require_new(invocation["findings"]) if invocation["findings"] else None
    if invocation["accept"]:
        _check_accept(invocation)
    teams = owners_of(invocation, context)
    controls, policy = _controls(invocation, context)
    controls = _without_samples(invocation, context, controls, policy)
    names = run.tables_for(controls, policy.thresholds, TABLES)
    other = invocation["against"]
    state = other if other and _is_state_file(other) else ""
    if state:
        _check_one_cluster(invocation, context, "--against STATE-FILE")
        other = None
    if other:
        names |= {*drift.KEYS, "clusters"}
    if invocation["report"]:
        names |= set(report.TABLES)
    if planned is not None:
        names |= proposal.TABLES
    if before or invocation["fix"]:
        names.add("clusters")
    with collected(invocation, context, names) as (engine, collection):
        against = (other, collection_of(other, engine, context, collection)) if other else None
        if invocation["fix"]:
            _check_cluster(collection, context)
        dev = development_profiles(context.paths.config_file)
        if planned is None:
            found = run.audit(engine, collection, controls, policy, against, dev)
        else:
            found = after(planned, engine, collection, controls, policy, dev)
        found = replace(found, fail_on=FAIL_ON[invocation["fail-on"] or "high"])
        if state:
            found = _against_state(found, state, context, policy)
        found = owners.with_owners(found, teams)
        if invocation["owner"]:
            found = owners.of_team(found, invocation["owner"])
        if invocation["metrics"]:
            _write(write_whole, invocation["metrics"], metrics.metrics(found))
        if invocation["new-only"] or url is not None or (before and invocation["report"]):
            try:
                found = _with_changes(found, engine, collection, before, policy, teams)
            except ShellError as error:  # a report of a snapshot without findings has no history
                if url is not None or invocation["new-only"] or error.code != history.NO_FINDINGS:
                    raise
            if invocation["owner"]:
                kept = (each for each in found.changes if each.owner == invocation["owner"])
                found = replace(found, changes=tuple(kept))
        if invocation["new-only"]:
            found = _without_known(found, context)
        if folder is not None:
            failed = {
                each.control
                for each in found.findings
                if each.status == "error" and not each.cluster
            }
            judged = [each for each in controls if each.id not in failed]
            others = [each for each in found.findings if each.control in {*failed, STATE, *DRIFT}]
            unread = unread_tables(collection.status)
            team = invocation["owner"] or ""
            findings.write(engine, judged, policy, folder, unread, others, teams, team)
        if invocation["report"]:
            drawn = report.charts(engine, collection, invocation["snapshot"] or "")
            _write(report.write, invocation["report"], report.page(found, drawn))
    if invocation["accept"]:
        found = _accepted(found, invocation, context)
    if url is not None:
        found = _posted(found, url, invocation["webhook-format"] or "json", trust, context)
    if invocation["fix"]:
        return _fix(found, invocation["risk"] or RISKS[0], context)
    return found


def _with_changes(
    report: AuditReport,
    engine: Engine,
    collection: Collection,
    folder: str,
    policy: Policy,
    teams: Sequence[Owner],
) -> AuditReport:
    """The report with the changes since the newest audit in the folder before this one. Findings
    that are suppressed now were not fixed."""
    today = date.today()

    def is_suppressed(each: FindingHistory) -> bool:
        status = "alarm"
        about = each.control, each.title, each.severity, status, each.cluster, each.resource
        return policy.suppresses(AuditFinding(*about, reason=""), today)

    found = history.changes(engine, folder, collection, report)
    kept = (each for each in found if each.state != "fixed" or not is_suppressed(each))
    return replace(report, changes=tuple(owners.with_owner(each, teams) for each in kept))


def _without_known(report: AuditReport, context: Context) -> AuditReport:
    """The report without the alarms that were known before."""
    new = {
        (each.cluster, each.control, each.resource)
        for each in report.changes
        if each.state in ("new", "returned")
    }
    kept = [
        each for each in report.findings
        if each.status != "alarm" or (each.cluster, each.control, each.resource) in new
    ]  # fmt: skip
    count = len(report.findings) - len(kept)
    context.note(f"{counted(count, 'known finding')} excluded")
    return run.only(report, kept, report.left_out)


def _posted(
    report: AuditReport, url: Secret, format: str, trust: SSLContext | None, context: Context
) -> AuditReport:
    """The report, after its changes were posted; it says why they could not be."""
    content = webhook.body(report, format)
    if content is None:
        context.note("nothing posted: no finding is new, returned or fixed")
        return report
    why = webhook.post(url, content, trust, context.settings.connection.via)
    return replace(report, not_sent=why)


def _controls(invocation: Invocation, context: Context) -> tuple[tuple[Control, ...], Policy]:
    known, declared = policy_of(invocation, context)
    words = [name for word in invocation["controls"] for name in word.split(",")]
    with pointing_at(invocation.span("controls")):
        chosen = select_controls(known, words, invocation["severity"] or "")
        given = {word.strip().upper() for word in words}
        if given and given <= {policy.STATE, *policy.DRIFT} and not invocation["against"]:
            raise UsageError(f"control {min(given)} requires --against", code="no-control")
    return chosen, declared


def _check_accept(invocation: Invocation) -> None:
    try:
        expires = date.fromisoformat(invocation["expires"] or "")
    except ValueError:
        expires = None
    if expires is None or expires < date.today():
        given = invocation["expires"]
        raise UsageError(
            f"--expires must be today or later, got {given!r}"
            if given
            else "--accept requires --expires",
            hint="Example: --expires 2027-01-31",
            span=invocation.span("expires"),
        )
    if not invocation["accept"].strip():
        raise UsageError("--accept requires a reason", span=invocation.span("accept"))


def _policy_file(invocation: Invocation) -> Path:
    """The policy file, which may be that of a folder."""
    given = to_path(invocation["policy"])
    return given / policy.FILE if given.is_dir() else given


def _accepted(report: AuditReport, invocation: Invocation, context: Context) -> AuditReport:
    """The report, whose findings are now suppressed by the policy."""
    file, expires = _policy_file(invocation), date.fromisoformat(invocation["expires"])
    alarms = [each for each in report.findings if each.status == "alarm"]
    added = policy.accepted(alarms, invocation["accept"], expires, _login())
    before = read_text(file) if file.exists() else ""
    if added:
        _write(write_whole, str(file), f"{before.rstrip()}\n\n{added}".lstrip())
    context.note(f"{counted(len(alarms), 'finding')} accepted until {expires} in {file}")
    counts = Counter(each.control for each in alarms)
    return replace(
        report,
        findings=tuple(each for each in report.findings if each.status != "alarm"),
        controls=tuple(run.with_suppressed(each, counts[each.control]) for each in report.controls),
        suppressed=report.suppressed + len(alarms),
    )


def _login() -> str:
    try:
        return getuser()
    except (KeyError, OSError):  # no entry in the user database
        return str(os.getuid())


def _without_samples(
    invocation: Invocation, context: Context, controls: tuple[Control, ...], policy: Policy
) -> tuple[Control, ...]:
    """The controls that can be evaluated if logs are not sampled; all if they are."""
    if invocation["log-samples"] != "none":
        return controls
    kept = tuple(
        each for each in controls
        if not SAMPLED & run.tables_for([each], policy.thresholds, TABLES)
    )  # fmt: skip
    if left_out := len(controls) - len(kept):
        named = counted(left_out, "control")
        context.note(f"{named} of log samples not evaluated: --log-samples none")
    return kept


def _against_state(report: AuditReport, file: str, context: Context, policy: Policy) -> AuditReport:
    """The report with findings of X01: one for each difference of the cluster from a state file."""
    wanted = StateSource(file, file=load(file))
    found = compare_sources(this_cluster(context), wanted, KINDS, context)
    changes = [each.change for each in found.changes]
    cluster = context.settings.cluster_name
    return with_state(report, file, cluster, changes, found.unread, policy)


def _write(write: Callable[[Path, str], None], file: str, text: str) -> None:
    try:
        write(to_path(file), text)
    except OSError as error:
        raise ShellError(f"cannot write {file}: {error.strerror}", code="not-written") from None


def _check_fix(invocation: Invocation, context: Context) -> None:
    if invocation["output"] == "sarif":
        raise UsageError("--fix cannot be used with --output sarif")
    _check_one_cluster(invocation, context, "--fix")


def _check_one_cluster(invocation: Invocation, context: Context, option: str) -> None:
    """Raise UsageError unless the current cluster is audited, and no other one."""
    if invocation["snapshot"]:
        raise UsageError(
            f"{option} cannot be used with --snapshot",
            hint="Omit --snapshot to audit the current cluster.",
        )
    named = [name for word in invocation["clusters"] for name in word.split(",")]
    if named and named != [context.settings.profile]:
        raise UsageError(
            f"{option} can be used with only one cluster at a time",
            hint=f"Use spark audit --profile {named[0]} {option}.",
            span=invocation.span("clusters"),
        )


def _is_state_file(name: str) -> bool:
    """Whether it is a YAML or JSON file, not a snapshot or a profile."""
    return is_state_file(to_path(name))


def _check_cluster(collection: Collection, context: Context) -> None:
    """Raise ShellError if the remedies would be sent to another cluster than the one that was read:
    executors on other hosts may resolve an address or a profile differently."""
    for found in collection.cluster_ids.values():
        if found != context.cluster.cluster_id:
            raise ShellError(
                f"the cluster that was read is {found}, but the remedies would be applied to"
                f" {context.cluster.cluster_id} (nothing was changed)",
                hint="Check the bootstrap servers on the Spark executors.",
                code="other-cluster",
            )


def _fix(report: AuditReport, most: str, context: Context) -> Plan | AuditReport | NoRows:
    """One plan with the remedies of all findings up to this risk; it asks for confirmation. Without
    any, the report if something was not checked."""
    given = [finding for finding in report.findings if finding.remedy]
    chosen = [each for each in given if RISKS.index(_risk(each)) <= RISKS.index(most)]
    left_out = tuple(_left_out(given, most))
    not_checked = tuple(_not_checked(report))
    if not chosen:
        note = "; ".join(["no finding has a remedy that can be applied", *left_out])
        if not not_checked:
            return NoRows(note)
        context.note(note)
        return report
    remedy_plans = _RemedyPlans(context)
    plans: list[Plan] = []
    failed: dict[Resource, Failure] = {}
    remedies: dict[str, list[AuditFinding]] = {}
    for finding in chosen:
        remedies.setdefault(finding.remedy, []).append(finding)
    for line, found in remedies.items():
        try:
            plan = remedy_plans.plan(line, found)
        except ShellError as error:
            failed[Resource("remedy", line)] = as_failure(error)
        else:
            plans.append(replace(plan, advice=replace(plan.advice, about=())))
    merged = merge_plans([*plans, Plan(Effect.CHANGE, (), refused=Results({}, failed))])
    return replace(
        merged,
        advice=merged.advice
        + Advice(
            about=tuple(_by_control(chosen)),
            warnings=tuple(left_out),
            not_checked=tuple(not_checked),
            confirm=True,
        ),
    )


def _not_checked(report: AuditReport) -> Iterator[NotChecked]:
    """Clusters and controls for which findings, and so remedies, may be missing."""
    for cluster, reason in report.unread.items():
        yield NotChecked(cluster, reason)
    for each in report.findings:
        if each.status in ("error", "skip"):
            yield NotChecked(f"{each.control} {each.title}", each.reason)


def _risk(finding: AuditFinding) -> str:
    """The risk of a remedy: the highest, if its control declares none."""
    return finding.risk or RISKS[-1]


def _by_control(findings: list[AuditFinding]) -> Iterator[str]:
    """`T13 Retention is too short: 3 remedies (safe)`."""
    for (id, title, risk), count in Counter(
        (each.control, each.title, _risk(each)) for each in findings
    ).items():
        yield f"{id} {title}: {counted(count, 'finding')} ({risk})"


def _left_out(findings: list[AuditFinding], most: str) -> Iterator[str]:
    for risk in RISKS[RISKS.index(most) + 1 :]:
        count = sum(_risk(each) == risk for each in findings)
        if count:
            are = "is" if count == 1 else "are"
            yield f"{counted(count, 'remedy')} {are} {risk}: to apply, add --risk {risk}"


class _RemedyPlans:
    """Plans of remedies, each judged with those before it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._access: AclRemovals | None = None
        self._set: dict[tuple[Resource, str], tuple[object, str]] = {}  # after, and the remedy

    def plan(self, line: str, findings: list[AuditFinding]) -> Plan:
        """The plan of a remedy. Raises ShellError if it would change other resources, take access
        that is needed, or contradict a remedy before it."""
        plan = _plan_of(line, [each.resource for each in findings], self._context)
        removed = acl_removal(plan, safe=any(_risk(each) == RISKS[0] for each in findings))
        if removed.bindings and (why := self._all().refusal(removed)) is not None:
            raise ShellError(f"not applied: {why.message}", hint=_APPLY_IT, code=why.name)
        self._agree(line, plan)
        return plan

    def _agree(self, line: str, plan: Plan) -> None:
        """Raise ShellError if a remedy before this one sets the same to another value."""
        changes = [change for step in plan.steps for change in step.changes if change.field]
        for change in changes:
            after, before = self._set.get((change.resource, change.field), (change.after, ""))
            if after != change.after:
                raise ShellError(
                    f"not applied: {line} conflicts with {before}",
                    hint=_APPLY_IT,
                    code="contradiction",
                )
        for change in changes:
            self._set.setdefault((change.resource, change.field), (change.after, line))

    def _all(self) -> AclRemovals:
        if self._access is None:
            sasl = self._context.settings.connection.sasl
            known = sasl is not None and sasl.username and not sasl.token
            login = f"User:{sasl.username}" if sasl is not None and known else None
            self._access = AclRemovals(read.describe(self._context.cluster), login)
        return self._access


def _plan_of(line: str, resources: list[str], context: Context) -> Plan:
    """The plan of a remedy. Raises ShellError if it would change other resources."""
    invocation = parse(tokenize(line), REGISTRY, text=line)
    plan = function(invocation.command.run)(invocation, context)
    if not isinstance(plan, Plan):
        raise ShellError(f"{line} has no effect", code="no-plan")
    if others := resources_outside(plan, resources):
        raise ShellError(
            f"not applied: the remedy of {resources[0]} would also change {others[0]}",
            hint=_APPLY_IT,
            code="outside-finding",
        )
    return plan
