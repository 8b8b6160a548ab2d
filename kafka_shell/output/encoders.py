"""JSON, YAML and CSV, written as the elements come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ..nouns import Parts, Results
from .data import Data, failure_row, is_array, items, plain, rows


class Encoder(Protocol):
    """A value as pieces of text that are written one after the other."""

    def __call__(self, value: object, *, unicode: bool) -> Iterator[str]: ...


def json_text(value: object, *, unicode: bool = True) -> Iterator[str]:
    """Indented JSON; an array's elements each as soon as they are there."""
    import json
    import re

    # A list of numbers (replicas) reads better on one line. No string holds a line end as it is.
    numbers = re.compile(r"\[\s+((?:-?\d+,\s+)*-?\d+)\s+\]")

    def dump(data: Data) -> str:
        dumped = json.dumps(data, indent=2, ensure_ascii=not unicode)
        return numbers.sub(lambda found: "[" + re.sub(r"\s+", " ", found[1]) + "]", dumped)

    if not is_array(value):
        yield _safe(dump(plain(value))) + "\n"
        return
    started = False
    for item in items(value):
        lead = ",\n  " if started else "[\n  "
        started = True
        yield lead + _safe(dump(item)).replace("\n", "\n  ")
    yield "\n]\n" if started else "[]\n"


def yaml_text(value: object, *, unicode: bool = True) -> Iterator[str]:
    """YAML in block style, keys in the noun's order; an array's elements as they come."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    def dump(data: Data) -> str:
        return str(
            yaml.dump(
                data,
                Dumper=dumper,
                sort_keys=False,
                allow_unicode=unicode,
                width=4096,
                default_flow_style=False,
            )
        ).removesuffix("...\n")

    if not is_array(value):
        yield dump(_scrubbed(plain(value)))
        return
    empty = True
    for item in items(value):
        empty = False
        yield dump([_scrubbed(item)])
    if empty:
        yield "[]\n"


def csv_text(value: object, *, unicode: bool = True) -> Iterator[str]:
    """A header of field names, then a row a noun; nested fields as `outer.inner`.

    A Results, whole or in parts, always has the columns `resource`, `error` and `message` too, for
    what failed.
    Lists of plain values are joined by commas; lists of nouns are JSON in their cell.
    """
    failing = isinstance(value, Results | Parts)
    extra = ("resource", "error", "message") if failing else ()
    header: list[str] = []
    for row in rows(value):
        cells = _flat(plain(row))
        if not header or not cells.keys() <= set(header):
            if header:
                yield "\n"  # other nouns: a table of their own
            header = [*cells, *(name for name in extra if name not in cells)]
            yield _csv_line(header)
        yield _csv_line([cells.get(name, "") for name in header])
    failures = value.failures.items() if isinstance(value, Results) else ()  # others tell theirs
    if failures and not header:
        header = list(extra)
        yield _csv_line(header)
    for about, failure in failures:
        cells = failure_row(about, failure)
        yield _csv_line([cells.get(name, "") for name in header])


def _flat(data: Data, prefix: str = "") -> dict[str, Data]:
    if not isinstance(data, dict):
        return {prefix or "value": _csv_cell(data)}
    flat: dict[str, Data] = {}
    for key, item in data.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(item, dict):
            flat.update(_flat(item, name))
        else:
            flat[name] = _csv_cell(item)
    return flat


def _csv_cell(data: Data) -> str:
    if data is None:
        return ""
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, list):
        if any(isinstance(item, dict | list) for item in data):
            import json

            return json.dumps(data, ensure_ascii=False)
        return ",".join(_csv_cell(item) for item in data)
    return str(data)


def _csv_line(cells: list[Data]) -> str:
    import csv
    import io

    line = io.StringIO(newline="")
    csv.writer(line).writerow(cells)  # its \r\n has it quote both; the row itself ends in \n
    return _safe(line.getvalue().removesuffix("\r\n") + "\n")


def _safe(characters: str) -> str:
    """Lone surrogates (bytes that were no UTF-8) spelled out: no stream takes them."""
    try:
        characters.encode()
    except UnicodeEncodeError:
        return characters.encode("utf-8", "backslashreplace").decode()
    return characters


def _scrubbed(data: Data) -> Data:
    """Data whose strings YAML can hold."""
    if isinstance(data, str):
        return _safe(data)
    if isinstance(data, dict):
        return {_safe(key): _scrubbed(item) for key, item in data.items()}
    if isinstance(data, list):
        return [_scrubbed(item) for item in data]
    return data


def _sarif(value: object, *, unicode: bool = True) -> Iterator[str]:
    from .sarif import sarif

    return json_text(sarif(value), unicode=unicode)


ENCODERS: dict[str, Encoder] = {
    "json": json_text,
    "yaml": yaml_text,
    "csv": csv_text,
    "sarif": _sarif,  # audits only
}
