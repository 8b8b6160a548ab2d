"""The cleanup policies of topics, for the warnings of a plan."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.losses import POLICY, policies
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.facts import Budget, attempt, not_checked, not_checked_of
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.common.units import counted
from kafka_shell.plan.model import NotChecked
from kafka_shell.plan.results import Failure


def cleanup_policies(
    cluster: Cluster, topics: Sequence[str], unread: list[NotChecked]
) -> dict[str, frozenset[str]]:
    """The items of cleanup.policy of each topic, as far as they can be read in a few seconds
    (DescribeConfigs, API key 32). What cannot be read is added to `unread`."""
    if not topics:
        return {}
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    with Budget(cluster).until(1):
        read = attempt(lambda: configs.describe(cluster, resources, [POLICY]))
    if isinstance(read, Failure):
        unread.append(not_checked(f"{POLICY} of {counted(len(topics), 'topic')}", read))
        return {}
    unread += not_checked_of(f"{POLICY} of", read.failures.values(), "topic")
    return {
        resource.name: frozenset(policies(each.value or ""))
        for resource, entries in read.values.items()
        for each in entries
        if each.name == POLICY
    }
