"""What it means to create and delete topics, to add partitions, and to delete records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.admin.groups.model import GroupType, TopicReader
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.delete import Cut
from kafka_shell.admin.topics.model import TopicsUse, TopicUse
from kafka_shell.advice import acks_all, key_order, use
from kafka_shell.advice.key_order import INTERNAL_STATE
from kafka_shell.wire.model import INTERNAL_TOPICS

OTHER = (
    "new records of an existing key may go to another partition, so their order is lost across the"
    " change"
)
COMPACTED = (
    "new records of an existing key may go to another partition, and compaction then never removes"
    " the older ones"
)
SINGLE = (
    "config topics of Kafka Connect and topics of schema registries must keep a single partition"
)


def test_the_set_has_our_topics_and_each_has_consequences() -> None:
    assert {CONFIGS_TOPIC, REGISTRATIONS_TOPIC} < INTERNAL_TOPICS
    assert INTERNAL_STATE.keys() == INTERNAL_TOPICS


@pytest.mark.parametrize(
    ("before", "compacted", "warnings"),
    [
        ({"a": 2}, set(), [f"topic a: {OTHER}"]),
        ({"a": 2, "b": 1}, {"a"}, [f"topic a: {COMPACTED}", f"topic b: {OTHER}"]),
        ({"a": 2, "b": 1}, {"a", "b"},
         [f"2 topics (a, b): {COMPACTED}", f"{SINGLE}: topic b"]),
        ({"__consumer_offsets": 50, "a": 1}, set(),
         ["topic __consumer_offsets: after the next restart, coordinators do not find the state of"
          " most groups: their committed offsets are lost", f"topic a: {OTHER}"]),
        ({"__remote_log_metadata": 50}, set(),
         ["topic __remote_log_metadata: after a restart, brokers cannot use remote storage, because"
          " the number of partitions must equal remote.log.metadata.topic.num.partitions"]),
    ],
)  # fmt: skip
def test_more_partitions(
    before: Mapping[str, int], compacted: set[str], warnings: Sequence[str]
) -> None:
    said = key_order.say(key_order.Facts(before, frozenset(compacted)))
    assert list(said.warnings) == warnings
    assert said.confirm is bool(before.keys() & INTERNAL_STATE)


READERS = tuple(
    TopicReader("t", group, GroupType.CLASSIC, "Stable", 1, ("c",), 1) for group in ("g", "h")
)


@pytest.mark.parametrize(
    ("topics", "stakes"),
    [
        ([TopicUse("t", 0, 0, (), 0, None, ())], "no records"),
        ([TopicUse("t", 3, 2048, READERS)], "up to 3 records, 2.0 KiB, 2 groups"),
        ([TopicUse("t", 3, 2048), TopicUse("u", 1, 0, READERS[:1])],
         "up to 4 records, 2.0 KiB, 1 group"),
        ([TopicUse("t", None, None, unread_partitions=1)], "1 partition not checked"),
        ([TopicUse("t", 4, 2048, unread_partitions=1, unread_replicas=2)],
         "up to 4 records, 2.0 KiB+, 1 partition not checked"),
    ],
)  # fmt: skip
def test_deleted_topics(topics: list[TopicUse], stakes: str) -> None:
    said = use.say(use.Facts(topics))
    assert (said.stakes, said.warnings) == (stakes, ())
    assert said.figures == (TopicsUse(tuple(topics)),)


def test_deleted_internal_topics() -> None:
    topics = ["__consumer_offsets", "__of_a_later_kafka"]
    facts = use.Facts([TopicUse(name) for name in topics], topics)
    assert list(use.say(facts).warnings) == [
        "__consumer_offsets is an internal topic: the committed offsets of all groups are lost",
        "__of_a_later_kafka is an internal topic: Kafka stores its own state in it",
    ]


CUTS = [Cut(TopicPartition("t", number), 5, 15) for number in range(2)]
FINAL = "will be deleted; deleted records cannot be restored"


@pytest.mark.parametrize(
    ("cuts", "unread", "warnings", "stakes"),
    [
        (CUTS[:1], {}, [f"up to 10 records in partition t:0 {FINAL}"], "up to 10 records"),
        (CUTS, {"a": 3}, [f"up to 20 records in 2 partitions {FINAL}",
         "1 group has not read all of these records: a (up to 3 records)"],
         "up to 20 records, unread by 1 group"),
        (CUTS, {name: 1 + (name == "f") for name in "abcdefg"},
         [f"up to 20 records in 2 partitions {FINAL}",
          "7 groups have not read all of these records: f (up to 2 records), a (up to 1 record),"
          " b (up to 1 record), c (up to 1 record), d (up to 1 record) and 2 more"],
         "up to 20 records, unread by 7 groups"),
    ],
)  # fmt: skip
def test_deleted_records(
    cuts: Sequence[Cut], unread: Mapping[str, int], warnings: Sequence[str], stakes: str
) -> None:
    said = use.say(use.Facts(cuts=cuts, unread=unread))
    assert (list(said.warnings), said.stakes) == (warnings, stakes)


def test_new_topics_with_a_single_replica() -> None:
    assert list(acks_all.say(acks_all.Facts(single=["b", "a"])).warnings) == [
        "2 topics (a, b) would have a single replica: reads and writes fail while its broker is"
        " down, and a lost disk loses the records"
    ]
