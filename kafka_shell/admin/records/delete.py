"""Plans that delete records before an offset (KIP-107; API key 21)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kafka_shell.admin.configs.read import cleanup_policies
from kafka_shell.admin.facts import attempt, in_time, not_checked, not_checked_of
from kafka_shell.admin.partitions.model import LATEST, Offset, OffsetRange, TopicPartition
from kafka_shell.admin.records.offsets import list_offsets, partition_rows, ranges, topic_rows
from kafka_shell.admin.steps import BaseStep, changed, row_failure
from kafka_shell.admin.topics.partitions import by_leader, leaders
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Change, Effect, NotChecked, Outcomes, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.units import counted
from kafka_shell.base.waits import CHANGE_MS, LEADERS_S
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import OFFSET_OUT_OF_RANGE, POLICY_VIOLATION
from kafka_shell.wire.failures import MOVED, failure, failure_of_rest
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.requests import Call, Node, response_timeout


class Cut(Struct, frozen=True):
    """The records of a partition to delete: from `first` up to, not including, `to`."""

    partition: TopicPartition
    first: int
    to: int


class DeleteRecords(Struct, BaseStep, frozen=True):
    """One DeleteRecords request per leader (KIP-107, API key 21)."""

    cuts: tuple[Cut, ...]
    topic_ids: tuple[tuple[str, str], ...]
    timeout_ms: int = CHANGE_MS

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                cut.partition.resource, "alter", "first offset", cut.first, cut.to,
                note=f"deletes up to {counted(cut.to - cut.first, 'record')}", reversible=False,
            )
            for cut in self.cuts
        )  # fmt: skip

    def reread(self, cluster: Cluster) -> DeleteRecords:
        """Raises ShellError if a topic was created again: its offsets are those of other
        records."""
        now = _ids(cluster, [name for name, _ in self.topic_ids])
        for name, topic_id in self.topic_ids:
            if now.get(name) != topic_id:
                raise changed(f"topic {name} was deleted or recreated")
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        ended: dict[TopicPartition, Failure | None] = {}
        left: Sequence[Cut] = self.cuts
        for _ in cluster.attempts(LEADERS_S):
            try:
                failed = self._round(cluster, left)
            except ShellError as error:
                why = failure_of_rest(error, received=len(left) < len(self.cuts))
                failed = dict.fromkeys((cut.partition for cut in left), why)
            ended |= {cut.partition: failed.get(cut.partition) for cut in left}
            left = [
                cut
                for cut in left
                if (reason := failed.get(cut.partition)) and reason.code in MOVED
            ]
            if not left:
                break
        return Results.of(self.changes, (ended[cut.partition] for cut in self.cuts))

    def _round(self, cluster: Cluster, cuts: Sequence[Cut]) -> dict[TopicPartition, Failure]:
        """Send one request to each leader, and return the failures."""
        offsets = {cut.partition: cut.to for cut in cuts}
        leading = leaders(cluster, offsets)
        failed = dict(leading.failures)
        groups = by_leader(leading.values)
        calls = [
            Call(
                self._request({partition: offsets[partition] for partition in group}),
                Node(leader),
                timeout=response_timeout(self.timeout_ms),
            )
            for leader, group in groups.items()
        ]
        for group, response in zip(groups.values(), cluster.send_all(calls), strict=True):
            if isinstance(response, Failure):
                failed |= dict.fromkeys(group, response)
            else:
                failed |= _failures(group, response)
        return failed

    def _request(self, offsets: Mapping[TopicPartition, int]) -> Any:
        topic = messages.DeleteRecordsRequest.DeleteRecordsTopic
        return messages.DeleteRecordsRequest(
            topics=topic_rows(
                topic,
                topic.DeleteRecordsPartition,
                {partition: {"offset": offset} for partition, offset in offsets.items()},
            ),
            timeout_ms=self.timeout_ms,
        )


def plan_delete(
    cluster: Cluster,
    targets: Mapping[TopicPartition, int],
    *,
    timeout_ms: int = CHANGE_MS,
) -> Plan:
    """Delete the records before an offset of each partition (API key 21), or all current ones
    (LATEST).

    LATEST is resolved now: records written after the plan was made are kept.
    """
    return _plan(cluster, targets, ranges(cluster, list(targets)), timeout_ms)


def _plan(
    cluster: Cluster,
    targets: Mapping[TopicPartition, int],
    current: Results[TopicPartition, OffsetRange],
    timeout_ms: int,
) -> Plan:
    refused = {each.resource: reason for each, reason in current.failures.items()}
    cuts, unchanged, not_read = [], [], list[NotChecked]()
    topics = list(dict.fromkeys(each.topic for each in current.values))
    with in_time(cluster):
        read = attempt(lambda: cleanup_policies(cluster, topics))
    policies = Results[str, frozenset[str]]() if isinstance(read, Failure) else read
    if isinstance(read, Failure):
        not_read.append(not_checked(f"cleanup.policy of {counted(len(topics), 'topic')}", read))
    not_read += not_checked_of("cleanup.policy of", policies.failures.values(), "topic")
    for each, offsets in current.values.items():
        to = offsets.latest if targets[each] == LATEST else targets[each]
        if to > offsets.latest or to < 0:
            refused[each.resource] = _out_of_range(each, to, offsets)
        elif to <= offsets.earliest:
            unchanged.append(_unchanged(each, to, offsets))
        elif _only_compacted(policies.values.get(each.topic, ())):
            refused[each.resource] = _compacted(each)
        else:
            cuts.append(Cut(each, offsets.earliest, to))
    names = list(dict.fromkeys(cut.partition.topic for cut in cuts))
    ids = tuple(_ids(cluster, names).items())
    return Plan(
        Effect.DESTROY,
        (DeleteRecords(tuple(cuts), ids, timeout_ms),) if cuts else (),
        refused=Results({}, refused),
        unchanged=tuple(unchanged),
        advice=Advice(not_checked=tuple(not_read)),
    )


def plan_delete_before(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    time: int,
    *,
    timeout_ms: int = CHANGE_MS,
) -> Plan:
    """Delete the records before the first one with this timestamp (epoch ms) or later."""
    current = ranges(cluster, partitions)  # what is written after this is kept
    found: Results[TopicPartition, Offset] = list_offsets(cluster, dict.fromkeys(partitions, time))
    targets = {
        each: LATEST if offset.offset is None else offset.offset
        for each, offset in found.values.items()
    }
    known = Results(
        {each: row for each, row in current.values.items() if each in targets}, current.failures
    )
    plan = _plan(cluster, targets, known, timeout_ms)
    plan.refused.failures.update({each.resource: reason for each, reason in found.failures.items()})
    return plan


def _ids(cluster: Cluster, names: Sequence[str]) -> dict[str, str]:
    if not names:
        return {}
    found = scan(cluster, names)
    return {name: found.summary(name).id for name in names if name in found}


def _out_of_range(each: TopicPartition, to: int, offsets: OffsetRange) -> Failure:
    return failure(
        OFFSET_OUT_OF_RANGE,
        text=f"offset {to} of partition {each} is out of range {offsets.earliest} to"
        f" {offsets.latest}",
        hint="Use latest to delete all records.",
    )


def _unchanged(each: TopicPartition, to: int, offsets: OffsetRange) -> Change:
    note = "no change: empty" if not offsets.max_records else f"no change: no records before {to}"
    return Change(
        each.resource, "alter", "first offset", offsets.earliest, offsets.earliest, note=note
    )


def _failures(group: Sequence[TopicPartition], response: Any) -> dict[TopicPartition, Failure]:
    rows = partition_rows(response.topics)
    failures = {partition: _failure(partition, rows.get(partition)) for partition in group}
    return {each: failure for each, failure in failures.items() if failure is not None}


def _failure(each: TopicPartition, row: Any) -> Failure | None:
    if row is not None and row.error_code == POLICY_VIOLATION:
        return _compacted(each)
    see = Resource("partition-offsets", str(each))
    return row_failure(row, f"partition {each}", requires=f"DELETE on topic {each.topic}", see=see)


def _only_compacted(policy: Collection[str]) -> bool:
    """Whether brokers do not delete records. Without any policy they do (Kafka 4.3)."""
    return "compact" in policy and "delete" not in policy


def _compacted(each: TopicPartition) -> Failure:
    """Brokers do not delete records of a topic that is only compacted."""
    return failure(
        POLICY_VIOLATION,
        text="records of a topic that is only compacted cannot be deleted: its cleanup.policy does"
        " not contain delete",
        about=f"partition {each}",
        see=Resource("topic-config", f"{each.topic} cleanup.policy"),
    )
