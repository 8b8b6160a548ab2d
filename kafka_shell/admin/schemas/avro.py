"""Messages of Avro schemas, by fastavro."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from io import BytesIO
from typing import Any

import fastavro
from fastavro import _read_py
from fastavro.read import LOGICAL_READERS

from kafka_shell.admin.records.numbers import finite
from kafka_shell.common.units import counted

from .client import Imported
from .errors import SchemaError, reason

_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_EXACT = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
_MOST_SCALE = 1000  # a decimal with a larger one is bytes
_OURS = "kafka.sh "  # before our logical types: those of fastavro round, and raise out of range


def compile_avro(schema: str, imports: list[Imported]) -> Callable[[bytes], Any]:
    """The reader of messages of a schema. Raises SchemaError.

    Values are plain JSON: a union is the value itself. Bytes are base64, decimals strings, and
    dates and times ISO 8601; outside the years 1 to 9999, they are their number.
    """
    types = _Types()
    try:
        for each in imports:
            types.layout(json.loads(each.schema))
        layout = types.layout(json.loads(schema))
    except Exception as error:  # the schema can be any JSON
        raise SchemaError(f"it cannot be parsed: {reason(error)}") from None
    if layout == types.layout("bytes"):
        return lambda raw: b64encode(raw).decode()  # written without their length

    whole = {
        "type": "record", "name": "", "fields": [{"name": "", "type": layout}],
        "__fastavro_parsed": True, "__named_schemas": types.named,
    }  # fmt: skip
    # The compiled reader crashes the process on messages that are nested deeply.
    decode = _read_py.schemaless_reader if types.recursive else fastavro.schemaless_reader

    def read(raw: bytes) -> Any:
        stream = BytesIO(raw)
        found = decode(stream, whole, None)[""]
        left = len(raw) - stream.tell()
        if left:
            raise SchemaError(f"{counted(left, 'byte')} too long")
        return found

    return read


class _Types:
    """The types of schemas as fastavro reads them after its own parser, which is stricter than
    Java's: without all that the encoding does not depend on, such as defaults and aliases.

    `recursive`: a type contains itself.
    """

    def __init__(self) -> None:
        self.named: dict[str, Any] = {}
        self.recursive = False
        self._open: set[str] = set()  # the types around the current one
        self._empty = {"null"}  # the types whose values have no bytes

    def layout(self, schema: Any, space: str = "") -> Any:
        """The layout of a type in this namespace. Raises ValueError."""
        if isinstance(schema, list):
            return [self.layout(each, space) for each in schema]
        kind = schema if isinstance(schema, str) else _get(schema, "type")
        if not isinstance(kind, str):  # {"type": {"type": "string"}}
            return self.layout(kind, space)
        if kind in _PRIMITIVES:
            return _convert({"type": kind}, schema)
        if kind == "array":
            items = self.layout(_get(schema, "items"), space)
            if self._is_empty(items):  # a message of a few bytes could have billions of them
                raise ValueError("an array has items without content")
            return {"type": kind, "items": items}
        if kind == "map":
            return {"type": kind, "values": self.layout(_get(schema, "values"), space)}
        if kind in ("record", "error", "enum", "fixed"):
            return self._define(kind, schema, space)
        return self._reference(kind, space)

    def _define(self, kind: str, schema: Any, space: str) -> Any:
        name = _full_name(_get(schema, "name"), schema.get("namespace") or space)
        layout: dict[str, Any] = {"type": kind, "name": name}
        known = self.named.setdefault(name, layout)
        if kind == "enum":
            layout["symbols"] = _get(schema, "symbols")
        elif kind == "fixed":
            layout["size"] = _get(schema, "size")
            _convert(layout, schema)
            if layout["size"] == 0:
                self._empty.add(name)
        else:
            self._open.add(name)
            space = name.rpartition(".")[0]
            layout["fields"] = [
                {"name": _get(each, "name"), "type": self.layout(_get(each, "type"), space)}
                for each in _get(schema, "fields")
            ]
            self._open.discard(name)
            if all(self._is_empty(each["type"]) for each in layout["fields"]):
                self._empty.add(name)
        if layout != known:
            raise ValueError(f"the type {name} is defined twice")
        return layout

    def _reference(self, name: str, space: str) -> str:
        for full in (_full_name(name, space), name):
            if full in self.named:
                self.recursive |= full in self._open
                return full
        raise ValueError(f"the type {name} is not defined")

    def _is_empty(self, layout: Any) -> bool:
        """Whether all values of a type have no bytes. Those of a union have its number."""
        if isinstance(layout, dict):
            layout = layout.get("name", layout["type"])
        return isinstance(layout, str) and layout in self._empty


def _get(schema: Any, key: str) -> Any:
    if isinstance(schema, dict) and key in schema:
        return schema[key]
    raise ValueError(f"a type has no {key!r}")


def _full_name(name: str, space: str) -> str:
    return f"{space}.{name}" if space and "." not in name else name


# -- values ----------------------------------------------------------------------------------------


def _convert(layout: dict[str, Any], schema: Any) -> Any:
    """Add the logical type by which a type's values become plain JSON, if they require one."""
    kind, options = layout["type"], schema if isinstance(schema, dict) else {}
    logical, scale = options.get("logicalType"), options.get("scale", 0)
    if f"{kind}-{logical}" not in _READERS or (
        logical == "decimal" and not (isinstance(scale, int) and 0 <= scale <= _MOST_SCALE)
    ):
        logical = ""
    if f"{kind}-{logical}" in _READERS:
        layout |= {"logicalType": f"{_OURS}{logical}", "scale": scale}
    return layout


def _base64(value: bytes, *_: Any) -> str:
    return b64encode(value).decode()


def _decimal(value: bytes, layout: dict[str, Any], _: Any) -> str:
    """The number of a decimal with all its digits: a writer need not keep to the precision."""
    number = Decimal(int.from_bytes(value, "big", signed=True))
    return f"{number.scaleb(-layout['scale'], _EXACT):f}"


def _or_number(text: Callable[[int], str]) -> Callable[..., str | int]:
    """The reader of a date or time that keeps the numbers that have no text."""

    def read(value: int, *_: Any) -> str | int:
        try:
            return text(value)
        except (OverflowError, ValueError):
            return value

    return read


def _date(days: int) -> str:
    return date.fromordinal(days + _FIRST_DAY).isoformat()


def _time(micros: int) -> str:
    if not 0 <= micros < 86_400_000_000:
        raise OverflowError
    return (datetime.min + timedelta(microseconds=micros)).time().isoformat()


def _moment(micros: int, zone: tzinfo | None) -> str:
    moment = datetime(1970, 1, 1, tzinfo=zone) + timedelta(microseconds=micros)
    precision = "microseconds" if micros % 1000 else "milliseconds"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


_FIRST_DAY = date(1970, 1, 1).toordinal()
_READERS: dict[str, Callable[..., Any]] = {
    "bytes-": _base64,
    "fixed-": _base64,
    "float-": lambda value, *_: finite(value),
    "double-": lambda value, *_: finite(value),
    "bytes-decimal": _decimal,
    "fixed-decimal": _decimal,
    "int-date": _or_number(_date),
    "int-time-millis": _or_number(lambda millis: _time(millis * 1000)),
    "long-time-micros": _or_number(_time),
    "long-timestamp-millis": _or_number(lambda millis: _moment(millis * 1000, UTC)),
    "long-timestamp-micros": _or_number(lambda micros: _moment(micros, UTC)),
    "long-local-timestamp-millis": _or_number(lambda millis: _moment(millis * 1000, None)),
    "long-local-timestamp-micros": _or_number(lambda micros: _moment(micros, None)),
}
LOGICAL_READERS.update({each.replace("-", f"-{_OURS}", 1): _READERS[each] for each in _READERS})
