"""`spark audit`: check clusters with controls, and apply the remedies."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
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
from kafka_shell.audit.control import Control
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.evaluate import commands_of
from kafka_shell.audit.model import RISKS, AuditFinding, AuditReport, FindingHistory
from kafka_shell.audit.owners import Owner
from kafka_shell.audit.policy import DRIFT, STATE, Policy, select_controls
from kafka_shell.audit.remedy import AclRemovals, subject
from kafka_shell.audit.run import with_state
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError, pointing_at
from kafka_shell.base.files import read_text, write_whole
from kafka_shell.base.plans import (
    Advice,
    Change,
    Effect,
    NotChecked,
    Plan,
    Resource,
    Secret,
    merge_plans,
)
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import escape
from kafka_shell.base.units import counted, to_path
from kafka_shell.commands import commands_of as commands_in
from kafka_shell.commands.changes import can_plan, few, plan_changes
from kafka_shell.commands.spark.plan import after, plan_of
from kafka_shell.commands.spark.sources import (
    collected,
    collection_of,
    owners_of,
    policy_of,
    wait_for_import,
)
from kafka_shell.commands.spark.spec import FAIL_ON, SAMPLED
from kafka_shell.commands.state.changes import apply
from kafka_shell.commands.state.compare import StateSource, compare_sources, this_cluster
from kafka_shell.commands.state.files import is_state_file, load
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.context import Context, confirmed
from kafka_shell.language.command import Invocation
from kafka_shell.language.parse import invocation_of
from kafka_shell.output.change_kinds import key_of
from kafka_shell.settings import development_profiles

_SHOWN = 50  # findings before the question of --accept
_APPLY_IT = "To apply a remedy anyway, run its command."


def audit(invocation: Invocation, context: Context) -> AuditReport | Plan | NoRows:
    """Check clusters with the controls; with --fix, plan the remedies."""
    for option in ("report", "findings", "metrics", "webhook", "accept"):
        if invocation[option]:
            context.refuse_dry_run(f"spark audit --{option}")
    for option in ("report", "metrics"):
        if invocation[option]:
            _check_folder(invocation[option])
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
        _check_accept(invocation, context)
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
        return _fix(found, invocation["risk"] or RISKS[0], state, context)
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


def _check_accept(invocation: Invocation, context: Context) -> None:
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
    if context.ask is None and not invocation["yes"]:
        raise UsageError(
            "confirmation is required, but standard input is not a terminal",
            hint="To accept all findings, add --yes.",
            code="no-terminal",
        )


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
        _confirm_accepted(alarms, f"until {expires} in {file}", invocation, context)
        _write(write_whole, str(file), f"{before.rstrip()}\n\n{added}".lstrip())
    context.note(f"{counted(len(alarms), 'finding')} accepted until {expires} in {file}")
    counts = Counter(each.control for each in alarms)
    return replace(
        report,
        findings=tuple(each for each in report.findings if each.status != "alarm"),
        controls=tuple(run.with_suppressed(each, counts[each.control]) for each in report.controls),
        suppressed=report.suppressed + len(alarms),
    )


def _confirm_accepted(
    alarms: Sequence[AuditFinding], where: str, invocation: Invocation, context: Context
) -> None:
    """Show what is accepted, and ask, unless --yes is given. Raises ShellError for no."""
    if invocation["yes"] or context.ask is None:
        return
    lines = [escape(f"{each.control} {each.cluster}: {each.resource}") for each in alarms]
    shown = few(lines, "findings", _SHOWN)
    question = f"Accept {counted(len(alarms), 'finding')} {where}?"
    if not confirmed(context.ask, "\n".join([*shown, question])):
        raise ShellError("not confirmed: nothing was accepted", code="declined")


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


def _check_folder(file: str) -> None:
    """Raise ShellError now, not after the audit, if the file cannot be written."""
    if not os.access(to_path(file).parent, os.W_OK):
        raise ShellError(
            f"cannot write {file}: its directory does not exist, or is not writable",
            code="not-written",
        )


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


def _fix(
    report: AuditReport, most: str, state: str, context: Context
) -> Plan | AuditReport | NoRows:
    """One plan with the remedies of all findings up to this risk; it asks for confirmation. Without
    any, the report if something was not checked."""
    given = [finding for finding in report.findings if finding.remedy]
    chosen = [each for each in given if RISKS.index(each.risk) <= RISKS.index(most)]
    fixed = [each for each in chosen if each.control == STATE or _can_plan(each)]
    left_out = (*_left_out(given, most), *_by_hand(each for each in chosen if each not in fixed))
    not_checked = tuple(_not_checked(report))
    if not fixed:
        note = "; ".join(["no finding has a remedy that can be applied", *left_out])
        if not not_checked:
            return NoRows(note)
        context.note(note)
        return report
    remedies = _Remedies(context)
    for each in fixed:
        remedies.add(each)
    plans = [replace(each, advice=replace(each.advice, about=())) for each in remedies.plans()]
    if any(each.control == STATE for each in fixed):
        (command,) = (each for each in commands_in("state") if each.name == "apply")
        plans.append(apply(invocation_of(command, file=state), context))
    refused = Plan(Effect.CHANGE, (), refused=Results({}, remedies.refused))
    return merge_plans([*plans, refused]).advised(
        Advice(tuple(_by_control(fixed)), left_out, not_checked=not_checked, confirm=True)
    )


def _can_plan(finding: AuditFinding) -> bool:
    """Whether its changes are all of its remedy: a password, or a topic that is gone, is not."""
    return bool(finding.changes) and all(map(can_plan, finding.changes))


def _by_hand(findings: Iterable[AuditFinding]) -> Iterator[str]:
    for each in findings:
        yield f"{each.control} {each.resource}: run {each.remedy}"


def _not_checked(report: AuditReport) -> Iterator[NotChecked]:
    """Clusters and controls for which findings, and so remedies, may be missing."""
    for cluster, reason in report.unread.items():
        yield NotChecked(cluster, reason)
    for each in report.findings:
        if each.status in ("error", "skip"):
            yield NotChecked(f"{each.control} {each.title}", each.reason)


def _by_control(findings: list[AuditFinding]) -> Iterator[str]:
    """`T13 Retention is too short: 3 remedies (safe)`."""
    for (id, title, risk), count in Counter(
        (each.control, each.title, each.risk) for each in findings
    ).items():
        yield f"{id} {title}: {counted(count, 'finding')} ({risk})"


def _left_out(findings: list[AuditFinding], most: str) -> Iterator[str]:
    for risk in RISKS[RISKS.index(most) + 1 :]:
        count = sum(each.risk == risk for each in findings)
        if count:
            are = "is" if count == 1 else "are"
            yield f"{counted(count, 'remedy')} {are} {risk}: to apply, add --risk {risk}"


class _Remedies:
    """The changes of remedies, each judged with those before it, and why others are refused."""

    def __init__(self, context: Context) -> None:
        self.refused: dict[Resource, Failure] = {}
        self._context = context
        self._kept: dict[str, dict[Change, str]] = {}  # by what they change, with the remedy
        self._set: dict[tuple[Resource, str], tuple[Change, str]] = {}

    def add(self, finding: AuditFinding) -> None:
        """Keep the changes of a finding, or refuse them all if one takes access that is needed, or
        contradicts a remedy before it."""
        new = [each for each in finding.changes if each not in self._kept.get(key_of(each), {})]
        why = self._contradiction(new) or self._lost_access(new, finding.risk == RISKS[0])
        if why is not None:
            why = replace(why, message=f"not applied: {why.message}", hint=_APPLY_IT)
            self.refused[Resource("remedy", finding.remedy)] = why
            return
        for each in new:
            self._kept.setdefault(key_of(each), {})[each] = finding.remedy
            self._set[subject(each)] = each, finding.remedy

    def plans(self) -> Iterator[Plan]:
        """One plan for each kind of change. One that cannot be planned is refused."""
        for changes in self._kept.values():
            try:
                yield plan_changes(changes, self._context)
            except ShellError as error:
                for line in changes.values():
                    self.refused[Resource("remedy", line)] = as_failure(error)

    def _contradiction(self, new: Sequence[Change]) -> Failure | None:
        for each in new:
            before, line = self._set.get(subject(each), (each, ""))
            if (before.verb, before.after) != (each.verb, each.after):
                ours = commands_of([each])[0]
                return Failure("contradiction", f"{ours} conflicts with {line}")
        return None

    def _lost_access(self, new: Sequence[Change], safe: bool) -> Failure | None:
        removed = [each.resource.name for each in new if key_of(each) == "acl"]
        return self._access.refusal(removed, safe=safe) if removed else None

    @cached_property
    def _access(self) -> AclRemovals:
        sasl = self._context.settings.connection.sasl
        known = sasl is not None and sasl.username and not sasl.token
        login = f"User:{sasl.username}" if sasl is not None and known else None
        return AclRemovals(read.describe(self._context.cluster), login)
