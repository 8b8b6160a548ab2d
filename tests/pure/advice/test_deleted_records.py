"""Which altered configs delete records, and how many."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_shell.admin.configs.losses import RetentionLimits
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigResource
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.advice.deleted_records import Facts, PartitionRecords, lost_records, say
from kafka_shell.base.structs import replace
from tests.support.altered import altered, topic_values
from tests.support.config_alterations import BROKER, DEFAULT, append, delete, set_, topic_of

WEEK: dict[str, str] = {}
MONTH = {"retention.ms": "2592000000"}
COMPACTED = {"cleanup.policy": "compact"}
BOTH = {"cleanup.policy": "compact,delete", "retention.ms": "-1"}
DAY = "86400000"


@pytest.mark.parametrize(
    ("now", "alteration", "warning"),
    [
        (WEEK, set_("retention.ms", "259200000"),
         "lowering retention.ms of topic t deletes records older than 3d"),
        (WEEK, set_("retention.ms", "0"),
         "lowering retention.ms of topic t deletes all records"),
        (WEEK, set_("retention.bytes", "1073741824"),
         "lowering retention.bytes of topic t deletes the oldest records of partitions larger than"
         " 1GiB"),
        (WEEK, set_("retention.bytes", "100"),
         "lowering retention.bytes of topic t deletes the oldest records of partitions larger than"
         " 100 bytes"),
        (MONTH, delete("retention.ms"),
         "removing retention.ms of topic t deletes records older than 7d"),
        (COMPACTED, append("cleanup.policy", "delete"),
         "changing cleanup.policy of topic t deletes records older than 7d"),
        (COMPACTED, delete("cleanup.policy"),
         "removing cleanup.policy of topic t deletes records older than 7d"),
        (WEEK, set_("cleanup.policy", "compact"),
         "changing cleanup.policy of topic t deletes all but the latest record of each key"),
        (WEEK, append("cleanup.policy", "compact"),
         "changing cleanup.policy of topic t deletes all but the latest record of each key"),
        (BOTH, set_("retention.ms", DAY),
         "lowering retention.ms of topic t deletes records older than 1d"),
        (COMPACTED, set_("delete.retention.ms", "3600000"),
         "lowering delete.retention.ms of topic t deletes tombstones older than 1h"),
        (WEEK, set_("local.retention.ms", "3600000"),
         "lowering local.retention.ms of topic t deletes local copies of records older than 1h"),
        (WEEK, set_("local.retention.bytes", "1048576"),
         "lowering local.retention.bytes of topic t deletes local copies of the oldest records of"
         " partitions larger than 1MiB"),
        (WEEK, set_("retention.ms", "691200000"), ""),
        (WEEK, set_("retention.ms", "-1"), ""),
        (MONTH, delete("retention.bytes"), ""),
        (WEEK, set_("delete.retention.ms", "0"), ""),
        (COMPACTED, set_("retention.ms", "3600000"), ""),
        (COMPACTED, set_("delete.retention.ms", "172800000"), ""),
        (MONTH, set_("segment.ms", "3600000"), ""),
        (COMPACTED, set_("cleanup.policy", "compact"), ""),
    ],
)  # fmt: skip
def test_a_topic(now: Mapping[str, str], alteration: ConfigAlteration, warning: str) -> None:
    configs = altered(topic_of("t"), alteration, now=now)
    assert [bool(config.change.lost) for config in configs] == [bool(warning)]
    if warning:
        assert say(Facts(configs)).warnings == (warning,)


@pytest.mark.parametrize(("resource", "of"), [(BROKER, " of broker 1"), (DEFAULT, "")])
@pytest.mark.parametrize(
    ("alteration", "what", "where"),
    [
        (set_("log.retention.ms", DAY), "lowering log.retention.ms{} deletes records older than 1d",
         "1 topic without its own retention.ms"),
        (set_("log.retention.bytes", "1073741824"),
         "lowering log.retention.bytes{} deletes the oldest records of partitions larger than 1GiB",
         "2 topics without their own retention.bytes"),
        (set_("log.cleanup.policy", "compact"),
         "changing log.cleanup.policy{} deletes all but the latest record of each key",
         "2 topics without their own cleanup.policy"),
        (set_("log.cleaner.delete.retention.ms", "3600000"),
         "lowering log.cleaner.delete.retention.ms{} deletes tombstones older than 1h",
         "1 topic without its own delete.retention.ms"),
    ],
)  # fmt: skip
def test_a_default_that_topics_inherit(
    resource: ConfigResource, of: str, alteration: ConfigAlteration, what: str, where: str
) -> None:
    topics = topic_values({"week": {}, "month": MONTH, "compacted": COMPACTED}, "cleanup.policy")
    configs = altered(resource, alteration)
    (warning,) = say(Facts(configs, topics)).warnings
    assert warning == f"{what.format(of)} in the {where}"
    (unknown,) = say(Facts(configs)).warnings
    assert unknown == what.format(of), "the topics could not be read"


def test_topics_with_the_same_limit_are_one_warning() -> None:
    lower = set_("retention.ms", DAY)
    configs = [*altered(topic_of("a"), lower), *altered(topic_of("b"), lower)]
    advice = say(Facts(configs))
    assert list(advice.warnings) == [
        "lowering retention.ms of 2 topics (a, b) deletes records older than 1d"
    ]
    assert advice.stakes == "deletes records older than 1d"


def test_two_limits_of_a_topic_are_one_warning() -> None:
    configs = altered(topic_of("t"), set_("retention.ms", DAY), set_("retention.bytes", "100"))
    assert list(say(Facts(configs)).warnings) == [
        "lowering retention.ms and retention.bytes of topic t deletes records older than 1d and the"
        " oldest records of partitions larger than 100 bytes"
    ]


KIB = 1024
EMPTY = PartitionRecords(TopicPartition("t", 0))
# Of ten records of 10 KiB in all, the age limit keeps the last four.
AGED = PartitionRecords(TopicPartition("t", 1), 5, 15, 11, (10 * KIB, 10 * KIB))
YOUNG = PartitionRecords(TopicPartition("t", 1), 5, 15, 5, (10 * KIB,))
OLD = PartitionRecords(TopicPartition("t", 1), 5, 15, None, (10 * KIB,))
TIERED = PartitionRecords(TopicPartition("t", 1), 5, 15, 11)


@pytest.mark.parametrize(
    ("row", "limits", "text"),
    [
        (AGED, RetentionLimits(1),
         "up to 6 of 10 records (about 12.0 KiB of 20.0 KiB) in 1 of 2 partitions"),
        (YOUNG, RetentionLimits(1), ""),
        (OLD, RetentionLimits(1),
         "up to 10 records (up to 10.0 KiB of 10.0 KiB) in 1 of 2 partitions"),
        (YOUNG, RetentionLimits(None, 6 * KIB),
         "about 4 of 10 records (up to 4.0 KiB of 10.0 KiB) in 1 of 2 partitions"),
        (YOUNG, RetentionLimits(None, 20 * KIB), ""),
        (AGED, RetentionLimits(1, 5 * KIB),
         "up to 6 of 10 records (about 12.0 KiB of 20.0 KiB) in 1 of 2 partitions"),
        (TIERED, RetentionLimits(1), "up to 6 of 10 records in 1 of 2 partitions"),
    ],
)  # fmt: skip
def test_records_beyond_a_limit(row: PartitionRecords, limits: RetentionLimits, text: str) -> None:
    facts = Facts(altered(topic_of("t"), set_("retention.ms", "1")), None, {"t": limits},
                  [EMPTY, row])  # fmt: skip
    advice = say(facts)
    assert bool(lost_records(facts).partitions) is bool(text)
    if text:
        assert advice.warnings[1:] == (f"{text} of topic t would be deleted immediately",)
        lost_of = text.replace(" of 10", "").partition(" (")[0].partition(" in ")[0]
        assert advice.stakes == f"deletes {lost_of}"
    else:
        assert advice.warnings == ()
        assert advice.notes == (
            "lowering retention.ms of topic t deletes records older than 1ms; there are none now",
        )
        assert advice.stakes == "deletes no records now"


def test_partitions_that_could_not_be_read_are_at_stake() -> None:
    configs = altered(topic_of("t"), set_("retention.bytes", "1073741824"))
    stake = "deletes the oldest records of partitions larger than 1GiB"
    limits = {"t": RetentionLimits(None, 1 << 30)}
    unread = say(Facts(configs, None, limits, [], 2))
    assert unread.stakes == f"{stake}, 2 partitions not checked"
    assert say(Facts(configs, None, limits)).stakes == stake, "not even the partitions are known"
    partly = say(Facts(configs, None, limits, [EMPTY], 1))
    assert partly.stakes == f"{stake}, 1 partition not checked"
    unsized = say(Facts(configs, None, limits, [replace(YOUNG, sizes=())]))
    assert unsized.stakes == stake and unsized.warnings, "the sizes are not known"
    other = say(Facts(configs, None, limits | {"u": RetentionLimits(1)}, [EMPTY]))
    assert other.stakes == stake, "a topic whose partitions are not known"
