"""Client quota limits as text: `5MB/s`, `50%`, `10/s` <-> the doubles of Kafka."""

from __future__ import annotations

from math import isfinite

from kafka_shell.common.units import INTEGER, NUMBER, format_rate, shorten, size_fraction
from kafka_shell.errors import ShellError, UsageError

_BYTE_RATES = ("producer_byte_rate", "consumer_byte_rate")
_EXPECTED = {
    **dict.fromkeys(_BYTE_RATES, "a number of bytes per second such as 5MB/s"),
    "request_percentage": "a percentage of one thread such as 50%",
    "controller_mutation_rate": "a number of partitions per second such as 10/s",
    "connection_creation_rate": "a number of connections per second such as 10/s",
}
QUOTAS = tuple(_EXPECTED)


def parse_quota(key: str, text: str) -> float:
    """`5MB/s` for a byte rate, `50%` for request_percentage, `10/s` for the others, or a number.

    Raises ShellError if the text is not a limit, and UsageError if the limit is not positive or
    cannot be represented exactly by a double.
    """
    text = text.strip()
    number = text.removesuffix("%" if key == "request_percentage" else "/s").rstrip()
    number = number.removesuffix("B").rstrip() if key in _BYTE_RATES else number
    if NUMBER.fullmatch(number):
        value = float(number)
        if not isfinite(value) or (INTEGER.fullmatch(number) and int(value) != int(number)):
            raise UsageError(f"{key} cannot represent {shorten(text)} exactly", code="bad-value")
        return _positive(key, value, text)
    size = size_fraction(text) if key in _BYTE_RATES else None
    if size is None:
        raise ShellError(
            f"{key} must be {_EXPECTED.get(key, 'a number')}, got {shorten(text)}",
            hint="" if text else _remove_hint(key),
            code="bad-value",
        )
    if size[1] != 1:
        raise ShellError(f"{text} is not a whole number of bytes", code="bad-value")
    return _positive(key, float(size[0]), text)


def _positive(key: str, value: float, text: str) -> float:
    if value > 0:
        return value
    raise UsageError(
        f"{key} must be greater than 0, got {shorten(text)}",
        hint=_remove_hint(key),
        code="bad-value",
    )


def _remove_hint(key: str) -> str:
    return f"Use --delete-config {key} to remove the quota."


def format_quota(key: str, value: float) -> str:
    """A limit with its unit, such as `5MiB/s`, `50%` or `10/s`. `parse_quota` reads it back."""
    number = format_number(value)
    if key == "request_percentage":
        return f"{number}%"
    if key not in _BYTE_RATES:
        return f"{number}/s"
    if not value.is_integer() or value >= 1 << 53:
        return f"{number}B/s"
    rate = format_rate(int(value))
    return rate if rate.endswith("/s") else f"{rate}B/s"


def format_number(value: float) -> str:
    """The shortest exact text of a double: `5242880`, `0.5`."""
    return str(int(value)) if value.is_integer() and abs(value) < 1 << 53 else repr(value)
