"""Records compressed by Java are decompressed here, and vice versa."""

from __future__ import annotations

import random

import pytest

from kafka_shell.admin.records import codecs
from kafka_shell.errors import ShellError


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


def test_an_unknown_codec_is_named() -> None:
    with pytest.raises(ShellError, match="codec 6"):
        codecs.decompress(6, b"data")
