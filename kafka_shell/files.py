"""Files that a user names, read whole: limits, and errors that name the file and the line.

Every error is a ShellError of status 2, and raised before anything is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import ShellError, Status
from .units import to_path

_MIB = 1 << 20
LARGEST = 128 * _MIB  # of a reassignment of a million partitions
LARGEST_YAML = 8 * _MIB  # its parser takes a second for each 200 KiB
_DEEPEST = 50  # levels of YAML
_MOST_NODES = 2_000_000  # of YAML, each alias counted as what it stands for


def bad_file(file: object, what: str, *, hint: str = "", line: int | None = None) -> ShellError:
    """The error of a file that cannot be used."""
    where = f"{file}:{line}" if line is not None else f"{file}"
    return ShellError(f"{where}: {what}", hint=hint, code="bad-file", status=Status.WRONG)


def read_bytes(path: Path, *, largest: int = LARGEST) -> bytes:
    """All of a file. Raises OSError, or ShellError where it is larger than `largest` bytes."""
    with path.open("rb") as stream:
        data = stream.read(largest + 1)
    if len(data) > largest:
        size = f"{largest // _MIB} MiB" if largest >= _MIB else f"{largest // 1024} KiB"
        raise bad_file(path, f"is larger than {size}")
    return data


def read_text(file: str | Path, *, largest: int = LARGEST) -> str:
    """All of a UTF-8 file, without a byte order mark."""
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
    """The value of a JSON file. A key that is there twice is an error."""
    import json

    text = read_text(file)
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        said = f"not valid JSON: {error.msg} at column {error.colno}"
        raise bad_file(file, said, line=error.lineno) from None
    except RecursionError:
        raise bad_file(file, "not valid JSON: nested too deeply") from None
    except ValueError as error:  # ours of a key, or Python's of a number of 5,000 digits
        raise bad_file(file, f"not valid JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:60]!r} is set twice")
    return found


def read_yaml(file: str | Path) -> Any:
    """The value of a YAML file. A key that is there twice is an error."""
    import yaml

    loader = yaml.SafeLoader(read_text(file, largest=LARGEST_YAML))
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_nodes(file, node)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise bad_file(file, f"not valid YAML: {error.problem}", line=line) from None
    except (yaml.YAMLError, ValueError) as error:
        raise bad_file(file, f"not valid YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise bad_file(file, "not valid YAML: nested too deeply") from None
    finally:
        loader.dispose()


def _check_nodes(file: object, root: Any) -> None:
    """Refuse keys that are there twice, and what aliases or nesting make endless."""
    import yaml

    left, count = [(root, 1)], 0
    while left:
        node, depth = left.pop()
        count += 1
        if depth > _DEEPEST or count > _MOST_NODES:
            why = "nested too deeply" if depth > _DEEPEST else "too many values behind its aliases"
            raise bad_file(file, f"not valid YAML: {why}", line=node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            left += [(item, depth + 1) for item in node.value]
        elif isinstance(node, yaml.MappingNode):
            keys: set[tuple[str, str]] = set()
            for key, value in node.value:
                name = (key.tag, str(key.value))
                if name in keys:
                    raise bad_file(file, f"the key {name[1][:60]!r} is set twice",
                                   line=key.start_mark.line + 1)  # fmt: skip
                keys.add(name)
                left += [(key, depth + 1), (value, depth + 1)]


def read_csv(file: str | Path) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file, each with its line; empty lines are left out.

    A field does not go over the end of a line: that is a quote that was left open.
    """
    import csv
    import io

    rows = []
    reader = csv.reader(io.StringIO(read_text(file), newline=""), strict=True)
    line = 0
    try:
        for row in reader:
            begun, line = line + 1, reader.line_num
            if begun < line:
                raise bad_file(file, "a quote is not closed on its line", line=begun)
            if row:
                rows.append((line, row))
    except csv.Error as error:
        at_end = "unexpected end of data" in str(error)
        said = "a quote is not closed" if at_end else f"not valid CSV: {error}"
        raise bad_file(file, said, line=line + 1) from None
    return rows


def read_table(file: str | Path) -> list[tuple[int, Mapping[str, str]]]:
    """The rows of a CSV file whose first line names the columns, each with its line."""
    rows = read_csv(file)
    if not rows:
        raise bad_file(file, "is empty: the first line names the columns")
    (first, header), *rest = rows
    names = [name.strip() for name in header]
    for name in names:
        if names.count(name) > 1:
            raise bad_file(file, f"the column {name[:60]!r} is there twice", line=first)
    for line, row in rest:
        if len(row) != len(names):
            said = f"{len(row)} fields, but the first line names {len(names)} columns"
            raise bad_file(file, said, line=line)
    return [(line, dict(zip(names, row, strict=True))) for line, row in rest]
