"""The page of `cluster-metadata`: no controller differs from one that is not visible."""

from __future__ import annotations

from kafka_shell.admin.cluster.model import ClusterMetadata
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.commands.cluster.render import cluster_page

CLUSTER = ClusterMetadata("id", None, (), 0, 0, 0)


def first(cluster: ClusterMetadata) -> str:
    return " ".join(str(line.plain) for line in cluster_page(cluster, None))


def test_a_controller_that_may_not_be_seen_is_not_none() -> None:
    why = Failure("CLUSTER_AUTHORIZATION_FAILED", "requires DESCRIBE on the cluster")
    hidden = first(replace(CLUSTER, not_read=(("controller", why),)))
    assert "controller unknown" in hidden and "requires DESCRIBE on the cluster" in hidden
    assert "no controller" not in hidden
    assert "no controller" in first(CLUSTER)
    assert "controller 3" in first(replace(CLUSTER, controller=3))
