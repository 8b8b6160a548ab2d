"""Undo: one plan that undoes changes of the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kafka_shell import journal as book
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError
from kafka_shell.base.outcome import JournalEntry, is_applied
from kafka_shell.base.plans import Advice, Change, Effect, Plan, net
from kafka_shell.base.structs import replace
from kafka_shell.base.units import same_value, shorten_command, some
from kafka_shell.base.waits import SETTLE_S
from kafka_shell.commands.changes import few, plan_undo
from kafka_shell.commands.program.journal import entries
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.output.humanize import change_values, local_time
from kafka_shell.wire.cluster import wait_until_visible

# Conflicts of an undo: values that were changed again since.


def conflicts(changes: Iterable[Change], plan: Plan, by: str) -> Iterator[str]:
    """The values that are neither those after the changes nor those before them."""
    current = {
        (change.resource, change.field): change for change in (*plan.changes, *plan.unchanged)
    }
    for change in changes:
        now = current.get((change.resource, change.field))
        if now is None:
            continue
        if not change.field and change.verb in ("create", "delete"):
            known = change.resource.kind == "topic" and change.note and now.note
            # The last word is the topic ID: earlier versions spelled the rest in another way.
            if known and now.note.split()[-1] != change.note.split()[-1]:
                yield (
                    f"{change.resource} was deleted and recreated since {by}"
                    f" ({now.note}, not {change.note})"
                )
        elif not any(
            same_value(change.field, now.before, value) for value in (change.after, change.before)
        ):
            if change.resource.kind == "logger" and change.after is None:
                continue  # brokers do not return whether a level is inherited
            yield _difference(change, now, by)


def _difference(change: Change, now: Change, by: str) -> str:
    value, after = change_values(replace(change, before=now.before, after=change.after))
    changed = f"{by} set it to {after}" if after else f"{by} deleted it"
    return f"{about_change(change)} is now {value or 'not set'}; {changed}"


def about_change(change: Change) -> str:
    """The resource and field of a change."""
    return " ".join(filter(None, (str(change.resource), change.field)))


_RECENT_S = 30  # a broker may not have applied a change of the last seconds yet
_NAMED = 5  # entries that are named before the rest is counted


def undo(invocation: Invocation, context: Context) -> Plan | NoRows:
    """The plan that undoes the newest change, the last N, those of this session or by ID."""
    cluster_id = context.cluster.cluster_id
    chosen = _chosen(invocation, context, cluster_id)
    if not chosen:
        which = "this session" if invocation["session"] else f"cluster {cluster_id}"
        return NoRows(f"nothing to undo: the journal has no changes of {which} left to undo")
    applied = [
        book.change_of(row)
        for entry in reversed(chosen)
        for row in entry.changes
        if is_applied(row)
    ]
    recent = context.clock() - chosen[0].time < _RECENT_S
    plan = _settled_plan(applied, context, invocation["timeout"], recent=recent)
    changed = list(
        conflicts(net(applied), plan, "that change" if len(chosen) == 1 else "those changes")
    )
    if changed and not invocation["despite-changes"]:
        _check_may_ask(changed, invocation, context)
        plan = plan.advised(Advice(confirm=True))
    named = invocation["id"] or invocation.get("yes")
    others = [] if named else _of_other_processes(chosen, context)
    return replace(
        plan,
        advice=Advice(
            about=_about(chosen),
            warnings=(*few(others, "changes"), *few(changed, "values")),
            confirm=bool(others),
        )
        + plan.advice
        + Advice(warnings=tuple(_irreversible(applied))),
    ).noted(undoes=tuple(entry.id for entry in chosen))


# -- which changes ---------------------------------------------------------------------------------


def _chosen(invocation: Invocation, context: Context, cluster_id: str) -> list[JournalEntry]:
    """The entries to undo, newest first. Raises ShellError if one of them cannot be undone, rather
    than undoing only the others."""
    if invocation["id"]:
        chosen = sorted(entries(invocation["id"], context), key=lambda e: e.time, reverse=True)
    else:
        chosen = list(_newest(invocation, context, cluster_id))
    for number, entry in enumerate(chosen):
        try:
            _check(entry, cluster_id, last=not invocation["id"] and number == 0)
        except ShellError as error:
            if error.code == "irreversible":
                error.hint += _older(entry, context, cluster_id)
            raise
    return chosen


def _newest(invocation: Invocation, context: Context, cluster_id: str) -> Iterator[JournalEntry]:
    """The changes of this cluster that are not undone, newest first: the last N, or those of this
    session. Undoing is not one of them, so that undo goes further back each time."""
    left = None if invocation["session"] else invocation["last"] or 1
    for entry in book.newest(context.paths.journal, cluster=cluster_id):
        if isinstance(entry, Path):
            raise ShellError(
                f"{entry} is not a valid journal entry, so the last change is unknown",
                hint="To undo a specific change, run undo ID",
                code="journal",
            )
        if not entry.changed or entry.undone or entry.undoes:
            continue
        if invocation["session"] and entry.session != context.script.session:
            continue
        yield entry
        left = None if left is None else left - 1
        if left == 0:
            return


def _older(than: JournalEntry, context: Context, cluster_id: str) -> str:
    """How to undo the newest reversible change before an irreversible one."""
    every = book.newest(context.paths.journal, cluster=cluster_id)
    for entry in every:
        if isinstance(entry, JournalEntry) and entry.id == than.id:
            break
    for entry in every:
        if isinstance(entry, Path) or entry.undone or entry.undoes or not entry.changed:
            continue
        if entry.undo:
            before = shorten_command(entry.command)
            return f"To undo the newest reversible change ({before}), run undo {entry.id}"
    return ""


def _check(entry: JournalEntry, cluster_id: str, *, last: bool) -> None:
    about = f"{entry.id} ({shorten_command(entry.command)})"
    about = f"the last change, {about}," if last else about
    if entry.cluster != cluster_id:
        raise ShellError(
            f"{about} changed cluster {entry.cluster}, but this is cluster {cluster_id}",
            hint="Connect to that cluster to undo it.",
            code="other-cluster",
        )
    if entry.undone:
        raise ShellError(f"{about} was already undone", code="undone")
    if not entry.changed:
        raise ShellError(f"{about} changed nothing", code="nothing-to-undo")
    if not entry.undo:
        what = "is irreversible"
        if entry.only_throttles:
            what = "only changed the throttle of a reassignment: there is nothing to undo"
        elif _set_the_same(entry):
            what = "set the values that were set before: there is nothing to undo"
        raise ShellError(f"{about} {what} (nothing was changed)", code="irreversible")


def _set_the_same(entry: JournalEntry) -> bool:
    """Whether every value is as it was before, such as the level of a logger, which is set again as
    its own."""
    applied = [book.change_of(row) for row in entry.changes if is_applied(row)]
    return bool(applied) and all(change.reversible for change in applied) and not net(applied)


# -- the plan --------------------------------------------------------------------------------------


def _irreversible(changes: Sequence[Change]) -> Iterator[str]:
    """Warnings of what undoing does not restore."""
    kept = [
        f"irreversible and not undone: {about_change(change)}"
        for change in changes
        if not change.reversible
    ]
    yield from few(kept, "irreversible changes")
    yield from dict.fromkeys(change.lost for change in changes if change.lost)


def _settled_plan(
    changes: Sequence[Change], context: Context, timeout_ms: int | None, *, recent: bool
) -> Plan:
    """The plan that undoes the changes. If a `recent` one seems not to be there, the plan is made
    again for a moment: brokers apply changes after the controller has confirmed them."""
    plan = Plan(Effect.CHANGE, ())

    def has_settled() -> bool:
        nonlocal plan
        plan = plan_undo(changes, context, timeout_ms)
        return not (recent and plan.unchanged)

    if not has_settled():
        wait_until_visible(has_settled, SETTLE_S)
    return plan


# -- conflicts -------------------------------------------------------------------------------------


def _check_may_ask(changed: Sequence[str], invocation: Invocation, context: Context) -> None:
    """Raise ShellError if the user cannot be asked whether to undo anyway."""
    if invocation.get("dry-run") or (context.ask is not None and not invocation.get("yes")):
        return
    more = f" (and {len(changed) - 1:,} more)" if len(changed) > 1 else ""
    raise ShellError(
        f"the cluster has changed since: {changed[0]}{more} (nothing was changed)",
        hint="Use --despite-changes to undo it anyway, --dry-run to see the plan.",
        code="changed-since",
    )


# -- what is shown ---------------------------------------------------------------------------------


def _about(chosen: Sequence[JournalEntry]) -> tuple[str, ...]:
    every = [
        f"undo {entry.id} of {local_time(int(entry.time) * 1000)}: {shorten_command(entry.command)}"
        for entry in chosen
    ]
    return tuple(few(every, "changes"))


def _of_other_processes(chosen: Sequence[JournalEntry], context: Context) -> list[str]:
    """Which entries another shell, script or one-shot command wrote: the newest change may not be
    the one that the user wants to undo."""
    ids: dict[str, list[str]] = {}
    for entry in chosen:
        if entry.session != context.script.session:
            by = f"session {entry.session or 'unknown'}, broker {entry.bootstrap}"
            ids.setdefault(by, []).append(entry.id)
    return [f"changed by another kafka.sh process ({by}): {some(of, _NAMED)}"
            for by, of in ids.items()]  # fmt: skip
