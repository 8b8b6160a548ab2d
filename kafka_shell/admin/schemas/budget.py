"""What decoding may take: a message of a few bytes can have millions of values.

Memory is estimated from the size of a message and from its schema, so that it is an error of the
message before it is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import msgspec

from kafka_shell.base.structs import MAX_LEVELS, limited
from kafka_shell.base.units import format_bytes

MOST_MEMORY = 256 << 20
"""Of a decoded message, in bytes, as estimated."""

GLOBAL, GLUE = "global ID ", "version "  # before an ID of Apicurio, and of AWS Glue

VALUE, STRUCTURE = 100, 200
"""The memory of a value, and of a record without its values."""

JSON_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_decode = msgspec.json.Decoder().decode
_decode_exactly = msgspec.json.Decoder(float_hook=Decimal).decode


class Budget:
    """The memory of one message."""

    def __init__(self) -> None:
        self._left: float = MOST_MEMORY

    def spend(self, memory: float) -> None:
        """Raise SchemaError if the message takes too much with this memory."""
        self._left -= memory
        if self._left < 0:
            most = format_bytes(MOST_MEMORY)
            raise SchemaError(f"a decoded message would take more than {most} of memory")


def read_json(raw: bytes, *, exact: bool = False) -> Any:
    """Return the value of a JSON text; with `exact`, fractions are a Decimal. Raises SchemaError,
    also for too many values or levels."""
    if len(raw) * VALUE > MOST_MEMORY:
        Budget().spend(sum(map(raw.count, (b",", b"[", b"{"))) * VALUE)
    try:
        data = _decode_exactly(raw) if exact else _decode(raw)
        return limited(data) if raw.count(b"[") + raw.count(b"{") > MAX_LEVELS else data
    except JSON_ERRORS:
        raise NotJson("it is not valid JSON") from None


# -- Why a schema cannot be used -------------------------------------------------------------------


class SchemaError(Exception):
    """Why a schema, or a message of it, cannot be read. The text names the schema."""


class NotJson(SchemaError):
    """The text of a message is not JSON."""


class UnavailableSchema(SchemaError):
    """The schema could not be read or compiled: nothing is known about its messages."""


class Unauthorized(SchemaError):
    """The registry does not accept the credentials, or the request of their user."""


class MissingSchema(SchemaError):
    """The registry responded that it does not have the schema."""


def reason(error: BaseException) -> str:
    """Why a schema cannot be read, of any exception of a library that reads it."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error) or type(error).__name__


def malformed(error: BaseException) -> str:
    """Why a message cannot be read. The text of a library may have a part of the message, so that
    only our own is shown."""
    if isinstance(error, SchemaError | RecursionError):
        return reason(error)
    if isinstance(error, UnicodeDecodeError):
        return "it has text that is not UTF-8"
    return "it ends too early" if isinstance(error, EOFError) else "it is malformed"


@contextmanager
def library(format: str) -> Iterator[None]:
    """Raise SchemaError if the package that reads a format is not installed."""
    try:
        yield
    except ModuleNotFoundError:
        raise SchemaError(f"{format} requires pip install 'kafka-sh[schemas]'") from None
