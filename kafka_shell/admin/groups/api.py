"""`admin.groups`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafka_shell.admin.calls import ClusterPlan, Family
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.plan.results import Results

from . import members, read, resets
from .model import Group, GroupListing, GroupType, ResetTo


class GroupsApi(Family):
    """Consumer, share and streams groups (KIP-122, 848, 932, 1071).

    Example:

        admin.topics.plan_create([NewTopic("example.groups", partitions=1)]).apply()
        partition = TopicPartition("example.groups", 0)
        plan = admin.groups.plan_offsets("example-group", {partition: 0})
        assert plan.apply().ok

        group = admin.groups.describe(["example-group"], offsets=True)["example-group"]
        (offset,) = group.offsets
        assert (offset.partition, offset.offset, offset.lag) == (0, 0, 0)
        assert admin.groups.plan_delete(["example-group"]).apply().ok
    """

    def list(
        self, states: Sequence[str] = (), types: Sequence[GroupType] = ()
    ) -> Results[str, GroupListing]:
        """The groups by name (API key 16). The failures are brokers that did not respond."""
        return self._calls.call(read.list_groups, states, types)

    def describe(self, names: Iterable[str], *, offsets: bool = False) -> Results[str, Group]:
        """Each group with its members, with its committed offsets and lag if `offsets` is set
        (API keys 15, 69, 77, 89; 9, 90)."""
        return self._calls.call(read.describe, names, offsets=offsets)

    def plan_reset(
        self, name: str, where: ResetTo, partitions: Sequence[TopicPartition] | None = None
    ) -> ClusterPlan:
        """Reset the committed offsets of an inactive group (API key 8; of share groups 91)."""
        return self._calls.plan(resets.plan_reset, name, where, partitions)

    def plan_offsets(self, name: str, wanted: Mapping[TopicPartition, int | None]) -> ClusterPlan:
        """Set the committed offset of each partition; None deletes it (API keys 8, 47)."""
        return self._calls.plan(resets.plan_offsets, name, wanted)

    def plan_delete_offsets(self, name: str, partitions: Sequence[TopicPartition]) -> ClusterPlan:
        """Delete committed offsets (API key 47; of share groups 92)."""
        return self._calls.plan(resets.plan_delete_offsets, name, partitions)

    def plan_delete(self, names: Sequence[str]) -> ClusterPlan:
        """Delete groups with all their committed offsets (API key 42)."""
        return self._calls.plan(members.plan_delete, names)

    def plan_remove_members(
        self,
        name: str,
        *,
        member_ids: Sequence[str] = (),
        instances: Sequence[str] = (),
        reason: str = "",
    ) -> ClusterPlan:
        """Remove members by member ID or group.instance.id; without either, all members (API key
        13)."""
        return self._calls.plan(
            members.plan_remove, name, members=member_ids, instances=instances, reason=reason
        )
