"""The view of a real cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.groups import resets as group_resets
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import apply
from kafka_shell.base.units import ConfigType
from kafka_shell.output.resource_kinds import touched
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.view.cache import Cache
from kafka_shell.view.disk import DiskCache
from kafka_shell.view.view import TopicsOf
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses

TOPIC = ConfigResource(ResourceType.TOPIC, "metadata.retained")


class Watched:
    """A cache, and a way to wait for what it is to find."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self._swapped = threading.Condition()
        cache.on_swap(self._tell)

    def _tell(self) -> None:
        with self._swapped:
            self._swapped.notify_all()

    def until(self, condition: Callable[[], object]) -> None:
        with self._swapped:
            assert self._swapped.wait_for(condition, 30), self.cache.state


@pytest.fixture(scope="module")
def connection(sandbox: Sandbox) -> ConnectionConfig:
    where = f"localhost:{sandbox.brokers[0].ports['PLAINTEXT']}"
    config = ConnectionConfig(bootstrap=parse_addresses(where))
    with Cluster(config) as cluster:
        if TOPIC.name not in metadata_scan.scan(cluster):
            new = NewTopic(TOPIC.name, 3, 1, configs=(("retention.ms", "86400000"),))
            plain = NewTopic("metadata.plain", 1, 1)
            assert apply(topic_changes.plan_create([new, plain]), cluster).ok
    return config


@pytest.fixture
def watched(connection: ConnectionConfig, tmp_path: Path) -> Iterator[Watched]:
    cache = Cache(connection, tmp_path)
    yield Watched(cache)
    cache.close()


def test_topics_brokers_and_their_release(watched: Watched) -> None:
    watched.cache.touch()
    watched.until(lambda: watched.cache.view.read_at)
    view = watched.cache.view
    assert view.cluster_id and view.version.startswith("4.")
    assert [broker.id for broker in view.brokers.value] == [1]
    summary = view.topics.value.summary_of(TOPIC.name)
    assert summary is not None and summary.partitions == 3
    assert not view.topics.value.offline


@pytest.mark.parametrize(
    ("kind", "key", "type_"),
    [
        (ResourceType.TOPIC, "retention.ms", ConfigType.LONG),
        (ResourceType.BROKER, "log.retention.ms", ConfigType.LONG),
        (ResourceType.GROUP, "consumer.session.timeout.ms", ConfigType.INT),
        (ResourceType.CLIENT_METRICS, "interval.ms", ConfigType.INT),
    ],
)
def test_keys_with_their_documentation(
    watched: Watched, kind: ResourceType, key: str, type_: ConfigType
) -> None:
    watched.cache.request(kind)
    watched.until(lambda: key in watched.cache.view.docs(kind))
    doc = watched.cache.view.docs(kind)[key]
    assert doc.type is type_
    assert key != "retention.ms" or doc.default == "604800000"
    assert len(doc.text) > 10 and "<" not in doc.text


def test_what_is_set_at_a_topic_and_what_is_not_there(watched: Watched) -> None:
    nowhere = ConfigResource(ResourceType.TOPIC, "metadata.nowhere")
    watched.cache.request(TOPIC)
    watched.cache.request(nowhere)
    watched.until(lambda: {TOPIC, nowhere} <= set(watched.cache.view.configs))
    view = watched.cache.view
    assert view.entries(TOPIC)["retention.ms"].overridden
    assert not view.entries(TOPIC)["segment.ms"].overridden
    error = view.configs[nowhere].error
    assert error is not None and error.name == "UNKNOWN_TOPIC_OR_PARTITION"


def test_the_topics_of_a_group_and_what_a_change_leaves_of_them(
    watched: Watched, connection: ConnectionConfig
) -> None:
    of_group, nobody = TopicsOf("metadata-group"), TopicsOf("metadata-nobody")
    with Cluster(connection) as cluster:
        at = TopicPartition(TOPIC.name, 0)
        assert apply(group_resets.plan_offsets(cluster, {of_group.group: {at: 0}}), cluster).ok
        watched.cache.request(of_group)
        watched.cache.request(nobody)
        watched.until(lambda: {of_group, nobody} <= set(watched.cache.view.group_topics))
        assert watched.cache.view.group_topics[of_group].value == (TOPIC.name,)
        assert watched.cache.view.group_topics[nobody].error is not None
        assert not watched.cache.view.group_topics[nobody].value
        plan = group_resets.plan_delete_offsets(cluster, {of_group.group: [at]})
        assert apply(plan, cluster).ok
    watched.cache.refresh(touched(plan.changes))
    watched.until(lambda: not watched.cache.view.group_topics[of_group].value)


def test_names_are_kept_for_the_next_start(
    watched: Watched, connection: ConnectionConfig, tmp_path: Path
) -> None:
    watched.cache.touch()
    watched.until(lambda: watched.cache.view.read_at and not watched.cache.state.reading)
    kept = DiskCache(tmp_path).view(",".join(map(str, connection.bootstrap)))
    assert TOPIC.name in kept.topics.value


def test_an_unreachable_cluster_is_reported_at_once(tmp_path: Path) -> None:
    watched = Watched(Cache(ConnectionConfig(parse_addresses("localhost:1")), tmp_path))
    watched.cache.touch()
    watched.until(lambda: watched.cache.state.failure)
    failure = watched.cache.state.failure
    assert failure is not None and "localhost:1" in failure.message
    watched.cache.close()
