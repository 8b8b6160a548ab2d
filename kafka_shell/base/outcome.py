"""The outcome of a plan, and the entries of the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

if TYPE_CHECKING:
    from kafka_shell.base.plans import Change, Plan
    from kafka_shell.base.results import Failure

MOVED = frozenset({"partition", "replica"})


class ChangeResult(Struct, frozen=True):
    """A change and its status: done, failed, unknown (no response in time), skipped or planned."""

    change: Change
    status: str
    failure: Failure | None = None


def has_moves(results: Iterable[ChangeResult], status: str) -> bool:
    """Whether moves of replicas, which continue after they were sent, have this status."""
    return any(each.status == status and each.change.resource.kind in MOVED for each in results)


class Outcome(Struct, frozen=True):
    """Every change of a plan with its status, the commands that undo it, and the new state.

    `undo` is empty if nothing was changed or every change is irreversible; `undo_shown` says that
    it was printed before the question. `retry` is the command that retries the unsent changes,
    `check` the one that shows the state of resources whose change has an unknown outcome, and
    `entry` the ID of the journal entry. `aborted`: nothing was sent because some items are invalid.
    """

    plan: Plan
    changes: tuple[ChangeResult, ...]
    undo: tuple[str, ...] = ()
    fresh: Any = None
    dry_run: bool = False
    undo_shown: bool = False
    retry: str = ""
    check: str = ""
    entry: str = ""
    aborted: bool = False

    @property
    def streams(self) -> bool:
        """Whether the new state is the output in each format, such as records; the changes are told
        on standard error."""
        return isinstance(self.fresh, Iterator)

    @property
    def ok(self) -> bool:
        """Whether every change was applied (or, in a dry run, is valid)."""
        return self.plan.refused.ok and all(
            done.status in ("done", "planned") for done in self.changes
        )


class JournalEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """One command of this program that changed a cluster. `time` is in seconds since the epoch.

    `status` is done, failed (at least one item), unknown (the outcome of at least one item) or
    intent (this program ended before the outcome was known). `undo` are the commands that undo the
    changes, in the order to run them; a quoted argument may contain line breaks. `undoes` are the
    IDs of the entries that this command undid; `undone` says whether this entry was undone.
    `session` identifies the prompt, script or one-shot command that made the change. `progress` is
    what a later command needs to continue this one.
    """

    id: str
    time: float
    cluster: str
    bootstrap: str
    command: str
    status: str
    changes: tuple[dict[str, Any], ...]
    undo: tuple[str, ...]
    undoes: tuple[str, ...] = ()
    session: str = ""
    undone: bool = False
    progress: dict[str, Any] = field(default_factory=dict)

    @property
    def continuation(self) -> str:
        """The command that continues an interrupted one, or an empty string."""
        if not self.progress or self.progress.get("complete"):
            return ""
        return f"{self.command.split()[0]} --resume {self.id}"

    @property
    def changed(self) -> bool:
        """Whether something was changed, or may have been."""
        return any(is_applied(row) for row in self.changes)

    @property
    def only_throttles(self) -> bool:
        """Whether it only changed the throttles of reassignments: undoing those restores them."""
        return all(row["kind"] == "throttle" for row in self.changes if is_applied(row))


class EntryDetails(JournalEntry, frozen=True):
    """A journal entry that is shown with each of its changes."""


def is_applied(row: dict[str, Any]) -> bool:
    """Whether a change of a journal entry was applied, or may have been."""
    return row.get("status", "unknown") in ("done", "unknown")


class HistoryLine(Struct, frozen=True):
    """One line typed at the prompt. `time` is in seconds since the epoch, or None if unknown."""

    text: str
    time: float | None = None
