"""Create, describe and delete topics and add partitions on real brokers (KIP-4)."""

from __future__ import annotations

import pytest

from kafka_shell.admin.topics import (
    change as topic_changes,
)
from kafka_shell.admin.topics.model import NewTopic
from tests.support.changes import refusals


def test_a_plan_says_what_a_topic_will_be(name: str) -> None:
    plan = topic_changes.plan_create(
        [
            NewTopic("a", 6, 3, configs=(("retention.ms", "172800000"), ("segment.ms", "2"))),
            NewTopic("b", assignment=((1, 2),)),
            NewTopic("c"),
        ]
    )
    assert [(str(change.resource), change.verb, change.after) for change in plan.changes] == [
        (
            "topic a",
            "create",
            "6 partitions, replication factor 3, retention.ms=2d, segment.ms=2ms",
        ),
        ("topic b", "create", "1 partition on 1:2"),
        ("topic c", "create", "the default number of partitions, the default replication factor"),
    ]
    assert all(change.reversible and change.before is None for change in plan.changes)


@pytest.mark.parametrize(
    ("new", "error"),
    [
        (NewTopic("n", 0, 1), "INVALID_PARTITIONS"),
        (NewTopic("n", -1, 1), "INVALID_PARTITIONS"),  # on the wire: the broker's default
        (NewTopic("n", 2**31, 1), "INVALID_PARTITIONS"),
        (NewTopic("n", 1, 0), "INVALID_REPLICATION_FACTOR"),
        (NewTopic("n", 1, -1), "INVALID_REPLICATION_FACTOR"),
        (NewTopic("n", 1, 2**15), "INVALID_REPLICATION_FACTOR"),
        (NewTopic("n", assignment=((1, 2**31),)), "INVALID_REPLICA_ASSIGNMENT"),
        (NewTopic("n", assignment=((-1,),)), "INVALID_REPLICA_ASSIGNMENT"),
    ],
)
def test_numbers_that_no_request_holds_are_refused_here(new: NewTopic, error: str) -> None:
    plan = topic_changes.plan_create([new, NewTopic("fine")])
    assert {name: why.name for name, why in refusals(plan).items()} == {"n": error}
    assert [change.resource.name for change in plan.changes] == ["fine"]
