"""Reading files that the user names, with size limits, and errors with file and line.

Every error is a ShellError with exit status 2, raised before anything is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_shell.common.nesting import limited
from kafka_shell.common.units import to_path
from kafka_shell.errors import ShellError, Status

_MIB = 1 << 20
MAX_SIZE = 128 * _MIB  # enough for a reassignment of a million partitions


def bad_file(
    file: object, what: str, *, hint: str = "", line: int | None = None, column: int | None = None
) -> ShellError:
    """The error of an invalid file."""
    where = ":".join(str(part) for part in (file, line, column) if part is not None)
    return ShellError(f"{where}: {what}", hint=hint, code="bad-file", status=Status.WRONG)


def read_bytes(path: Path, *, largest: int = MAX_SIZE) -> bytes:
    """The content of a file. Raises OSError, or ShellError if it has more than `largest` bytes."""
    with path.open("rb") as stream:
        data = stream.read(largest + 1)
    if len(data) > largest:
        size = f"{largest // _MIB} MiB" if largest >= _MIB else f"{largest // 1024} KiB"
        raise bad_file(path, f"is larger than {size}")
    return data


def read_text(file: str | Path, *, largest: int = MAX_SIZE) -> str:
    """The text of a UTF-8 file, without byte order mark."""
    path = to_path(file) if isinstance(file, str) else file
    try:
        data = read_bytes(path, largest=largest)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise bad_file(file, f"cannot be read: {getattr(error, 'strerror', error)}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise bad_file(file, "is not UTF-8 text", line=line) from None


def read_json(file: str | Path) -> Any:
    """The value of a JSON file. A key that is set twice is an error."""
    import json

    text = read_text(file)
    try:
        return limited(json.loads(text, object_pairs_hook=_unique))
    except json.JSONDecodeError as error:
        what = f"not valid JSON: {error.msg} at column {error.colno}"
        raise bad_file(file, what, line=error.lineno) from None
    except RecursionError:
        raise bad_file(file, "not valid JSON: nested too deeply") from None
    except ValueError as error:  # a duplicate key, or a number with more than 4,300 digits
        raise bad_file(file, f"not valid JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:60]!r} is set twice")
    return values


def read_csv(file: str | Path) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file with their lines, without empty lines.

    A field with a line break is an error: its quote was probably not closed.
    """
    import csv
    import io

    rows = []
    reader = csv.reader(io.StringIO(read_text(file), newline=""), strict=True)
    line = 0
    try:
        for row in reader:
            first, line = line + 1, reader.line_num
            if first < line:
                raise bad_file(file, "a quote is not closed on its line", line=first)
            if row:
                rows.append((line, row))
    except csv.Error as error:
        at_end = "unexpected end of data" in str(error)
        what = "a quote is not closed" if at_end else f"not valid CSV: {error}"
        raise bad_file(file, what, line=line + 1) from None
    return rows


def read_table(file: str | Path) -> list[tuple[int, Mapping[str, str]]]:
    """The rows of a CSV file with a header line, by column name, with their lines."""
    rows = read_csv(file)
    if not rows:
        raise bad_file(file, "the file is empty: it must start with a line of column names")
    (first, header), *rest = rows
    names = [name.strip() for name in header]
    for name in names:
        if names.count(name) > 1:
            raise bad_file(file, f"duplicate column {name[:60]!r}", line=first)
    for line, row in rest:
        if len(row) != len(names):
            what = f"{len(row)} fields, but the header has {len(names)} columns"
            raise bad_file(file, what, line=line)
    return [(line, dict(zip(names, row, strict=True))) for line, row in rest]
