"""`admin.configs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafka_shell.admin.calls import ClusterPlan, Family
from kafka_shell.plan.results import Results

from . import change, read
from .model import ConfigAlteration, ConfigEntry, ConfigResource, ResourceType


class ConfigsApi(Family):
    """Configs of topics, brokers, loggers, groups and client metrics subscriptions (KIP-226, 339).

    Example:

        topic = ConfigResource(ResourceType.TOPIC, "example.configs")
        admin.topics.plan_create([NewTopic(topic.name, partitions=1)]).apply()

        plan = admin.configs.plan_alter(
            {topic: [ConfigAlteration("retention.ms", ConfigOp.SET, "7d")]}
        )
        (retention,) = plan.changes
        assert (retention.before, retention.after) == (None, "604800000")
        assert plan.apply().ok

        (entry,) = admin.configs.describe([topic], ["retention.ms"])[topic]
        assert entry.value == "604800000"
    """

    def describe(
        self,
        resources: Iterable[ConfigResource],
        keys: Sequence[str] | None = None,
        *,
        synonyms: bool = False,
        documentation: bool = False,
    ) -> Results[ConfigResource, tuple[ConfigEntry, ...]]:
        """The configs of each resource, or why they cannot be read (API key 32). `keys` restricts
        them to some configs; `synonyms` and `documentation` (KIP-569) are left out unless asked
        for."""
        return self._calls.call(
            read.describe, resources, keys, synonyms=synonyms, documentation=documentation
        )

    def list_resources(self, kind: ResourceType) -> list[str]:
        """The names of groups, client metrics subscriptions ... that have configs (API key 74)."""
        return self._calls.call(read.list_resources, kind)

    def plan_alter(
        self, alterations: Mapping[ConfigResource, Sequence[ConfigAlteration]]
    ) -> ClusterPlan:
        """Set, delete, append to and subtract from configs (IncrementalAlterConfigs, API key 44).
        Values may have units: `7d`, `1GiB`. Configs that are not named are left as they are."""
        return self._calls.plan(change.plan_alter, alterations)
