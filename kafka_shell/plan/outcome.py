"""What became of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from .model import Change, Plan
    from .results import Failure


class Done(Struct, frozen=True):
    """One change and how it ended: done, failed, unknown (a deadline passed), skipped, planned."""

    change: Change
    status: str
    failure: Failure | None = None


class Outcome(Struct, frozen=True):
    """Every change of a plan with its end, the commands that undo it, and the state afterwards.

    `undo` is empty where nothing was done or all of it is irreversible. It is `told` where it was
    shown before a question was asked. `again` is the command that goes on where some changes were
    not sent, `look` the one that shows the state of those whose outcome is unknown, and `entry` the
    id of the entry in the journal. `aborted`: nothing was sent, as some items are invalid.
    """

    plan: Plan
    changes: tuple[Done, ...]
    undo: tuple[str, ...] = ()
    fresh: Any = None
    dry_run: bool = False
    told: bool = False
    again: str = ""
    look: str = ""
    entry: str = ""
    aborted: bool = False

    @property
    def ok(self) -> bool:
        """Whether every change is done (or, in a dry run, would be)."""
        return self.plan.refused.ok and all(
            done.status in ("done", "planned") for done in self.changes
        )


class JournalEntry(Struct, frozen=True):
    """One command of this program that changed a cluster. `time` is epoch seconds.

    `status` is done, failed (some item), unknown (it may have happened) or intent (this program was
    ended before it knew). `undo` are the commands that undo what was done, in the order to run
    them; each reads back exactly, and may hold line breaks inside of quotes. `undoes` are the ids
    of the entries that this one undid; `undone` tells whether it was undone itself.
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
    undone: bool = False

    @property
    def changed(self) -> bool:
        """Whether something was changed, or may have been."""
        return any(row.get("status", "unknown") in ("done", "unknown") for row in self.changes)


class HistoryLine(Struct, frozen=True):
    """One line typed at the prompt. `time` is epoch seconds, or None where it was not kept."""

    text: str
    time: float | None = None
