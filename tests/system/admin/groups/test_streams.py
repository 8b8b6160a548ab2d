"""Internal topics of Kafka Streams applications."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_shell.admin.groups import read as streams
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from tests.support.changes import lose_requests, make_topic
from tests.support.group_data import commit, forget


def test_the_topics_are_read_once_for_all_groups(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: the metadata of the whole cluster was requested for each group."""
    applications = [f"{name}-a", f"{name}-b"]
    made = [make_topic(cluster, f"{each}-store-changelog") for each in applications]
    scans = 0

    def counted(cluster: Cluster, names: Sequence[str] | None = None) -> MetadataScan:
        nonlocal scans
        scans += 1
        return scan(cluster, names)

    monkeypatch.setattr(streams, "scan", counted)
    found = streams.warnings(cluster, [*applications, name + "-c"], "deleting the group")
    assert scans == 1
    assert [topic in warning for topic, warning in zip(made, found, strict=True)] == [True, True]
    assert streams.warnings(cluster, [], "deleting the group") == ()
    assert scans == 1, "there is nothing to look for"


def test_a_topic_belongs_to_the_group_with_the_longest_name(cluster: Cluster, topic: str) -> None:
    """orders is not the application orders-enricher."""
    shorter, longer = f"g-{topic}", f"g-{topic}-enricher"
    changelog = make_topic(cluster, f"{longer}-store-changelog")
    for group in (shorter, longer):
        commit(cluster, group, topic, 0)
    try:
        assert streams.warnings(cluster, [shorter], "deleting the group") == ()
        (warning,) = streams.warnings(cluster, [shorter, longer], "deleting the group")
        assert warning.startswith(f"group {longer} looks like a Kafka Streams application: ")
        assert changelog in warning
        own = make_topic(cluster, f"{shorter}-store-repartition")
        (warning,) = streams.warnings(cluster, [shorter], "deleting the group")
        assert own in warning and changelog not in warning
    finally:
        forget(cluster, shorter, longer)


def test_without_the_list_of_groups_a_warning_is_still_given(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changelog = make_topic(cluster, f"{name}-store-changelog")
    lose_requests(monkeypatch, 16)
    (warning,) = streams.warnings(cluster, [name], "deleting the group")
    assert changelog in warning
