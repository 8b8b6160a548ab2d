"""The log of one partition, read to its end or appended to (API keys 0, 1 and 22).

For small topics with records of this program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import NEW_LEADER, as_error, error_name, failure
from kafka_shell.admin.wire.requests import Node
from kafka_shell.common.resource import Resource
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure

from .batches import NAMED, THROTTLED, fetch_request, held_back, wait_out
from .decode import all_records
from .model import NewRecord, Record
from .offsets import ranges

_FETCH_BYTES = 8 << 20
_MISSING = Failure("UNKNOWN", "the leader's response does not contain the partition")


def read(cluster: Cluster, topic: str, partition: int = 0) -> tuple[Record, ...]:
    """Every record, from the log start offset to the high watermark as it is now.

    Raises ShellError for an unknown topic, without READ on it, without a leader, or if the end is
    not reached before the deadline. Never returns a part of the records.
    """
    where = TopicPartition(topic, partition)
    span = ranges(cluster, [where])
    for why in span.failures.values():
        raise as_error(why)
    at, end = span[where].earliest, span[where].latest
    found: list[Record] = []
    requested = cluster.attempts()
    while at < end:
        some, after = _fetch(cluster, topic, partition, at)
        found += [record for record in some if at <= record.offset < end]
        if after > at:
            at, requested = after, cluster.attempts()
        elif next(requested, None) is None:
            raise ShellError(
                f"topic {topic} partition {partition} could not be read to its end: no records"
                f" at offset {at:,} of {end:,}",
                hint="Try again, or use a longer deadline.",
                code="incomplete",
            )
    return tuple(found)


def _fetch(cluster: Cluster, topic: str, partition: int, at: int) -> tuple[list[Record], int]:
    """The records from offset `at` in one response, and the offset after them."""
    request = fetch_request({TopicPartition(topic, partition): at}, _FETCH_BYTES, wait_ms=500)
    response = _of_leader(cluster, request, topic, partition, "partitions")
    found, after = all_records(TopicPartition(topic, partition), bytes(response.records or b""))
    return found, after or at


def append(
    cluster: Cluster,
    topic: str,
    records: Sequence[tuple[bytes | None, bytes | None]],
    partition: int = 0,
) -> int:
    """Append the records as one batch, all or none, to every in-sync replica; the first's offset.

    Raises ShellError without WRITE, with too few in-sync replicas until the deadline, or if the
    outcome is unknown at the deadline ("outcome-unknown").
    """
    from .write import Writer

    (written,) = Writer(cluster, topic).write(
        {partition: [NewRecord(key, value) for key, value in records]}, whole=True
    )
    if written.failure is not None:
        raise as_error(written.failure)
    return written.offset or 0


def _of_leader(cluster: Cluster, request: Any, topic: str, partition: int, field: str) -> Any:
    """The partition's row of the leader's response, in this field of its topic. Retries while the
    leader changes."""
    about = f"topic {topic}"
    reason: Failure | None = None
    for _ in cluster.attempts():
        leader = _leader(cluster, topic, partition)
        if leader is None:
            continue
        response = cluster.send(request, Node(leader), highest=NAMED, change=False)
        rows = (row for each in response.responses for row in getattr(each, field))
        answer = next(rows, None)
        if answer is None:
            reason = THROTTLED if held_back(response) else _MISSING
            wait_out(cluster, response)
            continue
        code = answer.error_code if hasattr(answer, "error_code") else 0
        if not code:
            return answer
        reason = failure(code, getattr(answer, "error_message", None), about=about)
        if code not in NEW_LEADER:
            raise as_error(reason)
    if reason is not None and not reason.code:
        raise as_error(replace(reason, name="deadline", message=f"{about}: {reason.message}"))
    raise ShellError(
        f"{about} partition {partition} has no leader that responds"
        + (f" (last error: {error_name(reason.code)})" if reason and reason.code else ""),
        code="deadline",
        see=Resource("topic", topic),
    )


def _leader(cluster: Cluster, topic: str, partition: int) -> int | None:
    found = topics.describe(cluster, [topic])
    if found.failures:
        raise as_error(found.failures[topic])
    return next((p.leader for p in found[topic].partitions if p.partition == partition), None)
