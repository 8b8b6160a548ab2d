"""Enums whose values are codes of Kafka's protocol."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class CodedEnum(IntEnum):
    """An enum with a member UNKNOWN, which stands for every code that has no member."""

    @classmethod
    def _missing_(cls, value: object) -> Self:
        return cls["UNKNOWN"]
