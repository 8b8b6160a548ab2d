"""`admin.records`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_shell.admin.calls import ClusterPlan, Family
from kafka_shell.admin.partitions.model import Offset, OffsetRange, TopicPartition
from kafka_shell.plan.results import Results

from . import delete, offsets


class RecordsApi(Family):
    """Offsets of partitions, and deleting records (KIP-79, 107).

    Example:

        admin.topics.plan_create([NewTopic("example.records", partitions=1)]).apply()
        partition = TopicPartition("example.records", 0)
        found = admin.records.offsets([partition])[partition]
        assert (found.earliest, found.latest) == (0, 0)
    """

    def offsets(
        self, partitions: Sequence[TopicPartition], *, committed: bool = False
    ) -> Results[TopicPartition, OffsetRange]:
        """The earliest and the latest offset of each partition (ListOffsets, API key 2).
        `committed`: the latest is the last stable offset."""
        return self._calls.call(delete.ranges, partitions, committed=committed)

    def list_offsets(
        self, wanted: Mapping[TopicPartition, int], *, committed: bool = False
    ) -> Results[TopicPartition, Offset]:
        """The offset of each partition at a timestamp in milliseconds, or at one of Kafka's special
        timestamps: -1 latest, -2 earliest, -3 largest timestamp (API key 2)."""
        return self._calls.call(offsets.list_offsets, wanted, committed=committed)

    def plan_delete(self, before: Mapping[TopicPartition, int]) -> ClusterPlan:
        """Delete the records before an offset of each partition (DeleteRecords, API key 21)."""
        return self._calls.plan(delete.plan_delete, before)

    def plan_delete_before(self, partitions: Sequence[TopicPartition], time: int) -> ClusterPlan:
        """Delete the records before a timestamp in milliseconds (API keys 2, 21)."""
        return self._calls.plan(delete.plan_delete_before, partitions, time)
