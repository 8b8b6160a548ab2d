"""A sandbox of three brokers: racks, a quorum, replicas, and a broker that stops and restarts."""

from __future__ import annotations

import pytest
from kafka.admin import NewTopic

from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.cluster import status
from kafka_shell.sandbox.state import Sandbox
from tests.support.sandbox_brokers import start_broker, stop_broker
from tests.support.sandbox_clients import admin, brokers


def test_each_broker_knows_all_racks_at_once(three_brokers: Sandbox) -> None:
    for bootstrap in three_brokers.bootstrap.split(","):
        assert brokers(three_brokers, bootstrap) == {1: "rack-a", 2: "rack-b", 3: "rack-c"}


def test_three_controllers_vote(three_brokers: Sandbox) -> None:
    with admin(three_brokers) as client:
        quorum = str(client.describe_metadata_quorum())
    assert quorum.count("replica_directory_id") == 3


@pytest.mark.parametrize("broker_id", [1, 3])
def test_a_broker_is_stopped_and_started(three_brokers: Sandbox, broker_id: int) -> None:
    folder = three_brokers.folder
    topic = f"without-{broker_id}"
    with admin(three_brokers) as client:
        client.create_topics([NewTopic(topic, 3, 3)])
    without = stop_broker(folder, broker_id)
    try:
        assert without.broker(broker_id).pid is None
        assert not without.running
        assert status(folder) == without
        others = {1, 2, 3} - {broker_id}
        assert brokers(three_brokers).keys() == others
        with admin(three_brokers) as client:
            [found] = client.describe_topics([topic])
        assert {i for p in found["partitions"] for i in p["isr_nodes"]} == others
    finally:
        back = start_broker(folder, broker_id)
    assert back.running
    assert back.broker(broker_id).ports == three_brokers.broker(broker_id).ports
    assert brokers(three_brokers).keys() == {1, 2, 3}
    assert start_broker(folder, broker_id) == back


def test_an_unknown_broker_is_reported(three_brokers: Sandbox) -> None:
    with pytest.raises(ShellError, match="no broker 4") as refused:
        stop_broker(three_brokers.folder, 4)
    assert "1, 2, 3" in refused.value.hint
