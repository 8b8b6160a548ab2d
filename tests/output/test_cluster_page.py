"""The page of `cluster-metadata`: no controller is not the same as one that may not be seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_shell.nouns.cluster import ClusterMetadata
from kafka_shell.output.looks.cluster import cluster_page

pytestmark = pytest.mark.quick

CLUSTER = ClusterMetadata("id", None, (), 0, 0, 0)


def first(cluster: ClusterMetadata) -> str:
    return " ".join(str(line.plain) for line in cluster_page(cluster, None))


def test_a_controller_that_may_not_be_seen_is_not_none() -> None:
    hidden = first(replace(CLUSTER, controller_error="It takes Describe on the cluster."))
    assert "controller not known: It takes Describe on the cluster." in hidden
    assert "no controller" not in hidden
    assert "no controller" in first(CLUSTER)
    assert "controller 3" in first(replace(CLUSTER, controller=3))
