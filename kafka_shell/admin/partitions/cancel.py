"""Plans that cancel reassignments (KIP-455; API key 45)."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.model import Effect, Plan
from kafka_shell.plan.results import Results

from . import log_dir_moves
from .log_dir_targets import Dirs, plan_revert
from .model import Assignment, Move, TopicPartition
from .progress import under_way
from .reassignment import cancelling, not_changed
from .throttle_configs import ThrottleRecord
from .throttles import on_down_brokers


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
    moves, ended, unchanged = [], [], []
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
        known = set(back) == set(moving[each].before)
        moves.append(Move(each, moving[each].after, back if known else moving[each].before))
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
        warnings=tuple(
            f"{broker} is down: its throttle remains set until the broker is up again"
            for broker in dict.fromkeys(str(row.resource) for row in down)
        ),
    )
