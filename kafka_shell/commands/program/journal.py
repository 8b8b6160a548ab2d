"""The journal of changes, and the commands that undo them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.answers import Nothing
from kafka_shell.errors import ShellError
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option
from kafka_shell.plan.outcome import JournalEntry

if TYPE_CHECKING:
    from kafka_shell.context import Context


def journal(invocation: Invocation, context: Context) -> tuple[JournalEntry, ...] | Nothing | str:
    """The entries, the newest last; or the commands that undo them."""
    from kafka_shell import journal as book

    if invocation["undo"]:
        return _undo(invocation, context)
    if invocation["id"]:
        return tuple(_named(invocation["id"], context))
    entries, broken = book.read(context.paths.journal, last=invocation["last"])
    for path in broken:
        context.note(f"{path} cannot be read as an entry of the journal")
    return tuple(entries)


def _undo(invocation: Invocation, context: Context) -> Nothing | str:
    """The header and the commands that undo the chosen changes, the newest change first.

    Raises ShellError where one of them is irreversible: undoing an older change in its place, or
    only a part of them, is not what was asked for.
    """
    from kafka_shell import journal as book

    here = context.cluster.cluster_id
    if invocation["id"]:
        chosen = sorted(_named(invocation["id"], context), key=lambda e: e.time, reverse=True)
    else:
        chosen = list(_last_changes(context, here, invocation["last"] or 1))
    if not chosen:
        return Nothing(f"the journal has no change of cluster {here}")
    for number, entry in enumerate(chosen):
        _check(entry, here, last=not invocation["id"] and number == 0)
    lines = [line for entry in chosen for line in entry.undo]
    hidden = [entry.id for entry in chosen if not all(map(str.isprintable, entry.undo))]
    if hidden:
        raise ShellError(
            f"the undo of {', '.join(hidden)} contains control characters and is not printed",
            hint=f"See the values before the change: journal {' '.join(hidden)} --output json",
            code="not-printable",
        )
    return "\n".join([book.header(here, [entry.id for entry in chosen]), *lines])


def _check(entry: JournalEntry, here: str, *, last: bool) -> None:
    about = f"{'the last change, ' if last else ''}{entry.id} ({entry.command})"
    if entry.cluster != here:
        raise ShellError(
            f"{about} was a change of cluster {entry.cluster}, this is cluster {here}",
            hint="Connect to that cluster to undo it.",
            code="other-cluster",
        )
    if entry.undone:
        raise ShellError(f"{about} is undone already", code="undone")
    if not entry.changed:
        raise ShellError(f"{about} changed nothing", code="nothing-to-undo")
    if not entry.undo:
        raise ShellError(
            f"{about} is irreversible",
            hint="Name an older change to undo it: journal ID --undo",
            code="irreversible",
        )


def _last_changes(context: Context, cluster: str, count: int) -> Iterator[JournalEntry]:
    """The newest changes of this cluster that hold, the newest first."""
    from kafka_shell import journal as book

    for entry in book.newest(context.paths.journal, cluster=cluster):
        if isinstance(entry, Path):
            raise ShellError(
                f"{entry} cannot be read: what was changed last is not known",
                hint="Name a change to undo it: journal ID --undo",
                code="journal",
            )
        if entry.changed and not entry.undone:
            yield entry
            count -= 1
            if not count:
                return


def _named(ids: Sequence[str], context: Context) -> Iterator[JournalEntry]:
    from kafka_shell import journal as book

    for id in ids:
        entry = book.find(context.paths.journal, id)
        if isinstance(entry, Path):
            raise ShellError(f"{entry} cannot be read as an entry of the journal", code="journal")
        if entry is None:
            raise ShellError(
                f"the journal has no entry {id}", hint="Run journal to see them.", code="no-entry"
            )
        yield entry


COMMANDS = (
    Command(
        name="journal",
        summary="List what this program changed, and the commands that undo it.",
        family="shell",
        run=journal,
        needs_cluster=False,
        arguments=(
            Argument("id", Kind.TEXT, "Only these entries.", many=True, required=False),
        ),
        options=(
            Option("--last", Kind.INTEGER, "Only so many, the newest.", metavar="N", least=1),
            Option("--undo", Kind.FLAG,
                   "Print the commands that undo a change of this cluster: the last one, the last"
                   " N, or those named."),
        ),
        search=("log", "changes", "undo", "take back"),
        examples=(
            Example("journal --last 3", "the three newest changes"),
            Example("journal --last 1 --undo", "the commands that undo the last change"),
        ),
    ),
)  # fmt: skip
