"""What more partitions mean for the records and the state that a topic contains: the warnings of a
plan that adds partitions."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from kafka_shell.admin.topics.cleanup import cleanup_policies
from kafka_shell.admin.topics.internal import INTERNAL_STATE
from kafka_shell.admin.topics.model import named_topics
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.model import NotChecked


class GrowthEffects(Struct):
    """The warnings, what could not be read for them, and whether Kafka or kafka.sh loses its
    own state."""

    warnings: list[str] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    loses_state: bool = False


def check(cluster: Cluster, growing: Mapping[str, int]) -> GrowthEffects:
    """What it means that these topics get more partitions. `growing` are their current ones."""
    found = GrowthEffects()
    ordinary = [topic for topic in growing if topic not in INTERNAL_STATE]
    for topic in (topic for topic in INTERNAL_STATE if topic in growing):
        found.warnings.append(f"topic {topic}: {INTERNAL_STATE[topic].grown}")
        found.loses_state = True
    policies = cleanup_policies(cluster, ordinary, found.not_checked)
    known = frozenset(topic for topic, items in policies.items() if "compact" in items)
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
