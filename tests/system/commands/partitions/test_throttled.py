"""Quotas that throttle this program delay its commands but do not change their results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.client_configs import change as client_config_changes
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    ClientConfigAlteration,
    ClientEntity,
)
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas.model import DEFAULT, QuotaAlteration, QuotaEntity
from kafka_shell.admin.records import batches
from kafka_shell.admin.records import read as log
from kafka_shell.admin.records.read import append
from kafka_shell.sandbox import config
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Broker, Sandbox, SandboxOptions
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, done, make_topic
from tests.support.in_process_shell import Shell

EVERYBODY = QuotaEntity(user=DEFAULT, client_id=DEFAULT)
CONFIGS = 300
BIG = "throttled.big"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A broker of the module's own: its quotas hold for every client.

    It looks back on two seconds, not on eleven, so that little is enough to be held up.
    """
    folder, settings = tmp_path_factory.mktemp("throttled"), config.node_settings

    def short(sandbox: Sandbox, broker: Broker) -> dict[str, str]:
        return settings(sandbox, broker) | {"quota.window.num": "2"}

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(config, "node_settings", short)
            sandbox = start(SandboxOptions(folder, port=0))
        yield sandbox
    finally:
        wipe(folder)


@pytest.fixture(scope="module")
def cluster(own: Sandbox) -> Iterator[Cluster]:
    """Dynamic configs of many users, and a topic of some 2 MB."""
    with connect(own) as cluster:
        wanted = [
            ClientConfigAlteration(ClientEntity(f"user-{number}"), "acks", "all")
            for number in range(CONFIGS)
        ]
        done(client_config_changes.plan_alter(cluster, wanted), cluster)
        make_topic(cluster, BIG)
        for _ in range(20):
            append(cluster, BIG, [(b"k", b"v" * 100_000)])
        yield cluster


@pytest.fixture(params=[("consumer_byte_rate", 25_000.0), ("request_percentage", 1.0),
                        ("producer_byte_rate", 20_000.0)], ids=lambda quota: quota[0])  # fmt: skip
def throttled(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    key, value = request.param
    done(quota_changes.plan_alter(cluster, [QuotaAlteration(EVERYBODY, key, value)]), cluster)
    yield cluster
    done(quota_changes.plan_alter(cluster, [QuotaAlteration(EVERYBODY, key, None)]), cluster)


def test_dynamic_configs_are_read_whole(throttled: Cluster) -> None:
    for _ in range(4):
        assert len(client_configs.describe(throttled)) >= CONFIGS


def test_they_can_be_written(throttled: Cluster) -> None:
    config = ClientConfigAlteration(ClientEntity("writer"), "acks", "all")
    done(client_config_changes.plan_alter(throttled, [config]), throttled)
    assert any(each.entity.user == "writer" for each in client_configs.describe(throttled))
    off = ClientConfigAlteration(ClientEntity("writer"), "acks", None)
    done(client_config_changes.plan_alter(throttled, [off]), throttled)


def test_a_log_is_read_to_its_end_or_not_at_all(throttled: Cluster) -> None:
    where = TopicPartition(CONFIGS_TOPIC, 0)
    whole = log.read(throttled, CONFIGS_TOPIC)
    assert len({each.key for each in whole}) >= CONFIGS
    found = batches.fetch(throttled, 1, {where: 0}, 1 << 20)
    assert where in found.values, "an answer without topics is no answer"


LINES = (
    "list-topics --long",
    f"describe-topic {BIG}",
    f"describe-configs {BIG}",
    "describe-configs --broker-id 1",
    "describe-configs --broker-default",
    f"list-offsets {BIG}",
    "list-groups",
    "describe-log-dirs",
    "list-transactions",
    f"describe-producers {BIG}",
    "describe-quotas",
    "list-quotas",
    "describe-client-configs --user user-1",
    "describe-user user-1",
    "describe-quorum",
    "describe-features",
    "cluster-metadata",
    "api-versions",
    "list-reassignments",
    "find-hanging-transactions",
    "describe-tokens",
)


def test_every_command_that_reads(
    throttled: Cluster, own: Sandbox, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """It answers as it does without the quota, or says what failed; never a mistake of ours."""
    shell = Shell(tmp_path, own.bootstrap)
    for line in LINES:
        run = shell(line)
        assert run.status in (0, 1), str(run)
        assert "IndexError" not in run.err and "internal error in kafka.sh" not in run.err, str(run)
        if line != "describe-tokens":  # this broker has none
            assert run.status == 0, str(run)
