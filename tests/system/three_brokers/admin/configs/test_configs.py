"""Read configs from real brokers (KIP-226, 569), and check them before they are sent."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.checks import ConfigRefused
from kafka_shell.admin.configs.model import (
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ResourceType,
)
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, done, make_topic, refusals
from tests.support.waiting import applied


def topic_of(name: str) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, name)


def read(cluster: Cluster, resource: ConfigResource, key: str) -> ConfigEntry | None:
    found = configs.describe(cluster, [resource], [key], synonyms=True)
    assert found.ok, found.failures
    return next((entry for entry in found[resource] if entry.name == key), None)


def set_(key: str, value: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.SET, value)


def test_an_old_broker_lists_what_it_can(old_cluster: Cluster, name: str) -> None:
    make_topic(old_cluster, name)
    metrics = ConfigResource(ResourceType.CLIENT_METRICS, f"m-{name}")
    done(
        config_changes.plan_alter(old_cluster, {metrics: [set_("interval.ms", "1m")]}), old_cluster
    )
    applied(old_cluster)
    assert name in configs.list_resources(old_cluster, ResourceType.TOPIC)
    assert configs.list_resources(old_cluster, ResourceType.BROKER) == ["1"]
    assert metrics.name in configs.list_resources(old_cluster, ResourceType.CLIENT_METRICS)
    with pytest.raises(ShellError, match=r"requires Kafka 4\.1"):
        configs.list_resources(old_cluster, ResourceType.GROUP)


def test_a_broker_without_group_configs_says_since_when_there_are_some(
    old_cluster: Cluster,
) -> None:
    group = ConfigResource(ResourceType.GROUP, "g")
    found = configs.describe(old_cluster, [group])
    assert found.failures[group].name == "UNSUPPORTED_VERSION"
    assert "Kafka 4.0" in found.failures[group].message
    plan = config_changes.plan_alter(
        old_cluster, {group: [set_("consumer.session.timeout.ms", "50s")]}
    )
    assert refusals(plan)["g"].name == "UNSUPPORTED_VERSION"
    assert plan.steps == ()


def test_a_subscription_is_known_to_an_old_broker_too(old_cluster: Cluster, name: str) -> None:
    """3.9 lists only what is set of it, and tells no types."""
    metrics = ConfigResource(ResourceType.CLIENT_METRICS, name)
    plan = config_changes.plan_alter(
        old_cluster, {metrics: [set_("interval.ms", "1m"), set_("metrics", "a.,b.")]}
    )
    assert plan.changes[0].after == "60000"
    done(plan, old_cluster)
    assert read(old_cluster, metrics, "interval.ms") is not None
    with pytest.raises(ConfigRefused, match="unknown client-metrics config 'intervall"):
        config_changes.plan_alter(old_cluster, {metrics: [set_("intervall.ms", "1m")]})
    done(
        config_changes.plan_alter(old_cluster, {metrics: [set_("match", "client_id=a")]}),
        old_cluster,
    )


def test_many_topics_are_read_in_parts_by_every_broker(
    three_brokers: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configs, "_AT_ONCE", 3)
    with connect(three_brokers) as cluster:
        stem = f"parts-{uuid4().hex[:8]}"
        new = [NewTopic(f"{stem}-{n}", 1, 1, configs=(("retention.ms", str(1000 + n)),))
               for n in range(8)]  # fmt: skip
        done(topic_changes.plan_create(new), cluster)
        applied(cluster)
        asked = [topic_of(each.name) for each in new] + [topic_of(f"{stem}-gone")]
        parts = list(configs.in_parts(cluster, asked, ["retention.ms"]))
        assert [len(part) for part in parts] == [3, 3, 3]
        assert parts[2].failures.keys() == {topic_of(f"{stem}-gone")}
        whole = configs.describe(cluster, asked, ["retention.ms"])
        assert list(whole.values) == asked[:-1], "the order is not as asked"
        assert [entries[0].value for entries in whole] == [str(1000 + n) for n in range(8)]
        assert whole.failures == parts[2].failures
