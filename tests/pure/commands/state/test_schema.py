"""The JSON Schema of state files accepts what the loader accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kafka_shell.base.errors import ShellError
from kafka_shell.commands.state.files import load
from kafka_shell.commands.state.schema import schema

VALIDATOR = Draft202012Validator(schema())

EVERYTHING: dict[str, Any] = {
    "version": 1,
    "x-common": {"any": [1, None]},
    "scope": {"topics": ["a*", 1], "users": None, "group_configs": []},
    "topics": {
        "a": {
            "partitions": 3,
            "replication_factor": 2,
            "configs": {"cleanup.policy": ["compact", "delete"], "x.y": 1.5, "z": True, "e": []},
            "x-note": None,
        },
        "b": {"replica_assignment": [[1, 2], "2:3", 3]},
        "c": {"replica_assignment": "1:2,2:3"},
        "d": {"replica_assignment": 1, "configs": None},
        "e": None,
    },
    "acls": {"topic a": ["allow User:bob Read", "DENY User:eve All"], "cluster": None},
    "quotas": {"user alice": {"producer_byte_rate": "5MB/s", "request_percentage": 50}, "ip 1": {}},
    "users": {
        "alice": {"SCRAM-SHA-512": {"iterations": 8192, "password_file": "pw"}},
        "bob": {"SCRAM-SHA-256": {"generate": True}, "SCRAM-SHA-512": None},
        "eve": {"SCRAM-SHA-256": {"generate": False, "password_file": "pw", "x-why": 1}},
    },
    "client_configs": {"user alice client-id app": {"acks": "all"}},
    "broker_configs": {"default": {"a.b": "x"}, "1": {}},
    "client_metrics": {"slow": {"match": ["a", "b"]}},
    "group_configs": {"g": {"x.y": 10}},
}
OTHERS = (None, True, False, 7, 0, -1, 1.5, 1 << 40, "text", "", [], {}, ["text"], [None], [[]],
          [7, [1]], {"text": 7}, {"x-y": 7}, {"version": 1})  # fmt: skip


def accepted(folder: Path, document: Any) -> str:
    """The loader's error, or nothing. JSON and YAML are read alike."""
    errors = []
    for name in ("state.json", "state.yaml"):
        file = folder / name
        file.write_text(json.dumps(document))
        try:
            load(str(file))
            errors.append("")
        except ShellError as error:
            errors.append(str(error))
    assert bool(errors[0]) == bool(errors[1]), errors
    return errors[0]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value of a document."""
    yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """The document with another value in one place."""
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], other)
    return copy


def test_both_accept_a_file_of_every_kind(tmp_path: Path) -> None:
    Draft202012Validator.check_schema(schema())
    assert accepted(tmp_path, EVERYTHING) == ""
    assert not list(VALIDATOR.iter_errors(EVERYTHING))


PLACES = [path for path in places(EVERYTHING) if path]
CHANGES = st.lists(
    st.tuples(st.sampled_from(PLACES), st.sampled_from(OTHERS)), min_size=1, max_size=3
)


@given(CHANGES)
def test_the_schema_and_the_loader_agree(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[tuple[Any, ...], Any]]
) -> None:
    document = EVERYTHING
    for path, other in changes:
        try:
            document = changed(document, path, other)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change removed this place
    error = accepted(tmp_path_factory.mktemp("state"), document)
    assert VALIDATOR.is_valid(document) == (error == ""), f"{document}\n{error}"


@pytest.mark.parametrize("path", PLACES, ids=str)
def test_every_place_accepts_the_same_values(tmp_path: Path, path: tuple[Any, ...]) -> None:
    for other in OTHERS:
        document = changed(EVERYTHING, path, other)
        error = accepted(tmp_path, document)
        assert VALIDATOR.is_valid(document) == (error == ""), f"{path} = {other!r}: {error}"
