"""`admin.partitions`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kafka_shell.admin.calls import ClusterPlan, Family
from kafka_shell.admin.partitions import elections, log_dir_moves, log_dirs, progress, reassignment
from kafka_shell.admin.partitions import targets as drain
from kafka_shell.admin.partitions.batches import BatchLimits
from kafka_shell.admin.partitions.model import LogDir, Reassignment, TopicPartition
from kafka_shell.admin.partitions.planner.plan import Scope
from kafka_shell.admin.partitions.planner.problem import MIN_GAIN, PlanLimits
from kafka_shell.admin.partitions.targets import Brokers
from kafka_shell.admin.topics import partitions
from kafka_shell.base.plans import Plan
from kafka_shell.base.results import Results
from kafka_shell.wire.connection import Cluster


class PartitionsApi(Family):
    """Replicas: reassignments, leader elections, log directories (KIP-113, 183, 455, 460).

    Example:

        admin.topics.plan_create([NewTopic("example.partitions", partitions=1)]).apply()
        partition = TopicPartition("example.partitions", 0)
        (broker,) = [each.id for each in admin.cluster.metadata().brokers]

        plan = admin.partitions.plan_reassign({partition: (broker,)})
        assert not plan.changes and len(plan.unchanged) == 1
        assert not admin.partitions.reassignments().values
        assert admin.partitions.log_dirs()[broker][0].replicas

        limits = BatchLimits(partitions=100, per_broker=5)  # moved at a time
        plan = admin.partitions.plan_rebalance(["example.partitions"], batches=limits)
        assert not plan.changes  # one broker is always in balance
        assert all(score.before == score.after for score in plan.figures)
    """

    def reassignments(
        self, topics: Sequence[str] | None = None
    ) -> Results[TopicPartition, Reassignment]:
        """The reassignments in progress, of these topics or of all (API key 46)."""
        return self._calls.call(progress.under_way, topics)

    def log_dirs(
        self,
        brokers: Sequence[int] | None = None,
        partitions: Sequence[TopicPartition] | None = None,
    ) -> Results[int, tuple[LogDir, ...]]:
        """The log directories of these brokers with the replicas in them (API key 35)."""
        return self._calls.call(log_dirs.describe, brokers, partitions)

    def plan_reassign(
        self,
        replicas: Mapping[TopicPartition, tuple[int, ...]],
        *,
        throttle: int | None = None,
        batches: BatchLimits | None = None,
    ) -> ClusterPlan:
        """Move partitions to these replicas, the preferred leader first (API key 45). `throttle` is
        a rate in bytes per second (KIP-73); it is removed when the reassignment has ended. `apply`
        waits for that.

        With `batches`, no more than that is moved at a time. The next batch starts when the last
        one is in sync and the cluster is healthy; if it is not within a minute, `apply` raises
        UnexpectedEnd (code `paused`), and what is left can be planned again.
        """

        return self._calls.plan(
            reassignment.plan_move, replicas, throttle=throttle, batches=batches
        )

    def plan_rebalance(
        self,
        topics: Sequence[str] | None = None,
        *,
        brokers: Collection[int] = (),
        exclude_brokers: Collection[int] = (),
        include_cordoned: bool = False,
        only_leaders: bool = False,
        only_racks: bool = False,
        max_bytes: int | None = None,
        max_partitions: int | None = None,
        min_gain: float = MIN_GAIN,
        measure: float | None = None,
        throttle: int | None = None,
        batches: BatchLimits | None = None,
    ) -> ClusterPlan:
        """Balance these topics (None: all) between `brokers` (empty: all that can receive
        replicas; with `include_cordoned` also those that are named), but not `exclude_brokers`.

        `only_leaders` only changes the order of replicas, `only_racks` only spreads them over
        racks. At most `max_bytes` are copied and `max_partitions` changed. A goal must gain
        `min_gain` of its score to copy data. `measure` is the number of seconds to measure writes,
        by which leaders are then balanced. `throttle` and `batches` are as in plan_reassign. The
        `figures` of the plan are the load of brokers and topics and the score of each goal, before
        and after.
        """
        limited = max_bytes is not None or max_partitions is not None

        def plan(cluster: Cluster) -> Plan:
            return drain.plan_rebalance(
                cluster,
                topics,
                Brokers(frozenset(brokers), frozenset(exclude_brokers), include_cordoned),
                scope=Scope.LEADERS if only_leaders else Scope.RACKS if only_racks else Scope.ALL,
                limits=PlanLimits(max_bytes, max_partitions) if limited else None,
                min_gain=min_gain,
                measure=measure,
                throttle=throttle,
                batches=batches,
            )

        return self._calls.plan(plan)

    def plan_drain(
        self, broker: int, *, throttle: int | None = None, batches: BatchLimits | None = None
    ) -> ClusterPlan:
        """Move all replicas off a broker, those that are already moving included (API key 45).
        `throttle` and `batches` are as in plan_reassign; `apply` waits for the end."""

        return self._calls.plan(drain.plan_drain, broker, throttle=throttle, batches=batches)

    def plan_cancel(self, partitions: Sequence[TopicPartition]) -> ClusterPlan:
        """Cancel reassignments in progress (API key 45)."""
        return self._calls.plan(reassignment.plan_cancel, partitions)

    def plan_elect(
        self, chosen: Sequence[TopicPartition] | None = None, *, unclean: bool = False
    ) -> ClusterPlan:
        """Elect the preferred leader of these partitions, or of all that are not led by it; with
        `unclean` any running replica, which can lose records (API key 43)."""

        def plan(cluster: Cluster) -> Plan:
            if chosen is None:
                found = elections.leaderless(cluster) if unclean else elections.misplaced(cluster)
            else:
                found = partitions.find(cluster, chosen).keyed(lambda each: each.resource)
            return elections.plan_unclean(found) if unclean else elections.plan_preferred(found)

        return self._calls.plan(plan)

    def plan_move_log_dir(
        self, replicas: Sequence[tuple[int, TopicPartition]], path: str
    ) -> ClusterPlan:
        """Move replicas, each a broker and a partition, to another log directory of their broker
        (API key 34)."""
        return self._calls.plan(log_dir_moves.plan_move, replicas, path)
