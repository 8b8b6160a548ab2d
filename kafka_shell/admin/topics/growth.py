"""What more partitions mean for the records and the state that a topic contains: the warnings of a
plan that adds partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.losses import POLICY, policies
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.facts import Budget, attempt, not_checked, not_checked_of
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.common.units import counted
from kafka_shell.plan.model import NotChecked
from kafka_shell.plan.results import Failure

from .model import named_topics

# Brokers find the state of a group or a transactional ID in the partition hash(ID) % partitions,
# with the number of partitions when they started.
_STATE = {
    "__consumer_offsets": ("groups", "their committed offsets are lost"),
    "__transaction_state": (
        "transactional IDs",
        "their open transactions hang, and their old producers are not fenced",
    ),
    "__share_group_state": ("partitions of share groups", "their start offsets are lost"),
}


class GrowthEffects(Struct):
    """The warnings, what could not be read for them, and whether brokers lose state."""

    warnings: list[str] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    loses_state: bool = False


def check(cluster: Cluster, growing: Mapping[str, int]) -> GrowthEffects:
    """What it means that these topics get more partitions. `growing` are their current ones."""
    found = GrowthEffects()
    ordinary = [topic for topic in growing if topic not in _STATE]
    for topic in (topic for topic in _STATE if topic in growing):
        what, loss = _STATE[topic]
        found.warnings.append(
            f"topic {topic}: after a restart, brokers look for the state of most {what} in another"
            f" partition: {loss}"
        )
        found.loses_state = True
    known = _compacted(cluster, ordinary, found)
    compacted = [topic for topic in ordinary if topic in known]
    if compacted:
        found.warnings.append(
            f"{named_topics(compacted)}: compacted; new records with an existing key may go to"
            " another partition; compaction then never removes the older records of that key"
        )
    single = [topic for topic in compacted if growing[topic] == 1]
    if single:
        found.warnings.append(
            f"{named_topics(single)}: compacted, with a single partition; Kafka Connect"
            " (config.storage.topic) and schema registries require exactly one"
        )
    others = [topic for topic in ordinary if topic not in known]
    if others:
        found.warnings.append(
            f"{named_topics(others)}: new records with the same key may go to another partition"
            " than the existing ones"
        )
    return found


def _compacted(cluster: Cluster, topics: Sequence[str], found: GrowthEffects) -> frozenset[str]:
    """Those of the topics whose cleanup.policy includes compact."""
    if not topics:
        return frozenset()
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    with Budget(cluster).until(1):
        read = attempt(lambda: configs.describe(cluster, resources, [POLICY]))
    if isinstance(read, Failure):
        found.not_checked.append(not_checked(f"{POLICY} of {counted(len(topics), 'topic')}", read))
        return frozenset()
    found.not_checked += not_checked_of(f"{POLICY} of", read.failures.values(), "topic")
    return frozenset(
        resource.name
        for resource, entries in read.values.items()
        if any(each.name == POLICY and "compact" in policies(each.value or "") for each in entries)
    )
