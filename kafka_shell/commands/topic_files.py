"""Files of many topics: YAML, JSON or CSV, for `create-topic --from-file`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_shell.errors import ShellError, Status, did_you_mean
from kafka_shell.nouns import NewTopic
from kafka_shell.values import to_path

_FIELDS = ("name", "partitions", "replication_factor", "replica_assignment", "configs")
_FORM = (
    "a list of topics, each with name, and partitions, replication_factor,"
    " replica_assignment or configs"
)


def read_topics(file: str) -> list[NewTopic]:
    """The topics of a file; its ending says what it is. Errors name the file and the item."""
    path = to_path(file)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(file, f"cannot be read: {getattr(error, 'strerror', error)}") from None
    rows = _rows(file, path.suffix.lower(), text)
    return [_topic(file, index, row) for index, row in enumerate(rows, 1)]


def _rows(file: str, suffix: str, text: str) -> list[Any]:
    if suffix == ".csv":
        import csv

        return [
            {key: value for key, value in row.items() if value not in (None, "")}
            for row in csv.DictReader(text.splitlines())
        ]
    if suffix == ".json":
        import json

        try:
            rows = json.loads(text)
        except ValueError as error:
            raise _wrong(file, f"is not JSON: {error}") from None
    elif suffix in (".yaml", ".yml"):
        import yaml

        try:
            rows = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise _wrong(file, f"is not YAML: {' '.join(str(error).split())}") from None
    else:
        raise _wrong(file, "has an ending that says nothing: .yaml, .json or .csv is wanted")
    if isinstance(rows, Mapping):
        rows = rows.get("topics", rows)
    if not isinstance(rows, list):
        raise _wrong(file, f"does not hold {_FORM}")
    return rows


def _topic(file: str, index: int, row: Any) -> NewTopic:
    where = f"topic {index}"
    if not isinstance(row, Mapping) or not row.get("name"):
        raise _wrong(file, f"{where} has no name; wanted is {_FORM}")
    where = f"topic {row['name']}"
    for key in row:
        name = str(key).replace("-", "_")
        if name not in _FIELDS:
            raise _wrong(file, f"{where} has a field {key!r}", did_you_mean(name, _FIELDS))
    row = {str(key).replace("-", "_"): value for key, value in row.items()}
    assignment = _assignment(file, where, row.get("replica_assignment"))
    if assignment and ("partitions" in row or "replication_factor" in row):
        raise _wrong(file, f"{where} has an assignment, and partitions or a factor beside it")
    return NewTopic(
        str(row["name"]),
        _number(file, where, row, "partitions"),
        _number(file, where, row, "replication_factor"),
        assignment,
        _configs(file, where, row.get("configs")),
    )


def _number(file: str, where: str, row: Mapping[str, Any], key: str) -> int | None:
    value = row.get(key)
    if value is None:
        return None
    try:
        return int(str(value))
    except ValueError:
        raise _wrong(file, f"{where}: {key} is {value!r}, not a whole number") from None


def _assignment(file: str, where: str, value: Any) -> tuple[tuple[int, ...], ...]:
    """`1:2,2:3` or [[1, 2], [2, 3]]."""
    if value in (None, ""):
        return ()
    parts = str(value).split(",") if not isinstance(value, list) else value
    try:
        return tuple(
            tuple(int(broker) for broker in (part.split(":") if isinstance(part, str) else part))
            for part in parts
        )
    except (TypeError, ValueError):
        raise _wrong(file, f"{where}: replica_assignment is not like 1:2,2:3") from None


def _configs(file: str, where: str, value: Any) -> tuple[tuple[str, str], ...]:
    """A mapping, or KIP-248's `k1=v1,k2=[v1,v2]`."""
    if value in (None, ""):
        return ()
    if isinstance(value, str):
        from kafka_shell.language.command import Kind, Option
        from kafka_shell.language.convert import convert

        pairs: tuple[tuple[str, str], ...] = convert(
            Option("configs", Kind.CONFIG_PAIRS, "topic configs"), value
        )[0]
        return pairs
    if not isinstance(value, Mapping):
        raise _wrong(file, f"{where}: configs is not a mapping of keys to values")
    return tuple((str(key), _scalar(item)) for key, item in value.items())


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value)


def _wrong(file: str, what: str, hint: str = "") -> ShellError:
    return ShellError(
        f"{file} {what}" if not what.startswith("topic ") else f"{file}: {what}",
        hint=hint,
        code="topic-file",
        status=Status.WRONG,
    )
