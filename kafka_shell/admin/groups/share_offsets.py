"""Setting and deleting the start offsets of share groups (KIP-932; API keys 91, 92)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_shell.admin.groups.model import GroupType, Reset
from kafka_shell.admin.groups.steps import (
    COORDINATION_OR_TOPIC,
    OffsetsStep,
    RetriedStep,
    offset_change,
    offset_failure,
)
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import partition_rows, topic_rows
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.model import Change, Outcomes
from kafka_shell.plan.results import Results


class AlterShareOffsets(RetriedStep, frozen=True):
    """One AlterShareGroupOffsets request (API key 91): only while the group is empty."""

    type = GroupType.SHARE
    retried = COORDINATION_OR_TOPIC

    @property
    def changes(self) -> tuple[Change, ...]:
        """An offset that was not set cannot be deleted alone, so setting it is irreversible."""
        return tuple(
            offset_change(self.group, reset, self.type, reversible=reset.before is not None)
            for reset in self.resets
        )

    def _request(self, resets: Sequence[Reset]) -> Any:
        from kafka_shell.admin.wire.schemas.groups import AlterShareGroupOffsetsRequest

        kind = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic
        topics = topic_rows(
            kind,
            kind.AlterShareGroupOffsetsRequestPartition,
            {reset.partition: {"start_offset": reset.after} for reset in resets},
            name="topic_name",
        )
        return AlterShareGroupOffsetsRequest(group_id=self.group, topics=topics)

    def _rows(self, response: Any) -> Mapping[TopicPartition, Any]:
        return partition_rows(response.responses, name="topic_name")


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
