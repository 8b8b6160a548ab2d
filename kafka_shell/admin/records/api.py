"""`admin.records`."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.calls import Client, ClusterPlan, Family, Plans, Reads
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import copy as copy_plan
from kafka_shell.admin.records import delete, produce
from kafka_shell.admin.records.codecs import CODECS
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.offsets import list_offsets, ranges
from kafka_shell.admin.records.read import Position, RecordStream, last_of
from kafka_shell.base.plans import Plan
from kafka_shell.wire.connection import Cluster

_TOGETHER = 10_000  # records that are written at once


class RecordsApi(Family):
    """Records and offsets of partitions: read, write, copy and delete (KIP-79, 98, 107).

    Example:

        admin.topics.plan_create([NewTopic("example.records", partitions=1)]).apply()
        orders = [NewRecord(b"4711", b"placed"), NewRecord(b"4712", None)]
        assert admin.records.plan_write("example.records", orders).apply().ok

        partition = TopicPartition("example.records", 0)
        stream = admin.records.read([partition])
        assert [record.key for record in stream] == [b"4711", b"4712"]
        assert not stream.failures
        (newest,) = admin.records.last([partition], 1)
        assert (newest.offset, newest.value) == (1, None)

        found = admin.records.offsets([partition])[partition]
        assert (found.earliest, found.latest) == (0, 2)
    """

    def read(
        self,
        partitions: Sequence[TopicPartition],
        start: Position | None = None,
        end: Position | None = None,
        *,
        committed: bool = False,
    ) -> RecordStream:
        """The records from `start` (the earliest) up to, not including, `end`, in the order of
        their timestamps; those of a partition by offset (Fetch, API key 1).

        `end` defaults to the end of the log when the iteration starts. With `committed`, only
        records of committed transactions. Memory is bounded.
        """
        return RecordStream(self._calls.connect, partitions, start, end, committed)

    def last(
        self,
        partitions: Sequence[TopicPartition],
        count: int = 10,
        end: Position | None = None,
        *,
        committed: bool = False,
    ) -> RecordStream:
        """The last records before `end` (that of the log), at most `count`, read backwards from
        there (Fetch, API key 1)."""
        return RecordStream(self._calls.connect, partitions, None, end, committed, last_of(count))

    def plan_write(
        self, topic: str, records: Sequence[NewRecord], *, codec: str = "none"
    ) -> ClusterPlan:
        """Write records by an idempotent producer with acks=all (API keys 0 and 22). They cannot be
        removed again. `codec` is none, gzip, snappy, lz4 or zstd.

        A record without a partition is written to that of its key, as by Kafka's Java producer. The
        results are the offsets: of each record if they are few, else of each partition.
        """
        numbered = list(enumerate(records, 1))
        windows = [numbered[at : at + _TOGETHER] for at in range(0, len(numbered), _TOGETHER)]
        return self._calls.plan(
            produce.plan_write, topic, windows, count=len(records), codec=CODECS.index(codec)
        )

    def plan_copy(
        self, request: copy_plan.CopyRequest, *, source: Client | None = None
    ) -> ClusterPlan:
        """Copy the records that a topic has now to another topic, from another cluster if there is
        a `source` (API keys 0, 1, 2 and 22).

        Keys, values and headers are the same bytes. A record is copied to the partition of the same
        number if both topics have as many partitions, else to that of its key.
        """
        calls = self._calls if source is None else source._calls

        def plan(target: Cluster) -> Plan:
            with calls.connect() as cluster:
                return copy_plan.plan_copy(cluster, target, request)

        return self._calls.plan(plan)

    offsets = Reads(ranges)
    list_offsets = Reads(list_offsets)
    plan_delete = Plans(delete.plan_delete)
    plan_delete_before = Plans(delete.plan_delete_before)
