"""Read configs from real brokers (KIP-226, 569), and check them before they are sent."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import (
    checks as config_checks,
)
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.checks import ConfigRefused
from kafka_shell.admin.configs.model import (
    HIDDEN,
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    ResourceType,
)
from kafka_shell.admin.configs.read import known_of
from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.units import ConfigType
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import ANY
from tests.support.changes import done, make_topic
from tests.support.waiting import applied

BROKER = ConfigResource(ResourceType.BROKER, "1")
DEFAULT = ConfigResource(ResourceType.BROKER, "")
LOGGER = ConfigResource(ResourceType.BROKER_LOGGER, "1")


def topic_of(name: str) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, name)


def read(cluster: Cluster, resource: ConfigResource, key: str) -> ConfigEntry | None:
    found = configs.describe(cluster, [resource], [key], synonyms=True)
    assert found.ok, found.failures
    return next((entry for entry in found[resource] if entry.name == key), None)


def set_(key: str, value: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.SET, value)


def delete(key: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.DELETE)


def test_a_topic_config_is_told_with_all_that_is_known_of_it(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=(("cleanup.policy", "compact"),))
    resource = topic_of(name)
    found = configs.describe(cluster, [resource], synonyms=True, documentation=True)[resource]
    by_name = {entry.name: entry for entry in found}
    assert [entry.name for entry in found] == sorted(by_name), "by name"
    policy = by_name["cleanup.policy"]
    assert (policy.value, policy.source, policy.type) == (
        "compact", ConfigSource.DYNAMIC_TOPIC, ConfigType.LIST,
    )  # fmt: skip
    assert policy.overridden and not policy.read_only and not policy.sensitive
    assert "retention" in policy.documentation
    assert [(s.name, s.value, s.source) for s in policy.synonyms] == [
        ("cleanup.policy", "compact", ConfigSource.DYNAMIC_TOPIC),
        ("log.cleanup.policy", "delete", ConfigSource.DEFAULT),
    ]
    assert by_name["retention.ms"].type is ConfigType.LONG
    assert by_name["retention.ms"].source is ConfigSource.DEFAULT
    assert not by_name["retention.ms"].overridden


def test_documentation_and_synonyms_come_only_when_asked_for(cluster: Cluster, topic: str) -> None:
    found = configs.describe(cluster, [topic_of(topic)])[topic_of(topic)]
    assert not any(entry.documentation or entry.synonyms for entry in found)


def test_keys_restrict_the_answer(cluster: Cluster, topic: str) -> None:
    found = configs.describe(cluster, [topic_of(topic)], ["retention.ms", "no.such.key"])
    assert [entry.name for entry in found[topic_of(topic)]] == ["retention.ms"]


def test_every_kind_of_resource_is_described(cluster: Cluster, topic: str) -> None:
    group = ConfigResource(ResourceType.GROUP, f"nobody-{uuid4().hex[:6]}")
    metrics = ConfigResource(ResourceType.CLIENT_METRICS, f"none-{uuid4().hex[:6]}")
    asked = [LOGGER, topic_of(topic), BROKER, group, DEFAULT, metrics]
    found = configs.describe(cluster, asked)
    assert found.ok, found.failures
    assert list(found.values) == asked, "in the order asked"
    values = {r.kind: {e.name: e for e in entries} for r, entries in found.values.items()}
    assert values["broker"]["node.id"].read_only
    assert values["broker"]["node.id"].source is ConfigSource.STATIC_BROKER
    assert values["broker"]["ssl.keystore.password"].sensitive
    assert values["logger"]["kafka.request.logger"].source is ConfigSource.DYNAMIC_BROKER_LOGGER
    assert values["client-metrics"]["interval.ms"].value == "300000"
    # A group that does not exist has configs all the same: they wait for it.
    assert values["group"]["consumer.session.timeout.ms"].type is ConfigType.INT


def test_sensitive_values_are_never_told(cluster: Cluster) -> None:
    found = configs.describe(cluster, [BROKER], synonyms=True)[BROKER]
    sensitive = [entry for entry in found if entry.sensitive]
    assert sensitive
    assert all(entry.value is None for entry in sensitive)
    assert all(synonym.value is None for entry in sensitive for synonym in entry.synonyms)


def test_what_cannot_be_described_fails_alone(cluster: Cluster, topic: str) -> None:
    gone, no_broker = topic_of(f"{topic}.gone"), ConfigResource(ResourceType.BROKER, "99")
    no_number = ConfigResource(ResourceType.BROKER, "rack-a")
    no_name = ConfigResource(ResourceType.GROUP, "")
    asked = [gone, no_broker, no_number, no_name, topic_of(topic)]
    found = configs.describe(cluster, asked)
    assert list(found.values) == [topic_of(topic)]
    assert {resource: why.name for resource, why in found.failures.items()} == {
        gone: "UNKNOWN_TOPIC_OR_PARTITION",
        no_broker: "unknown-broker",
        no_number: "INVALID_REQUEST",
        no_name: "INVALID_REQUEST",
    }
    for resource, why in found.failures.items():
        assert resource.name in why.message, f"{why} does not say whose"


def test_resources_with_configs_are_listed(cluster: Cluster, topic: str) -> None:
    group = ConfigResource(ResourceType.GROUP, f"g-{topic}")
    metrics = ConfigResource(ResourceType.CLIENT_METRICS, f"m-{topic}")
    done(
        config_changes.plan_alter(
            cluster,
            {
                group: [set_("consumer.session.timeout.ms", "50s")],
                metrics: [set_("interval.ms", "1m")],
            },
        ),
        cluster,
    )
    applied(cluster)
    assert topic in configs.list_resources(cluster, ResourceType.TOPIC)
    assert configs.list_resources(cluster, ResourceType.BROKER) == ["1"]
    assert configs.list_resources(cluster, ResourceType.BROKER_LOGGER) == ["1"]
    assert group.name in configs.list_resources(cluster, ResourceType.GROUP)
    assert metrics.name in configs.list_resources(cluster, ResourceType.CLIENT_METRICS)


def test_a_broker_without_incremental_alteration_says_since_when_there_is_some(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker of 2.2."""
    plan = config_changes.plan_alter(cluster, {topic_of(topic): [set_("retention.ms", "7d")]})
    versions = dict(cluster._link(ANY).versions)
    del versions[44]
    monkeypatch.setattr(cluster._link(ANY), "versions", versions)
    with pytest.raises(ShellError, match=r"IncrementalAlterConfigs, which requires Kafka 2\.3"):
        plan.steps[0].send(cluster, validate_only=False)


@pytest.mark.parametrize(
    ("alteration", "code", "says"),
    [
        (set_("retention.ms", "soon"), "wrong-type", "a duration such as 7d"),
        (set_("retention.ms", ""), "wrong-type", "must be an integer"),
        (set_("segment.bytes", "7d"), "wrong-type", "a size such as 512MiB"),
        (set_("segment.bytes", "4GiB"), "wrong-type", "must be between"),  # an INT
        (set_("min.cleanable.dirty.ratio", "half"), "wrong-type", "a number"),
        (set_("preallocate", "maybe"), "wrong-type", "true or false"),
        (set_("retention.mss", "1"), "unknown-key", "unknown topic config 'retention.mss'"),
        (delete("retention.mss"), "unknown-key", "unknown topic config 'retention.mss'"),
        (ConfigAlteration("retention.ms", ConfigOp.APPEND, "1"), "not-a-list", "is a long"),
        (ConfigAlteration("segment.bytes", ConfigOp.SUBTRACT, "1"), "not-a-list", "is an int"),
    ],
)
def test_what_is_wrong_is_refused_before_it_is_sent(
    cluster: Cluster, topic: str, alteration: ConfigAlteration, code: str, says: str
) -> None:
    with pytest.raises(ConfigRefused, match=says) as refused:
        config_changes.plan_alter(cluster, {topic_of(topic): [alteration]})
    assert (refused.value.code, refused.value.key) == (code, alteration.key)


def test_a_refused_key_names_the_near_miss_or_the_keys_to_see(cluster: Cluster, topic: str) -> None:
    group = ConfigResource(ResourceType.GROUP, "g")
    metrics = ConfigResource(ResourceType.CLIENT_METRICS, "m")
    keys_of_topic, keys_of_group = Resource("topic-configs", topic), Resource("group-configs", "g")
    keys_of_metrics = Resource("client-metrics-configs", "m")
    session = "Did you mean consumer.session.timeout.ms?"
    for resource, key, hint, see in (
        (topic_of(topic), "retention.mss", "Did you mean retention.ms?", keys_of_topic),
        (topic_of(topic), "zzz", "", keys_of_topic),
        (group, "consumer.session.timeout", session, keys_of_group),
        (group, "zzz", "", keys_of_group),
        (metrics, "intervall.ms", "Did you mean interval.ms?", keys_of_metrics),
    ):
        with pytest.raises(ConfigRefused) as refused:
            config_changes.plan_alter(cluster, {resource: [set_(key, "1")]})
        assert (refused.value.hint, refused.value.see) == (hint, see)


def test_a_key_twice_is_refused(cluster: Cluster, topic: str) -> None:
    with pytest.raises(ConfigRefused, match="is set twice"):
        config_changes.plan_alter(
            cluster, {topic_of(topic): [set_("retention.ms", "1"), delete("retention.ms")]}
        )


@pytest.mark.parametrize("resource", [BROKER, DEFAULT], ids=["broker", "default"])
def test_a_read_only_key_is_refused(cluster: Cluster, resource: ConfigResource) -> None:
    for alteration in (set_("log.dirs", "/elsewhere"), delete("log.dirs")):
        with pytest.raises(ConfigRefused, match="read-only") as refused:
            config_changes.plan_alter(cluster, {resource: [alteration]})
        assert refused.value.code == "read-only"


@pytest.mark.parametrize("resource", [BROKER, DEFAULT], ids=["broker", "default"])
def test_a_key_that_no_broker_lists_is_sent_with_a_warning(
    cluster: Cluster, resource: ConfigResource
) -> None:
    plan = config_changes.plan_alter(
        cluster,
        {
            resource: [
                set_("log.cleaner.thread", "2"),
                set_("my.plugin.setting", "x"),
                set_("listener.name.plaintext.max.connection", "2"),
            ]
        },
    )
    near, far, prefixed = plan.advice.warnings
    assert near.endswith("Did you mean log.cleaner.threads?")
    assert "my.plugin.setting" in far and "Did you mean" not in far
    assert prefixed.endswith("Did you mean listener.name.plaintext.max.connections?")
    assert all(warning == warning.strip() for warning in plan.advice.warnings)


def test_keys_that_brokers_take_and_do_not_list_are_known(cluster: Cluster) -> None:
    plan = config_changes.plan_alter(
        cluster,
        {
            BROKER: [
                set_("leader.replication.throttled.rate", "50MB/s"),
                set_("listener.name.plaintext.max.connections", "77"),
                set_("listener.name.sasl_ssl.plain.sasl.jaas.config", "secret"),
            ]
        },
    )
    assert plan.advice.warnings == ()
    rate, connections, login = plan.changes
    assert rate.after == "50000000"
    assert (connections.after, connections.effective) == ("77", "2147483647")
    assert login.after == HIDDEN
    with pytest.raises(ConfigRefused, match="must be an integer"):
        config_changes.plan_alter(
            cluster, {BROKER: [set_("listener.name.plaintext.max.connections", "many")]}
        )


def test_the_cluster_wide_default_is_checked_as_a_broker_is(cluster: Cluster) -> None:
    plan = config_changes.plan_alter(cluster, {DEFAULT: [set_("log.retention.ms", "1d")]})
    assert plan.changes[0].after == "86400000"
    with pytest.raises(ConfigRefused, match="must be an integer"):
        config_changes.plan_alter(cluster, {DEFAULT: [set_("log.cleaner.threads", "x")]})


def test_a_broker_too_old_to_tell_types_gets_no_guesses(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker of 2.5: DescribeConfigs up to version 2."""
    link = cluster._link(ANY)
    monkeypatch.setattr(link, "versions", dict(link.versions) | {32: (1, 2)})
    resource = topic_of(topic)
    known = known_of(cluster, [resource])[resource]
    assert known["retention.ms"].type is ConfigType.UNKNOWN
    plan = config_changes.plan_alter(cluster, {resource: [set_("retention.ms", "soon")]})
    assert plan.changes[0].after == "soon"
    with pytest.raises(ShellError, match="documentation of configs"):
        failed = configs.describe(cluster, [resource], documentation=True).failures[resource]
        raise ShellError(failed.message)


def checked(
    *pairs: tuple[str, str], known: config_checks.Known | None = None
) -> tuple[tuple[str, str], ...]:
    """The configs of a new topic, or the error for the first invalid one."""
    refusals = config_checks.Refusals()
    found = config_checks.checked_for_create("new", pairs, known or {}, refusals)
    refusals.check()
    return found


def test_configs_of_a_new_topic_are_checked_like_a_topics(cluster: Cluster, topic: str) -> None:
    known = configs.topic_types(cluster)
    given = (
        ("retention.ms", "7d"),
        ("segment.bytes", "512MiB"),
        ("cleanup.policy", "compact,delete"),
    )
    assert checked(*given, known=known) == (
        ("retention.ms", "604800000"),
        ("segment.bytes", "536870912"),
        ("cleanup.policy", "compact,delete"),
    )
    for pairs, hint in (
        ((("retention.mss", "1"),), "Did you mean retention.ms?"),
        ((("zzz", "1"),), ""),
        ((("cleanup.policy", "delet"),), "Did you mean delete?"),
        ((("retention.ms", "x"),), ""),
        ((("retention.ms", "1"), ("retention.ms", "2")), ""),
    ):
        with pytest.raises(ConfigRefused) as refused:
            checked(*pairs, known=known)
        assert refused.value.hint == hint


def test_the_first_topic_of_a_cluster_may_have_units_too() -> None:
    given = (("retention.ms", "7d"), ("max.message.bytes", "2MiB"), ("cleanup.policy", "compact"))
    assert checked(*given) == (
        ("retention.ms", "604800000"),
        ("max.message.bytes", "2097152"),
        ("cleanup.policy", "compact"),
    )
    with pytest.raises(ConfigRefused, match="a duration"):
        checked(("retention.ms", "week"))
    with pytest.raises(ConfigRefused, match="one of delete, compact"):
        checked(("cleanup.policy", "compact,delet"))


def test_units_reach_the_broker_as_numbers(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=checked(("retention.ms", "7d")))
    entry = read(cluster, topic_of(name), "retention.ms")
    assert entry is not None and (entry.value, entry.overridden) == ("604800000", True)


def test_what_a_broker_that_has_gone_was_asked_another_answers(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configs, "_AT_ONCE", 1)
    gone = replace(cluster.brokers()[0], id=77)
    monkeypatch.setattr(cluster, "brokers", lambda: (gone,))
    found = configs.describe(cluster, [topic_of(topic), topic_of(topic + "-x")], ["flush.ms"])
    assert list(found.values) == [topic_of(topic)]
    assert found.failures[topic_of(topic + "-x")].name == "UNKNOWN_TOPIC_OR_PARTITION"
