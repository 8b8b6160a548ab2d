"""Replication throttles of partition reassignments (KIP-73): set, remove, find leftover ones.

A throttle consists of two kinds of dynamic configs: the rates at which each broker sends and
receives, and per topic the list of replicas that the rates apply to, as entries `partition:broker`.

Setting a throttle adds missing entries to the lists and sets the rates. Before that, the entries
and rates are recorded, each rate with the value it replaces. If the rate is recorded already, its
recorded previous value is kept. Removing a throttle follows three rules:

1. The added entries are removed once their partitions are not being reassigned.
2. A rate is restored to its previous value, unless the list of a partition that is still being
   reassigned has an entry for the broker: the end of that reassignment restores it.
3. Configs that were not set here are not changed. A rate counts as set here while it has the
   recorded value, or while an entry that was added for its broker is still listed.

A throttle that is not recorded (set by another tool or machine) is a leftover if it lists
partitions that are not being reassigned. These entries are removed, and the rates of their brokers
by rule 2; the previous rates are unknown. Entries of a broker that is down are kept, so that its
rates are found when it is back. `*`, all replicas of a topic, is never a leftover, and while
a topic has it, nor are rates that are not recorded.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence

from kafka_shell.admin.cluster.registrations import not_running, registered
from kafka_shell.admin.configs.model import ConfigResource
from kafka_shell.admin.configs.read import Entries
from kafka_shell.admin.partitions.model import Move, TopicPartition
from kafka_shell.admin.partitions.throttle_configs import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    RATE_OF,
    RATES,
    Config,
    Moving,
    Record,
    ThrottleConfigs,
    Throttled,
    broker_config,
    entries_of,
    rates_of,
    topic_config,
)
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Resource
from kafka_shell.plan.results import Failure

_NOTICED_S, _PAUSE_S = 15.0, 0.5  # until a cluster has noticed that a broker has died
_LEFT_S = 3.0  # of the deadline: too little to wait for that

# -- plan ------------------------------------------------------------------------------------------


def plan_throttle(
    cluster: Cluster,
    moves: Sequence[Move],
    rate: int | None,
    record: Record,
    partitions: Collection[TopicPartition],
) -> tuple[Throttled, ...]:
    """The configs that throttle these moves at `rate` bytes per second, and those recorded for
    `partitions` already. Raises ShellError if those of a broker or topic cannot be read."""
    if rate is None and not record:
        return ()
    target, configs = _read(cluster, moves if rate is not None else (), record)
    for resource in (each for each, _ in target if each in configs.failures):
        failure = configs.failures[resource]
        why = failure.message if failure.code is None else failure
        raise ShellError(
            f"the replication throttle of {resource} cannot be read: {why}",
            hint=failure.hint or f"Nothing was sent. Check {resource}: it does not respond.",
            code=failure.name,
            see=failure.see,
        )
    values, still = configs.values, configs.still_set(record)
    earlier = {c: row.only(partitions.__contains__) for c, row in still.items() if c in values}
    rates = rates_of(earlier.values()) & still.keys() & values.keys()
    rows = earlier | {config: replace(still[config], value=values[config]) for config in rates}
    for config, entries in target.items():
        value = values.get(config)
        if config[1] in RATES:
            replaced = still[config].replaced if config in still else value
            rows[config] = Throttled(*config, str(rate), replaced)
        elif "*" not in (listed := entries_of(value)):
            own = earlier[config].entries if config in earlier else {}
            added = (entry for entry in entries if entry not in listed)
            rows[config] = Throttled(*config, ",".join([*own, *added]))
    return tuple(replace(row, now=values.get(row.config)) for row in rows.values() if row.value)


def _read(
    cluster: Cluster, moves: Sequence[Move], record: Record
) -> tuple[dict[Config, list[str]], ThrottleConfigs]:
    """The configs to set, and those of the same resources and of the record.

    The cluster notices after some seconds that a broker has died. It needs no throttle then, so one
    that does not respond is waited for.
    """
    until = time.monotonic() + _NOTICED_S
    if cluster.deadline is not None:
        until = min(until, cluster.deadline - _LEFT_S)
    while True:
        target = _target(cluster, moves)
        configs = ThrottleConfigs.read(cluster, [each for each, _ in (*target, *record)])
        silent = {each for each, why in configs.failures.items() if why.code is None}
        silent &= {each for each, key in target if key in RATES}
        if not silent:
            return target, configs
        late = time.monotonic() > until
        running = {broker_config(broker.id) for broker in cluster.brokers(refresh=True)}
        if late and silent <= running:
            return target, configs
        time.sleep(_PAUSE_S)


def _target(cluster: Cluster, moves: Sequence[Move]) -> dict[Config, list[str]]:
    """The lists with the entries to add, and the rates to set (without entries), of the moves that
    copy something. Each previous replica may be the leader; only running brokers can be
    configured."""
    running = {broker.id for broker in cluster.brokers(refresh=True)}
    target: dict[Config, list[str]] = {}
    for move in (move for move in moves if move.adding):
        topic, number = topic_config(move.partition.topic), move.partition.partition
        for key, brokers in ((LEADER_REPLICAS, move.before), (FOLLOWER_REPLICAS, move.adding)):
            target.setdefault((topic, key), []).extend(f"{number}:{id}" for id in brokers)
            target |= {(broker_config(id), RATE_OF[key]): [] for id in brokers if id in running}
    return target


def left_behind(
    cluster: Cluster,
    moving: Moving,
    record: Record | None = None,
    topics: Collection[str] | None = None,
    cancelled: Collection[TopicPartition] = (),
    known: Entries | None = None,
) -> tuple[tuple[Throttled, ...], dict[Resource, Failure]]:
    """The throttles that no reassignment in progress needs (all, or those of `topics`, or those of
    `cancelled` partitions), and failures of resources that were not read. `known` configs are not
    read again."""
    names = {each.topic for each in cancelled} if cancelled else topics
    record = record or {}
    own = {
        config: row for config, row in record.items()
        if names is None or row.key in RATES or row.resource.name in names
    }  # fmt: skip
    requested = {
        topic_config(name): None for name in (scan(cluster).names if names is None else names)
    }
    running = [broker_config(broker.id) for broker in cluster.brokers(refresh=True)]
    configs = ThrottleConfigs.read(
        cluster, [*running, *(each for each, _ in own), *requested], moving, known
    )
    own, used = configs.still_set(own), configs.in_use(moving)
    recorded = {resource for resource, _ in own}
    own_lists = [row.only(lambda each: each not in moving) for row in own.values()]
    other_lists = [
        row.only(lambda each: each not in moving and (not cancelled or each in cancelled))
        for row in configs.rows
        if row.resource in requested and row.resource not in recorded
    ]
    down = _down(cluster, other_lists, running)
    other_lists = [row.without_brokers(down) for row in other_lists]
    # Kafka's tool sets both rates of a broker to the same value.
    listed = {(config[0], configs.values.get(config)) for config in rates_of(other_lists)}
    rates = [row for row in configs.rows if row.key in RATES and row.config not in used]
    own_rates = [
        replace(row, replaced=own[row.config].replaced) for row in rates if row.config in own
    ]
    # A rate may be meant for a topic of which all replicas are throttled.
    other_rates = [] if configs.throttles_all else [
        row for row in rates if (row.resource, row.value) in listed and row.config not in record
    ]  # fmt: skip
    every = (*own_rates, *other_rates, *own_lists, *other_lists)
    rows = {row.config: row for row in every if row.value}
    found = [replace(rows[r.config], now=r.now) for r in configs.rows if r.config in rows]
    found += _unreadable(own, own_lists, configs, used, running)
    not_read = {Resource(each.kind, each.name): why for each, why in configs.failures.items()}
    not_read |= {
        Resource("broker", str(id)): Failure("not-running", f"broker {id} is not running")
        for id in sorted(down)
    }
    return tuple(row for row in found if row.now != row.when_removed), not_read


def _unreadable(
    own: Record,
    lists: Sequence[Throttled],
    configs: ThrottleConfigs,
    used: Collection[Config],
    running: Collection[ConfigResource],
) -> list[Throttled]:
    """The recorded configs that no reassignment needs and that could not be read: they count as
    still set. Not those of brokers that are down (see `on_down_brokers`)."""
    rates = (
        row
        for config, row in own.items()
        if row.key in RATES and row.resource in running and config not in used
    )
    return [
        replace(row, now=row.value)
        for row in (*lists, *rates)
        if row.value and row.resource in configs.failures
    ]


def of_no_move(rows: Iterable[Throttled], moving: Moving) -> tuple[Throttled, ...]:
    """The rows of topics and brokers that take part in no reassignment. What the complete part of
    a reassignment leaves is removed at its end."""
    topics = {each.topic for each in moving}
    brokers = {str(id) for each in moving.values() for id in each.replicas}
    return tuple(
        row for row in rows if row.resource.name not in (brokers if row.key in RATES else topics)
    )


def _down(
    cluster: Cluster, lists: Sequence[Throttled], running: Collection[ConfigResource]
) -> frozenset[int]:
    """The brokers in these lists that are not running, but may come back with their rates."""
    absent = {int(broker.name) for broker, _ in rates_of(lists) if broker not in running}
    return not_running(cluster) & absent if absent else frozenset()


def on_down_brokers(cluster: Cluster, moving: Moving, record: Record) -> list[Throttled]:
    """The recorded rates of brokers that are down, and that no reassignment in progress needs. They
    can only be removed when the brokers are back. Brokers that are not registered are gone."""
    rates = [row for row in record.values() if row.key in RATES]
    running = {broker.id for broker in cluster.brokers(refresh=True)} if rates else set()
    needed = {broker for each in moving.values() for broker in each.replicas}
    down = [row for row in rates if int(row.resource.name) not in running | needed]
    if not down:
        return []
    known = registered(cluster)
    return [row for row in down if known is None or int(row.resource.name) in known]
