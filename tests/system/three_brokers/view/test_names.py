"""Names of groups, users, client IDs and more, read from a real cluster as far as permitted."""

from __future__ import annotations

from typing import Any

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.view import parts as names
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import ClusterView, Part
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, make_topic
from tests.support.group_data import commit
from tests.support.outages import silent


def test_names_that_a_broker_does_not_list_are_reported_and_kept(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    make_topic(three, name)
    for number in range(12):
        commit(three, f"{name}-{number}", name, 0)
    wanted = ("groups", "transactional_ids", "log_dirs", "features")
    last_read: names.LastRead = {}
    complete = names.read(three, wanted, ClusterView().part, 1.0, last_read)
    assert all(part.error is None for part in complete.values())
    before = ClusterView().with_part("groups", Part(NameIndex(["gone"])))
    parts: dict[str, Part[Any]] = {}
    with silent(three_brokers) as two, connect(two) as cluster:
        for part in wanted:
            with cluster.within(3):
                parts |= names.read(cluster, (part,), before.part, 4.0, last_read)
    assert all(parts[part].error is not None for part in wanted), parts
    listed = set(parts["groups"].value.names)
    assert listed == set(complete["groups"].value.names), "what was read completely is offered"
