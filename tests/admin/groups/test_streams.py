"""Internal topics of Kafka Streams applications."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_shell.admin.groups import streams
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import MetadataScan, scan
from tests.admin.helpers import make_topic

pytestmark = pytest.mark.quick


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
