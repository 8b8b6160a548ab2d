"""Appending to the log of one partition."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import read as log
from kafka_shell.admin.records import write
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Results
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic


def test_a_leader_that_does_not_know_its_new_topic_yet_is_asked_again(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another broker shows the topic already."""
    own, attempts = write.leaders, list[int]()

    def leaders(cluster: Cluster, wanted: Iterable[TopicPartition]) -> Results[TopicPartition, int]:
        attempts.append(1)
        if len(attempts) == 2:
            make_topic(cluster, name)
        if len(attempts) == 1:
            return Results(dict.fromkeys(wanted, 1))
        return own(cluster, wanted)

    monkeypatch.setattr(write, "leaders", leaders)
    assert log.append(cluster, name, [(b"key", b"value")]) == 0
    assert len(attempts) > 1
    assert [record.value for record in log.read(cluster, name)] == [b"value"]


def test_a_topic_that_nobody_knows_is_an_error_at_once(cluster: Cluster, name: str) -> None:
    with cluster.within(600), pytest.raises(ShellError) as unknown:
        log.append(cluster, name, [(b"key", b"value")])
    assert unknown.value.code == "UNKNOWN_TOPIC_OR_PARTITION"
