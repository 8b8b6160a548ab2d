"""Reassignments that have stalled: which broker they wait for, and for how long."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from msgspec import Struct

from kafka_shell.admin.partitions.model import Reassignment, TopicPartition
from kafka_shell.base.units import counted
from kafka_shell.base.waits import PROGRESS_S

_MINUTE = 60
_HOUR = 60 * _MINUTE


class Stall(Struct, frozen=True):
    """Partitions that wait for a broker that is down; or, if it is not, of which nothing has been
    copied to it for a while. `seconds` is for how long."""

    broker: int
    down: bool
    partitions: tuple[TopicPartition, ...]
    seconds: float = 0.0

    @property
    def reason(self) -> str:
        """`waiting for broker 2, which is down (4 partitions)`."""
        what = f"waiting for broker {self.broker}, which is down"
        if not self.down:
            what = f"nothing is being copied to broker {self.broker}, which is up"
        return f"{what} ({counted(len(self.partitions), 'partition')})"

    def __str__(self) -> str:
        since = _rounded(self.seconds)
        return f"stalled for {since}: {self.reason}" if since else self.reason


def _rounded(seconds: float) -> str:
    """`2 min`, `3 h`; empty for less than a minute."""
    if seconds < _MINUTE:
        return ""
    if seconds < _HOUR:
        return f"{int(seconds) // _MINUTE} min"
    return f"{int(seconds) // _HOUR} h"


def waits_for(move: Reassignment, leader: int | None, running: Collection[int]) -> int | None:
    """The broker without which a reassignment cannot end: a new replica that is down; without a
    leader to copy from, one of the previous replicas; if all is copied, one that stays."""
    needed = [broker for broker in move.adding if broker not in move.removing]
    if leader is None:
        needed += move.before
    elif move.lag == 0 or not move.adding:
        needed += move.after
    return next((broker for broker in needed if broker not in running), None)


class StallWatch:
    """Watches reassignments, and remembers since when each of them has stalled."""

    def __init__(self) -> None:
        self._waiting: dict[TopicPartition, tuple[int, float]] = {}  # broker, since
        self._best: dict[TopicPartition, tuple[int, int, float]] = {}  # copied, lag, since

    def see(self, moving: Sequence[Reassignment]) -> list[Stall]:
        """The stalls now, given the reassignments in progress with their sizes: first those that
        concern most partitions."""
        now = time.monotonic()
        stalled: dict[tuple[int, bool], dict[TopicPartition, float]] = {}  # broker, whether down
        waiting: dict[TopicPartition, tuple[int, float]] = {}
        best: dict[TopicPartition, tuple[int, int, float]] = {}
        for move in moving:
            key = move.topic_partition
            broker = move.waiting_for
            if move.copied is not None and move.lag is not None:
                copied, lag, since = self._best.get(key, (-1, move.lag, now))
                if move.copied > copied or move.lag < lag:
                    copied, lag, since = move.copied, move.lag, now
                best[key] = (copied, lag, since)
            if broker is not None:
                known = self._waiting.get(key)
                since = known[1] if known is not None and known[0] == broker else now
                waiting[key] = (broker, since)
                stalled.setdefault((broker, True), {})[key] = since
            elif key in best and now - best[key][2] >= PROGRESS_S:
                stalled.setdefault((move.adding[0], False), {})[key] = best[key][2]
        self._waiting, self._best = waiting, best
        stalls = [
            Stall(broker, down, tuple(since), now - min(since.values()))
            for (broker, down), since in stalled.items()
        ]
        return sorted(stalls, key=lambda stall: -len(stall.partitions))
