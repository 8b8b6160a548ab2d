"""Compression of record batches, and their checksum (message format v2, KIP-98)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafka_shell.errors import ShellError

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
"""Kafka's names of the codecs. A batch's attributes contain the index."""

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
    return _known(_COMPRESS, codec)(data)


def decompress(codec: int, data: bytes) -> bytes:
    """The records of a batch. Raises ShellError for corrupt data ("corrupt") and for an unknown
    codec ("unsupported-codec")."""
    if codec == NONE:
        return data
    unpack = _known(_DECOMPRESS, codec)
    try:
        return unpack(data)
    except Exception as error:  # what cramjam raises for corrupt data depends on the codec
        raise ShellError(
            f"records are not valid {codec_name(codec)} data: {error}", code="corrupt"
        ) from error


def _known(functions: dict[int, Callable[[bytes], bytes]], codec: int) -> Callable[[bytes], bytes]:
    found = functions.get(codec)
    if found is None:
        raise ShellError(
            f"records are compressed with unknown {codec_name(codec)}", code="unsupported-codec"
        )
    return found


# -- codecs ----------------------------------------------------------------------------------------


def _gzip(data: bytes) -> bytes:
    import cramjam

    return bytes(cramjam.gzip.compress(data))


def _gunzip(data: bytes) -> bytes:
    import cramjam

    return bytes(cramjam.gzip.decompress(data))


def _snappy(data: bytes) -> bytes:
    import cramjam

    parts = [_SNAPPY_HEADER]
    for at in range(0, len(data), _SNAPPY_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(data[at : at + _SNAPPY_BLOCK]))
        parts += len(block).to_bytes(4, "big"), block
    return b"".join(parts)


def _unsnappy(data: bytes) -> bytes:
    import cramjam

    if not data.startswith(_SNAPPY_MAGIC):  # librdkafka writes one block without a frame
        return bytes(cramjam.snappy.decompress_raw(data))
    return b"".join(bytes(cramjam.snappy.decompress_raw(block)) for block in _blocks(data))


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


def _lz4(data: bytes) -> bytes:
    import cramjam

    # Java's consumer reads only independent blocks.
    stream = cramjam.lz4.Compressor(block_linked=False)
    stream.compress(data)
    return bytes(stream.finish())


def _unlz4(data: bytes) -> bytes:
    import cramjam

    return bytes(cramjam.lz4.decompress(data))


def _zstd(data: bytes) -> bytes:
    import cramjam

    return bytes(cramjam.zstd.compress(data))


def _unzstd(data: bytes) -> bytes:
    import cramjam

    return bytes(cramjam.zstd.decompress(data))


_COMPRESS: dict[int, Callable[[bytes], bytes]] = {
    GZIP: _gzip, SNAPPY: _snappy, LZ4: _lz4, ZSTD: _zstd,
}  # fmt: skip
_DECOMPRESS: dict[int, Callable[[bytes], bytes]] = {
    GZIP: _gunzip, SNAPPY: _unsnappy, LZ4: _unlz4, ZSTD: _unzstd,
}  # fmt: skip
