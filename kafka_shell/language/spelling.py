"""Convert values of arguments and options to text, by Kind: the inverse of `convert`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kafka_shell import units

from .command import Argument, Kind, Option

Pairs = tuple[tuple[str, str], ...]


def spell(parameter: Argument | Option, value: Any) -> str:
    """Return the unquoted text of a value, which `convert` can read."""
    kind = parameter.kind
    if kind is Kind.DURATION:
        return units.format_duration(value)
    if kind is Kind.BYTES:
        return units.format_bytes(value)
    if kind is Kind.NUMBER:
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if kind is Kind.RATE:
        return units.format_rate(value)
    if kind is Kind.TOPIC_PARTITIONS:
        topic, partitions = value
        return topic if partitions is None else f"{topic}:{_ranges(partitions)}"
    if kind in (
        Kind.CONFIG_PAIR,
        Kind.PROPERTY,
        Kind.QUOTA_PAIR,
        Kind.FEATURE_LEVEL,
        Kind.CLIENT_CONFIG_PAIR,
    ):
        return f"{value[0]}={value[1]}"
    if kind is Kind.SECRET:
        return "***"
    if kind is Kind.CONFIG_PAIRS:
        return spell_pairs(value)
    if kind in (Kind.CONFIG_KEYS, Kind.CLIENT_CONFIG_KEYS):
        return ",".join(value)
    if kind is Kind.ASSIGNMENT:
        return "-" if value == "-" else ",".join(":".join(map(str, each)) for each in value)
    return str(value)


def _ranges(numbers: Sequence[int]) -> str:
    """Return `0,3-5`: ranges for three or more consecutive numbers, in the given order."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs
    )


def spell_pairs(pairs: Pairs) -> str:
    """Return `k1=v1,k2=[v1,v2]` (KIP-248), with brackets around values that contain commas."""
    return ",".join(f"{key}={_grouped(value)}" for key, value in pairs)


def _grouped(value: str) -> str:
    if "," in value or value.startswith("[") or value != value.strip():
        return "[" + re.sub(r"[\\\]]", r"\\\g<0>", value) + "]"
    return value
