"""The requests that set and delete committed offsets of groups (API keys 8, 47)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from msgspec import Struct

from kafka_shell.admin.groups.model import GroupType, Reset
from kafka_shell.admin.groups.offsets import Offsets, committed
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import by_topic, partition_rows, topic_rows
from kafka_shell.admin.steps import BaseStep, not_mentioned, read_again, row_failure
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Outcomes, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import named
from kafka_shell.base.waits import FAILOVER_S
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    GROUP_SUBSCRIBED_TO_TOPIC,
    TOPIC_AUTHORIZATION_FAILED,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from kafka_shell.wire.failures import (
    COORDINATION,
    COORDINATOR_MOVED,
    as_error,
    failure,
    failure_of_rest,
)
from kafka_shell.wire.requests import Call, Coordinator, CoordinatorKind

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
    group: str, partition: TopicPartition, row: Any, operation: str
) -> Failure | None:
    """Why the offset of a partition was not changed; None if it was.

    `row` is a row of the response, an error code, or a Failure. `operation` is required on the
    group.
    """
    if isinstance(row, Failure):
        if row.code is None:
            return row
        row = row.code
    code = row if row is None or isinstance(row, int) else row.error_code
    members = Resource("group-members", group)
    if code == UNKNOWN_MEMBER_ID:
        message = f"group {named(group)} is active: only its members can commit offsets"
        return failure(code, text=message, hint="Stop its members first.", see=members)
    if code == GROUP_SUBSCRIBED_TO_TOPIC:
        message = f"group {named(group)} is subscribed to topic {partition.topic}"
        return failure(code, text=message, hint="Stop its members first.", see=members)
    if code == TOPIC_AUTHORIZATION_FAILED:
        about = f"topic {partition.topic}"
        return failure(code, about=about, requires=f"READ on {about}")
    if row is None:
        return not_mentioned(partition)
    about = f"group {named(group)}"
    required = f"{operation} on {about}"
    return row_failure(row, about, requires=required, see=Resource("group", group))


GroupResets = tuple[str, tuple[Reset, ...]]


class OffsetsStep(Struct, BaseStep, frozen=True):
    """New offsets of groups, one request for each to its coordinator, all at once. A reset to None
    deletes. Sent again for the partitions whose coordinator was moving."""

    groups: tuple[GroupResets, ...]
    type = GroupType.CONSUMER
    operation = "READ"
    highest: ClassVar[int | None] = None
    retried: ClassVar[frozenset[int]] = COORDINATION

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(self._change(group, reset) for group, all in self.groups for reset in all)

    def _change(self, group: str, reset: Reset) -> Change:
        return offset_change(group, reset, self.type)

    def reread(self, cluster: Cluster) -> Self:
        names = [group for group, _ in self.groups]
        about = f"the offsets of group {named(names[0])}" if len(names) == 1 else "offsets"
        now = read_again(committed(cluster, dict.fromkeys(names, self.type)), about)
        return replace(
            self, groups=tuple((group, _since(resets, now[group])) for group, resets in self.groups)
        )

    def _request(self, group: str, resets: Sequence[Reset]) -> Any:
        raise NotImplementedError

    def _rows(self, response: Any, resets: Sequence[Reset]) -> Mapping[TopicPartition, Any]:
        return partition_rows(response.topics)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        rows: dict[tuple[str, TopicPartition], Any] = {}
        left: Sequence[GroupResets] = self.groups

        def again(group: str, resets: Sequence[Reset]) -> tuple[Reset, ...]:
            codes = ((each, _code(rows[group, each.partition])) for each in resets)
            return tuple(each for each, code in codes if code in self.retried)

        for round_ in cluster.attempts(FAILOVER_S):
            responses = self._ask(cluster, left, first=not round_)
            for (group, resets), response in zip(left, responses, strict=True):
                failed = isinstance(response, Failure)
                outcomes = {} if failed else self._rows(response, resets)
                for reset in resets:
                    where = reset.partition
                    rows[group, where] = response if failed else outcomes.get(where)
            left = [(group, some) for group, resets in left if (some := again(group, resets))]
            if not left:
                break
            for group, resets in left:
                if any(_code(rows[group, each.partition]) in COORDINATOR_MOVED for each in resets):
                    cluster.forget_coordinator(_coordinator(group))
        return Results.of(
            self.changes,
            (
                offset_failure(group, each.partition, rows[group, each.partition], self.operation)
                for group, resets in self.groups
                for each in resets
            ),
        )

    def _ask(
        self, cluster: Cluster, groups: Sequence[GroupResets], *, first: bool
    ) -> Sequence[Any]:
        """The response or Failure of each group. Raises ShellError if no coordinator responded to
        the `first` requests."""
        calls = [
            Call(self._request(group, resets), _coordinator(group), highest=self.highest)
            for group, resets in groups
        ]
        try:
            responses = cluster.send_all(calls)
        except ShellError as error:
            return [failure_of_rest(error, received=not first)] * len(groups)
        why = responses[0]
        if first and isinstance(why, Failure) and why.code is None and set(responses) == {why}:
            raise as_error(why)
        return responses


def _coordinator(group: str) -> Coordinator:
    return Coordinator(CoordinatorKind.GROUP, group)


def _since(resets: Sequence[Reset], now: Offsets) -> tuple[Reset, ...]:
    """The resets from the offsets that there are now."""
    offsets = {partition: current.offset for partition, current in now.items()}
    return tuple(replace(reset, before=offsets.get(reset.partition)) for reset in resets)


def _code(row: Any) -> int | None:
    """The error code of a partition, if there was a response about it."""
    return None if row is None or isinstance(row, Failure) else row.error_code


class CommitOffsets(OffsetsStep, frozen=True):
    """OffsetCommit (API key 8) from outside of the groups: only while they are empty."""

    highest = _COMMIT_BY_NAME
    retried = COORDINATION_OR_TOPIC

    def _request(self, group: str, resets: Sequence[Reset]) -> Any:
        kind = messages.OffsetCommitRequest.OffsetCommitRequestTopic
        fields = {
            reset.partition: {"committed_offset": reset.after, "committed_metadata": ""}
            for reset in resets
        }
        topics = topic_rows(kind, kind.OffsetCommitRequestPartition, fields)
        return messages.OffsetCommitRequest(group_id=group, topics=topics)


class DeleteOffsets(OffsetsStep, frozen=True):
    """OffsetDelete (KIP-496, API key 47)."""

    operation = "DELETE"

    def _request(self, group: str, resets: Sequence[Reset]) -> Any:
        kind = messages.OffsetDeleteRequest.OffsetDeleteRequestTopic
        fields: dict[TopicPartition, dict[str, Any]] = {reset.partition: {} for reset in resets}
        topics = topic_rows(kind, kind.OffsetDeleteRequestPartition, fields)
        return messages.OffsetDeleteRequest(group_id=group, topics=topics)


# Setting and deleting the start offsets of share groups (KIP-932; API keys 91, 92).


class AlterShareOffsets(OffsetsStep, frozen=True):
    """AlterShareGroupOffsets (API key 91): only while the groups are empty."""

    type = GroupType.SHARE
    retried = COORDINATION_OR_TOPIC

    def _change(self, group: str, reset: Reset) -> Change:
        """An offset that was not set cannot be deleted alone, so setting it is irreversible."""
        return offset_change(group, reset, self.type, reversible=reset.before is not None)

    def _request(self, group: str, resets: Sequence[Reset]) -> Any:
        kind = messages.AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic
        topics = topic_rows(
            kind,
            kind.AlterShareGroupOffsetsRequestPartition,
            {reset.partition: {"start_offset": reset.after} for reset in resets},
            name="topic_name",
        )
        return messages.AlterShareGroupOffsetsRequest(group_id=group, topics=topics)

    def _rows(self, response: Any, resets: Sequence[Reset]) -> Mapping[TopicPartition, Any]:
        return partition_rows(response.responses, name="topic_name")


class DeleteShareOffsets(OffsetsStep, frozen=True):
    """DeleteShareGroupOffsets (API key 92): whole topics, while the groups are empty."""

    type = GroupType.SHARE
    operation = "DELETE"

    def _request(self, group: str, resets: Sequence[Reset]) -> Any:
        kind = messages.DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic
        topics = [kind(topic_name=topic) for topic in by_topic(reset.partition for reset in resets)]
        return messages.DeleteShareGroupOffsetsRequest(group_id=group, topics=topics)

    def _rows(self, response: Any, resets: Sequence[Reset]) -> Mapping[TopicPartition, Any]:
        rows = {row.topic_name: row for row in response.responses}
        partitions = (reset.partition for reset in resets)
        return {place: rows[place.topic] for place in partitions if place.topic in rows}
