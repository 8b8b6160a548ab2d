"""Names of groups, users, client IDs and more, read from a real cluster as far as permitted."""

from __future__ import annotations

from typing import Any

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.view import readers as names
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import ClusterView, Part
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from tests.support.changes import make_topic
from tests.support.group_data import commit
from tests.support.outages import frozen


def test_names_that_a_broker_does_not_list_are_reported_and_kept(
    three_brokers: Sandbox, three: Cluster
) -> None:
    make_topic(three, "kept-names")
    for number in range(12):
        commit(three, f"kept-{number}", "kept-names", 0)
    wanted = ("groups", "transactional_ids", "log_dirs", "features")
    last_read: names.LastRead = {}
    complete = names.read(three, wanted, ClusterView().part, 1.0, last_read)
    assert all(part.error is None for part in complete.values())
    before = ClusterView().with_part("groups", Part(NameIndex(["gone"])))
    at_one = parse_addresses(f"127.0.0.1:{three_brokers.brokers[0].ports['PLAINTEXT']}")
    parts: dict[str, Part[Any]] = {}
    with Cluster(ConnectionConfig(at_one, connect_timeout=2, request_timeout=2)) as cluster:
        for part in wanted:  # one after the other: a broker that is fenced meanwhile is not asked
            with frozen(three_brokers, 2):
                parts |= names.read(cluster, (part,), before.part, 4.0, last_read)
    assert all(parts[part].error is not None for part in wanted), parts
    listed = set(parts["groups"].value.names)
    assert listed == set(complete["groups"].value.names), "what was read completely is offered"
