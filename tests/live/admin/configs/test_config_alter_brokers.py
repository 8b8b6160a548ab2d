"""Configs of brokers, loggers, groups and client metrics, altered on real brokers."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import HIDDEN, ConfigAlteration, ConfigResource, ResourceType
from kafka_shell.admin.configs.read import list_resources
from kafka_shell.advice import advise
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Resource
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, failures
from tests.support.config_alterations import (
    BROKER,
    DEFAULT,
    LOGGER,
    alter,
    append,
    delete,
    entry,
    own,
    restored,
    set_,
)
from tests.support.waiting import applied


def test_a_key_named_otherwise_below_says_its_name(cluster: Cluster) -> None:
    with restored(cluster, BROKER, "log.retention.ms"):
        alter(cluster, BROKER, set_("log.retention.ms", "1d"))
        (change,) = config_changes.plan_alter(
            cluster, {BROKER: [delete("log.retention.ms")]}
        ).changes
        assert change.note == "inherits 7d from log.retention.hours=168, default"


@pytest.mark.parametrize("resource", [BROKER, DEFAULT, LOGGER], ids=["broker", "default", "logger"])
def test_what_is_not_set_is_not_called_deleted(cluster: Cluster, resource: ConfigResource) -> None:
    for key in ("no.such.key", *(["*"] if resource != BROKER else [])):
        with pytest.raises(ShellError, match="unknown"):
            config_changes.plan_alter(cluster, {resource: [delete(key)]})


def test_a_listeners_key_can_be_taken_away_again(cluster: Cluster) -> None:
    key = "listener.name.plaintext.max.connections"
    (change,) = alter(cluster, BROKER, set_(key, "77"))
    assert (change.effective, change.source) == ("2147483647", "default")
    assert own(cluster, BROKER, key) == "77"
    (back,) = alter(cluster, BROKER, delete(key))
    assert back.note == "inherits 2147483647 from max.connections=2147483647, default"
    assert own(cluster, BROKER, key) is None


@pytest.mark.parametrize(
    ("alteration", "error"),
    [
        (set_("kafka.request.logger", "LOUD"), "INVALID_CONFIG"),
        (set_("no.such.logger", "INFO"), "INVALID_CONFIG"),
        (append("kafka.request.logger", "INFO"), "INVALID_REQUEST"),
        (delete("root"), "INVALID_REQUEST"),
    ],
    ids=["level", "unknown", "append", "root"],
)
def test_what_a_logger_cannot_be_is_refused_by_the_broker(
    cluster: Cluster, alteration: ConfigAlteration, error: str
) -> None:
    (step,) = config_changes.plan_alter(cluster, {LOGGER: [alteration]}).steps
    assert failures(step.send(cluster, validate_only=True)) == {"1": error}


def test_an_unknown_logger_names_its_near_miss(cluster: Cluster) -> None:
    plan = config_changes.plan_alter(cluster, {LOGGER: [set_("kafka.request.loger", "INFO")]})
    assert plan.advice.warnings[0].endswith("Did you mean kafka.request.logger?")


def test_a_group_that_is_not_there_can_be_given_configs(cluster: Cluster, name: str) -> None:
    group = ConfigResource(ResourceType.GROUP, name)
    (change,) = alter(cluster, group, set_("consumer.session.timeout.ms", "50s"))
    assert (change.before, change.after, change.effective) == (None, "50000", "45000")
    assert own(cluster, group, "consumer.session.timeout.ms") == "50000"
    applied(cluster)
    assert name in list_resources(cluster, ResourceType.GROUP)
    (back,) = alter(cluster, group, delete("consumer.session.timeout.ms"))
    assert "45000" in back.note
    bad = config_changes.plan_alter(cluster, {group: [set_("consumer.heartbeat.interval.ms", "1")]})
    assert failures(bad.steps[0].send(cluster, validate_only=True)) == {name: "INVALID_CONFIG"}


def test_a_broker_and_the_default_below_it(cluster: Cluster) -> None:
    key = "log.cleaner.threads"
    with restored(cluster, BROKER, key), restored(cluster, DEFAULT, key):
        (first,) = alter(cluster, DEFAULT, set_(key, "2"))
        assert (first.resource, first.before, first.effective, first.source) == (
            Resource("broker-default", ""), None, "1", "default",
        )  # fmt: skip
        (second,) = alter(cluster, BROKER, set_(key, "3"))
        assert (second.before, second.effective, second.source) == (
            None, "2", "dynamic default broker",
        )  # fmt: skip
        assert own(cluster, BROKER, key) == "3"
        plan = advise(config_changes.plan_alter(cluster, {DEFAULT: [set_(key, "4")]}), cluster)
        assert plan.advice.warnings == ("broker 1 overrides log.cleaner.threads=3",)
        assert (plan.changes[0].before, plan.changes[0].effective) == ("2", None)
        (third,) = alter(cluster, BROKER, delete(key))
        assert third.note == "inherits 2, dynamic default broker"
        (fourth,) = alter(cluster, DEFAULT, delete(key))
        assert fourth.note == "inherits 1, default"
        found = entry(cluster, BROKER, key)
        assert found is not None and found.value == "1"


@pytest.mark.parametrize("resource", [BROKER, DEFAULT], ids=["broker", "default"])
def test_brokers_validate_without_changing(cluster: Cluster, resource: ConfigResource) -> None:
    key = "log.cleaner.threads"
    good = config_changes.plan_alter(cluster, {resource: [set_(key, "2")]})
    assert good.steps[0].send(cluster, validate_only=True).ok
    assert own(cluster, resource, key) is None
    bad = config_changes.plan_alter(cluster, {resource: [set_("log.segment.bytes", "1")]})
    assert set(failures(bad.steps[0].send(cluster, validate_only=True)).values()) <= {
        "INVALID_CONFIG", "INVALID_REQUEST",
    }  # fmt: skip
    assert not bad.steps[0].send(cluster, validate_only=True).ok


@pytest.mark.parametrize("resource", [BROKER, DEFAULT], ids=["broker", "default"])
def test_a_plugins_key_is_set_set_again_and_deleted(
    cluster: Cluster, resource: ConfigResource
) -> None:
    """Brokers list it as read-only and sensitive once it is set; it is neither for good."""
    key = f"my.plugin.{uuid4().hex[:6]}"
    (change,) = alter(cluster, resource, set_(key, "hush"))
    assert (change.before, change.after, change.reversible) == (None, HIDDEN, True)
    found = entry(cluster, resource, key)
    assert found is not None and found.overridden
    (again,) = alter(cluster, resource, set_(key, "hush2"))
    assert (again.before, again.after, again.reversible) == (HIDDEN, HIDDEN, False)
    (gone,) = alter(cluster, resource, delete(key))
    assert (gone.before, gone.after, gone.reversible) == (HIDDEN, None, False)
    assert entry(cluster, resource, key) is None


@pytest.mark.parametrize(
    "key",
    [
        "listener.name.plaintext.ssl.key.password",
        "listener.name.plaintext.scram-sha-256.sasl.jaas.config",
        "plugin.secret",
    ],
)
def test_a_sensitive_value_is_in_no_change(cluster: Cluster, key: str) -> None:
    secret = "hush-hush"
    with restored(cluster, BROKER, key):
        plan = advise(config_changes.plan_alter(cluster, {BROKER: [set_(key, secret)]}), cluster)
        assert secret not in repr(plan.changes) + repr(plan.advice.warnings)
        assert plan.changes[0].note == "sensitive: the value is not shown"
        done(plan, cluster)
        found = entry(cluster, BROKER, key)
        assert found is not None and found.overridden, "it was not set"
        later = config_changes.plan_alter(cluster, {BROKER: [set_(key, "other")]})
        assert secret not in repr(later) and not later.changes[0].reversible


def test_all_that_is_set_on_a_broker_is_deleted_at_once(cluster: Cluster) -> None:
    keys = ("log.cleaner.threads", "listener.name.plaintext.max.connections")
    alter(cluster, BROKER, set_(keys[0], "2"), set_(keys[1], "77"))
    changes = alter(cluster, BROKER, delete("*"))
    assert {each.field for each in changes} == {*keys}
    assert [own(cluster, BROKER, key) for key in keys] == [None, None]
    again = config_changes.plan_alter(cluster, {BROKER: [delete("*")]})
    assert again.changes == () and again.refused.ok


def test_a_logger_is_altered_and_put_back(cluster: Cluster) -> None:
    key = "kafka.network.RequestChannel$"
    before = entry(cluster, LOGGER, key)
    assert before is not None
    plan = config_changes.plan_alter(cluster, {LOGGER: [set_(key, "ERROR")]})
    assert plan.steps[0].send(cluster, validate_only=True).ok
    unchanged = entry(cluster, LOGGER, key)
    assert unchanged == before, "validating changed it"
    (change,) = alter(cluster, LOGGER, set_(key, "ERROR"))
    assert (change.before, change.after) == (before.value, "ERROR")
    assert own(cluster, LOGGER, key) == "ERROR"
    assert change.before is not None
    alter(cluster, LOGGER, set_(key, str(change.before)))
    assert own(cluster, LOGGER, key) == before.value


def test_a_subscription_is_altered(cluster: Cluster, name: str) -> None:
    metrics = ConfigResource(ResourceType.CLIENT_METRICS, name)
    alter(cluster, metrics, set_("interval.ms", "1m"), set_("metrics", "org.apache.kafka."))
    assert own(cluster, metrics, "interval.ms") == "60000"
    assert own(cluster, metrics, "metrics") == "org.apache.kafka."
    applied(cluster)
    assert name in list_resources(cluster, ResourceType.CLIENT_METRICS)
    alter(cluster, metrics, delete("interval.ms"), delete("metrics"))
    assert own(cluster, metrics, "interval.ms") is None
