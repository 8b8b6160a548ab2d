"""Convert models to plain data for JSON, YAML and CSV. The keys are stable: scripts rely on them.

- A model is an object with its field names as keys, in order.
- An enum is its name in lower case (`dynamic_topic`), except SCRAM mechanisms (`SCRAM-SHA-512`).
  A tuple is a list. A resource is one string (`topic orders`). NaN and infinity are null, because
  JSON has no such numbers.
- A failure is `{"resource", "error", "message"}`, a row among the successful rows.
- Results whose values are sequences (the configs of many resources) are one flat array.
- A change is `{"resource", "verb", "field", "before", "after", "status", "error", "message"}`
  with raw values. An Outcome is `{"changes", "undo", "warnings", "dry_run"}`. Its changes include
  those refused while planning (status `refused`) and those already in place (`unchanged`). The
  figures of a plan (broker load before and after a reassignment) are in `figures`, what could not
  be read for it in `not_checked`, the IDs of the journal entries that it undoes in `undoes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from kafka_shell.admin.configs.model import ConfigResource
from kafka_shell.admin.users.model import ScramMechanism
from kafka_shell.common.command_results import Listing
from kafka_shell.common.escaping import is_printable
from kafka_shell.common.structs import fields
from kafka_shell.output.renderers import Renderers
from kafka_shell.plan.model import Change, Plan, Resource, Secret
from kafka_shell.plan.outcome import ChangeResult, EntryDetails, JournalEntry, Outcome
from kafka_shell.plan.results import Failure, Results

NOT_SHOWN = "# not shown: contains control characters"

Data = Any  # None, bool, int, float, str, lists and dicts of these


def plain(value: object) -> Data:
    """A value as plain data. Raises TypeError for a Secret and for unsupported types."""
    if value is None or type(value) in _PLAIN:
        return value
    special = _SPECIAL.get(type(value))
    if special is not None:
        return special(value)
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, Struct):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value))
    if isinstance(value, tuple | list):
        return list(map(plain, value))
    return _scalar(value)


_PLAIN = frozenset((str, int, bool))


def _finite(value: float) -> Data:
    return value if isfinite(value) else None


def _scalar(value: object) -> Data:
    if isinstance(value, Secret):
        raise TypeError("a Secret cannot be printed")
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return plain(kind(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be converted to data")


_NAMES: dict[type, tuple[str, ...]] = {}


def _names(kind: type) -> tuple[str, ...]:
    names = _NAMES.get(kind)
    if names is None:
        names = _NAMES[kind] = fields(kind)
    return names


def failure_row(about: object, failure: Failure) -> dict[str, Data]:
    """One failure as a row."""
    return {"resource": str(about), "error": failure.name, "message": failure.message}


def is_array(value: object) -> bool:
    """Whether a value is an array in JSON, whatever its length."""
    if isinstance(value, Results | Listing | tuple | list | set | frozenset):
        return True
    return isinstance(value, Iterator)


def items(value: object) -> Iterator[Data]:
    """The elements of an array as data, lazily."""
    if isinstance(value, Results):
        for each in value.flat():
            yield from items(each) if isinstance(each, Listing) else (plain(each),)
        for key, failure in value.failures.items():
            yield failure_row(key, failure)
    elif isinstance(value, Listing):
        yield from map(plain, value.rows)
    elif isinstance(value, Iterable):
        for item in value:
            if isinstance(item, Results):
                yield from items(item)
            else:
                yield plain(item)


def rows(value: object, renderers: Renderers) -> Iterator[object]:
    """The CSV rows of a value: the rows of its page (a topic's partitions), or the model."""
    if isinstance(value, Results):
        for item in value.flat():
            yield from rows(item, renderers)
    elif isinstance(value, Listing):
        for item in value.rows:
            yield from rows(item, renderers)
    elif is_array(value) and isinstance(value, Iterable):
        for item in value:
            yield from rows(item, renderers)
            if isinstance(item, Results):
                yield from (failure_row(*pair) for pair in item.failures.items())
    else:
        inner = _ROWS.get(type(value)) or renderers.rows(type(value))
        if inner is None:
            yield value
        else:
            yield from inner(value)


def _change(done: ChangeResult) -> dict[str, Data]:
    change, failure = done.change, done.failure
    return {
        "resource": str(change.resource),
        "verb": change.verb,
        "field": change.field,
        "before": plain(change.before),
        "after": plain(change.after),
        "status": done.status,
        "error": failure.name if failure else None,
        "message": failure.message if failure else None,
        **({"records": change.records} if change.records else {}),
    }


def _refused(plan: Plan) -> Iterator[dict[str, Data]]:
    for resource, failure in plan.refused.failures.items():
        yield {
            **_change(ChangeResult(Change(_resource(resource), ""), "refused", failure)),
            "resource": str(resource),
        }


def _resource(about: object) -> Resource:
    return about if isinstance(about, Resource) else Resource("", str(about))


def _outcome(outcome: Outcome) -> dict[str, Data]:
    return {
        "changes": [
            *map(_change, outcome.changes),
            *(_change(ChangeResult(change, "unchanged")) for change in outcome.plan.unchanged),
            *_refused(outcome.plan),
        ],
        "undo": _undo(outcome.undo),
        "warnings": list(outcome.plan.warnings),
        **({"notes": list(outcome.plan.notes)} if outcome.plan.notes else {}),
        **({"not_checked": plain(outcome.plan.not_checked)} if outcome.plan.not_checked else {}),
        "dry_run": outcome.dry_run,
        **({"undoes": list(outcome.plan.undoes)} if outcome.plan.undoes else {}),
        **({"figures": plain(outcome.plan.figures)} if outcome.plan.figures else {}),
    }


def _undo(lines: Iterable[str]) -> list[str]:
    """The undo commands. A comment replaces one with control characters, because a line break in it
    could be run as another command."""
    return [line if is_printable(line) else NOT_SHOWN for line in lines]


def _journal_entry(entry: JournalEntry) -> dict[str, Data]:
    row = {name: plain(getattr(entry, name)) for name in _names(JournalEntry)}
    del row["progress"]
    more = {"continuation": entry.continuation} if entry.continuation else {}
    return row | {"undo": _undo(entry.undo)} | more


def _planned(plan: Plan) -> Outcome:
    return Outcome(
        plan, tuple(ChangeResult(change, "planned") for change in plan.changes), dry_run=True
    )


_SPECIAL: dict[type, Callable[[Any], Data]] = {
    float: _finite,
    Resource: str,
    ConfigResource: str,
    Results: lambda results: list(items(results)),
    Listing: lambda listing: list(items(listing)),
    Failure: lambda failure: {"error": failure.name, "message": failure.message},
    ChangeResult: _change,
    Outcome: _outcome,
    JournalEntry: _journal_entry,
    EntryDetails: _journal_entry,
    Plan: lambda plan: _outcome(_planned(plan)),
    ScramMechanism: lambda mechanism: mechanism.label,
}
_ROWS: dict[type, Callable[[Any], Iterable[object]]] = {
    Plan: lambda plan: _outcome(_planned(plan))["changes"],
    Outcome: lambda outcome: _outcome(outcome)["changes"],
}
