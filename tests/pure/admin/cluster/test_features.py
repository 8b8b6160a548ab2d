"""Features and API versions of real brokers of two Kafka releases."""

from __future__ import annotations

import pytest

from kafka_shell.admin.cluster import features


@pytest.mark.parametrize(
    ("said", "level"),
    [("4.1", 27), ("4.1-IV0", 26), ("3.3", 7), ("3.9-IV0", 21), ("4.3", 30), ("4.9", None),
     ("4", None), ("", None)],
)  # fmt: skip
def test_levels_by_release(said: str, level: int | None) -> None:
    assert features.level_of(said) == level
    if level is not None:
        assert features.release_of(level).startswith(said)


def test_unknown_levels_have_no_name() -> None:
    assert features.release_of(0) == features.release_of(31) == features.release_of(-1) == ""


def test_what_a_new_cluster_of_a_release_has() -> None:
    assert features.levels_of_release("3.8") == {
        "metadata.version": 20, "kraft.version": 0, "group.version": 0, "transaction.version": 0,
        "eligible.leader.replicas.version": 0, "share.version": 0, "streams.version": 0,
    }  # fmt: skip
    newest = features.levels_of_release("4.2")
    assert newest is not None and newest["streams.version"] == newest["share.version"] == 1
    assert features.levels_of_release("5.0") is None


def test_levels_from_which_there_is_no_way_back() -> None:
    reversible = features._reversible
    assert reversible("metadata.version", 28, 29)
    assert not reversible("metadata.version", 29, 30), "4.3 has new records"
    assert not reversible("metadata.version", 20, 27), "one on the way has"
    assert reversible("metadata.version", 30, 29), "down, and up again"
    assert not reversible("kraft.version", 0, 1)
    assert reversible("group.version", 0, 1)
