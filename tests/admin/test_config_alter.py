"""Configs altered on real brokers: what a change says, and what is there afterwards (KIP-339)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest

from kafka_shell.admin import configs, topics
from kafka_shell.admin.config_reads import list_resources
from kafka_shell.admin.configs import HIDDEN
from kafka_shell.admin.connection import Cluster
from kafka_shell.carry_out import apply
from kafka_shell.errors import ShellError
from kafka_shell.nouns import (
    Change,
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    Resource,
    ResourceType,
)
from kafka_shell.sandbox import Sandbox
from tests.admin.helpers import connect, done, failures, make_topic, refusals

quick = pytest.mark.quick

BROKER = ConfigResource(ResourceType.BROKER, "1")
DEFAULT = ConfigResource(ResourceType.BROKER, "")
LOGGER = ConfigResource(ResourceType.BROKER_LOGGER, "1")


def topic_of(name: str) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, name)


def set_(key: str, value: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.SET, value)


def delete(key: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.DELETE)


def append(key: str, value: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.APPEND, value)


def subtract(key: str, value: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.SUBTRACT, value)


def alter(
    cluster: Cluster, resource: ConfigResource, *alterations: ConfigAlteration
) -> tuple[Change, ...]:
    """Carry out and return what the plan said."""
    plan = configs.plan_alter(cluster, {resource: alterations})
    done(plan, cluster)
    return plan.changes


def entry(cluster: Cluster, resource: ConfigResource, key: str) -> ConfigEntry | None:
    found = configs.describe(cluster, [resource], [key])
    assert found.ok, found.failures
    return next((each for each in found[resource] if each.name == key), None)


def own(cluster: Cluster, resource: ConfigResource, key: str) -> str | None:
    """The value that is set at the resource itself, or None."""
    found = entry(cluster, resource, key)
    return found.value if found is not None and found.overridden else None


@contextmanager
def restored(cluster: Cluster, resource: ConfigResource, *keys: str) -> Iterator[None]:
    """Take settings of the shared broker away at the end."""
    try:
        yield
    finally:
        alter(cluster, resource, *map(delete, keys))


@pytest.fixture(params=[pytest.param("4.3", marks=pytest.mark.quick), "3.9"])
def either(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue("cluster" if request.param == "4.3" else "old_cluster")
    return found


# -- topics ----------------------------------------------------------------------------------------


def test_set_append_subtract_and_delete_in_one_request(either: Cluster, name: str) -> None:
    make_topic(either, name, configs=(("segment.ms", "1000"), ("cleanup.policy", "compact")))
    resource = topic_of(name)
    replicas = "leader.replication.throttled.replicas"
    changes = alter(
        either,
        resource,
        set_("retention.ms", "7d"),
        append("cleanup.policy", "delete"),
        delete("segment.ms"),
        append(replicas, "0:1"),
    )
    assert [(c.field, c.before, c.after, c.effective, c.source) for c in changes] == [
        ("retention.ms", None, "604800000", "604800000", "Default config"),
        ("cleanup.policy", "compact", "compact,delete", None, "Dynamic topic config"),
        ("segment.ms", "1000", None, None, "Dynamic topic config"),
        (replicas, None, "0:1", "", "Default config"),
    ]
    assert own(either, resource, "retention.ms") == "604800000"
    assert own(either, resource, "cleanup.policy") == "compact,delete"
    assert own(either, resource, "segment.ms") is None
    assert own(either, resource, replicas) == "0:1"
    alter(either, resource, subtract("cleanup.policy", "compact"))
    assert own(either, resource, "cleanup.policy") == "delete"


def test_the_broker_sees_a_change_at_once(either: Cluster, name: str) -> None:
    """The controller answers before the brokers know; who looks afterwards must not be fooled."""
    make_topic(either, name)
    for n in range(1, 20):
        alter(either, topic_of(name), set_("retention.ms", str(n)))
        assert own(either, topic_of(name), "retention.ms") == str(n), f"stale after change {n}"
        if n % 5 == 0:
            alter(either, topic_of(name), delete("retention.ms"))
            assert own(either, topic_of(name), "retention.ms") is None, f"stale after delete {n}"


def test_a_list_starts_from_kafkas_default_not_from_what_holds(either: Cluster, name: str) -> None:
    make_topic(either, name)
    resource = topic_of(name)
    with restored(either, DEFAULT, "log.cleanup.policy"):
        alter(either, DEFAULT, set_("log.cleanup.policy", "compact"))
        (change,) = configs.plan_alter(
            either, {resource: [append("cleanup.policy", "delete")]}
        ).changes
        assert (change.effective, change.after) == ("compact", "delete")
        assert "Kafka's own default delete" in change.note
        alter(either, resource, append("cleanup.policy", "delete"))
        assert own(either, resource, "cleanup.policy") == "delete", "the plan foretold otherwise"


@quick
def test_a_change_that_changes_nothing_says_so(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=(("retention.ms", "1000"), ("cleanup.policy", "compact")))
    changes = alter(
        cluster,
        topic_of(name),
        set_("retention.ms", "1s"),
        append("cleanup.policy", "compact"),
        delete("segment.ms"),
    )
    assert [change.note for change in changes] == [
        "no change: this is what is set",
        "no change: this is what is set",
        "not set here: there is nothing to delete",
    ]
    # What holds by default and is set all the same is a change: it holds whatever the default.
    (pinned,) = alter(cluster, topic_of(name), set_("segment.ms", "7d"))
    assert (pinned.before, pinned.after, pinned.note) == (None, "604800000", "")


@quick
def test_a_delete_says_what_holds_then(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=(("cleanup.policy", "compact"), ("retention.ms", "1000")))
    resource = topic_of(name)
    plan = configs.plan_alter(
        cluster, {resource: [delete("cleanup.policy"), delete("retention.ms")]}
    )
    assert [change.note for change in plan.changes] == [
        "falls back to log.cleanup.policy=delete (Default config)",
        "falls back to the default",
    ]


@quick
def test_an_empty_value_is_a_value(cluster: Cluster, topic: str) -> None:
    key = "follower.replication.throttled.replicas"
    alter(cluster, topic_of(topic), set_(key, ""))
    assert own(cluster, topic_of(topic), key) == ""
    alter(cluster, topic_of(topic), delete(key))
    assert own(cluster, topic_of(topic), key) is None


def test_the_keys_of_a_topic_go_together_and_topics_apart(either: Cluster, name: str) -> None:
    good, bad = make_topic(either, f"{name}.good"), make_topic(either, f"{name}.bad")
    plan = configs.plan_alter(
        either,
        {
            topic_of(bad): [set_("retention.ms", "7d"), set_("cleanup.policy", "sideways")],
            topic_of(f"{name}.gone"): [set_("retention.ms", "7d")],
            topic_of(good): [set_("retention.ms", "7d")],
        },
    )
    assert len(plan.steps) == 1
    assert {k: why.name for k, why in refusals(plan).items()} == {
        f"{name}.gone": "UNKNOWN_TOPIC_OR_PARTITION"
    }
    validated = plan.steps[0].send(either, validate_only=True)
    assert failures(validated) == {bad: "INVALID_CONFIG"}
    assert own(either, topic_of(good), "retention.ms") is None, "validating changed it"
    results = apply(plan, either)
    assert failures(results) == {bad: "INVALID_CONFIG"}
    assert len(results.failures) == 2, "each key has its outcome"
    assert all("sideways" in why.message for why in results.failures.values())
    assert own(either, topic_of(good), "retention.ms") == "604800000"
    assert own(either, topic_of(bad), "retention.ms") is None


def test_a_topic_deleted_between_fails_alone(either: Cluster, name: str) -> None:
    stays, goes = make_topic(either, f"{name}.stays"), make_topic(either, f"{name}.goes")
    wanted = [set_("retention.ms", "7d")]
    plan = configs.plan_alter(either, {topic_of(goes): wanted, topic_of(stays): wanted})
    done(topics.plan_delete(either, [goes]), either)
    results = apply(plan, either)
    assert failures(results) == {goes: "UNKNOWN_TOPIC_OR_PARTITION"}
    assert own(either, topic_of(stays), "retention.ms") == "604800000"
    with pytest.raises(ShellError, match=goes) as gone:
        plan.steps[0].again(either)
    assert gone.value.hint == "Nothing was sent."


@quick
def test_a_step_read_again_tells_what_is_there_now(cluster: Cluster, topic: str) -> None:
    plan = configs.plan_alter(cluster, {topic_of(topic): [set_("retention.ms", "7d")]})
    same = plan.steps[0].again(cluster)
    assert same.changes == plan.changes
    alter(cluster, topic_of(topic), set_("retention.ms", "5"))
    (now,) = plan.steps[0].again(cluster).changes
    assert (now.before, now.after) == ("5", "604800000")


@quick
def test_fresh_state_has_the_altered_keys_of_every_topic(cluster: Cluster, name: str) -> None:
    names = [make_topic(cluster, f"{name}.{n}") for n in range(2)]
    plan = configs.plan_alter(cluster, {topic_of(n): [set_("retention.ms", "7d")] for n in names})
    done(plan, cluster)
    assert plan.fresh is not None
    assert {
        resource.name: [(e.name, e.value) for e in entries]
        for resource, entries in plan.fresh(cluster).values.items()
    } == {n: [("retention.ms", "604800000")] for n in names}


@quick
def test_nothing_to_alter_is_no_request(cluster: Cluster, topic: str) -> None:
    assert configs.plan_alter(cluster, {}).steps == ()
    assert configs.plan_alter(cluster, {topic_of(topic): []}).steps == ()


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
        plan = configs.plan_alter(either, {DEFAULT: [set_(key, "4")]})
        assert plan.warnings == ("broker 1 keeps its own log.cleaner.threads=3",)
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
        (change,) = configs.plan_alter(cluster, {BROKER: [delete("log.retention.ms")]}).changes
        assert change.note == "falls back to log.retention.hours=168 (Default config)"


@pytest.mark.parametrize("resource", [BROKER, DEFAULT], ids=["broker", "default"])
def test_brokers_validate_without_changing(either: Cluster, resource: ConfigResource) -> None:
    key = "log.cleaner.threads"
    good = configs.plan_alter(either, {resource: [set_(key, "2")]})
    assert good.steps[0].send(either, validate_only=True).ok
    assert own(either, resource, key) is None
    bad = configs.plan_alter(either, {resource: [set_("log.cleanup.policy", "sideways")]})
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
        plan = configs.plan_alter(either, {BROKER: [set_(key, secret)]})
        assert secret not in repr(plan.changes) + repr(plan.warnings)
        assert plan.changes[0].note == "sensitive: its value is not shown"
        done(plan, either)
        found = entry(either, BROKER, key)
        assert found is not None and found.overridden, "it was not set"
        later = configs.plan_alter(either, {BROKER: [set_(key, "other")]})
        assert secret not in repr(later) and not later.changes[0].reversible


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
        plan = configs.plan_alter(three, {b: [set_(key, "2")] for b in brokers})
        assert len(plan.steps) == 3
        try:
            done(plan, three)
            assert [own(three, b, key) for b in brokers] == ["2", "2", "2"]
            warned = configs.plan_alter(three, {DEFAULT: [set_(key, "4")]}).warnings
            assert [w.split()[1] for w in warned] == ["1", "2", "3"]
        finally:
            done(configs.plan_alter(three, {b: [delete(key)] for b in brokers}), three)
        nobody = ConfigResource(ResourceType.BROKER, "9")
        part = configs.plan_alter(three, {nobody: [set_(key, "2")], brokers[0]: [delete(key)]})
        assert refusals(part)["9"].name == "unknown-broker"
        assert len(part.steps) == 1


# -- loggers, groups, client metrics ---------------------------------------------------------------


def test_a_logger_is_altered_and_put_back(either: Cluster) -> None:
    key = "kafka.network.RequestChannel$"
    before = entry(either, LOGGER, key)
    assert before is not None
    plan = configs.plan_alter(either, {LOGGER: [set_(key, "ERROR")]})
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
    (step,) = configs.plan_alter(cluster, {LOGGER: [alteration]}).steps
    assert failures(step.send(cluster, validate_only=True)) == {"1": error}


@quick
def test_an_unknown_logger_names_its_near_miss(cluster: Cluster) -> None:
    plan = configs.plan_alter(cluster, {LOGGER: [set_("kafka.request.loger", "INFO")]})
    assert plan.warnings[0].endswith("Did you mean kafka.request.logger?")


@quick
def test_a_group_that_is_not_there_can_be_given_configs(cluster: Cluster, name: str) -> None:
    group = ConfigResource(ResourceType.GROUP, name)
    (change,) = alter(cluster, group, set_("consumer.session.timeout.ms", "50s"))
    assert (change.before, change.after, change.effective) == (None, "50000", "45000")
    assert own(cluster, group, "consumer.session.timeout.ms") == "50000"
    assert name in list_resources(cluster, ResourceType.GROUP)
    (back,) = alter(cluster, group, delete("consumer.session.timeout.ms"))
    assert "45000" in back.note
    bad = configs.plan_alter(cluster, {group: [set_("consumer.heartbeat.interval.ms", "1")]})
    assert failures(bad.steps[0].send(cluster, validate_only=True)) == {name: "INVALID_CONFIG"}


def test_a_subscription_is_altered(either: Cluster, name: str) -> None:
    metrics = ConfigResource(ResourceType.CLIENT_METRICS, name)
    alter(either, metrics, set_("interval.ms", "1m"), set_("metrics", "org.apache.kafka."))
    assert own(either, metrics, "interval.ms") == "60000"
    assert own(either, metrics, "metrics") == "org.apache.kafka."
    assert name in list_resources(either, ResourceType.CLIENT_METRICS)
    alter(either, metrics, delete("interval.ms"), delete("metrics"))
    assert own(either, metrics, "interval.ms") is None
