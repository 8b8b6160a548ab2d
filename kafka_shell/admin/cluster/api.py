"""`admin.cluster`."""

from __future__ import annotations

from kafka_shell.admin.calls import Family, Plans, Reads

from . import feature_change, quorum_change, read, unregister
from .features import api_versions
from .features import describe as describe_features
from .health import health as find_problems
from .quorum import describe as describe_quorum
from .restart import read as restart


class ClusterApi(Family):
    """Brokers, health, the metadata quorum, features (KIP-584, 853).

    Example:

        metadata = admin.cluster.metadata()
        assert metadata.cluster_id == admin.cluster_id
        assert all(broker.state == "up" for broker in metadata.brokers)

        health = admin.cluster.health()
        assert health.ok, health.findings
        assert admin.cluster.quorum().leader == metadata.controller
    """

    metadata = Reads(read.metadata)
    health = Reads(find_problems)
    quorum = Reads(describe_quorum)
    features = Reads(describe_features)
    api_versions = Reads(api_versions)
    check_restart = Reads(restart.check_together)
    check_each_restart = Reads(restart.check_each)
    restart_order = Reads(restart.plan_order)
    plan_voters = Plans(quorum_change.plan_alter)
    plan_features = Plans(feature_change.plan_update)
    plan_unregister = Plans(unregister.plan_unregister)
