"""Features and API versions of real brokers of two Kafka releases."""

from __future__ import annotations

from kafka_shell.admin.cluster import features
from kafka_shell.wire.connection import Cluster


def test_features_of_3_9(old_cluster: Cluster) -> None:
    found = features.describe(old_cluster)
    metadata = found.get("metadata.version")
    assert metadata is not None and metadata.release == "3.9-IV0"
    kraft = found.get("kraft.version")
    assert kraft is not None and kraft.level == 1


def test_on_3_9_each_feature_has_an_answer_of_its_own(old_cluster: Cluster) -> None:
    plan = features.plan_update(old_cluster, {"metadata.version": 20, "kraft.version": 2})
    found = plan.steps[0].send(old_cluster, validate_only=True)
    assert [change.resource.name for change in found] == ["metadata.version"]
    assert [change.resource.name for change in found.failures] == ["kraft.version"]


def test_brokers_of_two_releases_differ(cluster: Cluster, old_cluster: Cluster) -> None:
    new, old = cluster.api_versions(), old_cluster.api_versions()
    found = {api.name: api for api in features.compare({1: new, 2: old})}
    metadata = found["Metadata"]
    assert (metadata.lowest, metadata.highest) == (0, 12) and metadata.differs
    assert [(b.broker, b.highest) for b in metadata.brokers] == [(1, 13), (2, 12)]
    share = found["DescribeShareGroupOffsets"]
    assert (share.lowest, share.missing, share.differs) == (None, (2,), True)
    assert not found["SaslHandshake"].differs
