"""Appending to the log of one partition."""

from __future__ import annotations

import pytest

from kafka_shell.admin.records import log
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.errors import ShellError
from tests.admin.helpers import make_topic


@pytest.mark.quick
def test_a_leader_that_does_not_know_its_new_topic_yet_is_asked_again(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another broker shows the topic already."""
    own, attempts = log._leader, list[int]()

    def leader(cluster: Cluster, topic: str, partition: int) -> int | None:
        attempts.append(1)
        if len(attempts) == 2:
            make_topic(cluster, name)
        return 1 if len(attempts) == 1 else own(cluster, topic, partition)

    monkeypatch.setattr(log, "_leader", leader)
    assert log.append(cluster, name, [(b"key", b"value")]) == 0
    assert len(attempts) > 1
    assert [record.value for record in log.read(cluster, name)] == [b"value"]


@pytest.mark.quick
def test_a_topic_that_nobody_knows_is_an_error_at_once(cluster: Cluster, name: str) -> None:
    with cluster.within(600), pytest.raises(ShellError) as unknown:
        log.append(cluster, name, [(b"key", b"value")])
    assert unknown.value.code == "UNKNOWN_TOPIC_OR_PARTITION"
