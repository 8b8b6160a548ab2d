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

from kafka_shell.admin.records.numbers import finite, varint
from kafka_shell.admin.schemas.budget import (
    MOST_MEMORY,
    STRUCTURE,
    VALUE,
    Budget,
    SchemaError,
    reason,
)
from kafka_shell.admin.schemas.client import Imported
from kafka_shell.base.units import counted

Find = Callable[[str], Any]
"""The schema that defines the type of a full name; None if there is none."""
_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
EXACT = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
MOST_SCALE = 1000  # a decimal with a larger one, or of more bytes, is bytes
_LEAST = {"null": 0, "float": 4, "double": 8}  # the bytes of a value; of others one
OURS = "kafka.sh "  # before our logical types: those of fastavro round, and raise out of range


def compile_avro(
    schema: str, imports: list[Imported], find: Find = lambda name: None
) -> Callable[[bytes], Any]:
    """The reader of messages of a schema. Raises SchemaError.

    Values are plain JSON: a union is the value itself. Bytes are base64, decimals strings, and
    dates and times ISO 8601; outside the years 1 to 9999, they are their number.
    """
    types, layout = parse_avro(schema, imports, find)
    memory, _ = types.size(layout)
    if layout == types.layout("bytes"):
        return lambda raw: b64encode(raw).decode()  # written without their length

    whole = {
        "type": "record", "name": "", "fields": [{"name": "", "type": layout}],
        "__fastavro_parsed": True, "__named_schemas": types.named,
    }  # fmt: skip

    def read(raw: bytes) -> Any:
        # The compiled reader counts nothing, and crashes the process on messages that are nested
        # deeply.
        if types.recursive or memory + len(raw) * types.memory_of_a_byte > MOST_MEMORY:
            stream: BytesIO = _Counted(raw, types.memory_of_a_byte)
            names = {"writer": types.named, "reader": {}}
            found = _read_py.read_data(_Decoder(stream), whole, names, None, {})[""]
        else:
            stream = BytesIO(raw)
            found = fastavro.schemaless_reader(stream, whole, None)[""]
        left = len(raw) - stream.tell()
        if left:
            raise SchemaError(f"{counted(left, 'byte')} too long")
        return found

    return read


def parse_avro(
    schema: str, imports: list[Imported], find: Find = lambda name: None
) -> tuple[Types, Any]:
    """The types of a schema, and the layout of its messages. Raises SchemaError."""
    types = Types(find)
    try:
        for each in imports:
            types.size(types.layout(_json(each.schema)))
        layout = types.layout(_json(schema))
        memory, _ = types.size(layout)
        Budget().spend(memory)
    except Exception as error:  # the schema can be any JSON
        raise SchemaError(f"it cannot be parsed: {reason(error)}") from None
    return types, layout


def _json(text: str) -> Any:
    """A schema, whose names can be written as UTF-8 again. Raises ValueError."""
    schema = json.loads(text)
    json.dumps(schema, ensure_ascii=False).encode()
    return schema


class _Counted(BytesIO):
    """A message that is read while its budget lasts."""

    def __init__(self, raw: bytes, memory_of_a_byte: float) -> None:
        super().__init__(raw)
        self.budget, self.memory = Budget(), memory_of_a_byte

    def read(self, size: int | None = -1) -> bytes:
        self.budget.spend(self.memory)
        return super().read(size)


class _Decoder(_read_py.BinaryDecoder):  # type: ignore[misc]
    """Reads integers of at most 64 bits."""

    def read_long(self) -> int:
        at = self.fo.tell()
        head = self.fo.read(10)
        try:
            number, size = varint(head, 0)
        except IndexError:
            raise EOFError from None
        self.fo.seek(at + size)
        return number

    read_int = read_long


class Types:
    """The types of schemas as fastavro reads them after its own parser, which is stricter than
    Java's: without all that the encoding does not depend on, such as defaults and aliases.

    `recursive`: a type contains itself. `memory_of_a_byte`: what a byte of a message takes at most.
    """

    def __init__(self, find: Find) -> None:
        self.named: dict[str, Any] = {}
        self._find = find
        self.recursive = False
        self._open: set[str] = set()  # the types around the current one
        self.memory_of_a_byte = float(VALUE)
        self._sizes: dict[str, tuple[int, int]] = {}  # of named types

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
            return {"type": kind, "items": self.layout(_get(schema, "items"), space)}
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
        else:
            self._open.add(name)
            space = name.rpartition(".")[0]
            layout["fields"] = [
                {"name": _get(each, "name"), "type": self.layout(_get(each, "type"), space)}
                for each in _get(schema, "fields")
            ]
            self._open.discard(name)
        if layout != known:
            raise ValueError(f"the type {name} is defined twice")
        return layout

    def _reference(self, name: str, space: str) -> str:
        names = (_full_name(name, space), name)
        if not any(full in self.named for full in names):
            found = next((each for each in map(self._find, names) if each is not None), None)
            self.layout([] if found is None else found)
        for full in names:
            if full in self.named:
                self.recursive |= full in self._open
                return full
        raise ValueError(f"the type {name} is not defined")

    def size(self, layout: Any) -> tuple[int, int]:
        """The memory of a value of this type at most, and its bytes at least: both without the
        items of arrays and maps, and the value of a union, which have bytes of their own."""
        if isinstance(layout, list):
            for each in layout:
                self._separate(each, 0, 1)
            return 0, 1
        if isinstance(layout, str):
            return self._sizes.get(layout) or self.size(self.named[layout])
        kind, name = layout["type"], layout.get("name", "")
        memory, least = VALUE + layout.get("scale", 0), _LEAST.get(kind, 1)
        if kind == "array":
            self._separate(layout["items"], 0, 0)
        elif kind == "map":
            self._separate(layout["values"], VALUE, 1)
        elif kind == "enum":
            memory += max(map(len, layout["symbols"]), default=0)
        elif kind == "fixed":
            least = layout["size"]
        elif kind in ("record", "error"):
            self._sizes[name] = 0, 1  # a record in itself is an item or a value of a union
            fields = [(each["name"], self.size(each["type"])) for each in layout["fields"]]
            memory = STRUCTURE + sum(len(field) + size for field, (size, _) in fields)
            least = sum(size for _, (_, size) in fields)
        if name:
            self._sizes[name] = memory, least
            self._at_most(memory, least)
        return memory, least

    def _separate(self, layout: Any, memory: int, least: int) -> None:
        more, size = self.size(layout)
        if least + size <= 0:  # a message of a few bytes could have billions of them
            raise ValueError("an array has items without content")
        self._at_most(memory + more, least + size)

    def _at_most(self, memory: int, least: int) -> None:
        # A byte can be that of a value, and the number of its type in a union.
        self.memory_of_a_byte = max(self.memory_of_a_byte, 2 * memory / max(1, least))


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
        logical == "decimal" and not (isinstance(scale, int) and 0 <= scale <= MOST_SCALE)
    ):
        logical = ""
    if f"{kind}-{logical}" in _READERS:
        layout |= {
            "logicalType": f"{OURS}{logical}",
            "scale": scale if logical == "decimal" else 0,
        }
    return layout


def _base64(value: bytes, *_: Any) -> str:
    return b64encode(value).decode()


def _decimal(value: bytes, layout: dict[str, Any], _: Any) -> str:
    """The number of a decimal with all its digits: a writer need not keep to the precision."""
    if len(value) > MOST_SCALE:
        return _base64(value)
    number = Decimal(int.from_bytes(value, "big", signed=True))
    return f"{number.scaleb(-layout['scale'], EXACT):f}"


def _or_number(text: Callable[[int], str]) -> Callable[..., str | int]:
    """The reader of a date or time that keeps the numbers that have no text."""

    def read(value: int, *_: Any) -> str | int:
        try:
            return text(value)
        except (OverflowError, ValueError):
            return value

    return read


def _date(days: int) -> str:
    return date.fromordinal(days + FIRST_DAY).isoformat()


def _time(micros: int) -> str:
    if not 0 <= micros < 86_400_000_000:
        raise OverflowError
    return (datetime.min + timedelta(microseconds=micros)).time().isoformat()


def _moment(micros: int, zone: tzinfo | None) -> str:
    moment = datetime(1970, 1, 1, tzinfo=zone) + timedelta(microseconds=micros)
    precision = "microseconds" if micros % 1000 else "milliseconds"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


FIRST_DAY = date(1970, 1, 1).toordinal()
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
LOGICAL_READERS.update({each.replace("-", f"-{OURS}", 1): _READERS[each] for each in _READERS})
