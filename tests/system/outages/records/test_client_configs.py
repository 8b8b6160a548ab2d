"""Dynamic client configs on a real broker: the topics are created on first use; alter, describe and
resolve configs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from kafka_shell.admin.client_configs import change as client_config_changes
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTRATIONS_TOPIC,
    ClientConfigAlteration,
    ClientEntity,
)
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.records import read as log
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import read as topics
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, done
from tests.support.sandbox_brokers import start_broker, stop_broker
from tests.support.waiting import wait_for

ALICE, APP = ClientEntity("alice"), ClientEntity("alice", "app")


def gone(cluster: Cluster) -> None:
    """Without the two topics, and surely so."""
    found = metadata_scan.scan(cluster).names
    there = [topic for topic in (CONFIGS_TOPIC, REGISTRATIONS_TOPIC) if topic in found]
    if there:
        done(topic_changes.plan_delete(cluster, there), cluster)
    wait_for("the topics go", lambda: CONFIGS_TOPIC not in metadata_scan.scan(cluster).names)


def alter(cluster: Cluster, *wanted: tuple[ClientEntity, str, str | None]) -> None:
    alterations = [ClientConfigAlteration(*one) for one in wanted]
    done(client_config_changes.plan_alter(cluster, alterations), cluster)


def test_a_store_on_three_brokers_outlives_one(three_brokers: Sandbox) -> None:
    with connect(three_brokers) as cluster:
        gone(cluster)
        try:
            alter(cluster, (ALICE, "acks", "all"))
            found = topics.describe(cluster, [CONFIGS_TOPIC])[CONFIGS_TOPIC]
            assert found.replication_factor == 3
            resource = ConfigResource(ResourceType.TOPIC, CONFIGS_TOPIC)
            entries = configs.describe(cluster, [resource], ["min.insync.replicas"])[resource]
            assert entries[0].value == "2"
        finally:
            gone(cluster)


def test_a_broker_dies_during_an_alter(three_brokers: Sandbox) -> None:
    """Whichever broker leads: the record is there once its writer was told so, and once."""
    with connect(three_brokers) as cluster:
        gone(cluster)
        try:
            alter(cluster, (ALICE, "linger.ms", "0"))
            leader = topics.describe(cluster, [CONFIGS_TOPIC])[CONFIGS_TOPIC].partitions[0].leader
            assert leader is not None
            try:
                with ThreadPoolExecutor(1) as pool:
                    stopping = pool.submit(stop_broker, three_brokers.folder, leader)
                    for number in range(1, 15):
                        with cluster.within(30):
                            alter(cluster, (ALICE, "linger.ms", str(number)))
                    stopping.result()
            finally:
                start_broker(three_brokers.folder, leader)
            written = [r.value for r in log.read(cluster, CONFIGS_TOPIC)]
            assert written == [f'{{"version":1,"value":"{n}"}}'.encode() for n in range(15)]
        finally:
            gone(cluster)
