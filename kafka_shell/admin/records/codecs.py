"""Compression of record batches, and their checksum (message format v2, KIP-98)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from mmap import mmap
from typing import Any

from kafka_shell.base.errors import ShellError
from kafka_shell.base.units import format_bytes

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
"""Kafka's names of the codecs. A batch's attributes contain the index."""

MOST_BYTES = 64 << 20
"""The decompressed size of the records of a batch, at most, unless a caller needs more. Java's
consumer has no limit, as it keeps only one record in memory; its producer by default has at most
1 MiB in a batch."""
_USUAL_BYTES = 1 << 20

# snappy-java: this magic, its version and the oldest compatible one, then blocks with their sizes.
_SNAPPY_MAGIC = b"\x82SNAPPY\x00"
_SNAPPY_HEADER = _SNAPPY_MAGIC + (1).to_bytes(4, "big") * 2
_SNAPPY_BLOCK = 32 << 10


def codec_name(codec: int) -> str:
    """none, gzip, snappy, lz4, zstd; for others such as "codec 7"."""
    return CODECS[codec] if codec < len(CODECS) else f"codec {codec}"


def crc32c(data: bytes) -> int:
    """The checksum (CRC-32C) of these bytes: of a batch, those from its attributes on."""
    from google_crc32c import value

    return int(value(data))


def compress(codec: int, data: bytes) -> bytes:
    """The records of a batch, compressed as Kafka's clients can read them."""
    if codec == NONE:
        return data
    library = _library(codec)
    if codec == SNAPPY:
        return _SNAPPY_HEADER + b"".join(
            len(block).to_bytes(4, "big") + block
            for at in range(0, len(data), _SNAPPY_BLOCK)
            for block in [bytes(library.compress_raw(data[at : at + _SNAPPY_BLOCK]))]
        )
    if codec == LZ4:  # Java's consumer reads only independent blocks
        stream = library.Compressor(block_linked=False)
        stream.compress(data)
        return bytes(stream.finish())
    return bytes(library.compress(data))


def decompress(codec: int, data: bytes, most: int = MOST_BYTES) -> bytes:
    """The records of a batch. Raises ShellError for corrupt data ("corrupt"), for an unknown codec
    ("unsupported-codec") and for more than `most` bytes ("too-large")."""
    if codec == NONE:
        return data
    found = _into(_SPACE.memory, codec, data)
    if found is None:
        with mmap(-1, most) as space:  # only the pages that are written take memory
            found = _into(space, codec, data)
    if found is None or len(found) > most:
        raise ShellError(
            f"records are larger than {format_bytes(most)} when decompressed",
            code="too-large",
            hint="Raise the maximum batch size to read them.",
        )
    return found


def _into(space: mmap, codec: int, data: bytes) -> bytes | None:
    """Decompress into this space. Returns None if it is too small."""
    unpack = _unsnappy if codec == SNAPPY else _library(codec).decompress_into
    try:
        return space[: unpack(data, space)]
    except Exception as error:  # what cramjam raises for corrupt data depends on the codec
        if str(error) == _FULL:
            return None
        raise ShellError(
            f"records are not valid {codec_name(codec)} data: {error}", code="corrupt"
        ) from error


class _Space(threading.local):
    """Where a thread decompresses batches of the usual sizes."""

    def __init__(self) -> None:
        self.memory = mmap(-1, _USUAL_BYTES)


_SPACE = _Space()
_FULL = "failed to write whole buffer"  # cramjam's words for a space that is too small


def _library(codec: int) -> Any:
    import cramjam

    if codec >= len(CODECS):
        raise ShellError(
            f"records are compressed with unknown {codec_name(codec)}", code="unsupported-codec"
        )
    return getattr(cramjam, CODECS[codec])


def _unsnappy(data: bytes, space: mmap) -> int:
    """Decompress into the space, and return the size."""
    from cramjam import snappy

    space.seek(0)
    framed = data.startswith(_SNAPPY_MAGIC)
    for block in _blocks(data) if framed else [data]:  # librdkafka writes one block without a frame
        if snappy.decompress_raw_len(block) > len(space) - space.tell():
            raise ValueError(_FULL)
        space.write(snappy.decompress_raw(block))
    return space.tell()


def _blocks(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        if data.startswith(_SNAPPY_MAGIC, at):  # streams may be concatenated
            at += len(_SNAPPY_HEADER)
            continue
        size = int.from_bytes(data[at : at + 4], "big")
        at += 4
        if at + size > len(data):
            raise ValueError("incomplete block")
        yield data[at : at + size]
        at += size
