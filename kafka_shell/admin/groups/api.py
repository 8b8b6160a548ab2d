"""`admin.groups`."""

from __future__ import annotations

from kafka_shell.admin.calls import Family, Plans, Reads
from kafka_shell.admin.groups import members, read, resets


class GroupsApi(Family):
    """Consumer, share and streams groups (KIP-122, 848, 932, 1071).

    Example:

        admin.topics.plan_create([NewTopic("example.groups", partitions=1)]).apply()
        partition = TopicPartition("example.groups", 0)
        plan = admin.groups.plan_offsets({"example-group": {partition: 0}})
        assert plan.apply().ok

        group = admin.groups.describe(["example-group"], offsets=True)["example-group"]
        (offset,) = group.offsets
        assert (offset.partition, offset.offset, offset.lag) == (0, 0, 0)
        assert admin.groups.plan_delete(["example-group"]).apply().ok
    """

    list = Reads(read.list_groups)
    describe = Reads(read.describe)
    plan_reset = Plans(resets.plan_reset)
    plan_offsets = Plans(resets.plan_offsets)
    plan_delete_offsets = Plans(resets.plan_delete_offsets)
    plan_delete = Plans(members.plan_delete)
    plan_remove_members = Plans(members.plan_remove)
