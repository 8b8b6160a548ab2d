"""`admin.cluster`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafka_shell.admin.calls import ClusterPlan, Family
from kafka_shell.plan.results import Failure

from . import feature_change, features, health, quorum, quorum_change, read, unregister
from .model import ApiSupport, ClusterMetadata, Features, Health, Quorum, Voter


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

    def metadata(self) -> ClusterMetadata:
        """The brokers with their states, the controller, counts of topics and partitions, features
        (API keys 3, 55, 60)."""
        return self._calls.call(read.metadata)

    def health(self) -> Health:
        """What is wrong with the cluster, the worst first, within 10 s. A check that could not be
        made is a finding too. Raises ShellError if no broker can be reached."""
        return self._calls.call(health.health)

    def quorum(self) -> Quorum:
        """The metadata quorum: leader, voters, observers, and their lag (API key 55)."""
        return self._calls.call(quorum.describe)

    def features(self) -> Features:
        """The finalized feature levels, and what the brokers support (API key 18)."""
        return self._calls.call(features.describe)

    def api_versions(
        self, brokers: Sequence[int] | None = None
    ) -> tuple[tuple[ApiSupport, ...], dict[int, Failure]]:
        """The API versions that these brokers support, or all brokers; and the brokers that did not
        respond (API key 18)."""
        return self._calls.call(features.api_versions, brokers)

    def plan_voters(self, add: Sequence[Voter] = (), remove: Sequence[Voter] = ()) -> ClusterPlan:
        """Add and remove voters of the metadata quorum (API keys 80, 81)."""
        return self._calls.plan(quorum_change.plan_alter, add, remove)

    def plan_features(self, levels: Mapping[str, int], *, unsafe: bool = False) -> ClusterPlan:
        """Set feature levels; 0 disables a feature (API key 57)."""
        return self._calls.plan(feature_change.plan_update, levels, unsafe=unsafe)

    def plan_unregister(self, brokers: Iterable[int]) -> ClusterPlan:
        """Unregister brokers that are down for good (API key 64)."""
        return self._calls.plan(unregister.plan_unregister, brokers)
