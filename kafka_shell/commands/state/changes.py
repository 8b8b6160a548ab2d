"""The command that applies state files."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Plan, Secret
from kafka_shell.base.results import Failure
from kafka_shell.base.units import counted
from kafka_shell.commands.partitions.reassignments import Replicas, replicate
from kafka_shell.commands.state.compare import (
    from_file,
    missing,
    note_unmatched,
    read_covered_state,
    state_in,
)
from kafka_shell.commands.state.model import Password, only
from kafka_shell.commands.state.plan import Options, plan_state
from kafka_shell.commands.state.render import name_changes
from kafka_shell.commands.state.run import chosen_kinds
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.commands.users import run as scram_options
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation

_LEFT_OUT = "Use --only KINDS to exclude other kinds."


def apply(invocation: Invocation, context: Context) -> Plan:
    """Make the cluster match a state file."""
    wanted = only(state_in(invocation, context, "file"), chosen_kinds(invocation))
    now = read_covered_state(context.cluster, wanted)
    _refuse_missing(missing(now, wanted))

    def move(replicas: Replicas, growing: Mapping[str, int]) -> Plan:
        return replicate(invocation, context, replicas, growing)

    def password(source: Password) -> Secret:
        return _password(invocation, context, source)

    options = Options(move, password, invocation["prune"], invocation["reassign"])
    found = from_file(now, wanted)
    plan = plan_state(context, found, wanted, options)
    if invocation["prune"] and not wanted.scope:
        context.note("the file has no scope: --prune deletes nothing")
    elif not invocation["prune"] and found.only_on_cluster:
        kept = name_changes([each.change for each in found.only_on_cluster])
        context.note(f"not in the file (add --prune to delete): {kept}")
    note_unmatched(found, context)
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
