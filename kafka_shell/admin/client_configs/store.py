"""The two topics of dynamic client configs: checked, and created on first use."""

from __future__ import annotations

from msgspec import Struct

from kafka_shell.admin.acls.model import AclBinding, AclOperation, AclPermission, AclResourceType
from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, EXPIRES_MS, REGISTRATIONS_TOPIC
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import Advice, Effect, Plan
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import Resource
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import as_error

_UNKNOWN_TOPIC = "UNKNOWN_TOPIC_OR_PARTITION"
_POLICY = "cleanup.policy"
# Registrations are compacted, and deleted by age if they are not renewed.
_POLICIES = {CONFIGS_TOPIC: {"compact"}, REGISTRATIONS_TOPIC: {"compact", "delete"}}
_MOST_REPLICAS = 3

# The ACLs that clients need: they read their configs and write what they support. Only
# administrators write configs.
ACLS = tuple(
    AclBinding("User:*", "*", operation, AclPermission.ALLOW, AclResourceType.TOPIC, topic)
    for topic, operations in (
        (CONFIGS_TOPIC, (AclOperation.READ, AclOperation.DESCRIBE)),
        (REGISTRATIONS_TOPIC, (AclOperation.WRITE, AclOperation.DESCRIBE)),
    )
    for operation in operations
)


class StoreState(Struct, frozen=True):
    """The missing topics, why an existing one is refused, and what could not be checked."""

    missing: tuple[str, ...] = ()
    topic: str = ""
    refused: Failure | None = None
    unchecked: tuple[str, ...] = ()


def exists(cluster: Cluster, topic: str) -> bool:
    """Whether the topic exists. Raises ShellError if that is unknown."""
    described = topics.describe(cluster, [topic])
    failure = described.failures.get(topic)
    if failure is None:
        return True
    if failure.name == _UNKNOWN_TOPIC:
        return False
    raise as_error(failure)


def check(cluster: Cluster) -> StoreState:
    """The state of the two topics. Raises ShellError if that is unknown."""
    missing = tuple(topic for topic in _POLICIES if not exists(cluster, topic))
    there = [topic for topic in _POLICIES if topic not in missing]
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in there]
    policies = configs.describe(cluster, resources, [_POLICY])
    partitions = topics.describe(cluster, there)
    for resource, entries in policies.values.items():
        topic = resource.name
        current = set((entries[0].value or "").split(",")) if entries else set()
        failure = _unfit(topic, current, len(partitions[topic].partitions))
        if failure is not None:
            return StoreState(missing, topic, failure)
    unchecked = tuple(
        f"not checked: {_POLICY} of topic {resource.name}: {failure.message}"
        + (f" ({failure.hint.rstrip('.')})" if failure.hint else "")
        for resource, failure in policies.failures.items()
    )
    return StoreState(missing, unchecked=unchecked)


def _unfit(topic: str, policies: set[str], partitions: int) -> Failure | None:
    if "compact" not in policies or not policies <= _POLICIES[topic]:
        required = ",".join(sorted(_POLICIES[topic]))
        return Failure(
            "INVALID_CONFIG",
            f"topic {topic} has {_POLICY}={','.join(sorted(policies))}: configs would be lost",
            hint=f"Set {_POLICY}={required} on topic {topic}.",
            see=Resource("topic-config", f"{topic} {_POLICY}"),
        )
    if partitions != 1:
        return Failure(
            "INVALID_PARTITIONS",
            f"topic {topic} must have exactly one partition, but has {partitions:,}",
            hint=f"Delete topic {topic}. It is recreated when a client config is set.",
            see=Resource("topic", topic),
        )
    return None


def plan_create(cluster: Cluster, state: StoreState) -> Plan:
    """Create the missing topics, with a confirmation. An empty plan if none is missing."""
    if not state.missing:
        return Plan(Effect.CHANGE, (), advice=Advice(warnings=state.unchecked))
    factor = min(_MOST_REPLICAS, len(cluster.brokers()))
    common = (("min.insync.replicas", str(max(1, factor - 1))),)
    of_topic = {
        CONFIGS_TOPIC: ((_POLICY, "compact"), *common),
        REGISTRATIONS_TOPIC: (
            (_POLICY, "compact,delete"),
            ("retention.ms", str(EXPIRES_MS)),
            *common,
        ),
    }
    plan = topic_changes.plan_create(
        [NewTopic(topic, 1, factor, (), of_topic[topic]) for topic in state.missing]
    )
    return Plan(
        Effect.CHANGE,
        plan.steps,
        advice=Advice(
            confirm=True,
            warnings=(
                *state.unchecked,
                "dynamic client configs are stored in two topics that do not exist yet; this plan"
                " creates them, and undo does not delete them",
            ),
        ),
    )
