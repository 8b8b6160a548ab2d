"""The requests that set and delete committed offsets of groups (API keys 8, 47)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from msgspec import Struct

from kafka_shell.admin.groups.model import GroupType, Reset
from kafka_shell.admin.groups.offsets import committed
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import by_topic, partition_rows, topic_rows
from kafka_shell.admin.steps import BaseStep, not_mentioned, read_again, row_failure
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Outcomes, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import named
from kafka_shell.base.waits import FAILOVER_S
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.error_codes import (
    GROUP_SUBSCRIBED_TO_TOPIC,
    TOPIC_AUTHORIZATION_FAILED,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from kafka_shell.wire.failures import (
    COORDINATION,
    COORDINATOR_MOVED,
    failure,
    failure_of_rest,
)
from kafka_shell.wire.requests import Coordinator, CoordinatorKind

_COMMIT_BY_NAME = 9  # OffsetCommit v10 names topics by ID
# The coordinator may not know a topic yet that other brokers list: it was just created.
COORDINATION_OR_TOPIC = COORDINATION | {UNKNOWN_TOPIC_OR_PARTITION}


def offset_change(
    group: str, reset: Reset, kind: GroupType = GroupType.CONSUMER, *, reversible: bool = True
) -> Change:
    """The change of one committed offset."""
    verb = "delete" if reset.after is None else "alter"
    what = "share-group-offsets" if kind is GroupType.SHARE else "group-offsets"
    return Change(
        Resource(what, group), verb, str(reset.partition), reset.before, reset.after,
        reset.note, reversible,
    )  # fmt: skip


def offset_failure(
    group: str, partition: TopicPartition | None, row: Any, operation: str
) -> Failure | None:
    """Why the offset of a partition (None: of any) was not changed; None if it was.

    `row` is a row of the response, an error code, or a Failure. `operation` is required on the
    group.
    """
    if isinstance(row, Failure):
        return row
    code = row if row is None or isinstance(row, int) else row.error_code
    members = Resource("group-members", group)
    if code == UNKNOWN_MEMBER_ID:
        message = f"group {named(group)} is active: only its members can commit offsets"
        return failure(code, text=message, hint="Stop its members first.", see=members)
    if code == GROUP_SUBSCRIBED_TO_TOPIC:
        message = (
            f"group {named(group)} is subscribed to topic {partition.topic if partition else ''}"
        )
        return failure(code, text=message, hint="Stop its members first.", see=members)
    if code == TOPIC_AUTHORIZATION_FAILED and partition is not None:
        about = f"topic {partition.topic}"
        return failure(code, about=about, requires=f"READ on {about}")
    if row is None:
        return not_mentioned(partition)
    about = f"group {named(group)}"
    required = f"{operation} on {about}"
    return row_failure(row, about, requires=required, see=Resource("group", group))


class OffsetsStep(Struct, BaseStep, frozen=True):
    """New offsets of one group, as one request to its coordinator. A reset to None deletes. Sent
    again for the partitions whose coordinator was moving."""

    group: str
    resets: tuple[Reset, ...]
    type = GroupType.CONSUMER
    operation = "READ"
    highest: ClassVar[int | None] = None
    retried: ClassVar[frozenset[int]] = COORDINATION

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(offset_change(self.group, reset, self.type) for reset in self.resets)

    def reread(self, cluster: Cluster) -> Self:
        about = f"the offsets of group {named(self.group)}"
        found = read_again(committed(cluster, {self.group: self.type}), about)
        now = found[self.group]
        offsets = {partition: current.offset for partition, current in now.items()}
        return replace(
            self,
            resets=tuple(
                replace(reset, before=offsets.get(reset.partition)) for reset in self.resets
            ),
        )

    @property
    def _coordinator(self) -> Coordinator:
        return Coordinator(CoordinatorKind.GROUP, self.group)

    def _ask(self, cluster: Cluster, request: Any, highest: int | None = None) -> Any:
        try:
            return cluster.send(request, to=self._coordinator, highest=highest)
        except ShellError as error:
            code = getattr(error, "kafka_code", None)
            known = offset_failure(self.group, None, code, self.operation) if code else None
            if known is not None:
                error.message, error.hint, error.see = known.message, known.hint, known.see
            raise

    def _request(self, resets: Sequence[Reset]) -> Any:
        raise NotImplementedError

    def _rows(self, response: Any) -> Mapping[TopicPartition, Any]:
        return partition_rows(response.topics)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        rows: dict[TopicPartition, Any] = {}
        left: Sequence[Reset] = self.resets
        for _ in cluster.attempts(FAILOVER_S):
            try:
                response = self._ask(cluster, self._request(left), self.highest)
            except ShellError as error:
                why = failure_of_rest(error, received=len(left) < len(self.resets))
                rows |= {reset.partition: why for reset in left}
                break
            rows |= self._rows(response)
            codes = {p: row.error_code for p, row in rows.items()}
            left = [reset for reset in left if codes.get(reset.partition) in self.retried]
            if not left:
                break
            if any(codes[reset.partition] in COORDINATOR_MOVED for reset in left):
                cluster.forget_coordinator(self._coordinator)
        partitions = (reset.partition for reset in self.resets)
        return Results.of(
            self.changes,
            (offset_failure(self.group, p, rows.get(p), self.operation) for p in partitions),
        )


class CommitOffsets(OffsetsStep, frozen=True):
    """One OffsetCommit request (API key 8) from outside of the group: only while it is empty."""

    highest = _COMMIT_BY_NAME
    retried = COORDINATION_OR_TOPIC

    def _request(self, resets: Sequence[Reset]) -> Any:
        from kafka.protocol.consumer import OffsetCommitRequest

        kind = OffsetCommitRequest.OffsetCommitRequestTopic
        fields = {
            reset.partition: {"committed_offset": reset.after, "committed_metadata": ""}
            for reset in resets
        }
        topics = topic_rows(kind, kind.OffsetCommitRequestPartition, fields)
        return OffsetCommitRequest(group_id=self.group, topics=topics)


class DeleteOffsets(OffsetsStep, frozen=True):
    """One OffsetDelete request (KIP-496, API key 47)."""

    operation = "DELETE"

    def _request(self, resets: Sequence[Reset]) -> Any:
        from kafka.protocol.consumer import OffsetDeleteRequest

        kind = OffsetDeleteRequest.OffsetDeleteRequestTopic
        fields: dict[TopicPartition, dict[str, Any]] = {reset.partition: {} for reset in resets}
        topics = topic_rows(kind, kind.OffsetDeleteRequestPartition, fields)
        return OffsetDeleteRequest(group_id=self.group, topics=topics)


# Setting and deleting the start offsets of share groups (KIP-932; API keys 91, 92).


class AlterShareOffsets(OffsetsStep, frozen=True):
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
        from kafka_shell.wire.schemas import AlterShareGroupOffsetsRequest

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

    def _request(self, resets: Sequence[Reset]) -> Any:
        from kafka_shell.wire.schemas import DeleteShareGroupOffsetsRequest

        kind = DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic
        topics = [kind(topic_name=topic) for topic in by_topic(each.partition for each in resets)]
        return DeleteShareGroupOffsetsRequest(group_id=self.group, topics=topics)

    def _rows(self, response: Any) -> Mapping[TopicPartition, Any]:
        rows = {row.topic_name: row for row in response.responses}
        partitions = (reset.partition for reset in self.resets)
        return {each: rows[each.topic] for each in partitions if each.topic in rows}
