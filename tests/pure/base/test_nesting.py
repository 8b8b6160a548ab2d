"""Nested JSON is read, or an error of its record or file, at every depth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shell.admin.client_configs.model import Unreadable, read_config
from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.where import RecordFilter
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import read_json

DEPTHS = (480, 520, *range(940, 1010), 100_000)


def nested(depth: int) -> bytes:
    return b'{"a":' * (depth - 1) + b"[1]" + b"}" * (depth - 1)


def use_of_record(raw: bytes, folder: Path) -> bool:
    record = Record("t", 0, 0, 0, "CreateTime", b"k", raw)
    assert not RecordFilter(["value.a=1"], []).keeps(record)
    RecordFilter(["value=~1"], []).keeps(record)
    return not Formats("json", "json").value(record).problem


def use_of_file(raw: bytes, folder: Path) -> bool:
    file = folder / "file.json"
    file.write_bytes(raw)
    try:
        repr(read_json(file))
    except ShellError as error:
        assert "nested too deeply" in error.message
        return False
    return True


def use_of_client_config(raw: bytes, folder: Path) -> bool:
    found = read_config(b'{"version":%s}' % raw, b"{}")
    assert isinstance(found, Unreadable)
    return "format version" in found.why


@pytest.mark.parametrize("use", [use_of_record, use_of_file, use_of_client_config])
def test_json_is_read_up_to_a_depth(use: Callable[[bytes, Path], bool], tmp_path: Path) -> None:
    for depth in DEPTHS:
        assert use(nested(depth), tmp_path) is (depth == 480), depth
