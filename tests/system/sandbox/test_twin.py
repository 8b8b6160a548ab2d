"""A twin has the same brokers, topics, IDs, leaders and configs as its original."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.admin.configs.change import AlterConfigs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Secret
from kafka_shell.base.structs import replace
from kafka_shell.commands.rehearse.twins import (
    OriginalState,
    read_original,
    remove_abandoned,
    running_twin,
)
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.process import find_all
from kafka_shell.sandbox.security import TWIN_USER
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin import followers
from kafka_shell.sandbox.twin.build import (
    _new,
    broker_epochs,
    broker_of,
    controller_of,
    nearest_version,
)
from kafka_shell.sandbox.twin.build import connect as connect_to_twin
from kafka_shell.sandbox.twin.followers import following, settle
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Sasl, parse_addresses
from kafka_shell.wire.messages import (
    AlterPartitionRequest,
    BrokerHeartbeatRequest,
    UnregisterBrokerRequest,
)
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.model import Broker
from kafka_shell.wire.requests import Call, as_request, read_only
from tests.support.changes import connect, done, make_topic
from tests.support.waiting import wait_for

MANY = 2_000  # partitions


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


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({}, {"num.io.threads": 16, "num.network.threads": 6, "log.cleaner.threads": 2}),
        (
            {"num.io.threads": "20", "num.replica.fetchers": "4", "log.cleaner.threads": "9"},
            {"num.io.threads": 40, "num.replica.fetchers": 8, "log.cleaner.threads": 18},
        ),
    ],
    ids=["defaults", "static configs"],
)
def test_it_has_as_many_threads_as_its_original(
    sandbox: Sandbox, tmp_path: Path, settings: dict[str, str], most: dict[str, int]
) -> None:
    """Kafka accepts at most twice as many."""
    original = replace(read(sandbox).original, topics=(), configs={}, settings=settings)
    with running_twin(tmp_path, original, no_report) as twin, connect_to_twin(twin) as cluster:
        accepted = {
            key: [count for count in (limit, limit + 1) if is_accepted(cluster, key, count)]
            for key, limit in most.items()
        }
    assert accepted == {key: [limit] for key, limit in most.items()}


def places(cluster: Cluster, topic: str) -> set[tuple[int, ...]]:
    """Where its partitions are."""
    return {partition.replicas for partition in scan(cluster).topic(topic).partitions}


def is_accepted(cluster: Cluster, key: str, value: int) -> bool:
    """Whether the cluster-wide default could be set to this."""
    everyone = ConfigResource(ResourceType.BROKER, "")
    step = AlterConfigs(((everyone, (ConfigAlteration(key, ConfigOp.SET, str(value)),)),), ())
    return step.send(cluster, validate_only=True).ok


def test_what_is_wrong_with_its_original_is_wrong_there(sandbox: Sandbox, tmp_path: Path) -> None:
    """A fenced broker, a partition without leader, a reassignment in progress, leaders that are not
    preferred. The original is a twin itself: on its stand-ins nothing happens by itself."""
    reading = read(sandbox)
    stands = tuple(Broker(id, "", 0, rack) for id, rack in ((1, "a"), (2, "b"), (3, None)))
    empty = replace(reading.original, brokers=stands, topics=(), configs={})
    with running_twin(tmp_path / "first", empty, no_report) as first:
        with connect(first) as cluster:
            names = [
                make_topic(cluster, "twin.moving", assignment=((1, 2), (2, 1))),
                make_topic(cluster, "twin.down", assignment=((3, 1, 2), (2, 3, 1))),
                make_topic(cluster, "twin.offline", assignment=((3,),)),
            ]
            moved = {TopicPartition("twin.moving", 1): (3, 2)}
            done(plan_move(cluster, moved).followed(follow=None), cluster)
            fence(first, 3, broker_epochs(empty)[3])
            wait_for("broker 3 is fenced", lambda: len(cluster.brokers(refresh=True)) == 2)
            wanted, moving = scan(cluster), under_way(cluster).values
        assert [each.adding for each in moving.values()] == [(3,)]
        assert wanted.topic("twin.offline").partitions[0].leader is None
        assert wanted.topic("twin.down").partitions[0].leader != 3
        reading = read(first)
        assert [broker.id for broker in reading.original.down] == [3]
        with (
            running_twin(tmp_path / "second", reading.original, no_report) as second,
            connect_to_twin(second) as cluster,
        ):
            found = scan(cluster)
            assert [(b.id, b.rack) for b in found.brokers] == [(1, "a"), (2, "b")]
            assert [found.topic(name) for name in names] == [wanted.topic(name) for name in names]
            assert under_way(cluster).values == moving
            with following(second, broker_epochs(reading.original)):
                back = plan_move(cluster, {TopicPartition("twin.down", 1): (2, 1)})
                done(back.followed(follow=None), cluster)
                wait_for(
                    "a reassignment ends",
                    lambda: scan(cluster).topic("twin.down").partitions[1].replicas == (2, 1),
                )
            assert len(under_way(cluster).values) == 1


def test_many_partitions_move_with_few_requests(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for each leader and round, although nobody knows the epochs of partitions."""
    stands = tuple(Broker(id, "", 0) for id in (1, 2, 3))
    empty = replace(read(sandbox).original, brokers=stands, topics=(), configs={})
    with running_twin(tmp_path / "first", empty, no_report) as first:
        with connect(first) as cluster:
            make_topic(cluster, "twin.many", assignment=tuple((n % 3 + 1,) for n in range(MANY)))
        original = read(first).original
        many = [TopicPartition("twin.many", number) for number in range(MANY)]
    sent: list[int] = []
    send_all = Cluster.send_all

    def counting(self: Cluster, calls: Sequence[Call]) -> list[Any]:
        kinds = [as_request(call.request).api_key for call in calls]
        if kinds and set(kinds) == {AlterPartitionRequest.API_KEY}:
            sent.append(len(calls))
        return send_all(self, calls)

    monkeypatch.setattr(Cluster, "send_all", counting)
    with (
        running_twin(tmp_path / "second", original, no_report) as second,
        connect_to_twin(second) as cluster,
    ):
        with following(second, broker_epochs(original)):
            for times, replicas in enumerate([(1, 2), (2, 3), (3, 1)], 1):
                plan = plan_move(cluster, dict.fromkeys(many, replicas))
                done(plan.followed(follow=None), cluster)
                assert settle(cluster) == {}
                there = {replicas}
                wait_for(
                    f"move {times} ends",
                    lambda there=there: places(cluster, "twin.many") == there,
                    60,
                )
                assert under_way(cluster).values == {}
        done(plan_move(cluster, dict.fromkeys(many, (1, 2))).followed(follow=None), cluster)
        monkeypatch.setattr(followers, "_SETTLE_S", 0.2)
        (why,) = settle(cluster).values()
        assert why.message == f"{MANY:,} reassignments did not end on the twin within 0 s"
    assert sent and max(sent) <= len(stands)


def test_other_users_of_this_machine_cannot_use_a_twin(sandbox: Sandbox, tmp_path: Path) -> None:
    stands = tuple(Broker(id, "", 0) for id in (1, 2, 3))
    empty = replace(read(sandbox).original, brokers=stands, topics=(), configs={})
    passwords = set()
    with running_twin(tmp_path / "a", empty, no_report) as twin:
        (node,) = twin.brokers
        for port in (node.ports["PLAINTEXT"], node.controller_port):
            anonymous = ConnectionConfig(parse_addresses(f"127.0.0.1:{port}"), call_timeout=5)
            with (
                Cluster(anonymous) as cluster,
                pytest.raises(ShellError, match="requires authentication"),
            ):
                cluster.send(UnregisterBrokerRequest(broker_id=1))
        other = Sasl("PLAIN", TWIN_USER, Secret("guessed"))
        guessing = replace(broker_of(twin), sasl=other)
        with (
            Cluster(guessing) as cluster,
            pytest.raises(ShellError, match="Invalid username or password"),
        ):
            cluster.brokers(refresh=True)
        passwords.add(twin.password)
        assert not twin.folder.stat().st_mode & 0o077, "others could read the password"
    passwords.add(_new(tmp_path / "b", empty).password)
    assert len(passwords) == 2, "each twin has a password of its own"


def fence(sandbox: Sandbox, id: int, epoch: int) -> None:
    """A stand-in asks to be fenced."""
    with Cluster(controller_of(sandbox)) as controller:
        controller.send(
            BrokerHeartbeatRequest(
                broker_id=id,
                broker_epoch=epoch,
                current_metadata_offset=1,
                want_fence=True,
                want_shut_down=False,
            )
        )


def test_what_a_killed_rehearsal_leaves_is_removed_later(sandbox: Sandbox, tmp_path: Path) -> None:
    reading = read(sandbox)
    pid = os.fork()
    if not pid:
        with running_twin(tmp_path, reading.original, no_report):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    (left,) = tmp_path.iterdir()
    (process,) = find_all(left)
    remove_abandoned(tmp_path)
    assert find_all(left) == [process], "a new folder may not be in use yet"
    os.utime(left, (0, 0))
    remove_abandoned(tmp_path)
    assert not find_all(left)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("release", "version"), [("4.3", "4.3.1"), ("4.0", "4.3.1"), ("3.9", "3.9.2"),
                             ("3.6", "3.9.2"), ("2.8", "3.9.2"), ("9.1", "4.3.1")]
)  # fmt: skip
def test_the_nearest_version_that_is_not_older(release: str, version: str) -> None:
    assert nearest_version(release) == version


@pytest.mark.parametrize("name", ["create", "delete"])
def test_a_read_only_connection_sends_no_change(sandbox: Sandbox, name: str) -> None:
    from kafka.protocol.admin import CreateTopicsRequest, DeleteTopicsRequest

    request = {
        "create": CreateTopicsRequest(topics=[], timeout_ms=1, validate_only=True),
        "delete": DeleteTopicsRequest(topics=[], timeout_ms=1),
    }[name]
    with connect(sandbox) as cluster:
        config = replace(cluster.config, refuse=read_only)
    with Cluster(config) as cluster:
        with pytest.raises(ShellError, match="was not sent: this connection is read-only") as error:
            cluster.send(request)
        assert error.value.code == "read-only"
        assert not {request.API_KEY} & cluster.sent
        assert scan(cluster).cluster_id
