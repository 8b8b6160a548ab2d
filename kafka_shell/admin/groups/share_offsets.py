"""Setting and deleting the start offsets of share groups (KIP-932; API keys 91, 92)."""

from __future__ import annotations

from kafka_shell.admin.records.offsets import partition_rows, topic_rows
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.model import Change, Outcomes
from kafka_shell.plan.results import Results

from .model import GroupType
from .steps import OffsetsStep, offset_change, offset_failure


class AlterShareOffsets(OffsetsStep, frozen=True):
    """One AlterShareGroupOffsets request (API key 91): only while the group is empty."""

    type = GroupType.SHARE

    @property
    def changes(self) -> tuple[Change, ...]:
        """An offset that was not set cannot be deleted alone, so setting it is irreversible."""
        return tuple(
            offset_change(self.group, reset, self.type, reversible=reset.before is not None)
            for reset in self.resets
        )

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka_shell.admin.wire.schemas.groups import AlterShareGroupOffsetsRequest

        kind = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic
        topics = topic_rows(
            kind,
            kind.AlterShareGroupOffsetsRequestPartition,
            {reset.partition: {"start_offset": reset.after} for reset in self.resets},
            name="topic_name",
        )
        request = AlterShareGroupOffsetsRequest(group_id=self.group, topics=topics)
        rows = partition_rows(self._ask(cluster, request).responses, name="topic_name")
        partitions = (reset.partition for reset in self.resets)
        return Results.of(
            self.changes,
            (offset_failure(self.group, p, rows.get(p), self.operation) for p in partitions),
        )


class DeleteShareOffsets(OffsetsStep, frozen=True):
    """One DeleteShareGroupOffsets request (API key 92): whole topics, while the group is empty."""

    type = GroupType.SHARE
    operation = "DELETE"

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka_shell.admin.wire.schemas.groups import DeleteShareGroupOffsetsRequest

        kind = DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic
        topics = dict.fromkeys(reset.partition.topic for reset in self.resets)
        request = DeleteShareGroupOffsetsRequest(
            group_id=self.group, topics=[kind(topic_name=topic) for topic in topics]
        )
        rows = {topic.topic_name: topic for topic in self._ask(cluster, request).responses}
        partitions = (reset.partition for reset in self.resets)
        return Results.of(
            self.changes,
            (offset_failure(self.group, p, rows.get(p.topic), self.operation) for p in partitions),
        )
