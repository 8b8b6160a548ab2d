"""Splitting a reassignment into batches that are moved one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, field

from kafka_shell.admin.partitions.model import Move
from kafka_shell.admin.partitions.sizes import Sizes
from kafka_shell.common.structs import replace

_LOOK_AHEAD = 100  # batches that are tried before a new one is begun


class BatchLimits(Struct, frozen=True):
    """How much is moved at a time. None: no limit.

    `partitions` and `bytes` are those of a batch. `per_broker` is how many partitions of a batch a
    broker sends or receives.
    """

    partitions: int | None = None
    bytes: int | None = None
    per_broker: int | None = None


DEFAULT_LIMITS = BatchLimits(partitions=100, per_broker=5)


def limits_of(given: BatchLimits, copied: int) -> BatchLimits:
    """The limits given, with at most 100 partitions unless given; without any, none for a
    reassignment that copies up to 100 partitions, and the default ones for a larger one."""
    most = DEFAULT_LIMITS.partitions or 0
    if given == BatchLimits():
        return given if copied <= most else DEFAULT_LIMITS
    return replace(given, partitions=given.partitions or most)


class _Batch(Struct):
    moves: list[Move] = field(default_factory=list)
    copied: int = 0
    bytes: int = 0
    busy: Counter[int] = field(default_factory=Counter)


def split(moves: Sequence[Move], sizes: Sizes, limits: BatchLimits) -> list[tuple[Move, ...]]:
    """The moves in batches, each as full as the limits allow.

    Moves that copy nothing are in the first batch. A partition that is larger than the limit, or
    whose size is unknown, has a batch of its own if bytes are limited.
    """
    batches = [_Batch([move for move in moves if not move.adding])]
    first: Counter[int] = Counter()  # by broker: the first batch in which it has room
    begin = 0  # the first batch with room for partitions
    for move in moves:
        if not move.adding:
            continue
        brokers, size = _brokers(move), _bytes(move, sizes, limits)
        at = max(begin, *(first[broker] for broker in brokers))
        end = min(len(batches), at + _LOOK_AHEAD)
        at = next((n for n in range(at, end) if _fits(batches[n], brokers, size, limits)), -1)
        if at < 0:
            at = len(batches)
            batches.append(_Batch())
        batch = batches[at]
        batch.moves.append(move)
        batch.copied += 1
        batch.bytes += size
        batch.busy.update(brokers)
        while begin < len(batches) and not _has_room(batches[begin], limits):
            begin += 1
        for id in brokers:
            while first[id] < len(batches) and _is_busy(batches[first[id]], id, limits):
                first[id] += 1
    return [tuple(batch.moves) for batch in batches if batch.moves]


def _brokers(move: Move) -> set[int]:
    """The brokers that send or receive the copies."""
    source = move.leader if move.leader is not None else move.before[0]
    return {source, *move.adding}


def _bytes(move: Move, sizes: Sizes, limits: BatchLimits) -> int:
    size = sizes.of(move.partition, move.leader)
    return (limits.bytes or 0) if size is None else size * len(move.adding)


def _has_room(batch: _Batch, limits: BatchLimits) -> bool:
    return limits.partitions is None or batch.copied < limits.partitions


def _is_busy(batch: _Batch, broker: int, limits: BatchLimits) -> bool:
    return limits.per_broker is not None and batch.busy[broker] >= limits.per_broker


def _fits(batch: _Batch, brokers: set[int], size: int, limits: BatchLimits) -> bool:
    if not batch.copied:
        return True
    small = limits.bytes is None or batch.bytes + size <= limits.bytes
    busy = any(_is_busy(batch, broker, limits) for broker in brokers)
    return small and not busy and _has_room(batch, limits)
