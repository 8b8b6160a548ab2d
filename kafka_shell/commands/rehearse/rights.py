"""What the user may do on the original: a twin allows everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_shell.admin.acls import rights
from kafka_shell.admin.acls.model import AclOperation
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Resource
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.coordinators import OFFSETS_TOPIC
from kafka_shell.wire.metadata_scan import is_missing

# API key -> the operation that it requires on the cluster, or on each topic.
ON_CLUSTER = {
    30: AclOperation.ALTER,
    31: AclOperation.ALTER,
    43: AclOperation.ALTER,
    45: AclOperation.ALTER,
    49: AclOperation.ALTER_CONFIGS,
    51: AclOperation.ALTER,
    57: AclOperation.ALTER,
    64: AclOperation.ALTER,
}
ON_TOPICS = {
    20: AclOperation.DELETE,
    37: AclOperation.ALTER,
    44: AclOperation.ALTER_CONFIGS,
}
# On the cluster: together, only super users have them, and everyone if there is no authorizer.
_OF_SUPER_USERS = (AclOperation.CLUSTER_ACTION, AclOperation.ALTER)
_CREATE_TOPICS, _ALTER_CONFIGS = 19, 44
_OF_CLUSTER = ("broker", "broker-default", "client-metrics")  # kinds of resources with configs


class Rights:
    """The rights of the user on the original. They are read when first needed."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read: dict[str, rights.Operations] = {}
        self._of_groups: dict[str, rights.Operations] = {}

    def missing(self, sent: Iterable[int], changed: Iterable[Resource]) -> tuple[str, bool]:
        """The right that a line lacks that sent these requests for these changes: `ALTER on the
        cluster`, or an empty string; and whether it is certain. Raises ShellError if the rights
        cannot be read."""
        keys, resources = set(sent), set(changed)
        for operation in _on_cluster(keys, resources):
            if not self._allows("", operation):
                return f"{operation.name} on the cluster", True
        topics = sorted({each.name for each in resources if each.kind == "topic"})
        for key in sorted(keys & ON_TOPICS.keys()):
            for topic in topics:
                if not self._allows(topic, ON_TOPICS[key]):
                    return f"{ON_TOPICS[key].name} on topic {topic}", True
        if _ALTER_CONFIGS in keys:
            for group in sorted({each.name for each in resources if each.kind == "group"}):
                if (allowed := self._on_group(group)) is not True:
                    right = f"{AclOperation.ALTER_CONFIGS.name} on group {group}"
                    return right, allowed is False
        if _CREATE_TOPICS in keys and not self._allows("", AclOperation.CREATE):
            return "CREATE on the cluster or on the topic", False
        return "", True

    def lacks(self, operation: AclOperation, topic: str = "") -> bool:
        """Whether the user certainly lacks an operation on a topic, or on the cluster."""
        try:
            return not self._allows(topic, operation)
        except ShellError:  # `missing` raises it again
            return False

    def lacks_on_group(self, group: str) -> bool:
        """Whether the user certainly may not alter the configs of a group."""
        try:
            return self._on_group(group) is False
        except ShellError:  # `missing` raises it again
            return False

    def _on_group(self, group: str) -> bool | None:
        """Whether the user may alter the configs of a group; None if unknown."""
        if group not in self._of_groups:
            self._of_groups[group] = rights.on_group(self._cluster, group)
        found = self._of_groups[group]
        if found is not None:
            return AclOperation.ALTER_CONFIGS in found
        # No broker reports the rights on groups before the first group of a cluster.
        own = all(self._allows("", each) for each in _OF_SUPER_USERS)
        return True if own and is_missing(self._cluster, OFFSETS_TOPIC) else None

    def _allows(self, topic: str, operation: AclOperation) -> bool:
        if topic not in self._read:
            self._read[topic] = (
                rights.on_topic(self._cluster, topic) if topic else rights.on_cluster(self._cluster)
            )
        found = self._read[topic]
        return found is None or operation in found


def _on_cluster(keys: set[int], resources: set[Resource]) -> Iterator[AclOperation]:
    """The operations on the cluster that these requests require."""
    for key in sorted(keys & ON_CLUSTER.keys()):
        yield ON_CLUSTER[key]
    if _ALTER_CONFIGS in keys and any(each.kind in _OF_CLUSTER for each in resources):
        yield AclOperation.ALTER_CONFIGS
