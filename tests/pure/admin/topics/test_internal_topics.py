"""Internal topics are one set, and each has its consequences."""

from __future__ import annotations

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.admin.topics.growth import INTERNAL_STATE
from kafka_shell.wire.model import INTERNAL_TOPICS


def test_the_set_has_our_topics_and_each_has_consequences() -> None:
    assert {CONFIGS_TOPIC, REGISTRATIONS_TOPIC} < INTERNAL_TOPICS
    assert INTERNAL_STATE.keys() == INTERNAL_TOPICS
