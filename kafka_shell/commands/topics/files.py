"""Read files that list topics (YAML, JSON, CSV) for `create-topic --from-file`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.errors import UsageError, did_you_mean
from kafka_shell.files import bad_file, read_json, read_table, read_yaml
from kafka_shell.units import to_path

_FIELDS = ("name", "partitions", "replication_factor", "replica_assignment", "configs")
_FORMAT = (
    "a list of topics, each with name, and partitions, replication_factor,"
    " replica_assignment or configs"
)


def read_topics(file: str) -> list[NewTopic]:
    """The topics listed in a file; its extension gives the format. Errors name file and item."""
    return [_topic(file, where, row) for where, row in _rows(file, to_path(file).suffix.lower())]


def _rows(file: str, suffix: str) -> Iterable[tuple[str, Any]]:
    """(position, item) of each item."""
    if suffix == ".csv":
        return [
            (f"line {line}", {key: value for key, value in row.items() if value})
            for line, row in read_table(file)
        ]
    if suffix == ".json":
        rows = read_json(file)
    elif suffix in (".yaml", ".yml"):
        rows = read_yaml(file)
    else:
        raise bad_file(file, "unsupported file extension: expected .yaml, .json or .csv")
    if isinstance(rows, Mapping):
        rows = rows.get("topics", rows)
    if not isinstance(rows, list):
        raise bad_file(file, f"must be {_FORMAT}")
    return [(f"topic {number}", row) for number, row in enumerate(rows, 1)]


def _topic(file: str, where: str, row: Any) -> NewTopic:
    if not isinstance(row, Mapping) or not row.get("name"):
        raise bad_file(file, f"{where} has no name", hint=f"Expected {_FORMAT}.")
    where = f"{where}, {row['name']}" if where.startswith("line") else f"topic {row['name']}"
    if not isinstance(row["name"], str | int | float):
        raise bad_file(file, f"{where}: name must be a string")
    fields: dict[str, Any] = {}
    for key, value in row.items():
        name = str(key).replace("-", "_")
        if name not in _FIELDS:
            hint = did_you_mean(name, _FIELDS)
            raise bad_file(file, f"{where}: unknown field {str(key)[:60]!r}", hint=hint)
        if name in fields:
            raise bad_file(file, f"{where}: {name} is set twice")
        fields[name] = value
    assignment = _assignment(file, where, fields.get("replica_assignment"))
    if assignment and ("partitions" in fields or "replication_factor" in fields):
        problem = "replica_assignment cannot be used with partitions or replication_factor"
        raise bad_file(file, f"{where}: {problem}")
    return NewTopic(
        str(row["name"]),
        _number(file, where, fields, "partitions"),
        _number(file, where, fields, "replication_factor"),
        assignment,
        _configs(file, where, fields.get("configs")),
    )


_MAXIMUM = {"partitions": (1 << 31) - 1, "replication_factor": (1 << 15) - 1}


def _number(file: str, where: str, row: Mapping[str, Any], key: str) -> int | None:
    value = row.get(key)
    if value is None:
        return None
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    maximum = _MAXIMUM[key]
    if not 1 <= number <= maximum:
        problem = f"{key} must be an integer from 1 to {maximum}, got {str(value)[:60]!r}"
        raise bad_file(file, f"{where}: {problem}")
    return number


def _assignment(file: str, where: str, value: Any) -> tuple[tuple[int, ...], ...]:
    """`1:2,2:3` or [[1, 2], [2, 3]]."""
    if value in (None, ""):
        return ()
    parts = str(value).split(",") if not isinstance(value, list) else value
    try:
        read = tuple(
            tuple(int(broker) for broker in (part.split(":") if isinstance(part, str) else part))
            for part in parts
        )
    except (TypeError, ValueError):
        read = ((-1,),)
    if any(not 0 <= broker < 1 << 31 for replicas in read for broker in replicas):
        problem = "replica_assignment must list broker IDs such as 1:2,2:3"
        raise bad_file(file, f"{where}: {problem}")
    return read


def _configs(file: str, where: str, value: Any) -> tuple[tuple[str, str], ...]:
    """A mapping, or KIP-248's `k1=v1,k2=[v1,v2]`."""
    if value in (None, ""):
        return ()
    if isinstance(value, str):
        from kafka_shell.commands.configs.kinds import config_pairs

        try:
            return config_pairs(value)
        except UsageError as error:
            raise bad_file(file, f"{where}: {error.message}", hint=error.hint) from None
    if not isinstance(value, Mapping):
        raise bad_file(file, f"{where}: configs must be a mapping of keys to values")
    return tuple((str(key), _scalar(file, where, str(key), item)) for key, item in value.items())


def _scalar(file: str, where: str, key: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    items = value if isinstance(value, list) else [value]
    if any(item is None or isinstance(item, list | dict) for item in items):
        raise bad_file(file, f"{where}: {key} must be a value or a list of values")
    return ",".join(map(str, items))
