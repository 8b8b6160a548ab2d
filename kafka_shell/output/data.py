"""Convert models to plain data for JSON, YAML and CSV. The keys are stable: scripts rely on them.

- A model is an object with its field names as keys, in order.
- An enum is its name in lower case (`dynamic_topic`), a tuple is a list, and a resource is one
  string (`topic orders`). A model with `as_data` decides itself. NaN and infinity are null, because
  JSON has no such numbers.
- A failure is `{"resource", "error", "message"}`, a row among the successful rows.
- Results whose values are sequences (the configs of many resources) are one flat array.
- A change is `{"resource", "verb", "field", "before", "after", "status", "error", "message"}`
  with raw values. An Outcome is `{"changes", "undo", "warnings", "dry_run"}`. Its changes include
  those rejected while planning (status `rejected`) and those already in place (`unchanged`). The
  figures of a plan (broker load before and after a reassignment) are in `figures`, what could not
  be read for it in `not_checked`, the IDs of the journal entries that it undoes in `undoes`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import chain, islice
from math import isfinite
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from kafka_shell.base.command_results import Listing
from kafka_shell.base.outcome import ChangeResult, EntryDetails, JournalEntry, Outcome
from kafka_shell.base.plans import Change, Plan, Resource, Secret
from kafka_shell.base.results import Failure, Parts, Results
from kafka_shell.base.structs import fields
from kafka_shell.base.text import escape, is_printable
from kafka_shell.output.tables import NO_RENDERERS, Renderers

NOT_SHOWN = "# not shown: contains control characters"

Data = Any  # None, bool, int, float, str, lists and dicts of these


def plain(value: object) -> Data:
    """A value as plain data. Raises TypeError for a Secret and for unsupported types."""
    if value is None or type(value) in _PLAIN:
        return value
    special = _SPECIAL.get(type(value))
    if special is not None:
        return special(value)
    if isinstance(value, Enum | Struct) and (as_data := getattr(value, "as_data", None)):
        return as_data()
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
            **_change(ChangeResult(Change(_resource(resource), ""), "rejected", failure)),
            "resource": str(resource),
        }


def _resource(about: object) -> Resource:
    return about if isinstance(about, Resource) else Resource("", str(about))


def _outcome(outcome: Outcome) -> dict[str, Data]:
    advice, undoes = outcome.plan.advice, outcome.plan.bookkeeping.undoes
    return {
        "changes": [
            *map(_change, outcome.changes),
            *(_change(ChangeResult(change, "unchanged")) for change in outcome.plan.unchanged),
            *_refused(outcome.plan),
        ],
        "undo": _undo(outcome.undo),
        "warnings": list(advice.warnings),
        **({"notes": list(advice.notes)} if advice.notes else {}),
        **({"not_checked": plain(advice.not_checked)} if advice.not_checked else {}),
        "dry_run": outcome.dry_run,
        **({"undoes": list(undoes)} if undoes else {}),
        **({"figures": plain(advice.figures)} if advice.figures else {}),
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


_OF_CHANGE = ("resource", "verb", "field", "before", "after")
_SPECIAL: dict[type, Callable[[Any], Data]] = {
    float: _finite,
    Resource: str,
    Results: lambda results: list(items(results)),
    Listing: lambda listing: list(items(listing)),
    Failure: lambda failure: {"error": failure.name, "message": failure.message},
    ChangeResult: _change,
    Change: lambda change: {key: plain(getattr(change, key)) for key in _OF_CHANGE},
    Outcome: _outcome,
    JournalEntry: _journal_entry,
    EntryDetails: _journal_entry,
    Plan: lambda plan: _outcome(_planned(plan)),
}
_ROWS: dict[type, Callable[[Any], Iterable[object]]] = {
    Plan: lambda plan: _outcome(_planned(plan))["changes"],
    Outcome: lambda outcome: _outcome(outcome)["changes"],
}


# Encode values as JSON, YAML and CSV, element by element.


class EncodingOptions(Struct, frozen=True):
    """Output options: the stream supports `unicode`, is a `terminal`; `safe_csv` protects
    spreadsheets, which would run cells that start with = + - @ as formulas if they are no numbers.
    `renderers` have the CSV rows of models.
    """

    unicode: bool = True
    terminal: bool = False
    safe_csv: bool = False
    renderers: Renderers = NO_RENDERERS


_FILE = EncodingOptions()


def json_text(value: object, options: EncodingOptions = _FILE) -> Iterator[str]:
    """Indented JSON, printed element by element.

    Characters that a terminal would interpret, hide or reorder are escaped.
    """
    import json

    # Lists of numbers (replicas) go on one line. JSON strings never contain raw line breaks, so a
    # match with one between all numbers is not inside a string.
    numbers = re.compile(r"\[\n\s*((?:-?\d+,\n\s*)*-?\d+)\n\s*\]")

    def dump(data: Data) -> str:
        dumped = _escaped(json.dumps(data, indent=2, ensure_ascii=not options.unicode), wide=False)
        return numbers.sub(lambda match: "[" + re.sub(r"\s+", " ", match[1]) + "]", dumped)

    if not is_array(value):
        yield dump(plain(value)) + "\n"
        return
    started = False
    for item in items(value):
        lead = ",\n  " if started else "[\n  "
        started = True
        yield lead + dump(item).replace("\n", "\n  ")
    yield "\n]\n" if started else "[]\n"


def yaml_text(value: object, options: EncodingOptions = _FILE) -> Iterator[str]:
    """Block-style YAML with keys in field order, printed element by element."""
    if not is_array(value):
        yield dump_yaml(plain(value), unicode=options.unicode)
        return
    empty = True
    for item in items(value):
        empty = False
        yield dump_yaml([item], unicode=options.unicode)
    if empty:
        yield "[]\n"


def dump_yaml(data: Data, *, unicode: bool = True) -> str:
    """The data as block-style YAML, with tuples on one line.

    Characters that a terminal would interpret, hide or reorder are escaped.
    """
    import yaml

    text = yaml.dump(
        _scrubbed(data),
        Dumper=_yaml_dumper(),
        sort_keys=False,
        allow_unicode=unicode,
        width=4096,
        default_flow_style=False,
    )
    return _escaped(text.removesuffix("...\n"), wide=True)


# PyYAML quotes strings that YAML 1.1 reads as something else, but not those of YAML 1.2 (yq) and of
# other readers of YAML 1.1: `1e5`, `0o17`, `y`.
_NO_STRING_IN_YAML = re.compile(
    r"[-+]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(e[-+]?\d+)?|[-+]?0[box][\da-f_]+|[yn]|[-+]?\.?(inf|nan)",
    re.IGNORECASE,
)


@cache
def _yaml_dumper() -> Any:
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        """Puts strings that need escapes in double quotes. Writes no aliases."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    def string(dumper: Any, value: str) -> Any:
        style = None if is_printable(value.replace("\n", "")) else '"'
        if _NO_STRING_IN_YAML.fullmatch(value):
            style = "'"
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    def on_one_line(dumper: Any, value: tuple[Any, ...]) -> Any:
        return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)

    Dumper.add_representer(str, string)
    Dumper.add_representer(tuple, on_one_line)
    return Dumper


def csv_text(value: object, options: EncodingOptions = _FILE) -> Iterator[str]:
    """A header of field names, then one row per model; nested fields are `outer.inner`.

    One table has the columns of all rows: a column that only some rows have is beside those of the
    same model. A stream is printed as it arrives, with the columns of its first row. Results always
    have the columns `resource`, `error` and `message`, for failures. Lists of plain values are
    joined by commas; lists of objects are JSON.
    """
    if isinstance(value, Iterator):
        yield from _streamed_csv(value, options)
        return
    data = [plain(row) for row in rows(value, options.renderers)]
    names: _Names = {}
    for row in data:
        _add_columns(row, names)
    header = list(dict.fromkeys(_column_names(names)))
    if isinstance(value, Results):
        data += [failure_row(*pair) for pair in value.failures.items()]
        header += [name for name in _OF_FAILURES if name not in header]
    if data:
        yield from _csv_lines(header, data, options)


_OF_FAILURES = ("resource", "error", "message")
_Names = dict[str | None, Any]
"""A tree of field names. The name None is that of a field itself that is not always an object."""


def _streamed_csv(values: Iterator[object], options: EncodingOptions) -> Iterator[str]:
    """The rows as they arrive, with the columns of the first one. An object in a column that had
    none is JSON."""
    failing, first = isinstance(values, Parts), list(islice(values, 1))
    failing = failing or any(isinstance(each, Results) for each in first)
    header: dict[str, None] = {}  # ordered, and fast to look up
    failures: list[Data] = []  # before the first other row, which has the columns
    for row in rows(chain(first, values), options.renderers):
        data = plain(row)
        if not header:
            if failing and isinstance(data, dict) and tuple(data) == _OF_FAILURES:
                failures.append(data)
                continue
            header = dict.fromkeys((*_flat(data), *(_OF_FAILURES if failing else ())))
            yield from _csv_lines(header, failures, options)
        cells = _flat(data, known=header)
        yield _csv_line([cells.get(name, "") for name in header], options)
    if failures and not header:
        yield from _csv_lines(_OF_FAILURES, failures, options)


def _csv_lines(
    header: Iterable[str], data: Iterable[Data], options: EncodingOptions
) -> Iterator[str]:
    """A table: the header and the rows."""
    names = list(header)
    yield _csv_line(names, options)
    for row in data:
        cells = _flat(row)
        yield _csv_line([cells.get(name, "") for name in names], options)


def _add_columns(data: Data, names: _Names) -> None:
    """Add the fields of a row to the tree of `names`."""
    if not isinstance(data, dict):
        names.setdefault("value", {})[None] = None
        return
    for key, item in data.items():
        inner = names.setdefault(str(key), {})
        if isinstance(item, dict):
            _add_columns(item, inner)
        else:
            inner[None] = None


def _column_names(names: _Names, prefix: str = "") -> Iterator[str]:
    """The columns of a tree of names: a field itself before its inner fields."""
    if None in names:
        yield prefix
    for key, inner in names.items():
        if key is not None:
            yield from _column_names(inner, f"{prefix}.{key}" if prefix else key)


def _flat(data: Data, prefix: str = "", known: Container[str] = ()) -> dict[str, str]:
    """The cells of a row by column. An object in a `known` column is one cell."""
    if not isinstance(data, dict):
        return {prefix or "value": _csv_cell(data)}
    flat: dict[str, str] = {}
    for key, item in data.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(item, dict) and name not in known:
            flat.update(_flat(item, name, known))
        else:
            flat[name] = _csv_cell(item)
    return flat


def _csv_cell(data: Data) -> str:
    if type(data) is str:
        return data
    if data is None:
        return ""
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, dict) or (
        isinstance(data, list) and any(isinstance(item, dict | list) for item in data)
    ):
        import json

        return json.dumps(data, ensure_ascii=False)
    if isinstance(data, list):
        return ",".join(_csv_cell(item) for item in data)
    return str(data)


def _csv_line(cells: Sequence[str], options: EncodingOptions) -> str:
    import csv

    if options.safe_csv:
        cells = ["'" + cell if _is_formula(cell) else cell for cell in cells]
    if options.terminal:
        cells = list(map(escape, cells))

    line = io.StringIO(newline="")
    csv.writer(line).writerow(cells)  # quotes \r and \n because its terminator is \r\n
    return _safe(line.getvalue().removesuffix("\r\n") + "\n")


_SIGNS = ("=", "+", "-", "@")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?", re.ASCII)


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet may read a cell as a formula: also after blanks, line breaks or
    invisible characters, which some remove, or with a full-width sign."""
    import unicodedata

    shown = (char for char in cell if not char.isspace() and is_printable(char))
    sign = unicodedata.normalize("NFKC", next(shown, ""))
    return cell[:1] in ("\t", "\r") or (sign in _SIGNS and not _NUMBER.fullmatch(cell))


def _escaped(quoted: str, *, wide: bool) -> str:
    """The text with unprintable characters escaped as in JSON and YAML. `wide`: characters beyond
    U+FFFF are one escape (YAML) instead of two (JSON).
    """
    if is_printable(quoted.replace("\n", "")):
        return quoted

    def spelled(char: str) -> str:
        if char == "\n" or is_printable(char):
            return char
        if wide and ord(char) > 0xFFFF:
            return f"\\U{ord(char):08x}"
        pairs = char.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{pairs[at : at + 2].hex()}" for at in range(0, len(pairs), 2))

    return "".join(map(spelled, quoted))


def _safe(characters: str) -> str:
    """The text with lone surrogates (from invalid UTF-8) escaped, so that it can be encoded."""
    try:
        characters.encode()
    except UnicodeEncodeError:
        return characters.encode("utf-8", "backslashreplace").decode()
    return characters


def _scrubbed(data: Data) -> Data:
    """The data with all strings encodable."""
    if isinstance(data, str):
        return _safe(data)
    if isinstance(data, dict):
        return {_scrubbed(key): _scrubbed(item) for key, item in data.items()}
    if isinstance(data, list | tuple):
        return type(data)(_scrubbed(item) for item in data)
    return data


def _sarif(value: object, options: EncodingOptions = _FILE) -> Iterator[str]:
    from kafka_shell.output.sarif import sarif

    return json_text(sarif(value), options)


# Each encodes a value as pieces of text, printed one after the other.
ENCODERS: dict[str, Callable[[object, EncodingOptions], Iterator[str]]] = {
    "json": json_text,
    "yaml": yaml_text,
    "csv": csv_text,
    "sarif": _sarif,  # audits only
}
