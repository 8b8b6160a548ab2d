"""The page of `diff`."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.output.counts import count_kinds
from kafka_shell.output.errors import failure_lines
from kafka_shell.output.plans import changes_lines, counted_changes
from kafka_shell.output.renderers import Page
from kafka_shell.output.text import Text, hang, text

from .model import StateDiff


def diff_page(diff: StateDiff, width: int | None) -> Iterator[Text]:
    """The differences like a plan: what leads from the first state to the second."""
    if diff.changes:
        yield text(f"--- {diff.before}", "dim")
        yield text(f"+++ {diff.after}", "dim")
    for line in changes_lines(diff.changes, None):
        yield from hang(line, width, 6)
    for about, failure in diff.unread.items():
        yield from failure_lines(failure, about, width)
    yield text(_closing(diff), "heading")


def _closing(diff: StateDiff) -> str:
    left = f"; {len(diff.unread):,} not compared" if diff.unread else ""
    if not diff.changes:
        return f"no differences between {diff.before} and {diff.after}{left}"
    resources = count_kinds(change.resource for change in diff.changes)
    verb = "differs" if len({change.resource for change in diff.changes}) == 1 else "differ"
    return f"{resources} {verb} ({counted_changes(diff.changes)}){left}"


PAGES: dict[type, Page] = {StateDiff: diff_page}
