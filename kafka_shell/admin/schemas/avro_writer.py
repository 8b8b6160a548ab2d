"""Encodes JSON as Avro messages: the JSON that the reader returns, or Avro's JSON of unions."""

from __future__ import annotations

import struct
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, DecimalException
from math import isinf
from typing import Any

from kafka_shell.admin.records.numbers import zigzag
from kafka_shell.admin.schemas.avro import EXACT, FIRST_DAY, MOST_SCALE, OURS, Types, parse_avro
from kafka_shell.admin.schemas.budget import SchemaError, read_json
from kafka_shell.admin.schemas.client import Imported

_INT, _LONG = range(-(1 << 31), 1 << 31), range(-(1 << 63), 1 << 63)
_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_MOST_DIGITS = 3 * MOST_SCALE  # more than the bytes have that the reader reads as a decimal
_DAY = date(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


def avro_writer(schema: str, imports: list[Imported]) -> Callable[[bytes], bytes]:
    """The function that encodes JSON as a message of a schema. Raises SchemaError, with the path of
    what does not match, and never a value."""
    types, layout = parse_avro(schema, imports)
    if layout == types.layout("bytes"):
        return lambda raw: _bytes(layout, read_json(raw, exact=True), "it")  # without their length

    def write(raw: bytes) -> bytes:
        out = bytearray()
        _Message(types, out).write(layout, read_json(raw, exact=True), "")
        return bytes(out)

    return write


class _Message:
    def __init__(self, types: Types, out: bytearray) -> None:
        self._named, self._out = types.named, out
        # By union and value, as a union in a union would be tried again for each type around it.
        self._unions: dict[tuple[int, int], bytes | SchemaError] = {}

    def write(self, layout: Any, data: Any, path: str) -> None:
        """Write a value of this layout."""
        if isinstance(layout, str):
            layout = self._named[layout]
        if isinstance(layout, list):
            self._union(layout, data, path)
            return
        kind, at = layout["type"], path or "it"
        if kind in ("record", "error"):
            self._record(layout, data, path)
        elif kind == "array":
            self._items(data if isinstance(data, list) else _wrong(at, "an array", data))
            for number, item in enumerate(data):
                self.write(layout["items"], item, f"{path}[{number}]")
            self._items([], end=bool(data))
        elif kind == "map":
            self._items(data if isinstance(data, dict) else _wrong(at, "an object", data))
            for key, item in data.items():
                self._sized(key.encode())
                self.write(layout["values"], item, f"{path}.{key}" if path else key)
            self._items([], end=bool(data))
        else:
            self._simple(kind, layout, data, at)

    def _items(self, items: Any, *, end: bool = True) -> None:
        if end:  # an empty array is only its end
            self._out += zigzag(len(items))

    def _sized(self, raw: bytes) -> None:
        self._out += zigzag(len(raw)) + raw

    def _record(self, layout: Any, data: Any, path: str) -> None:
        if not isinstance(data, dict):
            _wrong(path or "it", "an object", data)
        prefix = f"{path}." if path else ""
        names = [field["name"] for field in layout["fields"]]
        for name in data:
            if name not in names:
                raise SchemaError(f"{layout['name']} has no field {prefix}{name}")
        for field in layout["fields"]:
            name = field["name"]
            if name not in data:
                raise SchemaError(f"{prefix}{name} is missing")
            self.write(field["type"], data[name], f"{prefix}{name}")

    def _union(self, branches: list[Any], data: Any, path: str) -> None:
        found = self._unions.get(of := (id(branches), id(data)))
        if found is None:
            start = len(self._out)
            try:
                self._choose(branches, data, path)
                found = bytes(self._out[start:])
            except SchemaError as error:
                found = error
            del self._out[start:]
            if isinstance(data, dict | list):  # others can be the same object at many paths
                self._unions[of] = found
        if isinstance(found, SchemaError):
            raise found
        self._out += found

    def _choose(self, branches: list[Any], data: Any, path: str) -> None:
        """Write the first type that the value matches, or the one that it names as Avro's JSON:
        `{"string": "x"}`."""
        start = len(self._out)
        named = next(iter(data)) if isinstance(data, dict) and len(data) == 1 else None
        tagged = [
            (index, branch, data[named])
            for index, branch in enumerate(branches)
            if named is not None and named in (_tag(branch), _tag(branch).rpartition(".")[2])
        ]
        plain = [(index, branch, data) for index, branch in enumerate(branches)]
        why: list[SchemaError] = []
        for index, branch, value in (*tagged, *plain):
            self._out += zigzag(index)
            try:
                self.write(branch, value, path)
                return
            except SchemaError as error:
                del self._out[start:]
                why.append(error)
        others = [at for at, branch in enumerate(branches) if _tag(branch) != "null"]
        if len(others) == 1:  # of a type that may be null
            raise why[len(tagged) + others[0]]
        types = ", ".join(map(_tag, branches))
        raise SchemaError(f"{path or 'it'} matches no type of the union ({types})")

    def _simple(self, kind: str, layout: Any, data: Any, at: str) -> None:
        if kind == "null":
            if data is not None:
                _wrong(at, "null", data)
        elif kind == "boolean":
            self._out.append(data if isinstance(data, bool) else _wrong(at, "a boolean", data))
        elif kind in ("int", "long"):
            self._out += zigzag(_integer(layout, data, at))
        elif kind in ("float", "double"):
            number: Any = _NUMBERS.get(data) if isinstance(data, str) else data
            if isinstance(number, bool) or not isinstance(number, int | float | Decimal):
                _wrong(at, "a number", data)
            try:
                value = float(number)
                if isinf(value) and data not in _NUMBERS:
                    raise OverflowError
                self._out += struct.pack("<f" if kind == "float" else "<d", value)
            except OverflowError:
                raise SchemaError(f"{at} is out of the range of a {kind}") from None
        elif kind == "string":
            self._sized((data if isinstance(data, str) else _wrong(at, "a string", data)).encode())
        elif kind == "bytes":
            self._sized(_bytes(layout, data, at))
        elif kind == "fixed":
            self._out += _bytes(layout, data, at)
        else:
            if data not in layout["symbols"]:
                raise SchemaError(f"{at} is not a symbol of {layout['name']}")
            self._out += zigzag(layout["symbols"].index(data))


def _tag(layout: Any) -> str:
    """The name of a type in a union."""
    if isinstance(layout, str):
        return layout
    return str(layout.get("name") or layout["type"])


def _wrong(at: str, expected: str, data: Any) -> Any:
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    got = "null" if data is None else kinds.get(type(data), "a number")
    raise SchemaError(f"{at} must be {expected}, got {got}")


def _logical(layout: Any) -> str:
    return str(layout.get("logicalType", "")).removeprefix(OURS)


def _integer(layout: Any, data: Any, at: str) -> int:
    """An integer, or a date or time as text."""
    logical = _logical(layout)
    if isinstance(data, str) and logical:
        try:
            data = _moment(logical, data)
        except (ValueError, TypeError):  # TypeError: a time of a day with a zone
            raise SchemaError(f"{at} is not a {logical} (ISO 8601)") from None
    if isinstance(data, bool) or not isinstance(data, int):
        _wrong(at, "an integer", data)
    if data not in (_INT if layout["type"] == "int" else _LONG):
        raise SchemaError(f"{at} is out of the range of {layout['type']}")
    return int(data)


def _moment(logical: str, text: str) -> int:
    if logical == "date":
        return date.fromisoformat(text).toordinal() - FIRST_DAY
    if logical.startswith("time-"):
        since = datetime.combine(_DAY, time.fromisoformat(text)) - datetime(1970, 1, 1)
    else:
        moment = datetime.fromisoformat(text)
        if (moment.tzinfo is None) != logical.startswith("local-"):
            raise ValueError
        since = moment - datetime(1970, 1, 1, tzinfo=UTC if moment.tzinfo else None)
    return since // _MICROSECOND // (1000 if logical.endswith("-millis") else 1)


def _bytes(layout: Any, data: Any, at: str) -> bytes:
    """Bytes of base64, or a decimal of a string or number."""
    size = layout.get("size")
    if _logical(layout) == "decimal":
        try:
            number = Decimal(_wrong(at, "a decimal", data) if isinstance(data, bool) else data)
            if number.adjusted() + layout["scale"] > _MOST_DIGITS:
                raise OverflowError
            unscaled = number.scaleb(layout["scale"], EXACT)
            if unscaled != (whole := int(unscaled)):
                raise SchemaError(f"{at} has more than {layout['scale']} decimal places")
            length = whole.bit_length() // 8 + 1 if size is None else size
            return whole.to_bytes(length, "big", signed=True)
        except (TypeError, ValueError, OverflowError, DecimalException):
            raise SchemaError(f"{at} is not a decimal of this size") from None
    try:
        raw = b64decode(data, validate=True)
    except (TypeError, ValueError):
        raise SchemaError(f"{at} must be base64") from None
    if size is not None and len(raw) != size:
        raise SchemaError(f"{at} must have {size} bytes, got {len(raw)}")
    return raw
