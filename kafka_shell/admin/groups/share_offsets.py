"""Where share groups start in partitions: setting and deleting it (KIP-932; API keys 91, 92)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import by_topic
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import failure, needs
from kafka_shell.admin.wire.requests import Coordinator, CoordinatorKind
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change
from kafka_shell.plan.results import Failure, Results

from .model import GroupType, Reset
from .steps import again, offset_change, why

_TOPIC_DENIED = 29


@dataclass(frozen=True)
class AlterShareOffsets:
    """One AlterShareGroupOffsets request (API key 91): only while the group is empty."""

    group: str
    resets: tuple[Reset, ...]
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change a partition. One that was not set cannot be unset alone."""
        return tuple(
            offset_change(self.group, each, GroupType.SHARE, reversible=each.before is not None)
            for each in self.resets
        )

    def again(self, cluster: Cluster) -> AlterShareOffsets:
        """The same over the offsets as they are now."""
        resets = again(cluster, self.group, self.resets, GroupType.SHARE)
        return AlterShareOffsets(self.group, tuple(resets))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Set them, each partition on its own."""
        from kafka_shell.admin.wire.schemas.groups import AlterShareGroupOffsetsRequest

        kind = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic
        after = {each.partition: each.after for each in self.resets}
        request = AlterShareGroupOffsetsRequest(
            group_id=self.group,
            topics=[
                kind(
                    topic_name=topic,
                    partitions=[
                        kind.AlterShareGroupOffsetsRequestPartition(
                            partition_index=each.partition, start_offset=after[each]
                        )
                        for each in partitions
                    ],
                )
                for topic, partitions in by_topic(after).items()
            ],
        )
        response = _send(cluster, self.group, request, "Read")
        rows = {
            TopicPartition(topic.topic_name, each.partition_index): each
            for topic in response.responses
            for each in topic.partitions
        }
        results: Results[Change, Change] = Results()
        for each, change in zip(self.resets, self.changes, strict=True):
            row = rows.get(each.partition)
            if row is not None and not row.error_code:
                results.values[change] = change
            else:
                results.failures[change] = _why(self.group, each, row, "Read")
        return results


@dataclass(frozen=True)
class DeleteShareOffsets:
    """One DeleteShareGroupOffsets request (API key 92): whole topics, while the group is empty."""

    group: str
    resets: tuple[Reset, ...]
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One deletion a partition."""
        return tuple(offset_change(self.group, each, GroupType.SHARE) for each in self.resets)

    def again(self, cluster: Cluster) -> DeleteShareOffsets:
        """The same over the offsets as they are now."""
        resets = again(cluster, self.group, self.resets, GroupType.SHARE)
        return DeleteShareOffsets(self.group, tuple(resets))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Delete them, each topic on its own."""
        from kafka_shell.admin.wire.schemas.groups import DeleteShareGroupOffsetsRequest

        kind = DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic
        topics = dict.fromkeys(each.partition.topic for each in self.resets)
        request = DeleteShareGroupOffsetsRequest(
            group_id=self.group, topics=[kind(topic_name=topic) for topic in topics]
        )
        response = _send(cluster, self.group, request, "Delete")
        rows = {topic.topic_name: topic for topic in response.responses}
        results: Results[Change, Change] = Results()
        for each, change in zip(self.resets, self.changes, strict=True):
            row = rows.get(each.partition.topic)
            if row is not None and not row.error_code:
                results.values[change] = change
            else:
                results.failures[change] = _why(self.group, each, row, "Delete")
        return results


def _send(cluster: Cluster, group: str, request: Any, permission: str) -> Any:
    try:
        return cluster.send(request, to=Coordinator(CoordinatorKind.GROUP, group))
    except ShellError as error:
        code = getattr(error, "kafka_code", None)
        if code is not None:
            error.hint = needs(code, f"{permission} on group {group}") or error.hint
        raise


def _why(group: str, each: Reset, row: Any, permission: str) -> Failure:
    if row is None:
        return why(group, each.partition, None, permission)
    if row.error_code == _TOPIC_DENIED:
        return why(group, each.partition, row.error_code, permission)
    return failure(row.error_code, row.error_message, about=str(each.partition))
