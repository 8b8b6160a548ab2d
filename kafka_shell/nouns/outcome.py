"""What became of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .plans import Change, Plan
from .results import Failure


@dataclass(frozen=True, slots=True)
class Done:
    """One change and how it ended: done, failed, unknown (a deadline passed), skipped, planned."""

    change: Change
    status: str
    failure: Failure | None = None


@dataclass(frozen=True)
class Outcome:
    """Every change of a plan with its end, the line that takes it back, and the state afterwards.

    `undo` holds lines of the shell; empty where nothing was done or nothing can be taken back. They
    are `told` where they were shown before a question was asked. `again` is the line that goes on
    where some were not sent.
    """

    plan: Plan
    changes: tuple[Done, ...]
    undo: tuple[str, ...] = ()
    fresh: Any = None
    dry_run: bool = False
    told: bool = False
    again: str = ""

    @property
    def ok(self) -> bool:
        """Whether every change is done (or, in a dry run, would be)."""
        return self.plan.refused.ok and all(
            done.status in ("done", "planned") for done in self.changes
        )


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One command of this program that changed a cluster. `time` is epoch seconds.

    `status` is done, failed (some item), unknown (it may have happened) or intent (this program was
    ended before it knew). `undo` takes back what was done, in the order to be typed.
    """

    id: str
    time: float
    cluster: str
    bootstrap: str
    command: str
    status: str
    changes: tuple[dict[str, Any], ...]
    undo: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One line typed at the prompt. `time` is epoch seconds, or None where it was not kept."""

    text: str
    time: float | None = None
