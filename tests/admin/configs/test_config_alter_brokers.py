"""Configs of brokers, loggers, groups and client metrics, altered on real brokers."""

from __future__ import annotations

import time
from uuid import uuid4

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import HIDDEN, ConfigAlteration, ConfigResource, ResourceType
from kafka_shell.admin.configs.read import list_resources
from kafka_shell.admin.facts import BUDGET_S
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Resource
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, done, failures, refusals
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
from tests.support.frozen_process import freeze, thaw
from tests.support.shared_cluster import processes, wait_until_applied

quick = pytest.mark.quick


# -- brokers ---------------------------------------------------------------------------------------


def test_a_broker_and_the_default_below_it(either: Cluster) -> None:
    key = "log.cleaner.threads"
    with restored(either, BROKER, key), restored(either, DEFAULT, key):
        (first,) = alter(either, DEFAULT, set_(key, "2"))
        assert (first.resource, first.before, first.effective, first.source) == (
            Resource("broker-default", ""), None, "1", "Default config",
        )  # fmt: skip
        (second,) = alter(either, BROKER, set_(key, "3"))
        assert (second.before, second.effective, second.source) == (
            None, "2", "Dynamic default broker config",
        )  # fmt: skip
        assert own(either, BROKER, key) == "3"
        plan = config_changes.plan_alter(either, {DEFAULT: [set_(key, "4")]})
        assert plan.warnings == ("broker 1 overrides log.cleaner.threads=3",)
        assert (plan.changes[0].before, plan.changes[0].effective) == ("2", None)
        (third,) = alter(either, BROKER, delete(key))
        assert third.note == "falls back to 2 (Dynamic default broker config)"
        (fourth,) = alter(either, DEFAULT, delete(key))
        assert fourth.note == "falls back to 1 (Default config)"
        found = entry(either, BROKER, key)
        assert found is not None and found.value == "1"


@quick
def test_a_key_named_otherwise_below_says_its_name(cluster: Cluster) -> None:
    with restored(cluster, BROKER, "log.retention.ms"):
        alter(cluster, BROKER, set_("log.retention.ms", "1d"))
        (change,) = config_changes.plan_alter(
            cluster, {BROKER: [delete("log.retention.ms")]}
        ).changes
        assert change.note == "falls back to log.retention.hours=168 (Default config)"


@pytest.mark.parametrize("resource", [BROKER, DEFAULT], ids=["broker", "default"])
def test_brokers_validate_without_changing(either: Cluster, resource: ConfigResource) -> None:
    key = "log.cleaner.threads"
    good = config_changes.plan_alter(either, {resource: [set_(key, "2")]})
    assert good.steps[0].send(either, validate_only=True).ok
    assert own(either, resource, key) is None
    bad = config_changes.plan_alter(either, {resource: [set_("log.segment.bytes", "1")]})
    assert set(failures(bad.steps[0].send(either, validate_only=True)).values()) <= {
        "INVALID_CONFIG", "INVALID_REQUEST",
    }  # fmt: skip
    assert not bad.steps[0].send(either, validate_only=True).ok


@pytest.mark.parametrize("resource", [BROKER, DEFAULT], ids=["broker", "default"])
def test_a_plugins_key_is_set_set_again_and_deleted(
    either: Cluster, resource: ConfigResource
) -> None:
    """Brokers list it as read-only and sensitive once it is set; it is neither for good."""
    key = f"my.plugin.{uuid4().hex[:6]}"
    (change,) = alter(either, resource, set_(key, "hush"))
    assert (change.before, change.after, change.reversible) == (None, HIDDEN, True)
    found = entry(either, resource, key)
    assert found is not None and found.overridden
    (again,) = alter(either, resource, set_(key, "hush2"))
    assert (again.before, again.after, again.reversible) == (HIDDEN, HIDDEN, False)
    (gone,) = alter(either, resource, delete(key))
    assert (gone.before, gone.after, gone.reversible) == (HIDDEN, None, False)
    assert entry(either, resource, key) is None


@pytest.mark.parametrize(
    "key",
    [
        "listener.name.plaintext.ssl.key.password",
        "listener.name.plaintext.scram-sha-256.sasl.jaas.config",
        "plugin.secret",
    ],
)
def test_a_sensitive_value_is_in_no_change(either: Cluster, key: str) -> None:
    secret = "hush-hush"
    with restored(either, BROKER, key):
        plan = config_changes.plan_alter(either, {BROKER: [set_(key, secret)]})
        assert secret not in repr(plan.changes) + repr(plan.warnings)
        assert plan.changes[0].note == "sensitive: the value is not shown"
        done(plan, either)
        found = entry(either, BROKER, key)
        assert found is not None and found.overridden, "it was not set"
        later = config_changes.plan_alter(either, {BROKER: [set_(key, "other")]})
        assert secret not in repr(later) and not later.changes[0].reversible


def test_all_that_is_set_on_a_broker_is_deleted_at_once(either: Cluster) -> None:
    keys = ("log.cleaner.threads", "listener.name.plaintext.max.connections")
    alter(either, BROKER, set_(keys[0], "2"), set_(keys[1], "77"))
    changes = alter(either, BROKER, delete("*"))
    assert {each.field for each in changes} == {*keys}
    assert [own(either, BROKER, key) for key in keys] == [None, None]
    again = config_changes.plan_alter(either, {BROKER: [delete("*")]})
    assert again.changes == () and again.refused.ok


@quick
@pytest.mark.parametrize("resource", [BROKER, DEFAULT, LOGGER], ids=["broker", "default", "logger"])
def test_what_is_not_set_is_not_called_deleted(cluster: Cluster, resource: ConfigResource) -> None:
    for key in ("no.such.key", *(["*"] if resource != BROKER else [])):
        with pytest.raises(ShellError, match="unknown"):
            config_changes.plan_alter(cluster, {resource: [delete(key)]})


@quick
def test_a_listeners_key_can_be_taken_away_again(cluster: Cluster) -> None:
    key = "listener.name.plaintext.max.connections"
    (change,) = alter(cluster, BROKER, set_(key, "77"))
    assert (change.effective, change.source) == ("2147483647", "Default config")
    assert own(cluster, BROKER, key) == "77"
    (back,) = alter(cluster, BROKER, delete(key))
    assert back.note == "falls back to max.connections=2147483647 (Default config)"
    assert own(cluster, BROKER, key) is None


def test_each_broker_is_its_own_request(three_brokers: Sandbox) -> None:
    key = "log.cleaner.threads"
    with connect(three_brokers) as three:
        brokers = [ConfigResource(ResourceType.BROKER, str(n)) for n in (1, 2, 3)]
        plan = config_changes.plan_alter(three, {b: [set_(key, "2")] for b in brokers})
        assert len(plan.steps) == 3
        try:
            done(plan, three)
            assert [own(three, b, key) for b in brokers] == ["2", "2", "2"]
            warned = config_changes.plan_alter(three, {DEFAULT: [set_(key, "4")]}).warnings
            assert warned == (f"brokers 1, 2, 3 override {key}=2",)
        finally:
            done(config_changes.plan_alter(three, {b: [delete(key)] for b in brokers}), three)
        nobody = ConfigResource(ResourceType.BROKER, "9")
        part = config_changes.plan_alter(
            three, {nobody: [set_(key, "2")], brokers[0]: [set_(key, "2")]}
        )
        assert refusals(part)["9"].name == "unknown-broker"
        assert len(part.steps) == 1


def test_a_broker_that_hangs_does_not_delay_the_plan(three_brokers: Sandbox) -> None:
    """Before: the configs of all brokers were read without a limit of time."""
    (first, *_, last) = three_brokers.brokers
    address = f"127.0.0.1:{first.ports['PLAINTEXT']}"
    pid = processes(three_brokers)[last.id]
    assert pid is not None
    with Cluster(ConnectionConfig(parse_addresses(address))) as cluster:
        config_changes.plan_alter(cluster, {DEFAULT: [set_("log.cleaner.threads", "4")]})
        freeze(pid)
        try:
            began = time.monotonic()
            plan = config_changes.plan_alter(cluster, {DEFAULT: [set_("log.cleaner.threads", "4")]})
            assert time.monotonic() - began < BUDGET_S + 1
        finally:
            thaw(pid)
    (warned,) = plan.warnings
    assert warned.startswith(f"broker {last.id} may override the cluster-wide default"), warned


# -- loggers, groups, client metrics ---------------------------------------------------------------


def test_a_logger_is_altered_and_put_back(either: Cluster) -> None:
    key = "kafka.network.RequestChannel$"
    before = entry(either, LOGGER, key)
    assert before is not None
    plan = config_changes.plan_alter(either, {LOGGER: [set_(key, "ERROR")]})
    assert plan.steps[0].send(either, validate_only=True).ok
    unchanged = entry(either, LOGGER, key)
    assert unchanged == before, "validating changed it"
    (change,) = alter(either, LOGGER, set_(key, "ERROR"))
    assert (change.before, change.after) == (before.value, "ERROR")
    assert own(either, LOGGER, key) == "ERROR"
    assert change.before is not None
    alter(either, LOGGER, set_(key, str(change.before)))
    assert own(either, LOGGER, key) == before.value


@quick
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


@quick
def test_an_unknown_logger_names_its_near_miss(cluster: Cluster) -> None:
    plan = config_changes.plan_alter(cluster, {LOGGER: [set_("kafka.request.loger", "INFO")]})
    assert plan.warnings[0].endswith("Did you mean kafka.request.logger?")


@quick
def test_a_group_that_is_not_there_can_be_given_configs(cluster: Cluster, name: str) -> None:
    group = ConfigResource(ResourceType.GROUP, name)
    (change,) = alter(cluster, group, set_("consumer.session.timeout.ms", "50s"))
    assert (change.before, change.after, change.effective) == (None, "50000", "45000")
    assert own(cluster, group, "consumer.session.timeout.ms") == "50000"
    wait_until_applied(cluster)
    assert name in list_resources(cluster, ResourceType.GROUP)
    (back,) = alter(cluster, group, delete("consumer.session.timeout.ms"))
    assert "45000" in back.note
    bad = config_changes.plan_alter(cluster, {group: [set_("consumer.heartbeat.interval.ms", "1")]})
    assert failures(bad.steps[0].send(cluster, validate_only=True)) == {name: "INVALID_CONFIG"}


def test_a_subscription_is_altered(either: Cluster, name: str) -> None:
    metrics = ConfigResource(ResourceType.CLIENT_METRICS, name)
    alter(either, metrics, set_("interval.ms", "1m"), set_("metrics", "org.apache.kafka."))
    assert own(either, metrics, "interval.ms") == "60000"
    assert own(either, metrics, "metrics") == "org.apache.kafka."
    wait_until_applied(either)
    assert name in list_resources(either, ResourceType.CLIENT_METRICS)
    alter(either, metrics, delete("interval.ms"), delete("metrics"))
    assert own(either, metrics, "interval.ms") is None
