"""The checks of `health`: each reads one thing, and says what is wrong with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import NOT_READY_STATES, REBALANCING_STATES
from kafka_shell.admin.partitions import log_dirs, throttles
from kafka_shell.admin.partitions import progress as move_progress
from kafka_shell.admin.partitions.model import LogDir, TopicPartition
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics.model import Partition, Topic
from kafka_shell.admin.transactions import read as transactions
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import Address
from kafka_shell.admin.wire.failures import AUTHORIZATION, as_failure
from kafka_shell.admin.wire.metadata_scan import MetadataScan
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure, Results

from . import probes, quorum
from .model import Finding, Quorum, QuorumReplica, Severity

EXAMPLES = 3
_QUORUM_LAG_MS = 10_000  # a voter that has not caught up for so long is worth a line
_HEARD_MS = 3_000  # a controller that fetched so recently is alive
_QUORUM_S = 2.5  # seconds for an answer of the active controller
_LOW, _FULL = 0.05, 0.01  # of a log dir's volume that is left
# Beyond these a check would take seconds: it is left to the command that looks closer.
_MANY_TOPICS, _MANY_PARTITIONS = 2_000, 5_000
_TRANSACTIONS = "__transaction_state"  # there is one as soon as somebody used a transaction
# Nothing came back at all. Else a controller answers, if only to refuse a client of brokers.
_NOT_REACHED = frozenset({"connect-timeout", "unknown-host", "unreachable"})
_NO_ANSWER = frozenset({"refused", "no-answer"})

Found = Iterator[Finding]


@dataclass(frozen=True)
class Seen:
    """What is known before the checks: the metadata, and the brokers that answer."""

    metadata: MetadataScan
    answering: frozenset[int]
    probe_timeout: float


@dataclass(frozen=True)
class Check:
    """One check: what it reads, and the finding that its failure is."""

    name: str
    what: str
    find: Callable[[Cluster, Seen], Found]
    if_failed: Callable[[Check, Failure], Finding]


def not_checked(check: Check, why: Failure | str, count: int = 1, about: str = "") -> Finding:
    """A check that could not run, or not for all it is about."""
    told = why if isinstance(why, str) else _reason(why)
    examples = (about,) if about else ()
    summary = f"not checked: {check.what}: {told}"
    return Finding(Severity.NOT_CHECKED, check.name, summary, count, examples)


def _skipped(check: Check, why: str) -> Finding:
    summary = f"skipped: {check.what}: {why}"
    return Finding(Severity.NOTE, check.name, summary, 1)


def _reason(why: Failure) -> str:
    """In one line; the permission that is missing, where that is it, is in the hint."""
    hint = why.hint if why.code in AUTHORIZATION else ""
    said = why.message.rstrip(". ")
    stop = "" if said.endswith('."') else "."  # a broker's own text may end with one
    return (f"{said}{stop} {hint}" if hint else said).rstrip(". ").replace("\n", " ")


def _partly(check: Check, failures: Mapping[Any, Failure]) -> Found:
    """What a check could not read, of which the rest is known."""
    if failures:
        about, why = next(iter(failures.items()))
        yield not_checked(check, why, len(failures), str(about))


# -- partitions and brokers ------------------------------------------------------------------------


def _partitions(cluster: Cluster, seen: Seen) -> Found:
    found = seen.metadata
    suspects = [each.name for each in found.summaries() if each.under_replicated or each.offline]
    sick = [found.topic(name) for name in suspects]
    partitions = [partition for topic in sick for partition in topic.partitions]
    yield from _some(
        Severity.CRITICAL, "offline", [p for p in partitions if p.leader is None],
        "without a leader: nobody can read or write them",
    )  # fmt: skip
    yield from _some(
        Severity.WARNING, "under-replicated", [p for p in partitions if p.under_replicated],
        "with a replica that is not in sync",
    )  # fmt: skip


def _min_isr(cluster: Cluster, seen: Seen) -> Found:
    """Partitions that acks=all producers cannot write to."""
    found = seen.metadata
    names = [each.name for each in found.summaries() if each.under_replicated or each.offline]
    capped = min_isr.is_capped(cluster)
    sick = frozenset(names)
    if len(found) <= _MANY_TOPICS:
        names = sorted(found.names)
    elif not capped:
        yield _skipped(_MIN_ISR, f"{len(found):,} topics take a while")
    read = min_isr.read(cluster, names)
    topics = [found.topic(name) for name in read.values]
    yield from _some(
        Severity.CRITICAL, "under-min-isr",
        [
            partition
            for topic in topics
            for partition in topic.partitions
            if partition.leader is not None
            and len(partition.isr)
            < min_isr.needed(partition, read.values[topic.name], capped=capped)
        ],
        "below min.insync.replicas: acks=all producers fail",
    )  # fmt: skip
    # Where a partition cannot need more than its replicas, one with all in sync needs no look.
    unread = {n: why for n, why in read.failures.items() if n in sick or not capped}
    yield from _partly(_MIN_ISR, {f"topic {name}": why for name, why in unread.items()})
    if capped:
        yield from _above_replicas(topics, read.values)


def _above_replicas(topics: Sequence[Topic], minimum: Mapping[str, int]) -> Found:
    above = [
        topic.name
        for topic in topics
        if any(len(each.replicas) < minimum[topic.name] for each in topic.partitions)
    ]
    if above:
        yield Finding(
            Severity.NOTE, "min-isr-above-replicas",
            f"{counted(len(above), 'topic')} with min.insync.replicas above the number of"
            " replicas: brokers require all replicas instead",
            len(above), tuple(above[:EXAMPLES]),
        )  # fmt: skip


def _some(
    severity: Severity, check: str, partitions: Sequence[Partition], what: str
) -> Iterator[Finding]:
    if partitions:
        places = [(partition.topic, partition.partition) for partition in partitions]
        summary = f"{counted(len(partitions), 'partition')} {what}"
        yield Finding(severity, check, summary, len(partitions), _examples(places))


def _examples(places: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(f"{topic}:{partition}" for topic, partition in places[:EXAMPLES])


def preferred(found: MetadataScan) -> Iterator[Finding]:
    """Leaders off their preferred replica: load is not where it was planned."""
    places = found.misplaced()
    if places:
        yield Finding(
            Severity.NOTE,
            "off-preferred",
            f"{counted(len(places), 'partition')} not led by"
            f" {'its' if len(places) == 1 else 'their'} preferred replica",
            len(places),
            _examples(places),
        )


def absent_brokers(found: MetadataScan) -> Iterator[Finding]:
    """Brokers that have replicas and are not there."""
    gone = sorted(found.replica_ids() - {broker.id for broker in found.brokers})
    if gone:
        yield Finding(
            Severity.CRITICAL,
            "brokers",
            "1 broker that holds replicas is gone"
            if len(gone) == 1
            else f"{len(gone):,} brokers that hold replicas are gone",
            len(gone),
            tuple(map(str, gone[:EXAMPLES])),
        )


# -- the rest --------------------------------------------------------------------------------------


def _quorum(cluster: Cluster, seen: Seen) -> Found:
    with cluster.within(_QUORUM_S):
        told = quorum.describe(cluster)
    if told.leader < 0:
        yield _no_leader(_QUORUM, "it has no leader")
        return
    yield from _controllers(cluster, seen, told)
    behind = [replica for replica in told.voters if replica.behind_ms > _QUORUM_LAG_MS]
    if behind:
        yield Finding(
            Severity.WARNING,
            "quorum",
            f"{counted(len(behind), 'voter')} of the metadata quorum"
            f" {'is' if len(behind) == 1 else 'are'} behind",
            len(behind),
            tuple(str(replica.id) for replica in behind),
        )


def _controllers(cluster: Cluster, seen: Seen, told: Quorum) -> Found:
    """Voters that do not answer. One that this machine cannot reach is alive all the same where the
    leader hears of it: controllers are often in a network of their own."""
    at = {
        voter.id: Address(voter.endpoints[0].host, voter.endpoints[0].port)
        for voter in told.voters
        if voter.endpoints
    }
    failed = probes.probe_controllers(cluster.config, at, _left(cluster, seen)).failures
    now = max(replica.last_fetch for replica in told.voters)
    heard = {each.id for each in told.voters if _is_heard(each, now)}
    silent = {
        id: why
        for id, why in failed.items()
        if why.name in _NO_ANSWER or (why.name in _NOT_REACHED and id not in heard)
    }
    far = [id for id, why in failed.items() if why.name in _NOT_REACHED and id in heard]
    if silent:
        one = len(silent) == 1
        ids = ", ".join(map(str, list(silent)[:EXAMPLES]))
        yield Finding(
            Severity.CRITICAL, "controllers",
            f"controller {ids} does not answer: {next(iter(silent.values())).message}"
            if one else f"{len(silent):,} controllers do not answer: {ids}",
            len(silent), tuple(map(str, list(silent)[:EXAMPLES])),
        )  # fmt: skip
    if far:
        yield Finding(
            Severity.NOTE, "controllers",
            f"{counted(len(far), 'controller')} cannot be reached from here; the quorum's leader"
            " hears from them",
            len(far), tuple(map(str, far[:EXAMPLES])),
        )  # fmt: skip


def _left(cluster: Cluster, seen: Seen) -> float:
    """Seconds that a probe may still take."""
    left = seen.probe_timeout
    if cluster.deadline is not None:
        left = min(left, cluster.deadline - time.monotonic())
    return max(0.1, left)


def _is_heard(replica: QuorumReplica, now: int) -> bool:
    return replica.role == "leader" or now - replica.last_fetch < _HEARD_MS


def _no_leader(check: Check, why: str) -> Finding:
    return Finding(
        Severity.CRITICAL, check.name,
        f"the metadata quorum cannot be asked: {why}. Metadata may be stale: leaders, in-sync"
        " replicas and brokers may have changed since",
        1,
    )  # fmt: skip


def _quorum_failed(check: Check, why: Failure) -> Finding:
    """No answer is worse than not being allowed to ask."""
    if why.code in AUTHORIZATION or why.name.startswith("unsupported"):
        return not_checked(check, why)
    return _no_leader(check, _reason(why))


def _moves(cluster: Cluster, seen: Seen) -> Found:
    """What is being moved, and the throttles that outlived a move."""
    moving = move_progress.under_way(cluster).values
    if moving:
        yield Finding(
            Severity.NOTE, "moves", f"{counted(len(moving), 'partition')} being moved", len(moving),
            tuple(map(str, list(moving)[:EXAMPLES])),
        )  # fmt: skip
    if len(seen.metadata) > _MANY_TOPICS:
        yield _skipped(_THROTTLES, f"{len(seen.metadata):,} topics take a while")
        return
    try:
        left, not_read = throttles.left_behind(cluster, moving)
    except ShellError as error:
        yield not_checked(_THROTTLES, as_failure(error))
        return
    if left:
        about = list(dict.fromkeys(str(row.resource) for row in left))
        yield Finding(
            Severity.WARNING, "throttles",
            "replication throttles left behind that no partition reassignment needs",
            len(about), tuple(about[:EXAMPLES]),
        )  # fmt: skip
    yield from _partly(_THROTTLES, not_read)


def _log_dirs(cluster: Cluster, seen: Seen) -> Found:
    known = seen.metadata
    # Of a cluster that shows no topics the replicas on disk tell whether it has none.
    told = log_dirs.describe(cluster, sorted(seen.answering), [] if len(known) else None)
    yield from _hidden(seen, told)
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
                severity, "log-dirs", f"{counted(len(places), 'log dir')} {verb} {what}",
                len(places), tuple(places[:EXAMPLES]),
            )  # fmt: skip
    yield from _partly(
        _LOG_DIRS, {f"broker {broker}": why for broker, why in told.failures.items()}
    )


def _hidden(seen: Seen, told: Results[int, tuple[LogDir, ...]]) -> Found:
    """Topics and groups that a login may not describe are left out of every answer in silence."""
    topics = seen.metadata
    denied = any(why.code in AUTHORIZATION for why in told.failures.values())
    unseen = not len(topics) and any(each.replicas for dirs in told for each in dirs)
    if denied or unseen:
        yield Finding(
            Severity.NOT_CHECKED, "permissions",
            "not checked: topics and groups that this login may not describe: it sees"
            f" {counted(len(topics), 'topic')}",
            1,
        )  # fmt: skip


def _groups(cluster: Cluster, seen: Seen) -> Found:
    """Groups whose members consume nothing. One look cannot tell how long that has been so."""
    told = groups.list_groups(cluster, (*REBALANCING_STATES, *NOT_READY_STATES))
    for severity, states, what in (
        (Severity.WARNING, NOT_READY_STATES, "waiting for topics that do not exist"),
        (Severity.NOTE, REBALANCING_STATES, "rebalancing: stuck, if that lasts"),
    ):
        if names := [group.name for group in told if group.state in states]:
            yield Finding(
                severity, "groups", f"{counted(len(names), 'group')} {what}", len(names),
                tuple(names[:EXAMPLES]),
            )  # fmt: skip
    yield from _partly(_GROUPS, told.failures)


def _hanging(cluster: Cluster, seen: Seen) -> Found:
    """Transactions that no coordinator will end, where transactions were ever used."""
    found = seen.metadata
    if _TRANSACTIONS not in found:
        return
    if found.partitions > _MANY_PARTITIONS:
        yield _skipped(_HANGING, f"{found.partitions:,} partitions take a while")
        return
    led = [
        TopicPartition(name, partition.partition)
        for name in found.names
        for partition in found.topic(name).partitions
        if partition.leader in seen.answering
    ]
    told = transactions.find_hanging(cluster, partitions=led)
    if told.found:
        places = tuple(str(each.topic_partition) for each in told.found[:EXAMPLES])
        hang = "transaction hangs" if len(told.found) == 1 else "transactions hang"
        yield Finding(
            Severity.WARNING, "transactions",
            f"{len(told.found):,} {hang}: readers of committed records stop there",
            len(told.found), places,
        )  # fmt: skip
    unread = {
        f"{each.topic}:{each.partition}": Failure(
            each.error, each.message, hint=each.hint, see=each.see
        )
        for each in told.unread
    }
    yield from _partly(_HANGING, unread)


def counted(number: int, noun: str) -> str:
    """`1 partition`, `2 partitions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_PARTITIONS = Check("partitions", "partitions", _partitions, not_checked)
_MIN_ISR = Check(
    "under-min-isr", "min.insync.replicas", _min_isr, not_checked
)  # fmt: skip
_QUORUM = Check("quorum", "the metadata quorum", _quorum, _quorum_failed)
_MOVES = Check("moves", "partition reassignments", _moves, not_checked)
_THROTTLES = Check("throttles", "replication throttles", _moves, not_checked)
_LOG_DIRS = Check("log-dirs", "log directories", _log_dirs, not_checked)
_GROUPS = Check("groups", "groups", _groups, not_checked)
_HANGING = Check("transactions", "hanging transactions", _hanging, not_checked)
CHECKS = (_PARTITIONS, _MIN_ISR, _QUORUM, _MOVES, _LOG_DIRS, _GROUPS, _HANGING)
