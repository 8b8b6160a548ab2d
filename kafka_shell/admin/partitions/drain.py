"""Moving all replicas off a broker, as often as it takes: what is already moving is followed."""

from __future__ import annotations

from msgspec import Struct

from kafka_shell.admin.partitions import targets as move_targets
from kafka_shell.admin.partitions.current_assignment import CurrentAssignment, current_assignment
from kafka_shell.admin.partitions.disks import Disks
from kafka_shell.admin.partitions.model import Assignment, TopicPartition
from kafka_shell.admin.partitions.progress import under_way
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.admin.partitions.targets import Targets
from kafka_shell.admin.partitions.throttle_configs import ThrottleRecord, rates_of
from kafka_shell.admin.partitions.throttle_steps import RemoveThrottle
from kafka_shell.admin.partitions.throttles import left_behind
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import MetadataScan, scan
from kafka_shell.admin.wire.propagation import wait_until_visible
from kafka_shell.plan.model import Effect, Plan


class Drain(Struct, frozen=True):
    """How a broker can be drained: the current assignment, the disks, and the target replicas of
    what is not yet moving off the broker."""

    broker: int
    now: CurrentAssignment
    disks: Disks
    targets: Targets

    @property
    def leaving(self) -> dict[TopicPartition, tuple[int, ...]]:
        """The partitions that are being moved off the broker, and their target replicas."""
        return {
            each: move.after
            for each, move in self.now.moving.items()
            if self.broker in move.removing
        }

    @property
    def wanted(self) -> Assignment:
        """The target replicas of all partitions that leave the broker, moving or not yet."""
        return {**self.targets.replicas, **self.leaving}

    @property
    def busy(self) -> list[TopicPartition]:
        """The partitions that are being reassigned and get or keep a replica on the broker."""
        return [each for each, move in self.now.moving.items() if self.broker in move.after]

    @property
    def held(self) -> list[TopicPartition]:
        """The partitions with a replica on the broker, those being moved off it included."""
        return _held(self.now.found, self.broker)


def _held(found: MetadataScan, broker: int) -> list[TopicPartition]:
    return [
        TopicPartition(name, each.partition)
        for name in found.names
        for each in found.topic(name).partitions
        if broker in each.replicas
    ]


def read_drain(cluster: Cluster, broker: int) -> Drain:
    """Plan where the replicas of a broker go. Raises ShellError if no other broker is running."""
    now = current_assignment(cluster)
    disks = move_targets.read_disks(cluster, now)
    return Drain(broker, now, disks, move_targets.drained(now, disks, broker))


def plan_drain(cluster: Cluster, broker: int, *, throttle: int | None = None) -> Plan:
    """Move all replicas off a broker (API key 45), and follow those that are already moving off it.

    `throttle` is in bytes per second, and is set for reassignments in progress as well. A topic
    that fits nowhere else is refused.
    """
    drain = read_drain(cluster, broker)
    plan = plan_move(
        cluster, drain.wanted, throttle=throttle, additional=True, now=drain.now,
        sizes=drain.disks.sizes,
    )  # fmt: skip
    return drain.targets.explaining(plan)


def wait_until_drained(cluster: Cluster, broker: int) -> None:
    """Wait a moment until brokers show the end of the reassignments, too."""
    wait_until_visible(lambda: not _held(scan(cluster), broker))


def plan_remove_throttle(
    cluster: Cluster, broker: int, record: ThrottleRecord | None = None
) -> Plan:
    """Remove what an interrupted drain left of its throttle: what is in the `record`, and lists
    with replicas of the broker. Reassignments in progress keep theirs."""
    record = record or ThrottleRecord()
    known = record.read()
    rows, _ = left_behind(cluster, under_way(cluster).values, known)
    lists = [row for row in rows if any(each.endswith(f":{broker}") for each in row.entries)]
    ours = known.keys() | {row.config for row in lists} | rates_of(lists)
    rows = tuple(row for row in rows if row.config in ours)
    return Plan(Effect.CHANGE, (RemoveThrottle(rows, record),) if rows else ())
