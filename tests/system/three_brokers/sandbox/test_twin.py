"""A twin has the same brokers, topics, IDs, leaders and configs as its original."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.cluster import features
from kafka_shell.base.structs import replace
from kafka_shell.commands.rehearse.run import difference, state_of
from kafka_shell.commands.rehearse.twins import OriginalState, read_original, running_twin
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.process import find_all
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin.build import connect as connect_to_twin
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.requests import read_only
from tests.support.changes import connect
from tests.support.in_process_shell import Shell

MADE = """
create-topic twin.a --partitions 3 --replication-factor 3 --config retention.ms=7d
create-topic twin.b --replica-assignment 2:1,3:2,1:3 --config cleanup.policy=compact
alter-quotas --user alice --client-id app producer_byte_rate=5MB/s
alter-quotas --user-default consumer_byte_rate=1MiB/s
alter-quotas --ip 10.0.0.1 connection_creation_rate=5
scram-credentials --add SCRAM-SHA-256 --username twin-user --iterations 5000 --generate
alter-acls --topic twin. --resource-pattern-type prefixed --add 'allow User:bob All'
alter-acls --cluster --add 'deny User:eve Alter from 10.0.0.1'
alter-configs --broker-default log.cleaner.threads=2
alter-configs --group twin-group consumer.session.timeout.ms=50000
alter-configs --client-metrics twin-metrics interval.ms=60000
""".strip().splitlines()
UNMADE = """
delete-topic twin.* --yes
alter-quotas --user alice --client-id app --delete-config producer_byte_rate
alter-quotas --user-default --delete-config consumer_byte_rate
alter-quotas --ip 10.0.0.1 --delete-config connection_creation_rate
scram-credentials --delete SCRAM-SHA-256 --username twin-user --yes
alter-acls --topic twin. --resource-pattern-type prefixed --remove 'allow User:bob All' --yes
alter-acls --cluster --remove 'deny User:eve Alter from 10.0.0.1' --yes
alter-configs --broker-default --delete-config log.cleaner.threads
alter-configs --group twin-group --delete-config consumer.session.timeout.ms
alter-configs --client-metrics twin-metrics --delete-config interval.ms
""".strip().splitlines()


def read(sandbox: Sandbox, *topics: str) -> OriginalState:
    """The sandbox, read over a connection that changes nothing."""
    with connect(sandbox) as cluster:
        config = replace(cluster.config, refuse=read_only)
    with Cluster(config) as cluster:
        reading = read_original(cluster, topics, no_report)
        assert 19 not in cluster.sent
    of_stand_ins = ("broker ", "features of broker ")
    of_brokers = {name for name in reading.unread if name.startswith(of_stand_ins)}
    assert set(reading.unread) <= of_brokers | {"static broker configs"}
    return reading


@pytest.fixture
def made(three_brokers: Sandbox, tmp_path: Path) -> Iterator[Sandbox]:
    shell = Shell(tmp_path / "home", three_brokers.bootstrap)
    try:
        for line in MADE:
            shell.ok(line)
        yield three_brokers
    finally:
        for line in UNMADE:
            shell(line.replace("twin.*", "'twin.*'"))


def test_it_has_everything_of_its_original(made: Sandbox, tmp_path: Path) -> None:
    reading = read(made)
    with connect(made) as cluster:
        wanted, state = scan(cluster), state_of(cluster)
    root = tmp_path / "twins"
    with running_twin(root, reading.original, no_report) as twin:
        with connect_to_twin(twin) as cluster:
            found, copied = scan(cluster), state_of(cluster)
            assert sorted(found.names) == sorted(wanted.names)
            for name in wanted.names:
                assert found.topic(name) == wanted.topic(name)
            assert [(b.id, b.rack) for b in found.brokers] == [
                (b.id, b.rack) for b in wanted.brokers
            ]
            assert len({b.port for b in found.brokers}) == 1, "stand-ins of one real node"
        assert not difference(reading.state, copied).changes
        assert not difference(state, copied).changes
        assert len(copied.parts) == len(state.parts) == 7
        processes = find_all(twin.folder)
        assert len(processes) == 1
    assert not find_all(twin.folder)
    assert list(root.iterdir()) == []


def test_a_twin_of_an_older_kafka(old_sandbox: Sandbox, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home", old_sandbox.bootstrap)
    shell.ok("create-topic twin.old --partitions 3 --config retention.ms=7d")
    reading = read(old_sandbox)
    with running_twin(tmp_path / "twins", reading.original, no_report) as twin:
        assert twin.kafka_version == "3.9.2"
        with connect_to_twin(twin) as cluster, connect(old_sandbox) as original:
            assert scan(cluster).topic("twin.old") == scan(original).topic("twin.old")
            assert not difference(reading.state, state_of(cluster)).changes
            wanted = {each.name: each.level for each in features.describe(original).features}
            found = {each.name: each.level for each in features.describe(cluster).features}
            assert found == wanted | {"kraft.version": 0}
    shell.ok("delete-topic twin.old --yes")
