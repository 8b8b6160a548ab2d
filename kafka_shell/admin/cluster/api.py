"""`admin.cluster`."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.calls import Family, Plans, Reads
from kafka_shell.admin.cluster import features as feature_change
from kafka_shell.admin.cluster import quorum as quorum_change
from kafka_shell.admin.cluster import read, unregister
from kafka_shell.admin.cluster.decommission import plans as decommission_plans
from kafka_shell.admin.cluster.decommission import read as decommission
from kafka_shell.admin.cluster.features import api_versions
from kafka_shell.admin.cluster.features import describe as describe_features
from kafka_shell.admin.cluster.health import health as find_problems
from kafka_shell.admin.cluster.quorum import describe as describe_quorum
from kafka_shell.admin.cluster.restart import read as restart
from kafka_shell.admin.cluster.restart.judge import BackInSync


class ClusterApi(Family):
    """Brokers, health, the metadata quorum, features (KIP-584, 853).

    Example:

        metadata = admin.cluster.metadata()
        assert metadata.cluster_id == admin.cluster_id
        assert all(broker.state == "up" for broker in metadata.brokers)

        health = admin.cluster.health()
        assert health.ok, health.findings
        assert admin.cluster.quorum().leader == metadata.controller

        (check,) = admin.cluster.check_restart([metadata.controller]).checks
        assert check.verdict > Verdict.SAFE  # it is the only broker
        order = admin.cluster.restart_order()
        assert order.batches == () and order.left_out[0].broker == metadata.controller
    """

    metadata = Reads(read.metadata)
    health = Reads(find_problems)
    quorum = Reads(describe_quorum)
    features = Reads(describe_features)
    api_versions = Reads(api_versions)
    check_restart = Reads(restart.check_together)
    check_each_restart = Reads(restart.check_each)
    restart_order = Reads(restart.plan_order)
    check_decommission = Reads(decommission.describe)
    plan_cordon = Plans(decommission_plans.plan_cordon)
    plan_uncordon = Plans(decommission_plans.plan_uncordon)
    plan_delete_configs = Plans(decommission_plans.plan_delete_configs)
    plan_voters = Plans(quorum_change.plan_alter)
    plan_features = Plans(feature_change.plan_update)
    plan_unregister = Plans(unregister.plan_unregister)

    def wait_in_sync(self, brokers: Sequence[int]) -> BackInSync:
        """Wait until these brokers respond and all their replicas are in sync. Raises ShellError
        (code `deadline`) after the timeout of the client."""
        return self._calls.call(restart.wait_in_sync, brokers, lambda *_: None)

    def wait_stopped(self, broker: int) -> None:
        """Wait until a broker has left the cluster and does not respond any more. Raises ShellError
        (code `deadline`) after the timeout of the client."""
        self._calls.call(decommission.wait_stopped, broker)
