"""`admin.configs`."""

from __future__ import annotations

from kafka_shell.admin.calls import Family, Plans, Reads
from kafka_shell.admin.configs import change, read


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

    describe = Reads(read.describe)
    list_resources = Reads(read.list_resources)
    plan_alter = Plans(change.plan_alter)
