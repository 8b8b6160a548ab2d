"""Registrations are deleted, and clients are requested to register again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin.client_configs import change as client_config_changes
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTRATIONS_TOPIC,
    ClientEntity,
    ClientRegistration,
    registration_record,
)
from kafka_shell.admin.records import read as log
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.plans import apply
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.waiting import wait_for

APP = ClientEntity("alice", "app")
NOW = 1_790_000_000_000


@pytest.fixture
def small(cluster: Cluster) -> Iterator[Cluster]:
    """The topic of the configs takes no record: each is too large."""
    topics = [CONFIGS_TOPIC, REGISTRATIONS_TOPIC]
    apply(topic_changes.plan_delete(cluster, topics), cluster)
    wait_for("the topics go", lambda: not set(topics) & set(metadata_scan.scan(cluster).names))
    compact = ("cleanup.policy", "compact")
    make_topic(cluster, CONFIGS_TOPIC, configs=(compact, ("max.message.bytes", "1")))
    make_topic(cluster, REGISTRATIONS_TOPIC, configs=(("cleanup.policy", "compact,delete"),))
    yield cluster
    apply(topic_changes.plan_delete(cluster, topics), cluster)


def test_what_was_deleted_is_said_though_clients_are_not_asked(small: Cluster) -> None:
    fresh = ClientRegistration(APP, "lib", "2", ("acks",), NOW)
    log.append(small, REGISTRATIONS_TOPIC, [registration_record(fresh)])
    plan = client_config_changes.plan_forget(small, [APP], now=NOW)
    results = apply(plan, small)
    assert list(client_configs.registrations(small, now=NOW)) == []
    (why,) = results.failures.values()
    assert why.name == "MESSAGE_TOO_LARGE"
    assert why.message.startswith("deleted, but running clients were not asked to register again: ")
