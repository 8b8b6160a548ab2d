"""The timestamp of the first unread record, from the batches of a response."""

from __future__ import annotations

import pytest

from kafka_shell.admin.groups import time_lag
from kafka_shell.base.errors import ShellError
from tests.support.crafted_batches import packed, value

_CONTROL, _APPEND_TIME, _DELETE_HORIZON = 0x20, 0x08, 0x40
_TIMES = (1_000_000, 1_090_000)
_MINUTE = b"".join(value(b"x", number, number * 30_000) for number in range(4))
WIDE = packed(_MINUTE, 4, 0, 10, times=_TIMES)  # offsets 10 to 13, half a minute apart
# Compaction has removed the offsets 11 and 13 to 19 of this batch.
_GAPS = value(b"x", 0, 0) + value(b"x", 2, 60_000)
COMPACTED = packed(_GAPS, 2, 0, 10, last=9, times=_TIMES)
MARKER = packed(value(b"x"), 1, _CONTROL, 20)
EMPTY = packed(b"", 0, 0, 21, last=3, times=(-1, -1))
NEXT = packed(value(b"x"), 1, 0, 25, times=(7_000_000, 7_000_000))
HORIZON = packed(value(b"x", 0, -2_000_000), 1, _DELETE_HORIZON, 10, times=(9_000_000, 7_000_000))


@pytest.mark.parametrize(
    ("raw", "start", "found"),
    [
        (WIDE, 10, 1_000_000),
        (WIDE, 12, 1_060_000),
        (packed(_MINUTE, 4, _APPEND_TIME, 10, times=_TIMES), 10, 1_090_000),
        (packed(_MINUTE, 4, 0, 10, times=(1_000_000, 1_000_900)), 13, 1_000_000),
        (COMPACTED, 11, 1_060_000),
        (COMPACTED + NEXT, 13, 7_000_000),
        (packed(_GAPS, 2, 0, 10, last=9, times=(1_000, 1_900)) + NEXT, 13, 7_000_000),
        (packed(_GAPS, 2, _APPEND_TIME, 10, last=9, times=(1_000, 99_000)) + NEXT, 11, 99_000),
        (packed(_GAPS, 2, _APPEND_TIME, 10, last=9, times=(1_000, 99_000)) + NEXT, 13, 7_000_000),
        (MARKER + EMPTY + NEXT, 20, 7_000_000),
        (HORIZON, 10, 7_000_000),
        (WIDE + NEXT[:-1], 10, 1_000_000),
    ],
)
def test_the_first_record_from_an_offset(raw: bytes, start: int, found: int) -> None:
    assert time_lag.first_timestamp(raw, start)[0] == found


@pytest.mark.parametrize(
    ("raw", "start", "next_offset"),
    [(b"", 7, 7), (MARKER, 20, 21), (MARKER + EMPTY, 20, 25), (COMPACTED, 13, 20),
     (NEXT[:-1], 25, 25)],
)  # fmt: skip
def test_without_a_record_reading_continues_after_the_batches(
    raw: bytes, start: int, next_offset: int
) -> None:
    assert time_lag.first_timestamp(raw, start) == (None, next_offset)


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, value(b"x")[:-1], b"\0" * 4, b"\x01" * 40])
def test_a_corrupt_batch_is_an_error(data: bytes) -> None:
    with pytest.raises(ShellError, match="corrupt"):
        time_lag.first_timestamp(packed(data, 4, 0, 10, times=_TIMES), 12)
