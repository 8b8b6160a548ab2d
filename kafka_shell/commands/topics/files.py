"""Read files that list topics for `create-topic --from-file`: state files, and CSV."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.commands.state.model import MAXIMUM, new_topic, read_assignment
from kafka_shell.common.files import bad_file, read_table
from kafka_shell.common.units import to_path
from kafka_shell.errors import UsageError, did_you_mean

_FIELDS = ("name", "partitions", "replication_factor", "replica_assignment", "configs")


def read_topics(file: str) -> list[NewTopic]:
    """The topics of a state file, or of the rows of a CSV file. Errors name the file and line."""
    if to_path(file).suffix.lower() == ".csv":
        return [_topic(file, line, row) for line, row in read_table(file)]
    from kafka_shell.commands.state.load import load

    return [new_topic(name, fields) for name, fields in load(file).part("topics").items()]


def _topic(file: str, line: int, row: Mapping[str, str]) -> NewTopic:
    fields: dict[str, str] = {}
    for key, value in row.items():
        name = key.replace("-", "_")
        if name not in _FIELDS:
            hint = did_you_mean(name, _FIELDS)
            raise bad_file(file, f"unknown field {key[:60]!r}", hint=hint, line=line)
        if value:
            fields[name] = value
    if "name" not in fields:
        raise bad_file(file, "the topic has no name", line=line)
    if "replica_assignment" in fields and {"partitions", "replication_factor"} & fields.keys():
        problem = "replica_assignment cannot be used with partitions or replication_factor"
        raise bad_file(file, problem, line=line)
    return NewTopic(
        fields["name"],
        _number(file, line, fields, "partitions"),
        _number(file, line, fields, "replication_factor"),
        _assignment(file, line, fields.get("replica_assignment", "")),
        _configs(file, line, fields.get("configs", "")),
    )


def _number(file: str, line: int, row: Mapping[str, str], key: str) -> int | None:
    if key not in row:
        return None
    text, maximum = row[key], MAXIMUM[key]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
    if not 1 <= number <= maximum:
        problem = f"{key} must be an integer from 1 to {maximum}, got {text[:60]!r}"
        raise bad_file(file, problem, line=line)
    return number


def _assignment(file: str, line: int, text: str) -> tuple[tuple[int, ...], ...]:
    try:
        return read_assignment(text) if text else ()
    except ValueError:
        problem = f"replica_assignment must list broker IDs such as 1:2,2:3, got {text[:60]!r}"
        raise bad_file(file, problem, line=line) from None


def _configs(file: str, line: int, text: str) -> tuple[tuple[str, str], ...]:
    """KIP-248's `k1=v1,k2=[v1,v2]`."""
    from kafka_shell.commands.configs.kinds import config_pairs

    try:
        return config_pairs(text) if text else ()
    except UsageError as error:
        raise bad_file(file, error.message, hint=error.hint, line=line) from None
