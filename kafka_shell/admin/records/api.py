"""`admin.records`."""

from __future__ import annotations

from kafka_shell.admin.calls import Family, Plans, Reads

from . import delete
from .offsets import list_offsets


class RecordsApi(Family):
    """Offsets of partitions, and deleting records (KIP-79, 107).

    Example:

        admin.topics.plan_create([NewTopic("example.records", partitions=1)]).apply()
        partition = TopicPartition("example.records", 0)
        found = admin.records.offsets([partition])[partition]
        assert (found.earliest, found.latest) == (0, 0)
    """

    offsets = Reads(delete.ranges)
    list_offsets = Reads(list_offsets)
    plan_delete = Plans(delete.plan_delete)
    plan_delete_before = Plans(delete.plan_delete_before)
