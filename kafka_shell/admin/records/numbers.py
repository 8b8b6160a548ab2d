"""Numbers of records and messages: those that JSON does not have, and varints."""

from __future__ import annotations

from kafka_shell.wire.frames import varint as unsigned_bytes

_MAX_VARINT = 10  # bytes
_64_BITS = (1 << 64) - 1


def finite(number: float) -> float | str:
    """The number; NaN and infinities as strings."""
    if number - number == 0:
        return number
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The signed integer (zigzag) at this position, and the position after it."""
    value, at = unsigned_varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def unsigned_varint(data: bytes, at: int) -> tuple[int, int]:
    """The integer of 64 bits at this position, and the position after it. Raises IndexError at the
    end of the data, and ValueError for more than 10 bytes."""
    value = shift = 0
    for end in range(at, at + _MAX_VARINT):
        number = data[end]
        value |= (number & 127) << shift
        if number < 128:
            return value & _64_BITS, end + 1
        shift += 7
    raise ValueError(f"an integer has more than {_MAX_VARINT} bytes")


def zigzag(number: int) -> bytes:
    """A signed integer of 64 bits as a varint."""
    return unsigned_bytes(number << 1 if number >= 0 else (-number << 1) - 1)
