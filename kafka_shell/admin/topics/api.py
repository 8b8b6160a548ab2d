"""`admin.topics`."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.calls import ClusterPlan, Family, Plans
from kafka_shell.admin.topics import change, read
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.topics.reassigned import scan_reassigned
from kafka_shell.base.results import Results
from kafka_shell.wire.model import Topic, TopicSummary


class TopicsApi(Family):
    """Topics (KIP-4).

    Example:

        plan = admin.topics.plan_create([NewTopic("example.orders", partitions=3)])
        results = plan.apply()
        assert results.ok, results.failures

        described = admin.topics.describe(["example.orders", "example.missing"])
        assert len(described["example.orders"].partitions) == 3
        failure = described.failures["example.missing"]
        assert failure.name == "UNKNOWN_TOPIC_OR_PARTITION"

        assert admin.topics.plan_delete(["example.orders"]).apply().ok
    """

    def list(self) -> tuple[TopicSummary, ...]:
        """Every topic with its counts of partitions, replicas and replicas out of sync, internal
        topics included (Metadata, API key 3)."""
        found = self._calls.call(scan_reassigned)
        return tuple(found.summary(name) for name in found.names)

    def describe(self, names: Sequence[str]) -> Results[str, Topic]:
        """Each topic with its partitions by name, or why it cannot be described (Metadata, API key
        3)."""
        return self._calls.call(read.describe, names)

    def plan_create(self, topics: Sequence[NewTopic]) -> ClusterPlan:
        """Create topics (API key 19). A name that is given twice is refused."""
        return self._calls.plan(lambda cluster: change.plan_create(topics))

    plan_delete = Plans(change.plan_delete)
    plan_partitions = Plans(change.plan_partitions)
