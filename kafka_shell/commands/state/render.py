"""The page of `diff`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_shell.base.outcome import ChangeResult
from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.units import counted
from kafka_shell.commands.state.model import StateDiff
from kafka_shell.output.errors import grouped_failure_lines
from kafka_shell.output.humanize import count_kinds
from kafka_shell.output.outcomes import changes_lines, counted_changes
from kafka_shell.output.tables import Page, Rows
from kafka_shell.output.text import Text, hang, text

_NAMED = 5  # resources only on the cluster that are shown


def diff_page(diff: StateDiff, width: int | None) -> Iterator[Text]:
    """The differences like a plan: what leads from the first state to the second."""
    if diff.changes:
        yield text(f"--- {diff.before}", "removed")
        yield text(f"+++ {diff.after}", "added")
    changes = [differing.change for differing in diff.changes]
    for line in changes_lines(changes, None):
        yield from hang(line, width, 6)
    yield from grouped_failure_lines(diff.unread, width)
    if diff.out_of_scope:
        kept = name_changes([differing.change for differing in diff.out_of_scope])
        note = f"only on the cluster, outside the scope of the file: {kept}"
        yield from hang(text(note, "dim"), width, 2)
    yield text(_closing(diff), "heading")


def name_changes(changes: Sequence[Change]) -> str:
    """`topic a: retention.ms; topic b`, and how many more there are."""
    resources: dict[Resource, list[str]] = {}
    for change in changes:
        resources.setdefault(change.resource, []).append(change.field)
    named = [
        f"{resource}: {', '.join(fields)}" if all(fields) else str(resource)
        for resource, fields in resources.items()
    ]
    more = f"; and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
    return f"{'; '.join(named[:_NAMED])}{more}"


def _rows(diff: StateDiff) -> Iterator[object]:
    """The CSV rows: one for each difference."""
    for differing in diff.changes:
        yield ChangeResult(differing.change, "differs")
    for about, failure in diff.unread.items():
        yield ChangeResult(Change(Resource(about), "alter"), "not compared", failure)
    for differing in diff.out_of_scope:
        yield ChangeResult(differing.change, "out of scope")


def _closing(diff: StateDiff) -> str:
    left = f"; {len(diff.unread):,} not compared" if diff.unread else ""
    if not diff.changes:
        return f"no differences between {diff.before} and {diff.after}{left}"
    changes = [differing.change for differing in diff.changes]
    resources = count_kinds(change.resource for change in changes)
    count = counted(len(changes), "difference")
    return f"{count} in {resources}: {counted_changes(changes)}{left}"


PAGES: dict[type, Page] = {StateDiff: diff_page}
ROWS: dict[type, Rows] = {StateDiff: _rows}
