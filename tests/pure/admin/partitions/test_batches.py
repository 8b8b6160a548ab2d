"""Splitting moves into batches: every move is in one batch, no limit is exceeded, and it is
fast."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.partitions.batched import DEFAULT_LIMITS, BatchLimits, limits_of, split
from kafka_shell.admin.partitions.model import Move, TopicPartition
from kafka_shell.admin.partitions.sizes import Sizes

NO_LIMITS = BatchLimits()
_limit = st.none() | st.integers(1, 6)


@st.composite
def moves(draw: st.DrawFn) -> tuple[list[Move], Sizes]:
    """Up to 30 moves between six brokers, some of unknown size, some that only change the order."""
    found, sizes = [], {}
    for number in range(draw(st.integers(1, 30))):
        each = TopicPartition("t", number)
        before = tuple(draw(st.permutations(range(1, 7)))[: draw(st.integers(1, 3))])
        after = tuple(draw(st.permutations(range(1, 7)))[: len(before)])
        found.append(Move(each, before, after, draw(st.sampled_from([None, *before]))))
        if draw(st.booleans()):
            sizes[each] = dict.fromkeys(before, draw(st.integers(0, 20)))
    return found, Sizes(sizes)


@given(moves(), _limit, st.none() | st.integers(1, 30), _limit)
def test_every_move_is_in_one_batch_and_no_limit_is_exceeded(
    problem: tuple[list[Move], Sizes], most: int | None, size: int | None, per_broker: int | None
) -> None:
    wanted, sizes = problem
    batches = split(wanted, sizes, BatchLimits(most, size, per_broker))
    assert sorted(m.partition for b in batches for m in b) == [m.partition for m in wanted]
    for batch in batches:
        copied = [move for move in batch if move.adding]
        assert batch, "a batch is empty"
        assert most is None or len(copied) <= most
        ids = ({move.leader or move.before[0], *move.adding} for move in copied)
        busy = Counter(id for each in ids for id in each)
        assert per_broker is None or len(copied) == 1 or max(busy.values(), default=0) <= per_broker
        if size is not None and len(copied) > 1:  # an unknown size fills a batch
            weights = [sizes.of(move.partition, move.leader) for move in copied]
            total = sum(
                size if weight is None else weight * len(move.adding)
                for weight, move in zip(weights, copied, strict=True)
            )
            assert total <= size


def test_the_limits_of_a_large_move_are_the_default_unless_one_is_given() -> None:
    assert limits_of(NO_LIMITS, 100) == NO_LIMITS
    assert limits_of(NO_LIMITS, 101) == DEFAULT_LIMITS == BatchLimits(100, None, 5)
    assert limits_of(BatchLimits(per_broker=2), 7) == BatchLimits(100, None, 2)
    assert limits_of(BatchLimits(partitions=300), 1_000) == BatchLimits(300)


@pytest.mark.timeout(60)
def test_the_time_to_split_grows_with_the_number_of_moves() -> None:
    wanted = [
        Move(TopicPartition("t", number), (at, at + 1), (at, at + 50), at)
        for number in range(60_000)
        for at in [number % 50]
    ]
    drained = [Move(move.partition, (0, 1), (1, move.after[1]), 0) for move in wanted[:20_000]]
    sizes = Sizes({move.partition: {0: 9} for move in drained})
    assert len(split(wanted, sizes, DEFAULT_LIMITS)) == 600
    assert len(split(drained, sizes, BatchLimits(100, 50, 5))) == 4_000
