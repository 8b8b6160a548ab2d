"""The journal of changes, and the commands that undo them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.answers import Nothing
from kafka_shell.errors import ShellError
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option
from kafka_shell.plan.outcome import JournalEntry

if TYPE_CHECKING:
    from kafka_shell.context import Context


def journal(invocation: Invocation, context: Context) -> tuple[JournalEntry, ...] | Nothing | str:
    """The entries of the journal, newest last, or the commands that undo them."""
    from kafka_shell import journal as book

    if invocation["undo"]:
        return _undo(invocation, context)
    if invocation["id"]:
        return tuple(_entries(invocation["id"], context))
    entries, broken = book.read(context.paths.journal, last=invocation["last"])
    for path in broken:
        context.note(f"{path} is not a valid journal entry")
    return tuple(entries)


def _undo(invocation: Invocation, context: Context) -> Nothing | str:
    """A header and the commands that undo the selected changes, newest change first.

    Raises ShellError if one of them is irreversible, instead of undoing only the others.
    """
    from kafka_shell import journal as book

    cluster_id = context.cluster.cluster_id
    if invocation["id"]:
        chosen = sorted(_entries(invocation["id"], context), key=lambda e: e.time, reverse=True)
    else:
        chosen = list(_last_changes(context, cluster_id, invocation["last"] or 1))
    if not chosen:
        return Nothing(f"the journal has no changes of cluster {cluster_id}")
    for number, entry in enumerate(chosen):
        _check(entry, cluster_id, last=not invocation["id"] and number == 0)
    lines = [line for entry in chosen for line in entry.undo]
    hidden = [entry.id for entry in chosen if not all(map(str.isprintable, entry.undo))]
    if hidden:
        raise ShellError(
            f"the undo of {', '.join(hidden)} contains control characters and is not printed",
            hint=f"See the values before the change: journal {' '.join(hidden)} --output json",
            code="not-printable",
        )
    return "\n".join([book.header(cluster_id, [entry.id for entry in chosen]), *lines])


def _check(entry: JournalEntry, cluster_id: str, *, last: bool) -> None:
    about = f"{'the last change, ' if last else ''}{entry.id} ({entry.command})"
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
        raise ShellError(
            f"{about} is irreversible",
            hint="To undo an older change, run journal ID --undo",
            code="irreversible",
        )


def _last_changes(context: Context, cluster: str, count: int) -> Iterator[JournalEntry]:
    """The last `count` changes of this cluster that were not undone, newest first."""
    from kafka_shell import journal as book

    for entry in book.newest(context.paths.journal, cluster=cluster):
        if isinstance(entry, Path):
            raise ShellError(
                f"{entry} is not a valid journal entry, so the last change is unknown",
                hint="To undo a specific change, run journal ID --undo",
                code="journal",
            )
        if entry.changed and not entry.undone:
            yield entry
            count -= 1
            if not count:
                return


def _entries(ids: Sequence[str], context: Context) -> Iterator[JournalEntry]:
    from kafka_shell import journal as book

    for id in ids:
        entry = book.find(context.paths.journal, id)
        if isinstance(entry, Path):
            raise ShellError(f"{entry} is not a valid journal entry", code="journal")
        if entry is None:
            raise ShellError(
                f"journal entry {id} does not exist",
                hint="Run journal to see the entries.",
                code="no-entry",
            )
        yield entry


COMMANDS = (
    Command(
        name="journal",
        summary="List the changes made with kafka.sh, and the commands that undo them.",
        family="shell",
        run=journal,
        needs_cluster=False,
        arguments=(
            Argument("id", kinds.TEXT, "Only these entries.", many=True, required=False),
        ),
        options=(
            Option("--last", kinds.INTEGER, "Only the newest N.", least=1),
            Option("--undo", kinds.FLAG,
                   "Print the commands that undo changes of this cluster: the last one, the last"
                   " N, or those named."),
        ),
        search=("log", "changes", "undo", "take back"),
        examples=(
            Example("journal --last 3", "show the last three changes"),
            Example("journal --last 1 --undo", "print the commands that undo the last change"),
        ),
    ),
)  # fmt: skip
