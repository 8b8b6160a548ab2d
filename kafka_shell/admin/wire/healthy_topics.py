"""Patterns of healthy topics in Metadata responses: a match replaces the scan of a topic."""

from __future__ import annotations

import re
from collections.abc import Callable

_MAX_PATTERNS = 100  # more would cost more to compile than they save
_MAX_REPLICAS = 16  # of partitions with a pattern
_NEVER = re.compile(b"(?!)").match

Match = Callable[[bytes, int], "re.Match[bytes] | None"]
PATTERNS: dict[int, Match] = {}
"""The compiled patterns, by `count << 8 | length`."""


def compile_pattern(count: int, length: int) -> Match:
    """A pattern of the rest of a healthy topic: all partitions have a leader and the same number of
    replicas, all in sync and none offline. Most topics are healthy, and a match is several times
    faster than a scan.

    `count` is the byte before the partitions and `length` the one before replicas, each a number
    plus one. Returns a pattern that matches nothing if a pattern would be too long.
    """
    if not (1 < count < 0x80 and 1 < length <= _MAX_REPLICAS) or len(PATTERNS) > _MAX_PATTERNS:
        return _NEVER
    # Error, index; a non-negative leader; epoch; replicas, in-sync and offline replicas; no tags.
    brokers = rb"\x%02x.{%d}" % (length, 4 * (length - 1))
    partition = rb".{6}[\x00-\x7f].{7}%s%s\x01\x00" % (brokers, brokers)
    # Then the authorized operations, and no tags.
    topic = rb"\x%02x(?:%s){%d}.{4}\x00" % (count, partition, count - 1)
    match = PATTERNS[count << 8 | length] = re.compile(topic, re.DOTALL).match
    return match
