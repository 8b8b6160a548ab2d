"""Records as rows of JSON, one line each, and back to the same bytes.

- A string is text: its UTF-8 encoding is the key or value. `null` is null (a tombstone).
- An object, array, number, true or false is JSON without spaces.
- `key_base64` and `value_base64` are the exact bytes, and count alone if present. They are added
  if the key or value, read by the rules above, would be other bytes: it is not UTF-8, or it has
  been decoded from another format.

So JSON is embedded only if compact encoding returns the same bytes. Otherwise, and for JSON
strings and `null`, the row has its text as a string.
"""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain
from typing import Any, BinaryIO

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from kafka_shell.admin.records.encode import TIMESTAMPS, encoded_size
from kafka_shell.admin.records.formats import (
    AUTO,
    JSON,
    Decoded,
    Formats,
    Shown,
    schema_header,
)
from kafka_shell.admin.records.internal_topics import TOPICS
from kafka_shell.admin.records.model import Header, NewRecord, Numbered
from kafka_shell.admin.schemas.budget import JSON_ERRORS
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.files import bad_file
from kafka_shell.base.units import to_path
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation

_NOT_TEXT = b"{[" + bytes(range(0x20))  # JSON and binary formats start so
_encode = msgspec.json.Encoder().encode
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 1 << 53  # larger integers are changed by programs whose numbers are doubles
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_SIXTEEN_DIGITS, _EXPONENT = b"0" * 16, b"0e"
_DEEPEST = 100  # levels of nested JSON; deeper values are strings, as not all programs read them


class _HeaderRow(Struct, forbid_unknown_fields=True):
    key: str
    value: str | None
    key_base64: str | UnsetType = UNSET
    value_base64: str | UnsetType = UNSET


class _Row(Struct):
    topic: str
    partition: int
    offset: int
    timestamp: str | int | None
    timestamp_type: str
    key: Any
    value: Any
    headers: list[_HeaderRow]
    key_base64: str | UnsetType = UNSET
    value_base64: str | UnsetType = UNSET
    masked: bool | UnsetType = UNSET


# -- a record as a row -----------------------------------------------------------------------------


def json_line(record: Shown, formats: Formats) -> str:
    """The record as one compact JSON object, without a line break."""
    key: Any = None
    value: Any = None
    key_base64: str | UnsetType = UNSET
    value_base64: str | UnsetType = UNSET
    if record.topic not in TOPICS:  # most keys and values are text: there is no need to decode them
        of_topic = formats.of(record.topic)
        if of_topic.key_format == AUTO and not schema_header(record, "key"):
            key = _plain_text(record.key)
        if of_topic.value_format == AUTO and not schema_header(record, "value"):
            value = _plain_text(record.value)
    if key is None:
        key, key_base64 = _column(record.key, formats.key(record))
    if value is None:
        value, value_base64 = _column(record.value, formats.value(record))
    row = _Row(
        record.topic, record.partition, record.offset, utc_time(record.timestamp),
        record.timestamp_type, key, value, _header_rows(record.headers), key_base64, value_base64,
        True if type(record) is Shown else UNSET,
    )  # fmt: skip
    return _encode(row).decode()


def _plain_text(raw: bytes | None) -> str | None:
    """What is a string in any case: UTF-8 that starts like text. None for anything else."""
    if not raw or raw[0] in _NOT_TEXT:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _column(raw: bytes | None, decoded: Decoded) -> tuple[Any, str | UnsetType]:
    """The fields `value` and `value_base64`, or those of a key."""
    if raw is None:
        return None, UNSET
    data, kind = decoded.data, decoded.kind
    if kind == JSON and _survives(raw, data):
        return Raw(raw), UNSET
    if kind == JSON or type(data) is bytes:
        return _text(raw)
    if type(data) is str and data.encode() == raw:
        return data, UNSET
    return data, b64encode(raw).decode()


def _text(raw: bytes) -> tuple[str, str | UnsetType]:
    """The bytes as text, and in base64 if they are not UTF-8."""
    try:
        return raw.decode(), UNSET
    except UnicodeDecodeError:
        return raw.decode(errors="replace"), b64encode(raw).decode()


def _survives(raw: bytes, data: Any) -> bool:
    """Whether JSON can be embedded: reading the row returns the same bytes, also after jq has
    written it, except 1.0, which versions before 1.7 write as 1."""
    if data is None or type(data) is str or b"\x7f" in raw:  # jq escapes it
        return False
    digits = raw.translate(_DIGITS)
    unusual = _SIXTEEN_DIGITS in digits or _EXPONENT in digits
    if unusual or raw.count(b"[") + raw.count(b"{") > _DEEPEST:
        return _is_plain(data, _DEEPEST) and _encode(data) == raw
    return _encode(data) == raw


def _is_plain(data: Any, levels: int) -> bool:
    if type(data) is int:
        return -_LARGEST <= data <= _LARGEST
    if type(data) is float:
        return "e" not in repr(data)
    if type(data) is dict:
        return levels > 0 and all(_is_plain(each, levels - 1) for each in data.values())
    if type(data) is list:
        return levels > 0 and all(_is_plain(each, levels - 1) for each in data)
    return True


def _header_rows(headers: tuple[Header, ...]) -> list[_HeaderRow]:
    return [_header_row(key, value) for key, value in headers] if headers else []


def _header_row(key: str, value: bytes | None) -> _HeaderRow:
    shown, exact = _text(key.encode(errors="surrogateescape"))
    text, value_base64 = (None, UNSET) if value is None else _text(value)
    return _HeaderRow(shown, text, exact, value_base64)


@lru_cache(maxsize=1024)
def utc_time(milliseconds: int) -> str | int | None:
    """Epoch milliseconds as `2026-01-31T10:00:00.123Z`, or None if negative (no timestamp). A time
    after the year 9999 is a number."""
    if milliseconds < 0:
        return None if milliseconds == -1 else milliseconds
    seconds, rest = divmod(milliseconds, 1000)
    start = _second(seconds)
    return f"{start}.{rest:03d}Z" if start else milliseconds


@lru_cache(maxsize=1024)
def _second(seconds: int) -> str:
    try:
        return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    except OverflowError:
        return ""


# -- a row as a record -----------------------------------------------------------------------------


class _HeaderInput(Struct, forbid_unknown_fields=True):
    """A header to write. One of `value` and `value_base64` is enough."""

    key: str
    value: str | UnsetType | None = UNSET
    key_base64: str | UnsetType = UNSET
    value_base64: str | UnsetType = UNSET


class _Input(Struct, forbid_unknown_fields=True):
    """A row to write. Only the value is required: a row without it is probably a mistake, not a
    tombstone."""

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    timestamp: str | int | None = None
    timestamp_type: str | None = None
    key: Raw = Raw(b"null")
    value: Raw | UnsetType = UNSET
    headers: list[_HeaderInput] | None = None
    key_base64: str | None = None
    value_base64: str | None = None
    masked: bool = False


_read_row = msgspec.json.Decoder(_Input).decode
_read_text = msgspec.json.Decoder(str).decode


Encode = Callable[[bytes], bytes | None]
"""The bytes of a key or value that is not null, from its JSON. Raises ShellError."""


def parse_row(
    text: str, encode_key: Encode | None = None, encode_value: Encode | None = None
) -> NewRecord:
    """The record of a row. Raises ShellError (code bad-row) with what is invalid. A key or value
    that is encoded does not use its exact bytes."""
    try:
        row = _read_row(text.encode())
    except (*JSON_ERRORS, UnicodeEncodeError) as error:
        raise _bad(f"not a row of a record: {_reason(error)}") from None
    if row.masked:
        raise _bad("the row is masked, so that it is not the record that was read")
    value: Raw | None = None if row.value is UNSET else row.value
    if value is None and (row.value_base64 is None or encode_value):
        raise _bad("the row has no value", 'Write "value":null for a tombstone.')
    return NewRecord(
        key=_bytes("key", row.key, row.key_base64, encode_key),
        value=_bytes("value", value, row.value_base64, encode_value),
        headers=tuple(map(_header, row.headers or ())),
        partition=row.partition,
        timestamp=_milliseconds(row.timestamp),
    )


def _bytes(name: str, field: Raw | None, exact: str | None, encode: Encode | None) -> bytes | None:
    if exact is not None and encode is None:
        return _from_base64(f"{name}_base64", exact)
    raw = bytes(field or b"null")
    if raw == b"null":
        if exact is not None:
            raise _bad(f"{name} is null, and {name}_base64 is not")
        return None
    if encode is not None:
        return encode(raw)
    try:
        return _read_text(raw).encode() if raw[:1] == b'"' else msgspec.json.format(raw, indent=-1)
    except JSON_ERRORS as error:
        raise _bad(f"{name} is not valid JSON: {_reason(error)}") from None


def _header(row: _HeaderInput) -> Header:
    key, value = row.key, row.value.encode() if isinstance(row.value, str) else None
    if row.value is UNSET and row.value_base64 is UNSET:
        raise _bad(f"header {key} has no value", 'Write "value":null for a null value.')
    if isinstance(row.key_base64, str):
        key = _from_base64("key_base64", row.key_base64).decode(errors="surrogateescape")
    if isinstance(row.value_base64, str):
        value = _from_base64("value_base64", row.value_base64)
    return key, value


def _from_base64(name: str, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise _bad(f"{name} is not valid base64") from None


def _milliseconds(time: str | int | None) -> int | None:
    if isinstance(time, int) and time not in TIMESTAMPS:
        raise _bad("timestamp is out of range", "Use milliseconds since 1970.")
    if time is None or isinstance(time, int):
        return time
    try:
        moment = datetime.fromisoformat(time)
        if moment.tzinfo is None:
            raise ValueError
    except ValueError:
        raise _bad(
            "timestamp is not a time with a zone", "Use a time such as 2026-01-31T10:00:00Z."
        ) from None
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _bad(what: str, hint: str = "") -> ShellError:
    return ShellError(what, hint=hint, code="bad-row")


# Records to write from a file or standard input: rows of JSON, or values, one per line.

STDIN = "-"
_LONGEST = 64 << 20  # bytes of a line
_CHUNK = 1 << 20
_WAIT_S = 0.5  # what has been read is written after this time, also if more input arrives
_WINDOW_BYTES, _WINDOW_RECORDS = 16 << 20, 50_000  # of records in memory

Parse = Callable[[bytes], NewRecord | None]
"""The record of a line; None for a line to skip. Raises ShellError."""


class Input(Struct, frozen=True):
    """Records in lists of bounded size, each with the number of its line. `count` is their number
    if all lines were read and are valid."""

    windows: Iterable[Sequence[Numbered]]
    count: int | None = None


def read(invocation: Invocation, context: Context, parse: Parse) -> Input:
    """The records of --from-file. A regular file is read twice: all of its lines are checked before
    anything is written. Other input is read ahead by one list."""
    name: str = invocation["from-file"]
    if name != STDIN:
        file = _File(name, parse)
        if file.regular:
            return Input(file, sum(map(len, file)))
        return _ahead(iter(file), file)
    if context.script.from_stdin or context.shell is not None:
        raise UsageError(
            "--from-file - cannot read standard input: commands are read from it",
            hint="Use a file, or run kafka.sh write-record.",
            span=invocation.span("from-file"),
        )
    file = _File(name, parse)
    return _ahead(iter(file), file)


class _File:
    """The lists of records of a file or of standard input. `ended` is set at its end."""

    def __init__(self, name: str, parse: Parse) -> None:
        self._name, self._parse = name, parse
        self.ended = False

    @property
    def regular(self) -> bool:
        """Whether it can be read twice. Raises ShellError if it cannot be read."""
        with self._open() as stream:
            return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)

    def __iter__(self) -> Iterator[list[Numbered]]:
        window: list[Numbered] = []
        size = number = 0
        due = time.monotonic() + _WAIT_S
        with self._open() as stream:
            for raw in self._lines(stream):
                if raw is not None:
                    number += 1
                    record = self._record(number, raw)
                    if record is not None:
                        window.append((number, record))
                        size += encoded_size(record)
                full = size >= _WINDOW_BYTES or len(window) >= _WINDOW_RECORDS
                if full or time.monotonic() >= due:
                    if window:
                        yield window
                        window, size = [], 0
                    due = time.monotonic() + _WAIT_S
        self.ended = True
        if window:
            yield window

    def _open(self) -> BinaryIO:
        try:
            if self._name == STDIN:
                return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
            return to_path(self._name).open("rb", buffering=0)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise bad_file(self._name, f"cannot be read: {why}") from None

    def _record(self, number: int, raw: bytes) -> NewRecord | None:
        try:
            return self._parse(raw.removesuffix(b"\r"))
        except ShellError as error:
            raise self._bad(number, error.message, error.hint) from None

    def _lines(self, stream: BinaryIO) -> Iterator[bytes | None]:
        """The lines without their ends, and None while there is no more input for a while."""
        number, left = 0, b""
        while True:
            if not select.select([stream], [], [], _WAIT_S)[0]:
                yield None
                continue
            chunk = stream.read(_CHUNK)
            if not chunk:
                break
            *whole, left = (left + chunk).split(b"\n")
            number += len(whole)
            yield from whole
            if len(left) > _LONGEST:
                raise self._bad(number + 1, f"line is longer than {_LONGEST >> 20} MiB")
        if left:
            yield left

    def _bad(self, number: int, what: str, hint: str = "") -> ShellError:
        name = "stdin" if self._name == STDIN else self._name
        return bad_file(name, what, hint=hint, line=number)


def _ahead(windows: Iterator[list[Numbered]], file: _File) -> Input:
    """The records of an input that can be read only once."""
    first = next(windows, [])
    if file.ended:
        return Input([first] if first else [], len(first))
    return Input(chain([first], windows))
