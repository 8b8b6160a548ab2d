"""The commands that undo changes parse back, and undo the changes."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import (
    ConfigAlteration,
    ConfigOp,
    ConfigResource,
    ResourceType,
    own_source,
)
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import Plan, apply
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from tests.support.undo_lines import read, subject

KINDS = {
    "topic": ResourceType.TOPIC,
    "broker": ResourceType.BROKER,
    "broker-default": ResourceType.BROKER,
    "logger": ResourceType.BROKER_LOGGER,
    "group": ResourceType.GROUP,
    "client-metrics": ResourceType.CLIENT_METRICS,
}


def typed(line: str, cluster: Cluster) -> Plan:
    """The plan of a line, by the core alone."""
    invocation = read(line)
    if invocation.command.name == "delete-topic":
        return topic_changes.plan_delete(cluster, invocation["topic"])
    whose = subject(invocation)
    resource = ConfigResource(KINDS[whose.kind], whose.name)
    wanted = [ConfigAlteration(k, ConfigOp.SET, v) for k, v in invocation["config"]]
    wanted += [ConfigAlteration(k, ConfigOp.DELETE) for k in invocation["delete-config"]]
    return config_changes.plan_alter(cluster, {resource: wanted})


def own_configs(
    cluster: Cluster, resource: ConfigResource, keys: Sequence[str]
) -> dict[str, str | None]:
    found = configs.describe(cluster, [resource], keys)
    assert found.ok, found.failures
    return {e.name: e.value for e in found[resource] if e.source is own_source(resource)}


CASES: list[tuple[ResourceType, str, list[tuple[str, ConfigOp, str | None]]]] = [
    (
        ResourceType.TOPIC,
        "",
        [
            ("retention.ms", ConfigOp.SET, "7d"),
            ("segment.ms", ConfigOp.DELETE, None),
            ("cleanup.policy", ConfigOp.APPEND, "delete"),
            ("flush.ms", ConfigOp.DELETE, None),
            ("leader.replication.throttled.replicas", ConfigOp.APPEND, "0:1"),
            ("follower.replication.throttled.replicas", ConfigOp.SUBTRACT, "0:1"),
        ],
    ),
    (
        ResourceType.BROKER,
        "1",
        [
            ("log.cleaner.threads", ConfigOp.SET, "2"),
            ("listener.name.plaintext.max.connections", ConfigOp.SET, "99"),
            ("leader.replication.throttled.rate", ConfigOp.SET, "50MB/s"),
            ("some.plugin.key", ConfigOp.SET, "hush"),
        ],
    ),
    (ResourceType.BROKER, "", [("log.retention.ms", ConfigOp.SET, "3d")]),
    (ResourceType.BROKER_LOGGER, "1", [("kafka.log.LogCleaner", ConfigOp.SET, "ERROR")]),
    (
        ResourceType.GROUP,
        "a group, 'quoted' *",
        [("consumer.session.timeout.ms", ConfigOp.SET, "50s")],
    ),
    (
        ResourceType.CLIENT_METRICS,
        "-dash",
        [("interval.ms", ConfigOp.SET, "1m"), ("match", ConfigOp.SET, "client_id=a.*")],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name + case[1][:1])
def test_typing_the_line_restores_the_state(
    cluster: Cluster, case: tuple[ResourceType, str, list[tuple[str, ConfigOp, str | None]]]
) -> None:
    kind, name, wanted = case
    keys = [key for key, _, _ in wanted]
    if kind is ResourceType.TOPIC:
        name = f"t-{uuid4().hex[:8]}"
        new = NewTopic(
            name, 1, 1,
            configs=(
                ("retention.ms", "1000"), ("segment.ms", "2000"), ("cleanup.policy", "compact"),
                ("follower.replication.throttled.replicas", "0:1,1:1"),
            ),
        )  # fmt: skip
        assert apply(topic_changes.plan_create([new]), cluster).ok
    resource = ConfigResource(kind, name)
    before = own_configs(cluster, resource, keys)
    plan = config_changes.plan_alter(
        cluster, {resource: [ConfigAlteration(*each) for each in wanted]}
    )
    results = apply(plan, cluster)
    assert results.ok, results.failures
    assert own_configs(cluster, resource, keys) != before, "nothing was changed"
    (line,) = undo_lines(results.values.values())
    back = apply(typed(line, cluster), cluster)
    assert back.ok, f"{line}: {back.failures}"
    assert own_configs(cluster, resource, keys) == before, line
    if kind is ResourceType.TOPIC:  # others look for throttles that nobody needs
        assert apply(topic_changes.plan_delete(cluster, [name]), cluster).ok


def test_typing_the_line_deletes_created_topics(cluster: Cluster) -> None:
    names = [f"t-{uuid4().hex[:8]}" for _ in range(2)]
    results = apply(topic_changes.plan_create([NewTopic(name, 1, 1) for name in names]), cluster)
    for line in undo_lines(results.values.values()):
        assert apply(typed(line, cluster), cluster).ok, line
    assert not set(names) & set(metadata_scan.scan(cluster).names)
