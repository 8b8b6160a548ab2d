"""Schemas of files and directories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_shell.admin.schemas.budget import SchemaError
from kafka_shell.admin.schemas.files import file_schema

LINE = {"type": "record", "name": "Line", "namespace": "shop",
        "fields": [{"name": "order", "type": ["null", "shop.Order"]}]}  # fmt: skip
ORDER = {"type": "record", "name": "Order", "namespace": "shop",
         "fields": [{"name": "id", "type": "string"}, {"name": "line", "type": "Line"},
                    {"name": "state", "type": "State"}]}  # fmt: skip
STATE = {"type": "enum", "name": "shop.State", "symbols": ["NEW", "PAID"]}
MESSAGE = b"\6abc\0\2"  # an Order without another one
DECODED = {"id": "abc", "line": {"order": None}, "state": "PAID"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "other").mkdir()
    for name, schema in {"a/line": LINE, "b/order": ORDER, "b/state": STATE}.items():
        file = tmp_path / f"{name}.avsc"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(schema))
    return tmp_path


@pytest.mark.parametrize("message", ["shop.Order", "Order"])
def test_types_of_other_files_are_found_by_their_full_name(folder: Path, message: str) -> None:
    found = file_schema(str(folder), message)
    assert (found.format, found.read(MESSAGE)) == ("avro", DECODED)


def test_a_file_finds_types_beside_it(folder: Path) -> None:
    (folder / "a" / "line.avsc").rename(folder / "b" / "line.avsc")
    assert file_schema(str(folder / "b" / "order.avsc")).read(MESSAGE) == DECODED


@pytest.mark.parametrize(
    ("where", "message", "why"),
    [
        (".", "", "a message type is required, as it has 3 schemas"),
        (".", "Nobody", "it has no type Nobody"),
        ("b/order.avsc", "", "the type Line is not defined"),
        ("other", "", "a file of .avsc, .proto, .json is required"),
    ],
)
def test_what_cannot_be_used_is_said(folder: Path, where: str, message: str, why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        file_schema(str(folder / where), message)


def test_a_file_that_is_not_valid_is_named(folder: Path) -> None:
    (folder / "a" / "bad.avsc").write_text("{")
    with pytest.raises(SchemaError, match=r"bad.avsc is not valid JSON"):
        file_schema(str(folder), "shop.Nobody")


def test_json_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "order.json").write_text('{"type": "object"}')
    assert file_schema(str(tmp_path)).read(b'{"a": 1}') == {"a": 1}
