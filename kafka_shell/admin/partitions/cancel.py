"""Plans that cancel reassignments (KIP-455; API key 45)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kafka_shell.admin.partitions import log_dir_moves
from kafka_shell.admin.partitions.log_dir_targets import Dirs, plan_revert
from kafka_shell.admin.partitions.model import Assignment, Move, TopicPartition
from kafka_shell.admin.partitions.progress import spell, under_way
from kafka_shell.admin.partitions.reassignment import cancelling, not_changed
from kafka_shell.admin.partitions.reassignment_files import MovePaths, read_moves
from kafka_shell.admin.partitions.throttle_configs import ThrottleRecord
from kafka_shell.admin.partitions.throttles import on_down_brokers
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.common.units import counted
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Effect, Plan
from kafka_shell.plan.results import Results


def plan_cancel(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    before: Assignment | None = None,
    dirs: Dirs | None = None,
    record: ThrottleRecord | None = None,
    target: Assignment | None = None,
) -> Plan:
    """Cancel the reassignments of these partitions, and remove their throttle in the `record`.

    Copies to `dirs` within a broker are cancelled too. Copied replicas are deleted. Controllers do
    not remember the order of the previous replicas: `before`, if known, restores the preferred
    leader as well. If the `target` is known, reassignments to other brokers are not cancelled.
    """
    moving = under_way(cluster).values
    dir_moves, failures = plan_revert(cluster, dirs or {})
    in_dirs = {*failures, *(move.partition for move in dir_moves)}
    moves, ended, unchanged, unknown = [], [], [], 0
    retargeted: list[str] = []
    for each in dict.fromkeys(partitions):
        if each not in moving:
            ended.append(each)
            if each not in in_dirs:
                unchanged.append(not_changed(each.resource, (), "not being reassigned"))
            continue
        after = moving[each].after
        if target and set(target.get(each, after)) != set(after):
            note = "another client is reassigning it to these replicas"
            unchanged.append(not_changed(each.resource, after, note))
            continue
        back = (before or {}).get(each, ())
        returns = moving[each].before
        known = set(back) == set(returns)
        if len(back) not in (0, len(returns)):
            retargeted.append(
                f"the target of partition {each} was changed during its reassignment: it will have"
                f" replicas {spell(returns)}, not {spell(back)} as before"
            )
        unknown += not known and len(returns) > 1
        moves.append(Move(each, moving[each].after, back if known else returns))
        ended.append(each)
    record = record or ThrottleRecord()
    steps = cancelling(cluster, moves, ended, moving, record)
    rest = {each: moving[each] for each in moving.keys() - {move.partition for move in moves}}
    down = on_down_brokers(cluster, rest, record.read())
    steps += [log_dir_moves.AlterReplicaLogDirs(dir_moves)] if dir_moves else []
    return Plan(
        Effect.CHANGE,
        tuple(steps),
        touches=frozenset({"topics"}),
        refused=Results({}, {each.resource: failure for each, failure in failures.items()}),
        unchanged=tuple(unchanged),
        warnings=(
            *_order_unknown(unknown),
            *retargeted,
            *(
                f"{broker} is down: its throttle remains set until the broker is up again"
                for broker in dict.fromkeys(str(row.resource) for row in down)
            ),
        ),
    )


def recorded_before(cluster: Cluster, folder: Path) -> Assignment:
    """The previous replicas, in their order, of the reassignments in progress on this cluster that
    were started with files in this folder."""
    moving, found = under_way(cluster).values, dict[TopicPartition, tuple[int, ...]]()
    for paths in MovePaths.newest(folder):
        if len(found) == len(moving):
            break
        try:
            file = read_moves(str(paths.move))
        except ShellError:  # an unreadable file is ignored
            continue
        if file.cluster != cluster.cluster_id:
            continue
        for each, before in file.before.items():
            if each in moving and set(file.target.get(each, ())) == set(moving[each].after):
                found.setdefault(each, before)
    return found


def _order_unknown(partitions: int) -> Sequence[str]:
    if not partitions:
        return ()
    whose = "its preferred leader" if partitions == 1 else "their preferred leaders"
    return (
        f"the previous order of the replicas of {counted(partitions, 'partition')} is not known:"
        f" {whose} may change",
    )
