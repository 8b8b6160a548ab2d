"""What altered configs mean for producers, leaders, and what inherits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kafka_shell.admin.configs.model import ConfigAlteration, ConfigResource
from kafka_shell.admin.topics.min_isr import Requirement
from kafka_shell.advice import acks_all, defaults, elections
from kafka_shell.base.results import Failure
from kafka_shell.wire.model import Partition, Topic
from tests.support.altered import altered, entry, topic_values
from tests.support.config_alterations import BROKER, DEFAULT, delete, set_, topic_of

MIN_ISR = "min.insync.replicas"
FAIL = "producers with acks=all to topic t will fail"

# -- acks=all --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minimum", "factor", "capped", "warning"),
    [
        (3, 3, True, f"{FAIL} while a broker is down ({MIN_ISR}=3, 3 replicas)"),
        (2, 3, True, ""),
        (1, 1, True, ""),
        (2, 0, True, ""),
        (4, 3, True, f"{FAIL} while a broker is down ({MIN_ISR}=4, 3 replicas)"),
        (4, 3, False, f"{FAIL} at once ({MIN_ISR}=4, 3 replicas)"),
        (2, 1, True, f"{MIN_ISR}=2 has no effect on topic t with a single replica"),
        (2, 1, False, f"{FAIL} at once ({MIN_ISR}=2, 1 replica)"),
    ],
)
def test_required_replicas(minimum: int, factor: int, capped: bool, warning: str) -> None:
    said = acks_all.say(acks_all.Facts([Requirement("t", minimum, factor)], capped))
    assert list(said.warnings) == ([warning] if warning else [])
    assert not said.confirm


def test_many_topics_are_one_warning() -> None:
    required = [Requirement(f"t{n}", 2, 1) for n in range(30)] + [Requirement("ok", 1, 1)]
    assert list(acks_all.say(acks_all.Facts(required)).warnings) == [
        f"{MIN_ISR}=2 has no effect on 30 topics (t0, t1, t10 and 27 more) with a single replica"
    ]


def topic(name: str, *isrs: Sequence[int]) -> Topic:
    """A topic with replicas on three brokers, and these in-sync replicas of its partitions."""
    partitions = (
        Partition(name, number, isr[0] if isr else None, 0, (1, 2, 3), tuple(isr))
        for number, isr in enumerate(isrs)
    )
    return Topic(name, "", False, tuple(partitions))


@pytest.mark.parametrize(
    ("before", "after", "failing"),
    [(1, 2, 0), (1, 3, 2), (3, 3, 0), (3, 4, 0), (2, 1, 0), (0, 3, 2)],
)
def test_in_sync_replicas(before: int, after: int, failing: int) -> None:
    """Two partitions with two in-sync replicas, one with three, and one without a leader."""
    facts = acks_all.Facts(
        [Requirement("t", after, 3)], True, {"t": before},
        [topic("t", (1, 2), (2, 3), (1, 2, 3), ())],
    )  # fmt: skip
    said = acks_all.say(facts)
    assert said.confirm is bool(failing)
    if failing:
        assert said.warnings[-1] == (
            "producers with acks=all to 2 partitions of topic t will fail at once: too few replicas"
            " are in sync"
        )
        assert said.stakes == "producers with acks=all fail in 2 partitions"


# -- unclean elections -----------------------------------------------------------------------------

ELECTS = "unclean.leader.election.enable=true elects out-of-sync replicas as leaders"
LOSES = "without a leader will lose committed records, which cannot be restored"


@pytest.mark.parametrize(
    ("offline", "warning", "stake"),
    [
        ({}, f"committed records may be lost: {ELECTS} when no in-sync replica is available", ""),
        ({"a": 1}, f"1 partition of topic a {LOSES}: {ELECTS}", "1 offline partition"),
        ({"a": 1, "b": 2}, f"3 partitions of 2 topics (a, b) {LOSES}: {ELECTS}",
         "3 offline partitions"),
    ],
)  # fmt: skip
def test_unclean_elections(offline: Mapping[str, int], warning: str, stake: str) -> None:
    said = elections.say(elections.Facts(offline))
    assert list(said.warnings) == [warning]
    assert said.stakes == (f"loses committed records of {stake}" if stake else "")
    assert said.confirm is bool(stake)


# -- inherited defaults, and rejected batches ------------------------------------------------------


@pytest.mark.parametrize(
    ("resource", "now", "alteration", "warning"),
    [
        (topic_of("t"), {}, set_("max.message.bytes", "100"),
         "lowering max.message.bytes of topic t makes brokers reject record batches larger than"
         " 100 bytes: producers get MESSAGE_TOO_LARGE"),
        (topic_of("t"), {"max.message.bytes": "2097152"}, delete("max.message.bytes"),
         "removing max.message.bytes of topic t makes brokers reject record batches larger than"
         " 1,048,588 bytes: producers get MESSAGE_TOO_LARGE"),
        (BROKER, {}, set_("message.max.bytes", "1024"),
         "lowering message.max.bytes of broker 1 makes brokers reject record batches larger than"
         " 1KiB: producers get MESSAGE_TOO_LARGE"),
        (topic_of("t"), {}, set_("max.message.bytes", "2097152"), ""),
        (topic_of("t"), {"max.message.bytes": "100"}, delete("max.message.bytes"), ""),
        (DEFAULT, {}, set_("log.cleaner.threads", "4"), ""),
    ],
)  # fmt: skip
def test_rejected_batches(
    resource: ConfigResource, now: Mapping[str, str], alteration: ConfigAlteration, warning: str
) -> None:
    configs = altered(resource, alteration, now=now)
    said = defaults.say(defaults.Facts(configs))
    assert list(said.warnings) == ([warning] if warning else [])


def test_brokers_that_override_a_default() -> None:
    key = "log.cleaner.threads"
    configs = altered(DEFAULT, set_(key, "4"))
    own = [(str(id), entry(BROKER, key, value)) for id, value in ((1, "2"), (2, "2"), (3, "3"))]
    assert list(defaults.say(defaults.Facts(configs, own=own)).warnings) == [
        f"brokers 1, 2 override {key}=2",
        f"broker 3 overrides {key}=3",
    ]
    unread = {"7": Failure("TIMED_OUT", "no response")}
    assert list(defaults.say(defaults.Facts(configs, unread=unread)).warnings) == [
        "broker 7 may override the cluster-wide default, as its configs could not be read: no"
        " response"
    ]


def test_topics_that_inherit_a_default() -> None:
    configs = altered(
        DEFAULT, set_("compression.type", "zstd"), set_("log.cleaner.threads", "4"),
        set_("log.retention.ms", "1000"),
    )  # fmt: skip
    topics = topic_values({"a": {}, "b": {"compression.type": "gzip"}, "c": {}})
    assert list(defaults.say(defaults.Facts(configs, topics)).warnings) == [
        "2 of 3 topics inherit compression.type"
    ]
