"""What is wrong with the cluster now, the worst first: every check at once, each cheap.

A check that cannot be read is told as a note: what nobody could look at is not well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_shell.errors import ShellError, Status
from kafka_shell.nouns import (
    ConfigResource,
    Failure,
    Finding,
    Health,
    Partition,
    ResourceType,
    Severity,
    Topic,
)
from kafka_shell.nouns.partitions import TopicPartition

from . import configs, groups, log_dirs, move_progress, quorum, throttles_left, topics, transactions
from .connection import Cluster
from .scan import MetadataScan
from .together import together

_EXAMPLES = 3
_QUORUM_LAG_MS = 10_000  # a voter that has not caught up for so long is worth a line
_LOW, _FULL = 0.05, 0.01  # of a log dir's volume that is left
# Beyond these a check would take seconds: it is left to the command that looks closer.
_MANY_TOPICS, _MANY_PARTITIONS = 2_000, 5_000
_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
_NOT_READY = "NotReady"
_TRANSACTIONS = "__transaction_state"  # there is one as soon as somebody used a transaction

Found = Iterator[Finding]


@dataclass(frozen=True)
class _Check:
    """One check: what it reads, for a note where it cannot, and the command that looks closer."""

    name: str
    what: str
    look: str
    find: Callable[[Cluster, MetadataScan], Found]

    def run(self, cluster: Cluster, found: MetadataScan) -> list[Finding]:
        """Its findings. Raises ShellError where no broker can be reached or time is up."""
        try:
            return list(self.find(cluster, found))
        except ShellError as error:
            if error.status is Status.UNREACHABLE or error.code == "deadline":
                raise
            return [_unread(self, _reason(error))]


def health(cluster: Cluster) -> Health:
    """What is wrong with the cluster now, the worst first."""
    found = topics.scan(cluster)
    checks = [check for check in _CHECKS if cluster.is_kraft() or check.name != "quorum"]
    findings = [*_preferred(found), *_brokers(found)]
    for answer in together(cluster, [_bound(check, found) for check in checks]):
        if isinstance(answer, ShellError):
            raise answer
        findings += answer
    return Health(
        cluster_id=found.cluster_id,
        brokers=len(found.brokers),
        topics=len(found),
        partitions=found.partitions,
        findings=tuple(sorted(findings, key=lambda finding: finding.severity)),
    )


def _bound(check: _Check, found: MetadataScan) -> Callable[[Cluster], list[Finding]]:
    return lambda cluster: check.run(cluster, found)


def _unread(check: _Check, why: str, count: int = 1) -> Finding:
    summary = f"{check.what} could not be read: {why}"
    return Finding(Severity.NOTE, check.name, summary, count, (), check.look)


def _reason(why: ShellError | Failure) -> str:
    """In one line; the permission that is missing, where that is it, is in the hint."""
    return f"{why.message}. {why.hint}".rstrip(". ").replace("\n", " ")


def _partly(check: _Check, failures: Mapping[Any, Failure]) -> Found:
    """A note on what a check could not read, of which the rest is known."""
    if failures:
        about, why = next(iter(failures.items()))
        yield Finding(
            Severity.NOTE, check.name, f"{check.what} could not all be read: {_reason(why)}",
            len(failures), (str(about),), check.look,
        )  # fmt: skip


# -- partitions and brokers ------------------------------------------------------------------------


def _partitions(cluster: Cluster, found: MetadataScan) -> Found:
    suspects = [each for each in found.summaries() if each.under_replicated or each.offline]
    sick = [found.topic(summary.name) for summary in suspects]
    yield from _partition_findings(sick, _minimums(cluster, sick))


def _minimums(cluster: Cluster, sick: Sequence[Topic]) -> dict[str, int]:
    """min.insync.replicas of the topics that are not fully replicated."""
    if not sick:
        return {}
    resources = [ConfigResource(ResourceType.TOPIC, topic.name) for topic in sick]
    read = configs.describe(cluster, resources, ["min.insync.replicas"])
    return {r.name: int(entries[0].value or 1) for r, entries in read.values.items() if entries}


def _partition_findings(sick: Sequence[Topic], minimum: dict[str, int]) -> Iterator[Finding]:
    partitions = [partition for topic in sick for partition in topic.partitions]
    offline = [p for p in partitions if p.leader is None]
    # A broker asks for no more in-sync replicas than there are replicas.
    under_min = [
        p
        for p in partitions
        if p.leader is not None and len(p.isr) < min(minimum.get(p.topic, 1), len(p.replicas))
    ]
    under = [p for p in partitions if p.under_replicated]
    yield from _some(
        Severity.CRITICAL, "offline", offline, "without a leader: nobody can read or write them",
        "describe-topic --unavailable-partitions",
    )  # fmt: skip
    yield from _some(
        Severity.CRITICAL, "under-min-isr", under_min,
        "below min.insync.replicas: acks=all producers fail",
        "describe-topic --under-min-isr-partitions",
    )  # fmt: skip
    yield from _some(
        Severity.WARNING, "under-replicated", under, "with a replica that is not in sync",
        "describe-topic --under-replicated-partitions",
    )  # fmt: skip


def _some(
    severity: Severity, check: str, partitions: Sequence[Partition], what: str, look: str
) -> Iterator[Finding]:
    if partitions:
        places = [(partition.topic, partition.partition) for partition in partitions]
        summary = f"{_count(len(partitions), 'partition')} {what}"
        yield Finding(severity, check, summary, len(partitions), _examples(places), look)


def _examples(places: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(f"{topic}:{partition}" for topic, partition in places[:_EXAMPLES])


def _preferred(found: MetadataScan) -> Iterator[Finding]:
    """Leaders off their preferred replica: load is not where it was planned."""
    places = found.misplaced()
    if places:
        first = dict.fromkeys(topic for topic, _ in places[:_EXAMPLES])
        yield Finding(
            Severity.NOTE,
            "off-preferred",
            f"{_count(len(places), 'partition')} led by another than the preferred replica",
            len(places),
            _examples(places),
            f"describe-topic {' '.join(first)}",
        )


def _brokers(found: MetadataScan) -> Iterator[Finding]:
    """Brokers that hold replicas and are not there."""
    gone = sorted(found.replica_ids() - {broker.id for broker in found.brokers})
    if gone:
        yield Finding(
            Severity.CRITICAL,
            "brokers",
            "1 broker that holds replicas is gone"
            if len(gone) == 1
            else f"{len(gone):,} brokers that hold replicas are gone",
            len(gone),
            tuple(map(str, gone[:_EXAMPLES])),
            "cluster-metadata",
        )


# -- the rest --------------------------------------------------------------------------------------


def _quorum(cluster: Cluster, found: MetadataScan) -> Found:
    told = quorum.describe(cluster)
    if told.leader < 0:
        yield Finding(
            Severity.CRITICAL, "quorum", "the metadata quorum has no leader", 1, (), _QUORUM.look
        )
    behind = [replica for replica in told.voters if replica.behind_ms > _QUORUM_LAG_MS]
    if behind:
        yield Finding(
            Severity.WARNING,
            "quorum",
            f"{_count(len(behind), 'voter')} of the metadata quorum"
            f" {'is' if len(behind) == 1 else 'are'} behind",
            len(behind),
            tuple(str(replica.id) for replica in behind),
            _QUORUM.look,
        )


def _moves(cluster: Cluster, found: MetadataScan) -> Found:
    """What is being moved, and the throttles that outlived a move."""
    moving = move_progress.under_way(cluster).values
    if moving:
        yield Finding(
            Severity.NOTE, "moves", f"{_count(len(moving), 'partition')} being moved", len(moving),
            tuple(map(str, list(moving)[:_EXAMPLES])), _MOVES.look,
        )  # fmt: skip
    if len(found) > _MANY_TOPICS:
        yield _unread(_THROTTLES, f"{len(found):,} topics take a while")
        return
    try:
        left = throttles_left.find(cluster, list(moving.values()))
    except ShellError as error:
        yield _unread(_THROTTLES, _reason(error))
        return
    if left.values:
        yield Finding(
            Severity.WARNING, "throttles", "replication is throttled where no move needs it",
            len(left.values), tuple(map(str, list(left.values)[:_EXAMPLES])), _THROTTLES.look,
        )  # fmt: skip
    yield from _partly(_THROTTLES, left.failures)


def _log_dirs(cluster: Cluster, found: MetadataScan) -> Found:
    brokers = [broker.id for broker in found.brokers]
    told = log_dirs.describe(cluster, brokers, [])
    every = [each for dirs in told for each in dirs]
    offline = [f"{each.broker}:{each.path}" for each in every if each.error is not None]
    left = {
        f"{each.broker}:{each.path}": each.usable / each.total
        for each in every
        if each.usable is not None and each.total
    }
    full = [place for place, share in left.items() if share < _FULL]
    low = [place for place, share in left.items() if _FULL <= share < _LOW]
    for severity, places, what in (
        (Severity.CRITICAL, offline, "offline"),
        (Severity.CRITICAL, full, "full: less than 1% is left"),
        (Severity.WARNING, low, "nearly full: less than 5% is left"),
    ):
        if places:
            verb = "is" if len(places) == 1 else "are"
            yield Finding(
                severity, "log-dirs", f"{_count(len(places), 'log dir')} {verb} {what}",
                len(places), tuple(places[:_EXAMPLES]), _LOG_DIRS.look,
            )  # fmt: skip
    yield from _partly(
        _LOG_DIRS, {f"broker {broker}": why for broker, why in told.failures.items()}
    )


def _groups(cluster: Cluster, found: MetadataScan) -> Found:
    """Groups whose members consume nothing. One look cannot tell how long that has been so."""
    told = groups.list_groups(cluster, (*_REBALANCING, _NOT_READY))
    waiting = [group.name for group in told if group.state == _NOT_READY]
    rebalancing = [group.name for group in told if group.state in _REBALANCING]
    for severity, names, state, what in (
        (Severity.WARNING, waiting, (_NOT_READY,), "waiting for topics that are not there"),
        (Severity.NOTE, rebalancing, _REBALANCING, "rebalancing: stuck, if that lasts"),
    ):
        if names:
            states = " ".join(f"--state {each}" for each in state)
            yield Finding(
                severity, "groups", f"{_count(len(names), 'group')} {what}", len(names),
                tuple(names[:_EXAMPLES]), f"list-groups --long {states}",
            )  # fmt: skip
    yield from _partly(_GROUPS, told.failures)


def _hanging(cluster: Cluster, found: MetadataScan) -> Found:
    """Transactions that no coordinator will end, where transactions were ever used."""
    if _TRANSACTIONS not in found:
        return
    if found.partitions > _MANY_PARTITIONS:
        yield _unread(_HANGING, f"{found.partitions:,} partitions take a while")
        return
    led = [
        TopicPartition(name, partition.partition)
        for name in found.names
        for partition in found.topic(name).partitions
        if partition.leader is not None
    ]
    told = transactions.find_hanging(cluster, partitions=led)
    if told.found:
        places = tuple(str(each.topic_partition) for each in told.found[:_EXAMPLES])
        hang = "transaction hangs" if len(told.found) == 1 else "transactions hang"
        yield Finding(
            Severity.WARNING, "transactions",
            f"{len(told.found):,} {hang}: readers of committed records stop there",
            len(told.found), places, _HANGING.look,
        )  # fmt: skip
    unread = {f"{e.topic}:{e.partition}": Failure(e.error, e.message) for e in told.unread}
    yield from _partly(_HANGING, unread)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_PARTITIONS = _Check(
    "partitions", "min.insync.replicas", "describe-topic --under-min-isr-partitions", _partitions
)
_QUORUM = _Check("quorum", "the metadata quorum", "describe-quorum", _quorum)
_MOVES = _Check("moves", "moves of replicas (and their throttles)", "list-reassignments", _moves)
_THROTTLES = _Check("throttles", "throttles", "verify-reassign-partitions", _moves)
_LOG_DIRS = _Check("log-dirs", "log dirs", "describe-log-dirs", _log_dirs)
_GROUPS = _Check("groups", "groups", "list-groups --long", _groups)
_HANGING = _Check("transactions", "hanging transactions", "find-hanging-transactions", _hanging)
_CHECKS = (_PARTITIONS, _QUORUM, _MOVES, _LOG_DIRS, _GROUPS, _HANGING)
