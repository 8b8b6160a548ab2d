"""The requests that set and delete offsets of groups (API keys 8, 47)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import by_topic
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import COORDINATION, REQUEST_TIMED_OUT, failure, needs
from kafka_shell.admin.wire.requests import Coordinator, CoordinatorKind
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Resource
from kafka_shell.plan.results import Failure, Results
from kafka_shell.quoting import positional

from .model import GroupType, Reset
from .offsets import committed

_COMMIT_BY_NAME = 9  # OffsetCommit v10 names topics by id
_PATIENCE_S = 10.0
_UNKNOWN_MEMBER, _TOPIC_DENIED, _SUBSCRIBED = 25, 29, 86


def offset_change(
    group: str, each: Reset, kind: GroupType = GroupType.CONSUMER, *, reversible: bool = True
) -> Change:
    """One partition of a reset as a change of the group's offsets."""
    verb = "delete" if each.after is None else "alter"
    what = "share-group-offsets" if kind is GroupType.SHARE else "group-offsets"
    return Change(
        Resource(what, group), verb, str(each.partition), each.before, each.after,
        each.note, reversible,
    )  # fmt: skip


def again(cluster: Cluster, group: str, resets: Sequence[Reset], kind: GroupType) -> list[Reset]:
    """The same resets over the offsets as they are now."""
    now = committed(cluster, group, kind)
    return [
        replace(each, before=now[each.partition].offset if each.partition in now else None)
        for each in resets
    ]


@dataclass(frozen=True)
class CommitOffsets:
    """One OffsetCommit request (API key 8) from outside of the group: only while it is empty."""

    group: str
    resets: tuple[Reset, ...]
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change a partition."""
        return tuple(offset_change(self.group, each) for each in self.resets)

    def again(self, cluster: Cluster) -> CommitOffsets:
        """The same over the offsets as they are now."""
        resets = again(cluster, self.group, self.resets, GroupType.CONSUMER)
        return CommitOffsets(self.group, tuple(resets))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Commit them, each partition on its own."""
        return _send(cluster, self.group, self.changes, self.resets, self._ask, "Read")

    def _ask(self, cluster: Cluster, resets: Sequence[Reset]) -> Any:
        from kafka.protocol.consumer import OffsetCommitRequest

        kind = OffsetCommitRequest.OffsetCommitRequestTopic
        after = {each.partition: each.after for each in resets}
        request = OffsetCommitRequest(
            group_id=self.group,
            topics=[
                kind(
                    name=topic,
                    partitions=[
                        kind.OffsetCommitRequestPartition(
                            partition_index=each.partition,
                            committed_offset=after[each],
                            committed_metadata="",
                        )
                        for each in partitions
                    ],
                )
                for topic, partitions in by_topic(after).items()
            ],
        )
        return cluster.send(request, to=_coordinator(self.group), highest=_COMMIT_BY_NAME)


@dataclass(frozen=True)
class DeleteOffsets:
    """One OffsetDelete request (KIP-496, API key 47)."""

    group: str
    resets: tuple[Reset, ...]
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One deletion a partition."""
        return tuple(offset_change(self.group, each) for each in self.resets)

    def again(self, cluster: Cluster) -> DeleteOffsets:
        """The same over the offsets as they are now."""
        resets = again(cluster, self.group, self.resets, GroupType.CONSUMER)
        return DeleteOffsets(self.group, tuple(resets))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Delete them, each partition on its own."""
        return _send(cluster, self.group, self.changes, self.resets, self._ask, "Delete")

    def _ask(self, cluster: Cluster, resets: Sequence[Reset]) -> Any:
        from kafka.protocol.consumer import OffsetDeleteRequest

        kind = OffsetDeleteRequest.OffsetDeleteRequestTopic
        request = OffsetDeleteRequest(
            group_id=self.group,
            topics=[
                kind(
                    name=topic,
                    partitions=[
                        kind.OffsetDeleteRequestPartition(partition_index=each.partition)
                        for each in partitions
                    ],
                )
                for topic, partitions in by_topic(each.partition for each in resets).items()
            ],
        )
        return cluster.send(request, to=_coordinator(self.group))


def _coordinator(group: str) -> Coordinator:
    return Coordinator(CoordinatorKind.GROUP, group)


def _send(
    cluster: Cluster,
    group: str,
    changes: Sequence[Change],
    resets: Sequence[Reset],
    ask: Any,
    permission: str,
) -> Results[Change, Change]:
    """Ask, and again for partitions whose coordinator was not there."""
    results: Results[Change, Change] = Results()
    left = dict(zip(resets, changes, strict=True))
    for _ in cluster.attempts(_PATIENCE_S):
        try:
            codes = _codes(ask(cluster, list(left)))
        except ShellError as error:
            raise _explained(error, group, permission) from None
        for each, change in list(left.items()):
            code = codes.get(each.partition)
            if code not in COORDINATION:
                del left[each]
            if code == 0:
                results.values[change] = change
                results.failures.pop(change, None)
            else:
                results.failures[change] = why(group, each.partition, code, permission)
        if not left:
            break
    return results


def _codes(response: Any) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.name, each.partition_index): each.error_code
        for topic in response.topics
        for each in topic.partitions
    }


def _explained(error: ShellError, group: str, permission: str) -> ShellError:
    """A refusal of the whole request, with the group's name and what is missing."""
    code = getattr(error, "kafka_code", None)
    if code is not None:
        told = why(group, None, code, permission)
        error.message, error.hint = told.message, told.hint
    return error


def why(group: str, each: TopicPartition | None, code: int | None, permission: str) -> Failure:
    """Why the broker did not change a group's offset in a partition."""
    if code is None:
        return Failure("UNKNOWN", f"the broker's answer does not mention {each}")
    about = f"group {group}"
    look = f"Look: describe-group {positional('--group', group)}"
    if code == _UNKNOWN_MEMBER:
        said = f"group {group} has members by now: only they commit its offsets"
        return failure(code, ours=said, hint=f"Stop them first. {look} --members")
    if code == _SUBSCRIBED:
        said = f"group {group} is subscribed to topic {each.topic if each else ''}"
        return failure(code, ours=said, hint=f"Stop its members. {look} --members")
    if code == _TOPIC_DENIED and each is not None:
        about = f"topic {each.topic}"
        return failure(code, about=about, hint=needs(code, f"Read on topic {each.topic}"))
    hint = needs(code, f"{permission} on group {group}")
    if code == REQUEST_TIMED_OUT:
        hint = f"It may still be done. {look}"
    return failure(code, about=about, hint=hint)
