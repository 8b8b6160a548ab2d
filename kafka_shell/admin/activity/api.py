"""`admin.activity`."""

from __future__ import annotations

from kafka_shell.admin.activity import sample
from kafka_shell.admin.calls import Family, Reads


class ActivityApi(Family):
    """Rates of topics, brokers and groups, from two samples of the cluster.

    Example:

        admin.topics.plan_create([NewTopic("example.activity", partitions=1)]).apply()
        before, after = admin.activity.sample_topics(), admin.activity.sample_topics()
        rates = {each.name: each for each in admin.activity.topic_rates(before, after)}
        assert rates["example.activity"].records_per_s == 0
    """

    sample_topics = Reads(sample.sample_topics)
    sample_groups = Reads(sample.sample_groups)
    topic_rates = staticmethod(sample.topic_rates)
    broker_rates = staticmethod(sample.broker_rates)
    group_rates = staticmethod(sample.group_rates)
