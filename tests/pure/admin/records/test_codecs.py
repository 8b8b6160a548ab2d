"""Records compressed by Java are decompressed here, and vice versa."""

from __future__ import annotations

import random

import pytest

from kafka_shell.admin.records import codecs
from kafka_shell.base.errors import ShellError


def test_snappy_without_frames_and_concatenated_streams_are_read() -> None:
    import cramjam

    data = random.Random(1).randbytes(70_000)
    framed = codecs.compress(codecs.SNAPPY, data)
    assert codecs.decompress(codecs.SNAPPY, framed + framed) == data + data
    assert codecs.decompress(codecs.SNAPPY, bytes(cramjam.snappy.compress_raw(data))) == data
    assert codecs.decompress(codecs.SNAPPY, codecs.compress(codecs.SNAPPY, b"")) == b""


@pytest.mark.parametrize("codec", [codecs.GZIP, codecs.SNAPPY, codecs.LZ4, codecs.ZSTD])
def test_corrupt_and_truncated_data_is_an_error(codec: int) -> None:
    data = codecs.compress(codec, random.Random(1).randbytes(100_000))
    for wrong in (b"", b"nonsense", data[:-1], data[: len(data) // 2], data[:21]):
        with pytest.raises(ShellError) as error:
            codecs.decompress(codec, wrong)
        assert error.value.code == "corrupt"


def _framed_snappy(*blocks: bytes) -> bytes:
    sized = (len(block).to_bytes(4, "big") + block for block in blocks)
    return codecs.compress(codecs.SNAPPY, b"") + b"".join(sized)


_CLAIM = b"\xff\xff\xff\xff\x0f"  # 4 GiB less a byte, in the varint of a snappy block


@pytest.mark.parametrize(
    ("codec", "bomb"),
    [
        *((codec, None) for codec in (codecs.GZIP, codecs.SNAPPY, codecs.LZ4, codecs.ZSTD)),
        (codecs.SNAPPY, _CLAIM),
        (codecs.SNAPPY, _framed_snappy(_CLAIM)),
        (codecs.SNAPPY, _framed_snappy(b"\0", _CLAIM)),
    ],
)
def test_decompressed_size_is_limited(codec: int, bomb: bytes | None) -> None:
    data = bomb or codecs.compress(codec, bytes(codecs.MOST_BYTES + 1))
    with pytest.raises(ShellError, match="larger than 64MiB when decompressed") as error:
        codecs.decompress(codec, data)
    assert error.value.code == "too-large"
    small = codecs.compress(codec, b"the next batch")
    assert codecs.decompress(codec, small) == b"the next batch"


@pytest.mark.parametrize("codec", [codecs.GZIP, codecs.SNAPPY, codecs.LZ4, codecs.ZSTD])
def test_the_limit_of_the_decompressed_size_can_be_set(codec: int) -> None:
    large = bytes(codecs.MOST_BYTES + 1)
    assert codecs.decompress(codec, codecs.compress(codec, large), len(large)) == large
    small = codecs.compress(codec, b"nine byte")
    assert codecs.decompress(codec, small, 9) == b"nine byte"
    with pytest.raises(ShellError, match="larger than 8 when decompressed"):
        codecs.decompress(codec, small, 8)


def test_an_unknown_codec_is_named() -> None:
    with pytest.raises(ShellError, match="codec 6"):
        codecs.decompress(6, b"data")
