"""The command that applies state files, and its plan."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_shell.admin.configs.model import HIDDEN
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Effect, Order, Plan, Secret, merge_plans
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.commands.changes import plan_changes
from kafka_shell.commands.partitions.reassignments import Replicas, replicate
from kafka_shell.commands.state.compare import (
    FileDifferences,
    from_file,
    missing,
    note_unmatched,
    read_covered_state,
    state_in,
)
from kafka_shell.commands.state.model import Password, State, only
from kafka_shell.commands.state.render import name_changes
from kafka_shell.commands.state.run import chosen_kinds
from kafka_shell.commands.state.section import Difference, Options, Planning, Section
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.commands.users import run as scram_options
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation

_LEFT_OUT = "Use --only KINDS to exclude other kinds."


def apply(invocation: Invocation, context: Context) -> Plan:
    """Make the cluster match a state file."""
    wanted = only(state_in(invocation, context, "file"), chosen_kinds(invocation))
    now = read_covered_state(context, wanted)
    _refuse_missing(missing(now, wanted))

    def move(replicas: Replicas, growing: Mapping[str, int]) -> Plan:
        return replicate(invocation, context, replicas, growing)

    def password(source: Password) -> Secret:
        return _password(invocation, context, source)

    options = Options(move, password, invocation["prune"], invocation["reassign"])
    differences = from_file(now, wanted)
    plan = plan_state(context, differences, wanted, options)
    if invocation["prune"] and not wanted.scope:
        context.note("the file has no scope: --prune deletes nothing")
    elif not invocation["prune"] and differences.only_on_cluster:
        kept = name_changes([difference.change for difference in differences.only_on_cluster])
        context.note(f"not in the file (add --prune to delete): {kept}")
    note_unmatched(differences, context)
    return plan.advised(Advice(confirm=context.ask is not None))


def _refuse_missing(missing: Mapping[str, Failure]) -> None:
    """Raise an error if something cannot be compared with the file."""
    for about, why in missing.items():
        what = about.replace("_", " ") if about in KINDS else about
        more = counted(len(missing) - 1, "other")
        others = f" ({more} as well)" if len(missing) > 1 else ""
        raise ShellError(
            f"{what} cannot be compared with the file{others}: {why.message}",
            hint=f"{why.hint.rstrip('.')}. {_LEFT_OUT}" if why.hint else _LEFT_OUT,
            code=why.name,
            see=why.see,
        )


def _password(invocation: Invocation, context: Context, source: Password) -> Secret:
    if not source.generate:
        return scram_options.password_from(source.file)
    scram_options.refuse_lost_password(invocation, context)
    return scram_options.new_password()


def plan_state(context: Context, diff: FileDifferences, wanted: State, options: Options) -> Plan:
    """The changes that make the cluster match the file. What matches already is left out.

    Topics come first, then users, quotas, ACLs and the rest; deletions are last. If an item is
    refused, nothing of the plan is sent.
    """
    by_section: dict[Section, list[Difference]] = {}
    pruned = False
    for difference in diff.found:
        if not difference.removes or options.prune:
            by_section.setdefault(difference.section, []).append(difference)
            pruned |= difference.removes
    kinds = {section.name for section in by_section}
    planning = Planning(context, wanted, options, kinds)
    first: list[Plan] = []
    last: list[Plan] = []
    for section, some in by_section.items():
        for plan in section.plans(some, planning):
            (last if plan.effect is Effect.DESTROY else first).append(plan)
    with planning.collecting():
        plan = plan_changes(planning.changes, context)
        _refuse_sensitive(plan, planning)
        first.append(plan)
    planning.mistakes.check()
    plan = merge_plans(first + last)
    advice = Advice(warnings=tuple(planning.warnings), confirm=pruned or planning.confirm)
    return replace(
        plan,
        order=plan.order | Order.WHOLE | (Order.CHAINED if pruned else Order.SEPARATE),
        refused=Results({}, {**planning.refused, **plan.refused.failures}),
        advice=advice + plan.advice,
        unchanged=(),
    ).noted(repeatable=True)


def _refuse_sensitive(plan: Plan, planning: Planning) -> None:
    """Refuse configs that brokers do not show, although their names do not say so."""
    for change in plan.changes:
        if change.after == HIDDEN:
            resource = change.resource
            place = planning.place(resource, change.field)
            planning.refused[resource] = Failure(
                "sensitive",
                f"{place}: {resource}: {change.field} is unknown or sensitive, and a state"
                " file contains no secrets",
                hint="Check the name. Set a sensitive config with alter-configs, and remove"
                " it from the file.",
            )
