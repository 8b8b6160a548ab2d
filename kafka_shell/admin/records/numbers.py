"""Numbers that JSON does not have."""

from __future__ import annotations


def finite(number: float) -> float | str:
    """The number; NaN and infinities as strings."""
    if number - number == 0:
        return number
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"
