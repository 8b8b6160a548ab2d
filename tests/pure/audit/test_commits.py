"""The commits of groups, from records of __consumer_offsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_shell.admin.partitions.model import LATEST, Offset, TopicPartition
from kafka_shell.admin.records import offsets
from kafka_shell.audit.tables import groups
from kafka_shell.audit.tables.groups import Commit, Deleted, read_commit
from kafka_shell.base.results import Results

ORDERS = TopicPartition("orders", 0)


def test_a_record_of_the_offsets_topic_that_is_no_commit() -> None:
    assert read_commit(b"\0\2\0\1g", b"\0\3", 1) is None  # a group's metadata
    assert read_commit(b"\0\2\0\1g", None, 1) is None
    assert read_commit(None, None, 1) is None


def test_a_tombstone_of_a_commit() -> None:
    deleted = read_commit(b"\0\1\0\1g\0\1t\0\0\0\0", None, 1)
    assert deleted == Deleted("g", TopicPartition("t", 0))


def rows(
    monkeypatch: pytest.MonkeyPatch, records: list[Commit | Deleted], ends: Mapping[int, int]
) -> list[tuple[Any, ...]]:
    """The rows of these records; the partition had the end offsets at these times."""

    def list_offsets(cluster: Any, at: Mapping[TopicPartition, int]) -> Any:
        return Results({where: Offset(ends[when]) for where, when in at.items()})

    monkeypatch.setattr(groups, "_commits", lambda cluster: iter(records))
    monkeypatch.setattr(offsets, "list_offsets", list_offsets)
    nothing: Any = None
    return [row for row in groups.read_group_commits.read(nothing, ()) if isinstance(row, tuple)]


def test_the_lag_is_that_at_the_first_and_at_the_last_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Commit | Deleted] = [Commit("g", ORDERS, 10 * n, n, n) for n in range(1, 4)]
    found = rows(monkeypatch, made, {1: 15, 2: 27, 3: 38, LATEST: 90})
    assert [row[-1] for row in found] == [5, None, 8]


def test_a_single_commit_has_its_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rows(monkeypatch, [Commit("g", ORDERS, 10, 1, 1)], {1: 15, LATEST: 90})
    assert [row[-1] for row in found] == [5]


def test_deleted_offsets_are_no_longer_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [Commit("g", ORDERS, 500, 1, 1), Deleted("g", ORDERS), Commit("g", ORDERS, 5, 2, 2),
            Commit("gone", ORDERS, 7, 3, 3), Deleted("gone", ORDERS)]  # fmt: skip
    found = rows(monkeypatch, made, {2: 9, LATEST: 9})
    assert [(row[0], row[3]) for row in found] == [("g", 5)]
