"""A sandbox of five brokers."""

from __future__ import annotations

import re

from kafka.admin import NewTopic

from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect
from tests.support.sandbox_clients import admin, brokers
from tests.support.waiting import applied


def test_five_brokers_in_three_racks_with_three_controllers(five_brokers: Sandbox) -> None:
    racks = {1: "rack-a", 2: "rack-b", 3: "rack-c", 4: "rack-a", 5: "rack-b"}
    for bootstrap in five_brokers.bootstrap.split(","):
        assert brokers(five_brokers, bootstrap) == racks
    for broker in five_brokers.brokers:
        known = re.findall(r"Starting voters are VoterSet\(voters=\{(\d*)", broker.log.read_text())
        assert known and all(known), f"broker {broker.id} starts without the voters"
    with admin(five_brokers) as client:
        client.create_topics([NewTopic("on-five", 1, 5)])
        with connect(five_brokers) as cluster:
            applied(cluster)
        [found] = client.describe_topics(["on-five"])
        client.delete_topics(["on-five"])
        quorum = client.describe_metadata_quorum()
    assert sorted(found["partitions"][0]["replica_nodes"]) == [1, 2, 3, 4, 5]
    assert str(quorum).count("replica_directory_id") == 5, "three voters and two observers"
