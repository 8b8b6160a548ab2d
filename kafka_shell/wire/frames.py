"""The few messages that connecting to a cluster needs, encoded without kafka-python.

Commands that read responses as bytes then never import kafka-python, which would take longer than
the command itself. All other messages are encoded by kafka-python (see codec.py).
"""

from __future__ import annotations

import struct
from binascii import b2a_base64
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from msgspec import Struct

METADATA = 3
SASL_HANDSHAKE = 17
API_VERSIONS = 18
SASL_AUTHENTICATE = 36

METADATA_VERSIONS = (1, 12)
_CLIENT_SOFTWARE = (b"kafka-sh", b"0.1")  # in the metrics of brokers (KIP-511)

Versions = dict[int, tuple[int, int]]


class MalformedError(ValueError):
    """Bytes that are not a valid message. The error's text contains none of them."""


def request_frame(
    api_key: int, version: int, correlation: int, client_id: str, body: bytes, flexible: bool
) -> bytes:
    """A request with its size and header (v2 if flexible, else v1)."""
    name = client_id.encode()
    header = struct.pack(">hhih", api_key, version, correlation, len(name)) + name
    if flexible:
        header += b"\0"
    return b"".join((struct.pack(">i", len(header) + len(body)), header, body))


def split_answer(frame: memoryview, flexible: bool) -> tuple[int, memoryview]:
    """The correlation ID and body of a response. Raises MalformedError."""
    reader = Reader(frame)
    correlation = reader.int32()
    if flexible:
        reader.skip_tags()
    return correlation, reader.rest()


class Reader:
    """Reads Kafka's primitive types. Raises MalformedError if the bytes end too early."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: memoryview | bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    @property
    def position(self) -> int:
        """The number of bytes read."""
        return self._at

    def skip(self, size: int) -> None:
        """Skip bytes without checking that they exist."""
        self._at += size

    def _unpack(self, form: str, size: int) -> int:
        if self._at + size > len(self._data):
            raise MalformedError("ends too early")
        value: int = struct.unpack_from(form, self._data, self._at)[0]
        self._at += size
        return value

    def int8(self) -> int:
        return self._unpack(">b", 1)

    def int16(self) -> int:
        return self._unpack(">h", 2)

    def int32(self) -> int:
        return self._unpack(">i", 4)

    def int64(self) -> int:
        return self._unpack(">q", 8)

    def varint(self) -> int:
        """An unsigned varint."""
        value = shift = 0
        while True:
            byte = self._unpack(">B", 1)
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return value
            shift += 7
            if shift > 28:
                raise MalformedError("contains a varint that is too long")

    def take(self, size: int) -> bytes:
        if size < 0 or self._at + size > len(self._data):
            raise MalformedError("ends too early")
        self._at += size
        return bytes(self._data[self._at - size : self._at])

    def topics(self, row: struct.Struct) -> Iterator[tuple[str, Iterator[tuple[Any, ...]]]]:
        """An array of topics, each a name and an array of rows of a fixed size."""
        for _ in range(self.count()):
            name = self.string() or ""
            yield name, row.iter_unpack(self.take(self.count() * row.size))

    def string(self, flexible: bool = False) -> str | None:
        """A nullable string, compact if `flexible`."""
        size = self.varint() - 1 if flexible else self.int16()
        if size < 0:
            return None
        try:
            return self.take(size).decode()
        except UnicodeDecodeError:
            raise MalformedError("contains text that is not UTF-8") from None

    def count(self, flexible: bool = False) -> int:
        """The number of items of an array, 0 for a null array."""
        count = max(0, self.varint() - 1 if flexible else self.int32())
        if count > len(self._data) - self._at:  # an item has at least one byte
            raise MalformedError("ends too early")
        return count

    def skip_tags(self) -> None:
        for _ in range(self.varint()):
            self.varint()
            self.take(self.varint())

    def rest(self) -> memoryview:
        return self._data[self._at :]


def varint(value: int) -> bytes:
    """An unsigned varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def string(text: str, flexible: bool = False) -> bytes:
    """A string, compact if `flexible`."""
    raw = text.encode()
    return (varint(len(raw) + 1) if flexible else struct.pack(">h", len(raw))) + raw


def count(number: int | None, flexible: bool = False) -> bytes:
    """The number of items of an array. None is a null array."""
    if flexible:
        return varint(0 if number is None else number + 1)
    return struct.pack(">i", -1 if number is None else number)


def api_versions_body(version: int) -> bytes:
    """ApiVersions (API key 18): v3 contains the name of this client (KIP-511), v0 is empty."""
    if version < 3:
        return b""
    return b"".join(bytes((len(word) + 1,)) + word for word in _CLIENT_SOFTWARE) + b"\0"


def read_api_versions(body: memoryview, version: int) -> tuple[int, Versions]:
    """The error code, and the (min, max) version of each API. Errors are always encoded as v0."""
    reader = Reader(body)
    error = reader.int16()
    flexible = version >= 3 and not error
    versions: Versions = {}
    for _ in range(reader.count(flexible)):
        key = reader.int16()
        versions[key] = (reader.int16(), reader.int16())
        if flexible:
            reader.skip_tags()
    return error, versions


def metadata_body(version: int) -> bytes:
    """Metadata (API key 3) v1 to v12 without topics: only the brokers."""
    body = b"\x01" if version >= 9 else struct.pack(">i", 0)
    if version >= 4:
        body += b"\0"
    if 8 <= version <= 10:
        body += b"\0"
    if version >= 8:
        body += b"\0"
    return body + b"\0" if version >= 9 else body


class MetadataHead(Struct, frozen=True):
    """The part of a Metadata response before its topics. `brokers`: id, host, port, rack."""

    brokers: tuple[tuple[int, str, int, str | None], ...] = ()
    cluster_id: str = ""
    controller_id: int = -1


def read_metadata_head(body: memoryview | bytes, version: int) -> MetadataHead:
    """The head of a Metadata response v0 to v13. The topics are not read."""
    reader = Reader(body)
    flexible = version >= 9
    if version >= 3:
        reader.int32()  # throttle time
    brokers = []
    for _ in range(reader.count(flexible)):
        node, host, port = reader.int32(), reader.string(flexible) or "", reader.int32()
        rack = reader.string(flexible) if version >= 1 else None
        if flexible:
            reader.skip_tags()
        brokers.append((node, host, port, rack))
    cluster_id = reader.string(flexible) if version >= 2 else None
    controller = reader.int32() if version >= 1 else -1
    return MetadataHead(tuple(brokers), cluster_id or "", controller)


def sasl_handshake_body(mechanism: str) -> bytes:
    """SaslHandshake (API key 17) v1."""
    name = mechanism.encode()
    return struct.pack(">h", len(name)) + name


def read_sasl_handshake(body: memoryview) -> tuple[int, tuple[str, ...]]:
    """The error code, and the enabled mechanisms of the listener that have valid names."""
    reader = Reader(body)
    error = reader.int16()
    names = (reader.string() or "" for _ in range(reader.count()))
    return error, tuple(name for name in names if _is_mechanism(name))


def _is_mechanism(name: str) -> bool:
    """Whether it is a valid name (RFC 4422): names are shown in hints, to be copied."""
    plain = name.replace("-", "").replace("_", "")
    return len(name) <= 20 and plain.isascii() and plain.isalnum()


def sasl_authenticate_body(token: bytes) -> bytes:
    """SaslAuthenticate (API key 36) v1."""
    return struct.pack(">i", len(token)) + token


class SaslAnswer(Struct, frozen=True):
    """A SaslAuthenticate response. `lifetime` is in milliseconds, 0 for unlimited (KIP-368)."""

    error: int
    message: str
    token: bytes
    lifetime: int = 0

    def __repr__(self) -> str:
        return f"SaslAnswer({self.error}, {self.message!r})"


def read_sasl_authenticate(body: memoryview, version: int) -> SaslAnswer:
    """A SaslAuthenticate response v0 or v1."""
    reader = Reader(body)
    error, message = reader.int16(), reader.string() or ""
    token = reader.take(max(0, reader.int32()))
    return SaslAnswer(error, message, token, reader.int64() if version >= 1 else 0)


# UUIDs in Kafka's base64 format: the IDs of topics, log directories and clusters.

_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def uuid_of(topic_id: str) -> UUID:
    """The UUID of an ID in Kafka's base64 format."""
    import base64

    return UUID(bytes=base64.urlsafe_b64decode(topic_id + "=="))


def format_uuid(raw: bytes) -> str:
    """An ID in Kafka's base64 format (22 characters)."""
    return b2a_base64(raw, newline=False).rstrip(b"=").translate(_URL_SAFE).decode()
