"""Topics and configs: Kafka's own tools and this program report the same state.

The same changes are made to two sets of topics: `jvm.*` by the tools, `our.*` by the core.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import uuid4

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import (
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    ResourceType,
)
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.model import Topic
from tests.support.changes import connect, done
from tests.support.kafka_tools import ConfigFacts, Tools, described_configs, described_topics
from tests.support.waiting import applied

PLACED = ((3, 1), (1, 2), (2, 3))
GROWN = (*PLACED, (3, 2), (1, 3))
SPELLED = ",".join(":".join(map(str, replicas)) for replicas in GROWN)
CONFIGS = {"retention.ms": "86400000", "cleanup.policy": "compact", "segment.ms": "3600000"}
ADDED = "retention.ms=1000,cleanup.policy=[compact,delete],max.message.bytes=2097152"
DEFAULT = ConfigResource(ResourceType.BROKER, "")

TopicFacts = tuple[dict[str, str], list[dict[str, str]]]


@dataclass
class Told:
    """What the tools printed at the end of the topics' life."""

    prefix: str
    topics: dict[str, TopicFacts]
    jvm_configs: str
    our_configs: str
    broker: str
    default: str
    default_by_tool: str
    default_by_us: str
    names: list[str]

    def name(self, family: str, kind: str) -> str:
        return f"{self.prefix}.{family}.{kind}"


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def told(three_brokers: Sandbox, cluster: Cluster) -> Told:
    """Both lives, and then one description of everything."""
    tools, prefix = Tools(three_brokers.bootstrap), f"d{uuid4().hex[:6]}"
    change_by_tools(cluster, tools, f"{prefix}.jvm")
    default_by_tool = default_of(cluster, tools)
    tools.configs("--alter", *DEFAULTS, "--delete-config", "log.cleaner.threads")
    change_by_us(cluster, f"{prefix}.our")
    default_by_us = default_of(cluster, tools)
    gone = ConfigAlteration("log.cleaner.threads", ConfigOp.DELETE)
    done(config_changes.plan_alter(cluster, {DEFAULT: [gone]}), cluster)
    applied(cluster)
    topic = ("--describe", "--all", "--entity-type", "topics", "--entity-name")
    jvm, our = (tools.configs(*topic, f"{prefix}.{whose}.placed") for whose in ("jvm", "our"))
    broker = tools.configs(
        "--describe", "--all", "--entity-type", "brokers", "--entity-name", "1"
    )  # fmt: skip
    default = tools.configs("--describe", *DEFAULTS)
    return Told(
        prefix,
        described_topics(tools.topics("--describe", "--topic", f"{prefix}\\..*")),
        jvm,
        our,
        broker,
        default,
        default_by_tool,
        default_by_us,
        tools.topics("--list").split(),
    )


DEFAULTS = ("--entity-type", "brokers", "--entity-default")


def default_of(cluster: Cluster, tools: Tools) -> str:
    """The cluster-wide default, from whichever broker the tool asks."""
    applied(cluster)
    return tools.configs("--describe", *DEFAULTS)


def change_by_tools(cluster: Cluster, tools: Tools, prefix: str) -> None:
    given = [word for key, value in CONFIGS.items() for word in ("--config", f"{key}={value}")]
    placed = ",".join(":".join(map(str, replicas)) for replicas in PLACED)
    name = f"{prefix}.placed"
    tools.topics("--create", "--topic", name, "--replica-assignment", placed, *given)
    for kind in ("counted", "gone"):
        tools.topics(
            "--create", "--topic", f"{prefix}.{kind}", "--partitions", "4",
            "--replication-factor", "2",
        )  # fmt: skip
    tools.topics("--create", "--topic", f"{prefix}.defaults")
    applied(cluster)
    tools.topics("--alter", "--topic", name, "--partitions", "5", "--replica-assignment", SPELLED)
    tools.topics("--alter", "--topic", f"{prefix}.counted", "--partitions", "6")
    tools.configs(
        "--alter", "--entity-type", "topics", "--entity-name", name,
        "--add-config", ADDED, "--delete-config", "segment.ms",
    )  # fmt: skip
    tools.topics("--delete", "--topic", f"{prefix}.gone")
    tools.configs("--alter", *DEFAULTS, "--add-config", "log.cleaner.threads=2")


def change_by_us(cluster: Cluster, prefix: str) -> None:
    name = f"{prefix}.placed"
    done(
        topic_changes.plan_create(
            [
                NewTopic(name, assignment=PLACED, configs=tuple(CONFIGS.items())),
                NewTopic(f"{prefix}.counted", 4, 2),
                NewTopic(f"{prefix}.gone", 4, 2),
                NewTopic(f"{prefix}.defaults"),
            ]
        ),
        cluster,
    )
    done(topic_changes.plan_partitions(cluster, [name], 5, assignment=GROWN), cluster)
    done(topic_changes.plan_partitions(cluster, [f"{prefix}.counted"], 6), cluster)
    wanted = [
        ConfigAlteration("retention.ms", ConfigOp.SET, "1s"),
        ConfigAlteration("cleanup.policy", ConfigOp.APPEND, "delete"),
        ConfigAlteration("max.message.bytes", ConfigOp.SET, "2MiB"),
        ConfigAlteration("segment.ms", ConfigOp.DELETE),
    ]
    done(
        config_changes.plan_alter(cluster, {ConfigResource(ResourceType.TOPIC, name): wanted}),
        cluster,
    )
    done(topic_changes.plan_delete(cluster, [f"{prefix}.gone"]), cluster)
    threads = ConfigAlteration("log.cleaner.threads", ConfigOp.SET, "2")
    done(config_changes.plan_alter(cluster, {DEFAULT: [threads]}), cluster)


# -- both leave the same state ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["placed", "counted", "defaults"])
def test_both_leave_the_same_topic(told: Told, kind: str) -> None:
    jvm, our = (told.topics[told.name(family, kind)] for family in ("jvm", "our"))
    same = ("PartitionCount", "ReplicationFactor", "Configs")
    assert {key: our[0][key] for key in same} == {key: jvm[0][key] for key in same}
    assert len(our[1]) == len(jvm[1])
    if kind == "placed":  # the controller places the others as it likes
        fields = ("Partition", "Leader", "Replicas")
        assert [[p[f] for f in fields] for p in our[1]] == [[p[f] for f in fields] for p in jvm[1]]
        assert [sorted(p["Isr"]) for p in our[1]] == [sorted(p["Isr"]) for p in jvm[1]]


def test_both_delete(told: Told) -> None:
    mine = [name for name in told.names if name.startswith(told.prefix)]
    assert sorted(mine) == sorted(
        told.name(family, kind)
        for family in ("jvm", "our")
        for kind in ("placed", "counted", "defaults")
    )


def test_both_leave_the_same_topic_configs(told: Told) -> None:
    assert described_configs(told.our_configs) == described_configs(told.jvm_configs)
    own = described_configs(told.our_configs)
    assert own["cleanup.policy"][0] == "compact,delete"
    assert own["retention.ms"][0] == "1000"


def test_both_set_and_delete_the_cluster_wide_default(told: Told) -> None:
    by_tool, by_us = described_configs(told.default_by_tool), described_configs(told.default_by_us)
    assert by_tool["log.cleaner.threads"][0] == "2"
    assert by_us == by_tool
    assert "log.cleaner.threads" not in described_configs(told.default)


# -- both report the same facts --------------------------------------------------------------------


def as_told(topic: Topic, overrides: Mapping[str, str | None]) -> TopicFacts:
    """Our description in the words of kafka-topics."""

    def ids(nodes: tuple[int, ...]) -> str:
        return ",".join(map(str, nodes))

    head = {
        "Topic": topic.name,
        "TopicId": topic.id,
        "PartitionCount": str(len(topic.partitions)),
        "ReplicationFactor": str(topic.replication_factor),
        "Configs": ",".join(f"{key}={value}" for key, value in sorted(overrides.items())),
    }
    rows = [
        {
            "Topic": topic.name,
            "Partition": str(partition.partition),
            "Leader": "none" if partition.leader is None else str(partition.leader),
            "Replicas": ids(partition.replicas),
            "Isr": ids(partition.isr),
        }
        for partition in topic.partitions
    ]
    return head, rows


def test_topics_are_described_alike(told: Told, cluster: Cluster) -> None:
    names = list(told.topics)
    assert len(names) == 6
    found = topics.describe(cluster, names)
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    # The tool calls an override what is not Kafka's own default; we, what the topic itself sets.
    entries = configs.describe(cluster, resources).map(
        lambda found: {e.name: e.value for e in found if e.source is not ConfigSource.DEFAULT}
    )
    for name, resource in zip(names, resources, strict=True):
        head, rows = as_told(found[name], entries[resource])
        their_head, their_rows = told.topics[name]
        assert sorted(head.pop("Configs").split(",")) == sorted(their_head["Configs"].split(","))
        assert head == {key: their_head[key] for key in head}
        assert rows == [{key: row[key] for key in rows[0]} for row in their_rows]


def test_the_list_of_topics_is_the_same(told: Told, cluster: Cluster) -> None:
    assert sorted(metadata_scan.scan(cluster).names) == sorted(told.names)


def in_their_words(entries: Iterable[ConfigEntry]) -> dict[str, ConfigFacts]:
    """Our description in the words of kafka-configs."""

    def spelled(value: str | None) -> str:
        return "null" if value is None else value

    return {
        entry.name: (
            spelled(entry.value),
            entry.sensitive,
            [(f"{s.source.name}_CONFIG", s.name, spelled(s.value)) for s in entry.synonyms],
        )
        for entry in entries
    }


def test_topic_configs_are_described_alike(told: Told, cluster: Cluster) -> None:
    resource = ConfigResource(ResourceType.TOPIC, told.name("our", "placed"))
    ours = configs.describe(cluster, [resource], synonyms=True)[resource]
    assert in_their_words(ours) == described_configs(told.our_configs)


def test_broker_configs_are_described_alike(told: Told, cluster: Cluster) -> None:
    resource = ConfigResource(ResourceType.BROKER, "1")
    ours = configs.describe(cluster, [resource], synonyms=True)[resource]
    assert len(ours) > 300
    assert in_their_words(ours) == described_configs(told.broker)
