"""Rates between two samples. Unknown values are never counted as zero."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.activity.model import (
    BrokerSample,
    GroupSample,
    LagSample,
    PartitionSample,
    Sample,
    TopicSample,
)
from kafka_shell.admin.activity.sample import (
    broker_rates,
    group_rates,
    sample_before,
    stuck_partitions,
    topic_rates,
)
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import Resource
from tests.support.samples import drawn

NUMBERS = st.integers(0, 1 << 62)
PARTITIONS = st.builds(
    PartitionSample, st.integers(-1, 3), st.none() | NUMBERS, st.none() | NUMBERS,
    st.sampled_from([0, 0, 3, 6, 9999]),
)  # fmt: skip
TOPICS = st.dictionaries(
    st.sampled_from("abc"),
    st.builds(
        TopicSample, st.sampled_from(["", "id-1", "id-2"]),
        st.dictionaries(st.integers(0, 3), PARTITIONS),
    ),
)  # fmt: skip
BROKERS = st.dictionaries(
    st.integers(0, 3),
    st.builds(
        BrokerSample, st.none(), st.booleans(), *[st.integers(0, 9)] * 3, st.none() | NUMBERS
    ),
)
LAGS = st.builds(LagSample, *[st.none() | NUMBERS] * 3)
GROUPS = st.dictionaries(
    st.sampled_from("gh"),
    st.builds(
        GroupSample, st.just("Stable"), st.none() | st.integers(0, 3),
        st.dictionaries(st.builds(TopicPartition, st.just("t"), st.integers(0, 3)), LAGS),
    ),
)  # fmt: skip
SAMPLES = st.builds(
    lambda *fields: Sample(*fields), st.floats(0, 1e9), TOPICS, BROKERS, GROUPS,
    st.just({Resource("broker", "1"): Failure("timeout", "no response")}),
)  # fmt: skip


@given(st.none() | SAMPLES, SAMPLES)
def test_no_rate_of_a_topic_is_negative(before: Sample | None, after: Sample) -> None:
    rows = topic_rates(before, after)
    assert [row.name for row in rows] == sorted(after.topics)
    for row in rows:
        assert row.partitions == len(after.topics[row.name].partitions)
        assert all(rate is None or rate >= 0 for rate in (row.records_per_s, row.bytes_per_s))
        assert (row.records_per_s is None) == (row.not_measured == row.partitions)
        if before is None:
            assert row.records_per_s is row.bytes_per_s is None
        elif row.not_measured:
            assert row.note


@given(st.none() | SAMPLES, SAMPLES)
def test_every_broker_and_group_has_a_row(before: Sample | None, after: Sample) -> None:
    assert [row.id for row in broker_rates(before, after)] == sorted(after.brokers)
    rows = group_rates(before, after)
    assert {row.name for row in rows} == set(after.groups)
    for row in rows:
        lags = [each.lag for each in after.groups[row.name].partitions.values()]
        known = [lag for lag in lags if lag is not None]
        assert row.lag == (sum(known) if known else None)
        assert row.unknown == len(lags) - len(known)
        assert row.records_per_s is None or row.records_per_s >= 0
        assert row.catch_up_s is None or row.catch_up_s >= 0
    assert rows == sorted(rows, key=lambda row: (row.lag is None, -(row.lag or 0), row.name))


def one(topic: TopicSample, at: float) -> Sample:
    return Sample(at, {"t": topic})


def test_the_rates_of_two_partitions_are_added() -> None:
    before = TopicSample("id", {0: PartitionSample(1, 10, 100), 1: PartitionSample(2, 5, 50)})
    after = TopicSample("id", {0: PartitionSample(1, 30, 500), 1: PartitionSample(2, 15, 150)})
    (row,) = topic_rates(one(before, 10.0), one(after, 12.0))
    assert (row.records_per_s, row.bytes_per_s, row.size) == (15.0, 250.0, 650)
    assert (row.partitions, row.not_measured, row.note) == (2, 0, "")


@pytest.mark.parametrize(
    ("new", "note"),
    [
        (TopicSample("other", {0: PartitionSample(1, 90, 900)}), "recreated"),
        (TopicSample("id", {0: PartitionSample(1, 4, 900)}), "truncated"),
        (TopicSample("id", {0: PartitionSample(-1)}), "no leader"),
        (TopicSample("id", {0: PartitionSample(1)}), "no response from broker 1"),
        (TopicSample("id", {0: PartitionSample(1, None, 1, 6)}), "NOT_LEADER_OR_FOLLOWER"),
    ],
)
def test_what_cannot_be_compared_is_unknown(new: TopicSample, note: str) -> None:
    old = TopicSample("id", {0: PartitionSample(1, 10, 100)})
    (row,) = topic_rates(one(old, 0.0), one(new, 1.0))
    assert row.records_per_s is None and row.bytes_per_s is None
    assert row.note == note and row.not_measured == 1


GROUP_PARTITION = TopicPartition("t", 0)


def group_sample(at: float, lag: LagSample) -> Sample:
    return Sample(at, groups={"g": GroupSample("Stable", 1, {GROUP_PARTITION: lag})})


@pytest.mark.parametrize(
    ("seconds", "old", "new", "stuck"),
    [
        (10, LagSample(5, 10, 5), LagSample(5, 11, 6), True),
        (9, LagSample(5, 10, 5), LagSample(5, 11, 6), False),  # between two commits
        (10, LagSample(5, 10, 5), LagSample(6, 11, 5), False),
        (10, LagSample(5, 10, 5), LagSample(5, 10, 5), False),  # nothing arrives
        (10, LagSample(5, 5, 0), LagSample(5, 11, 6), False),  # has just begun to arrive
        (10, LagSample(None, 10, None), LagSample(None, 11, None), False),
        (10, LagSample(5, None, None), LagSample(5, 11, 6), False),
        (10, LagSample(12, 10, None), LagSample(12, 11, None), False),  # recreated
    ],
)
def test_partitions_that_are_stuck(
    seconds: int, old: LagSample, new: LagSample, stuck: bool
) -> None:
    before, after = group_sample(100.0, old), group_sample(100.0 + seconds, new)
    assert stuck_partitions(before, after) == ({"g": [GROUP_PARTITION]} if stuck else {})
    (row,) = group_rates(before, after)
    assert row.stuck == stuck
    assert not stuck_partitions(None, after)


def test_samples_are_compared_over_the_window() -> None:
    kept: deque[Sample] = deque()
    times = [0.0, 0.5, 2.0, 10.0, 15.0, 17.5, 60.0, 90.0]
    found = [sample_before(kept, Sample(at), 15.0) for at in times]
    compared = [None if before is None else before.at for before in found]
    assert compared == [None, 0.0, 0.0, 0.0, 0.0, 10.0, 17.5, 60.0]
    assert [each.at for each in kept] == [60.0, 90.0]


def test_the_others_are_measured_where_one_broker_did_not_respond() -> None:
    old = TopicSample("id", {0: PartitionSample(1, 10, 0), 1: PartitionSample(2, 10, 0)})
    new = TopicSample("id", {0: PartitionSample(1, 30, 0), 1: PartitionSample(2)})
    (row,) = topic_rates(one(old, 0.0), one(new, 1.0))
    assert row.records_per_s == 20.0
    assert row.note == "1 of 2 partitions: no response from broker 2"
    newer = TopicSample("id", {0: PartitionSample(1, 40, 0), 1: PartitionSample(2, 15, 0)})
    (again,) = topic_rates(one(new, 0.0), one(newer, 1.0))
    assert again.note == "1 of 2 partitions: no response from broker 2", "it was missing before"


def test_a_broker_that_leads_nothing_is_idle_and_one_that_is_down_is_unknown() -> None:
    brokers = {1: BrokerSample("a", True, 0, 5, 5, 10), 2: BrokerSample(None, False, 0, 5, 0)}
    up, down = broker_rates(Sample(0.0), Sample(1.0, brokers=brokers))
    assert (up.state, up.records_per_s, up.bytes_per_s) == ("up", 0.0, 0.0)
    assert (down.state, down.records_per_s, down.size) == ("down", None, None)
    (first, _) = broker_rates(None, Sample(1.0, brokers=brokers))
    assert first.records_per_s is None


def test_bytes_are_unknown_where_the_log_shrinks_or_the_leader_moves() -> None:
    old = TopicSample("id", {0: PartitionSample(1, 10, 100)})
    for new in (PartitionSample(1, 30, 40), PartitionSample(2, 30, 400)):
        (row,) = topic_rates(one(old, 0.0), one(TopicSample("id", {0: new}), 1.0))
        assert (row.records_per_s, row.bytes_per_s) == (20.0, None)
        assert (row.not_measured, row.bytes_not_measured, row.size_not_read) == (0, 1, 0)


def test_partitions_that_are_missing_from_a_sum_are_counted() -> None:
    old = TopicSample("id", {number: PartitionSample(1, 10, 100) for number in range(3)})
    new = {0: PartitionSample(1, 30, 40), 1: PartitionSample(1, 30, 300), 2: PartitionSample(1, 30)}
    after = Sample(1.0, {"t": TopicSample("id", new)}, {1: BrokerSample(None, True, 3, 3, 3, 340)})
    (row,) = topic_rates(one(old, 0.0), after)
    assert (row.bytes_per_s, row.bytes_not_measured) == (200.0, 2)
    assert (row.size, row.size_not_read) == (340, 1)
    (broker,) = broker_rates(one(old, 0.0), after)
    assert (broker.bytes_per_s, broker.bytes_not_measured) == (200.0, 2)
    assert " 60  200B/s+  340 B+ " in drawn([row])


def test_a_group_catches_up_over_the_partitions_that_are_known() -> None:
    def sample(at: float, *lags: tuple[int, LagSample]) -> Sample:
        rows = {TopicPartition("t", number): lag for number, lag in lags}
        return Sample(at, groups={"g": GroupSample("Stable", 1, rows)})

    before = sample(0.0, (0, LagSample(50, 100, 50)), (1, LagSample(None, 7, None)))
    after = sample(2.0, (0, LagSample(80, 110, 30)), (1, LagSample(None, 9, None)))
    (row,) = group_rates(before, after)
    assert (row.lag, row.change_per_s, row.catch_up_s, row.records_per_s) == (30, -10.0, 3.0, 15.0)
    assert row.unknown == 1
    (first,) = group_rates(None, after)
    assert (first.lag, first.change_per_s, first.catch_up_s) == (30, None, None)
    done = sample(2.0, (0, LagSample(110, 110, 0)), (1, LagSample(None, 9, None)))
    (unsure,) = group_rates(before, done)
    assert (unsure.lag, unsure.catch_up_s) == (0, None), "the rest may have any lag"
    recreated = sample(2.0, (0, LagSample(0, 3, 3)))
    (other,) = group_rates(before, recreated)
    assert (other.lag, other.change_per_s, other.records_per_s) == (3, None, None)
