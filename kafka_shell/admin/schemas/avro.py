"""Messages of Avro schemas, by fastavro."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal
from io import BytesIO
from typing import Any
from uuid import UUID

import fastavro
from fastavro import _read_py

from kafka_shell.admin.records.numbers import finite
from kafka_shell.common.units import counted

from .client import Imported
from .errors import SchemaError

_PARTS = ("type", "items", "values", "fields")  # of a type, with other types


def compile_avro(schema: str, imports: list[Imported]) -> Callable[[bytes], Any]:
    """The reader of messages of a schema. Raises SchemaError.

    Values are plain JSON: a union is the value itself. Bytes are base64, decimals strings, and
    dates and times ISO 8601.
    """
    names: dict[str, Any] = {}
    try:
        for each in imports:
            fastavro.parse_schema(json.loads(each.schema), names)
        parsed = fastavro.parse_schema(json.loads(schema), names)
        _refuse_unlimited([parsed, *names.values()], names)
    except Exception as error:  # fastavro raises many types for an invalid schema
        raise SchemaError(f"it cannot be parsed: {_reason(error)}") from None
    if parsed == "bytes" or parsed == {"type": "bytes"}:
        return lambda raw: b64encode(raw).decode()  # written without their length

    # The compiled reader crashes the process on messages that are nested deeply.
    recursive = _is_recursive([parsed, *names.values()])
    decode = _read_py.schemaless_reader if recursive else fastavro.schemaless_reader

    def read(raw: bytes) -> Any:
        stream = BytesIO(raw)
        try:
            found = _plain(decode(stream, parsed, None))
        except Exception as error:  # and for an invalid message
            raise SchemaError(_reason(error)) from None
        left = len(raw) - stream.tell()
        if left:
            raise SchemaError(f"{counted(left, 'byte')} too long")
        return found

    return read


def _refuse_unlimited(schema: Any, names: dict[str, Any]) -> None:
    """Raise ValueError for an array of items without content: a message of a few bytes could have
    billions of them."""
    if isinstance(schema, list):
        for each in schema:
            _refuse_unlimited(each, names)
    elif isinstance(schema, dict):
        if schema["type"] == "array" and _is_empty(schema["items"], names):
            raise ValueError("an array has items without content")
        for key in _PARTS:
            _refuse_unlimited(schema.get(key), names)


def _is_recursive(schema: Any, within: frozenset[str] = frozenset()) -> bool:
    """Whether a type contains itself; `within` are the types around it."""
    if isinstance(schema, list):
        return any(_is_recursive(each, within) for each in schema)
    if not isinstance(schema, dict):
        return schema in within
    if "fields" in schema:
        within |= {schema["name"]}
    return any(_is_recursive(schema.get(key), within) for key in _PARTS)


def _is_empty(schema: Any, names: dict[str, Any]) -> bool:
    """Whether all values of a type have no bytes."""
    if isinstance(schema, str):
        return schema == "null" or (schema in names and _is_empty(names[schema], names))
    if isinstance(schema, list):
        return False  # the number of the type
    if "fields" in schema:
        return all(_is_empty(each["type"], names) for each in schema["fields"])
    return schema.get("size") == 0 or _is_empty(schema["type"], names)


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in (str, int, bool) or value is None:
        return value
    if kind is dict:
        return {key: _plain(each) for key, each in value.items()}
    if kind in (list, tuple):
        return [_plain(each) for each in value]
    convert = _PLAIN.get(kind)
    return str(value) if convert is None else convert(value)


def _moment(value: datetime) -> str:
    precision = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return value.isoformat(timespec=precision).replace("+00:00", "Z")


_PLAIN: dict[type, Callable[[Any], Any]] = {
    float: finite,
    bytes: lambda value: b64encode(value).decode(),
    Decimal: lambda value: f"{value:f}",
    datetime: _moment,
    date: date.isoformat,
    clock_time: clock_time.isoformat,
    UUID: str,
}


def _reason(error: BaseException) -> str:
    if isinstance(error, EOFError):
        return "it ends too early"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error) or type(error).__name__
