"""What more partitions mean for the records and the state that a topic contains: the warnings of a
plan that adds partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.losses import POLICY, policies
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.facts import Budget, attempt, not_checked, not_checked_of
from kafka_shell.admin.topics.model import named_topics
from kafka_shell.base.plans import NotChecked
from kafka_shell.base.results import Failure
from kafka_shell.base.units import counted
from kafka_shell.wire.connection import Cluster

# The cleanup policies of topics, for the warnings of a plan.


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


# What becomes of internal topics that are changed, and the names that other systems use.

# Brokers find the state of a group or a transactional ID in the partition hash(ID) % partitions,
# with the number of partitions when they started.
_ELSEWHERE = "after a restart, brokers look for the state of most {} in another partition: {}"
_READ_IN_ORDER = "kafka.sh and clients require exactly one partition, to read it in order"


class InternalState(Struct, frozen=True):
    """What happens if the topic is deleted, and if it gets more partitions."""

    deleted: str
    grown: str


INTERNAL_STATE = {
    "__consumer_offsets": InternalState(
        "the committed offsets of all groups are lost",
        _ELSEWHERE.format("groups", "their committed offsets are lost"),
    ),
    "__transaction_state": InternalState(
        "the state of all transactional IDs is lost",
        _ELSEWHERE.format(
            "transactional IDs",
            "their open transactions hang, and their old producers are not fenced",
        ),
    ),
    "__share_group_state": InternalState(
        "the state of all share groups is lost",
        _ELSEWHERE.format("partitions of share groups", "their start offsets are lost"),
    ),
    "__remote_log_metadata": InternalState(
        "brokers no longer find the records in remote storage of any topic",
        "after a restart, brokers cannot use remote storage, because the number of partitions must"
        " be that of remote.log.metadata.topic.num.partitions",
    ),
    CONFIGS_TOPIC: InternalState("the dynamic configs of all clients are lost", _READ_IN_ORDER),
    REGISTRATIONS_TOPIC: InternalState("the registrations of all clients are lost", _READ_IN_ORDER),
}

# Topics whose configs and use are decided by Kafka Streams, Kafka Connect, MirrorMaker 2, Schema
# Registry and the like (which begin their names with _).
OF_OTHER_SYSTEMS = (
    r".*-(changelog|repartition)|.*-subscription-(registration|response)-topic"
    r"|(.*[-_.])?connect([-_.].*)?[-_.](configs?|offsets?|status(es)?)"
    r"|mm2-.*|(.*\.)?heartbeats|.*\.checkpoints\.internal|_.*"
)


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
