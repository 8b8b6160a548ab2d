"""What is wrong with the cluster now, the worst first.

First all brokers are probed, then all checks run at once, each with its own timeout and
connections, so that one that hangs does not delay the others. A check that could not run is a
finding, too.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from msgspec import Struct

from kafka_shell.admin.activity.model import Sample
from kafka_shell.admin.activity.sample import (
    GROUP_WINDOW_S,
    sample_before,
    sample_groups,
    stuck_partitions,
)
from kafka_shell.admin.cluster import probes, quorum
from kafka_shell.admin.cluster.model import (
    BROKERS,
    CAUSE_OF_CHECK,
    FRESH_MS,
    QUORUM,
    Finding,
    Health,
    Quorum,
    QuorumReplica,
    Severity,
    cause_of,
)
from kafka_shell.admin.cluster.probes import ClusterProbe, probe_cluster
from kafka_shell.admin.cluster.registrations import registered_brokers
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import NOT_READY_STATES, REBALANCING_STATES
from kafka_shell.admin.partitions import log_dirs, throttles
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import LogDir, TopicPartition
from kafka_shell.admin.partitions.throttles import RATE_OF, Record
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics.visibility import HIDDEN, hidden
from kafka_shell.admin.transactions import read as transactions
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Report
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import named
from kafka_shell.base.units import counted, some
from kafka_shell.base.waits import CONTROLLER_S, GRACE_S, PROBE_S, SETTLE_S
from kafka_shell.wire import cluster as parallel
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.endpoint import Address
from kafka_shell.wire.failures import AUTHORIZATION, in_one_line
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Partition, Topic

# The checks of `health`: each reads one kind of resource, and yields what is wrong.

EXAMPLES = 3
_LOW, _FULL = 0.05, 0.01  # free share of the volume of a log directory
_TRANSACTIONS = "__transaction_state"  # created by the first transaction
# Failures without any response. With others a controller responds, if only to refuse a client.
_NOT_REACHED = frozenset({"connect-timeout", "unknown-host", "unreachable"})
_NO_ANSWER = frozenset({"refused", "no-answer"})
_NO_CONTROLLER = "no-controller"

Found = Iterator[Finding]


class CheckInput(Struct, frozen=True):
    """What is read before the checks. `recorded` returns the replication throttles that were set
    from here. `kept` are the groups of earlier runs, None if it is run only once."""

    probe: ClusterProbe
    probe_timeout: float
    recorded: Callable[[], Record] = dict
    kept: deque[Sample] | None = None

    @property
    def metadata(self) -> MetadataScan:
        """The metadata of the cluster."""
        return self.probe.metadata

    @property
    def answering(self) -> frozenset[int]:
        """The brokers that respond."""
        return frozenset(self.probe.probed.values)

    @property
    def down(self) -> frozenset[int]:
        """The brokers that do not respond or are not in the cluster."""
        return down_brokers(self.probe.metadata, self.probe.probed.failures)


class Check(Struct, frozen=True):
    """One check, and what it reads."""

    name: str
    what: str
    find: Callable[[Cluster, CheckInput], Found]


class NotPermitted(Finding, frozen=True):
    """The finding for a check that could not run, or not completely, for lack of a permission."""

    required: frozenset[str] = frozenset()  # DESCRIBE on the cluster, DESCRIBE_CONFIGS on topic a


def not_checked(check: Check, why: Failure, count: int = 1, about: str = "") -> Finding:
    """The finding for a check that could not run, or not completely."""
    if why.requires:
        return _not_permitted([(check.what, check.name)], frozenset({why.requires}))
    summary = f"not checked: {check.what}: {in_one_line(why)}"
    cause, examples = CAUSE_OF_CHECK.get(check.name, ""), (about,) if about else ()
    return Finding(Severity.NOT_CHECKED, check.name, summary, count, examples, cause, check.what)


def _not_permitted(checks: Sequence[tuple[str, str]], required: frozenset[str]) -> NotPermitted:
    """The finding for these checks (what, name) that require these permissions."""
    what = ", ".join(dict.fromkeys(what for what, _ in checks))
    names = {name for _, name in checks}
    return NotPermitted(
        Severity.NOT_CHECKED, names.pop() if len(names) == 1 else "authorization",
        f"not checked: {what}: requires {permissions(required)}", len(required),
        short=what, required=required,
    )  # fmt: skip


def permissions(required: Iterable[str]) -> str:
    """`DESCRIBE_CONFIGS on the cluster and 12 topics`: these permissions on one operation."""
    by_kind: dict[str, list[str]] = {}
    for permission in sorted(required):
        operation, _, resource = permission.partition(" on ")
        kind = resource.rpartition(" ")[0]  # such as transactional ID
        by_kind.setdefault(kind or resource, []).append(resource)
    if "all topics" in by_kind.get("all", ()):
        by_kind.pop("topic", None)
    told = (
        names[0] if len(names) == 1 else counted(len(names), kind)
        for kind, names in by_kind.items()
    )
    return f"{operation} on {' and '.join(told)}"


def combined(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, with one for all checks that the same missing operation prevented."""
    denied: list[NotPermitted] = []
    for finding in findings:
        if isinstance(finding, NotPermitted):
            denied.append(finding)
        else:
            yield finding
    required = frozenset[str]().union(*(finding.required for finding in denied))
    for operation in dict.fromkeys(map(_operation, sorted(required))):
        checks = [(f.short, f.check) for f in denied if operation in map(_operation, f.required)]
        same = frozenset(each for each in required if _operation(each) == operation)
        yield _not_permitted(checks, same)


def _operation(required: str) -> str:
    return required.partition(" ")[0]


def finding_about(
    severity: Severity, check: str, summary: str, about: Sequence[object], cause: str = ""
) -> Finding:
    """The finding about these resources, some of which are its examples."""
    return Finding(severity, check, summary, len(about), tuple(map(str, about[:EXAMPLES])), cause)


def _partly(check: Check, failures: Mapping[Any, Failure]) -> Found:
    """The findings for a check that could not read everything."""
    if required := frozenset(why.requires for why in failures.values() if why.requires):
        yield _not_permitted([(check.what, check.name)], required)
    others = {about: why for about, why in failures.items() if not why.requires}
    if others:
        about, failure = next(iter(others.items()))
        yield not_checked(check, failure, len(others), str(about))


# -- partitions and brokers ------------------------------------------------------------------------


def _partitions(cluster: Cluster, given: CheckInput) -> Found:
    metadata = given.metadata
    sick = [metadata.topic(name) for name in metadata.unhealthy()]
    partitions = [partition for topic in sick for partition in topic.partitions]
    yield from _partition_finding(
        Severity.CRITICAL, "offline", [p for p in partitions if p.leader is None],
        "without a leader: reads and writes fail", given.down,
    )  # fmt: skip
    moved = " or being reassigned (reassignments not read)" if metadata.reassignments_unread else ""
    yield from _partition_finding(
        Severity.WARNING, "under-replicated", [p for p in partitions if p.under_replicated],
        f"under-replicated{moved}: a replica is not in sync", given.down,
    )  # fmt: skip


def _topic_configs(cluster: Cluster, given: CheckInput) -> Found:
    """The findings about the configs of all topics, which are read once."""
    topics = [ConfigResource(ResourceType.TOPIC, name) for name in sorted(given.metadata.names)]
    entries = configs.describe(cluster, topics, [min_isr.KEY, *RATE_OF])
    yield from _min_isr(cluster, given, min_isr.of_configs(entries))
    try:
        yield from _throttles(cluster, given, entries)
    except ShellError as error:
        yield not_checked(_THROTTLES, as_failure(error))


def _min_isr(cluster: Cluster, given: CheckInput, read: Results[str, int]) -> Found:
    """Partitions that acks=all producers cannot write to."""
    metadata = given.metadata
    sick = set(metadata.unhealthy())
    capped = min_isr.is_capped(cluster)
    topics = [metadata.topic(name) for name in read.values]
    yield from _partition_finding(
        Severity.CRITICAL, "under-min-isr",
        list(min_isr.below(topics, read.values, capped=capped)),
        "under min ISR (min.insync.replicas): producers with acks=all fail", given.down,
    )  # fmt: skip
    yield from _partition_finding(
        Severity.WARNING, "at-min-isr",
        list(min_isr.at([t for t in topics if t.name in sick], read.values, capped=capped)),
        "at min ISR: producers with acks=all fail if one more replica falls out of sync",
        given.down,
    )  # fmt: skip
    # If the minimum is capped, partitions with all replicas in sync need no check.
    unread = {n: failure for n, failure in read.failures.items() if n in sick or not capped}
    yield from _partly(_MIN_ISR, {f"topic {name}": failure for name, failure in unread.items()})
    if capped:
        yield from _above_replicas(topics, read.values)


def _above_replicas(topics: Sequence[Topic], minimum: Mapping[str, int]) -> Found:
    above = [
        topic.name
        for topic in topics
        if any(len(partition.replicas) < minimum[topic.name] for partition in topic.partitions)
    ]
    if above:
        yield finding_about(
            Severity.NOTE, "min-isr-above-replicas",
            f"{counted(len(above), 'topic')} with min.insync.replicas above the replication factor:"
            " if a broker is down, producers with acks=all fail", above,
        )  # fmt: skip


def _partition_finding(
    severity: Severity,
    check: str,
    partitions: Sequence[Partition],
    what: str,
    down: frozenset[int],
) -> Iterator[Finding]:
    """One finding for each cause of the partitions' state, and one for those with another."""
    by_cause: dict[str, list[str]] = {}
    for partition in partitions:
        place = f"{partition.topic}:{partition.partition}"
        by_cause.setdefault(cause_of(partition, down), []).append(place)
    for cause, places in by_cause.items():
        summary = f"{counted(len(places), 'partition')} {what}"
        yield finding_about(severity, check, summary, places, cause)


# -- the rest --------------------------------------------------------------------------------------


def _quorum(cluster: Cluster, given: CheckInput) -> Found:
    described = given.probe.quorum
    if described is None:
        unread = given.probe.unread or Failure("UNKNOWN", "not read")
        if unread.name == _NO_CONTROLLER:
            yield _lost(cluster, given, unread)
        else:
            yield not_checked(_QUORUM, unread)
        return
    if given.probe.unread is not None:  # no broker has caught up with it
        yield not_checked(_PARTITIONS, given.probe.unread)
    if described.leader < 0:
        yield _no_leader("no leader")
        return
    yield from _controllers(cluster, given, described)
    behind = _behind(cluster, described)
    if behind:
        yield Finding(
            Severity.WARNING,
            "quorum",
            f"{counted(len(behind), 'voter')} of the metadata quorum"
            f" {'is' if len(behind) == 1 else 'are'} behind",
            len(behind),
            tuple(str(replica.id) for replica in behind),
            BROKERS if {replica.id for replica in behind} <= given.down else "",
        )


def _behind(cluster: Cluster, described: Quorum) -> list[QuorumReplica]:
    """The voters that lag. Those that have not fetched from a new leader have a moment for it."""
    voters = described.voters

    def all_fetched() -> bool:
        nonlocal voters
        voters = quorum.describe(cluster).voters
        return all(voter.behind_ms >= 0 for voter in voters)

    if any(voter.behind_ms < 0 for voter in voters):
        wait_until_visible(all_fetched, SETTLE_S)
    return [voter for voter in voters if not voter.keeps_up]


def _controllers(cluster: Cluster, given: CheckInput, described: Quorum) -> Found:
    """Voters that do not respond. One that is unreachable from here counts as running if it fetches
    from the leader: controllers are often in a separate network."""
    at = {
        voter.id: Address(voter.endpoints[0].host, voter.endpoints[0].port)
        for voter in described.voters
        if voter.endpoints
    }
    failed = probes.probe_controllers(
        cluster.config, at, cluster.time_left(given.probe_timeout)
    ).failures
    now = max(replica.last_fetch for replica in described.voters)
    fetching = {voter.id for voter in described.voters if _is_fetching(voter, now)}
    silent = {
        id: failure
        for id, failure in failed.items()
        if failure.name in _NO_ANSWER or (failure.name in _NOT_REACHED and id not in fetching)
    }
    tolerated = (len(described.voters) - 1) // 2
    far = [id for id, failure in failed.items() if failure.name in _NOT_REACHED and id in fetching]
    if len(silent) > tolerated:
        yield _no_majority(list(silent), given.down)
    elif silent:
        no_more = len(silent) == tolerated
        without = "; if one more fails, the metadata quorum loses its majority" if no_more else ""
        why = f": {next(iter(silent.values())).message}" if len(silent) == 1 else ""
        finding = finding_about(
            Severity.CRITICAL, "controllers",
            f"{_named(list(silent), 'controller')} not responding{why}{without}", list(silent),
            BROKERS if silent.keys() <= given.down else "",
        )  # fmt: skip
        yield replace(finding, short="the quorum tolerates no further failure" if no_more else "")
    if far:
        yield finding_about(
            Severity.NOTE, "controllers",
            f"{counted(len(far), 'controller')} cannot be reached from this machine, but recently"
            " fetched from the quorum leader", far,
        )  # fmt: skip


def _is_fetching(replica: QuorumReplica, now: int) -> bool:
    return replica.role == "leader" or now - replica.last_fetch < FRESH_MS


_OUTDATED = "leaders and in-sync replicas may be out of date"


def _no_leader(failure: str) -> Finding:
    summary = f"the metadata quorum is unavailable, so {_OUTDATED}"
    return Finding(Severity.CRITICAL, QUORUM, summary, 1, (failure,))


def _no_majority(silent: Sequence[object], down: Collection[object]) -> Finding:
    """The finding for a quorum of which these voters (IDs, or addresses) do not respond."""
    which = f"{_named(silent, 'controller')} not responding"
    summary = f"the metadata quorum has no majority ({which}), so {_OUTDATED}"
    cause = BROKERS if {*silent} <= {*down} else ""
    finding = finding_about(Severity.CRITICAL, QUORUM, summary, silent, cause)
    return replace(finding, short=_OUTDATED if cause else "")


def _lost(cluster: Cluster, given: CheckInput, failure: Failure) -> Finding:
    """No way led to an active controller: which of the controllers that a broker is configured
    with do not respond."""
    at = quorum.controllers(cluster, min(given.answering))
    seconds = cluster.time_left(given.probe_timeout)
    probed = probes.probe_controllers(cluster.config, {broker: broker for broker in at}, seconds)
    # The connections that a frozen process does not accept fill its queue, and then time out.
    silences = _NO_ANSWER | ({"connect-timeout"} if probed.values else set())
    silent = [each for each, why in probed.failures.items() if why.name in silences]
    if not silent or len(silent) <= (len(at) - 1) // 2:
        return _no_leader(in_one_line(failure))
    ids = quorum.controller_ids(cluster, probed.values)
    return _no_majority([ids.get(broker, broker) for broker in silent], given.down)


def _moves(cluster: Cluster, given: CheckInput) -> Found:
    """Partition reassignments in progress."""
    moving = under_way(cluster).values
    if moving:
        summary = f"{counted(len(moving), 'partition')} being reassigned"
        yield finding_about(Severity.NOTE, "moves", summary, list(moving))


def _throttles(cluster: Cluster, given: CheckInput, known: configs.Entries) -> Found:
    """Throttles left behind."""
    moving, recorded = under_way(cluster).values, given.recorded()
    left, not_read = throttles.left_behind(cluster, moving, recorded, known=known)
    if unused := throttles.of_no_move(left, moving):
        about = list(dict.fromkeys(str(row.resource) for row in unused))
        summary = "leftover replication throttles that no reassignment uses"
        yield finding_about(Severity.WARNING, "throttles", summary, about)
    down = throttles.on_down_brokers(cluster, moving, recorded)
    if down:
        about = list(dict.fromkeys(str(row.resource) for row in down))
        summary = "leftover throttles on brokers that are down; remove them when the brokers are up"
        yield finding_about(Severity.WARNING, "throttles", summary, about)
    yield from _partly(_THROTTLES, not_read)


def _log_dirs(cluster: Cluster, given: CheckInput) -> Found:
    known = given.metadata
    # If no topics are visible, the replicas on disk show whether there are any.
    described = log_dirs.describe(cluster, sorted(given.answering), [] if len(known) else None)
    yield from _invisible(cluster, given, described)
    every = [dir_ for dirs in described for dir_ in dirs]
    offline = [log_dir for log_dir in every if log_dir.error is not None]
    left = [
        (each.usable / each.total, each) for each in every if each.usable is not None and each.total
    ]
    full = [each for share, each in left if share < _FULL]
    low = [each for share, each in left if _FULL <= share < _LOW]
    cordoned = [log_dir for log_dir in every if log_dir.cordoned]
    for severity, dirs, what, note in (
        (Severity.CRITICAL, offline, "offline", ""),
        (Severity.CRITICAL, full, "full", " (less than 1% is left)"),
        (Severity.WARNING, low, "nearly full", " (less than 5% is left)"),
        (Severity.NOTE, cordoned, "cordoned", " (no new replicas)"),
    ):
        if dirs:
            ids = list(dict.fromkeys(dir_.broker for dir_ in dirs))
            have = _named(ids, verb=("has", "have"))
            summary = f"{have} {counted(len(dirs), f'{what} log directory')}{note}"
            places = [f"{dir_.broker}:{dir_.path}" for dir_ in dirs]
            yield finding_about(severity, "log-dirs", summary, places)
    yield from _partly(
        _LOG_DIRS, {f"broker {broker}": failure for broker, failure in described.failures.items()}
    )


def _invisible(
    cluster: Cluster, given: CheckInput, described: Results[int, tuple[LogDir, ...]]
) -> Found:
    """Topics and groups without DESCRIBE permission: responses leave them out silently."""
    topics = given.metadata
    denied = [failure for failure in described.failures.values() if failure.code in AUTHORIZATION]
    unseen = not len(topics) and any(log_dir.replicas for dirs in described for log_dir in dirs)
    names = [topic for topic in hidden(cluster, topics) if not topic.startswith(HIDDEN)]
    if denied and not names:
        yield not_checked(_HIDDEN, denied[0])
    elif unseen or names:
        what = counted(len(names), "topic") if names else "topics and groups"
        summary = f"not checked: {what} without DESCRIBE permission"
        summary += f"; visible: {counted(len(topics), 'topic')}"
        examples = tuple(name.removeprefix("topic ") for name in names[:EXAMPLES])
        yield Finding(Severity.NOT_CHECKED, "permissions", summary, max(1, len(names)), examples)


def _groups(cluster: Cluster, given: CheckInput) -> Found:
    """Groups whose members do not consume. How long this has been so is unknown."""
    problems = (*REBALANCING_STATES, *NOT_READY_STATES)
    listed = groups.list_groups(cluster, problems if given.kept is None else ())
    for severity, states, what in (
        (Severity.WARNING, NOT_READY_STATES, "waiting for topics that do not exist"),
        (Severity.NOTE, REBALANCING_STATES, "rebalancing"),
    ):
        if names := [group.name for group in listed if group.state in states]:
            yield finding_about(severity, "groups", f"{counted(len(names), 'group')} {what}", names)
    yield from _partly(_GROUPS, listed.failures)
    if given.kept is not None:
        active = [group.name for group in listed if groups.is_active(group)]
        yield from _stuck(cluster, given.kept, active)


def _stuck(cluster: Cluster, kept: deque[Sample], active: Sequence[str]) -> Found:
    """Partitions in which active groups are stuck, since an earlier run of this check."""
    sample = sample_groups(cluster, active)
    before = sample_before(kept, sample, GROUP_WINDOW_S)
    stuck = stuck_partitions(before, sample)
    if places := [f"{named(group)} in {where}" for group in stuck for where in stuck[group]]:
        seconds = 0.0 if before is None else sample.at - before.at
        summary = f"committed offsets of {counted(len(places), 'partition')} have not moved for"
        summary += f" {seconds:.0f} s while records arrived"
        yield finding_about(Severity.WARNING, "stuck", summary, places)
    yield from _partly(_GROUPS, sample.failures)


def _hanging(cluster: Cluster, given: CheckInput) -> Found:
    """Transactions that no coordinator will end, if transactions were ever used."""
    metadata = given.metadata
    if _TRANSACTIONS not in metadata:
        return
    led = [
        TopicPartition(name, partition.partition)
        for name in metadata.names
        for partition in metadata.topic(name).partitions
        if partition.leader in given.answering
    ]
    search = transactions.find_hanging(cluster, partitions=led)
    if search.found:
        count = counted(len(search.found), "hanging transaction")
        yield finding_about(
            Severity.WARNING, "transactions", f"{count}: read_committed consumers are blocked",
            [transaction.topic_partition for transaction in search.found],
        )  # fmt: skip
    unread = {
        f"{row.topic}:{row.partition}": Failure(row.error, row.message, hint=row.hint, see=row.see)
        for row in search.unread
    }
    yield from _partly(_HANGING, unread)


_PARTITIONS = Check("partitions", "partitions", _partitions)
_MIN_ISR = Check("under-min-isr", "min.insync.replicas", _topic_configs)
_THROTTLES = Check("throttles", "replication throttles", _topic_configs)
_TOPIC_CONFIGS = Check(_MIN_ISR.name, f"{_MIN_ISR.what} and {_THROTTLES.what}", _topic_configs)
_QUORUM = Check(QUORUM, "the metadata quorum", _quorum)
_MOVES = Check("moves", "partition reassignments", _moves)
_HIDDEN = Check("permissions", "hidden topics and groups", _log_dirs)
_LOG_DIRS = Check("log-dirs", "log directories", _log_dirs)
_GROUPS = Check("groups", "groups", _groups)
_HANGING = Check("transactions", "hanging transactions", _hanging)
CHECKS = (_PARTITIONS, _TOPIC_CONFIGS, _QUORUM, _MOVES, _LOG_DIRS, _GROUPS, _HANGING)


# Findings of the metadata that is read before all checks: brokers, and who leads partitions.

# With other failures it responds, but refuses the login or TLS.
_SILENT = frozenset(
    {"refused", "no-answer", "connect-timeout", "unreachable", "unknown-host", "connection-lost"}
)


def of_metadata(probe: ClusterProbe, absent: Mapping[int, str]) -> Iterator[Finding]:
    """All of these findings. `absent` is what is known of brokers that are not in the metadata."""
    metadata, failures = probe.metadata, probe.probed.failures
    yield from _down_brokers(metadata, failures, absent)
    yield from _rejecting_brokers(metadata, failures)
    yield from _behind_brokers(probe)
    yield from _not_led_by_preferred(metadata, down_brokers(metadata, failures))


def down_brokers(metadata: MetadataScan, failures: Mapping[int, Failure]) -> frozenset[int]:
    """The brokers that do not respond, and those that have replicas but are not in the cluster."""
    silent = {id for id, failure in failures.items() if failure.name in _SILENT}
    return frozenset(silent | _absent(metadata))


def _absent(metadata: MetadataScan) -> set[int]:
    return metadata.replica_ids() - {broker.id for broker in metadata.brokers}


def absent_brokers(cluster: Cluster, probe: ClusterProbe, timeout: float) -> dict[int, str]:
    """What is known of the brokers with replicas that are not in the metadata, because the
    controller has fenced them or because they are not registered. Empty before Kafka 4.0."""
    absent = _absent(probe.metadata)
    if not absent:
        return {}
    try:
        with Cluster(probe.config) as own:
            own.join(cluster)
            registered = registered_brokers(own)
    except ShellError:
        registered = None
    if registered is None:
        return {}
    at = probes.addresses(tuple(registered[id] for id in absent & registered.keys()))
    failures = probes.probe_brokers(probe.config, at, cluster.time_left(timeout)).failures
    return {
        id: "not registered" if id not in at else _fenced(failures.get(id)) for id in sorted(absent)
    }


def _fenced(failure: Failure | None) -> str:
    if failure is not None and failure.name == "refused":
        return "down"
    silent = failure is not None and failure.name in _SILENT
    return "fenced and not responding" if silent else "fenced, but responding"


def _down_brokers(
    metadata: MetadataScan, failures: Mapping[int, Failure], absent: Mapping[int, str]
) -> Iterator[Finding]:
    """Brokers that are not in the cluster, or do not respond."""
    down = sorted(down_brokers(metadata, failures))
    if not down:
        return
    states: dict[str, list[int]] = {}
    for id in down:
        silent = id in failures and failures[id].name != "refused"
        states.setdefault("not responding" if silent else absent.get(id, "down"), []).append(id)
    summary = ", ".join(f"{_named(ids)} {state}" for state, ids in states.items())
    led = metadata.led_by()
    total = sum(led[id] for id in down)
    yield Finding(
        Severity.CRITICAL, BROKERS, summary, len(down),
        tuple(map(str, down[:EXAMPLES])),
        short=f"{'leads' if len(down) == 1 else 'lead'} {counted(total, 'partition')}"
        if total else "",
    )  # fmt: skip
    yield from _not_asked([id for id in down if id in failures], BROKERS)


def _rejecting_brokers(scan: MetadataScan, failures: Mapping[int, Failure]) -> Iterator[Finding]:
    """Brokers that respond, but refuse the login or TLS."""
    rejecting = {id: why for id, why in failures.items() if why.name not in _SILENT}
    if rejecting:
        ids, why = list(rejecting), next(iter(rejecting.values()))
        summary = f"{_named(ids, verb=('rejects', 'reject'))} this client: {why.message}"
        yield finding_about(Severity.CRITICAL, "authentication", summary, ids)
        yield from _not_asked(ids, "authentication")


def _named(
    ids: Sequence[object], noun: str = "broker", verb: tuple[str, str] = ("is", "are")
) -> str:
    """`broker 2 is`, `brokers 2, 3 are`, `12 brokers are`."""
    if len(ids) == 1:
        return f"{noun} {ids[0]} {verb[0]}"
    which = f"{noun}s {', '.join(map(str, ids))}"
    return f"{which if len(ids) <= EXAMPLES else counted(len(ids), noun)} {verb[1]}"


def _not_asked(ids: Sequence[int], cause: str) -> Iterator[Finding]:
    if ids:
        names = f"broker{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"
        summary = f"not checked: log directories, groups, throttles and transactions of {names}"
        yield Finding(Severity.NOT_CHECKED, BROKERS, summary, len(ids), cause=cause)


def _behind_brokers(probe: ClusterProbe) -> Iterator[Finding]:
    """Brokers that respond, but whose metadata is out of date."""
    if behind := probe.behind:
        if len(behind) == 1:
            what = next(iter(behind.values())).message
        else:
            what = f"the metadata of {len(behind):,} brokers is out of date"
        summary = f"{what}; clients may get outdated leaders"
        yield finding_about(Severity.WARNING, "brokers", summary, list(behind))


def _not_led_by_preferred(metadata: MetadataScan, down: frozenset[int]) -> Iterator[Finding]:
    """Partitions not led by their preferred replica: the load is not as planned. An election can
    only move the leadership to a replica that is in sync."""
    sick = {*metadata.unhealthy(), *metadata.reassigned}
    places, not_in_sync, preferred = list[str](), list[str](), set[int]()
    for topic, misplaced in groupby(metadata.misplaced(), key=itemgetter(0)):
        waiting = _preferred_not_in_sync(metadata, topic) if topic in sick else {}
        preferred |= {*waiting.values()}
        for _, number in misplaced:
            (not_in_sync if number in waiting else places).append(f"{topic}:{number}")
    if places:
        yield finding_about(Severity.NOTE, "off-preferred", _not_preferred(places), places)
    if not_in_sync:
        summary = f"{_not_preferred(not_in_sync)}, which is not in sync: an election would fail"
        cause = BROKERS if preferred <= down else ""
        yield finding_about(Severity.NOTE, "preferred-not-in-sync", summary, not_in_sync, cause)


def _preferred_not_in_sync(metadata: MetadataScan, topic: str) -> dict[int, int]:
    """The preferred replicas that are not in sync, by partition of the topic."""
    partitions = metadata.topic(topic).partitions
    return {row.partition: row.replicas[0] for row in partitions if row.replicas[0] not in row.isr}


def _not_preferred(places: Sequence[str]) -> str:
    their = "its" if len(places) == 1 else "their"
    return f"{counted(len(places), 'partition')} not led by {their} preferred replica"


_LIMIT_S = 9.5  # for everything
_ENTER_S = 6.5  # to probe the brokers and read the metadata
_CHECKS_S = 5.0


def _silent(task: str, done: int, total: int | None) -> None:
    """Ignores progress."""


def health(
    cluster: Cluster,
    *,
    probe_timeout: float = PROBE_S,
    report: Report = _silent,
    throttles: Callable[[str], Record] = lambda cluster: {},
    kept: deque[Sample] | None = None,
) -> Health:
    """What is wrong with the cluster now, the worst first; within 10 s.

    `probe_timeout` is how long a broker or controller may take to respond (seconds). `throttles`
    returns the recorded replication throttles of the cluster with this ID. With `kept`, which a
    repeated check passes each time, groups that are stuck are found. Raises ShellError only if no
    broker can be reached.
    """
    until = time.monotonic() + _LIMIT_S
    if cluster.deadline is not None:
        until = min(until, cluster.deadline)
    progress = _Waiting(report)
    with cluster.within(min(_ENTER_S, until - time.monotonic())):
        probe = probe_cluster(
            cluster,
            probe_timeout,
            CONTROLLER_S,
            lambda left: progress([f"broker {id}" for id in left]),
        )
        absent = absent_brokers(cluster, probe, probe_timeout)
    metadata = probe.metadata
    given = CheckInput(probe, probe_timeout, partial(throttles, metadata.cluster_id), kept)
    findings = list(of_metadata(probe, absent))
    seconds = max(0.1, min(_CHECKS_S, until - time.monotonic() - GRACE_S))
    kraft = probe.quorum is not None or probe.unread is not None
    wanted = [check for check in CHECKS if kraft or check.name != "quorum"]
    outcomes = parallel.run_within(
        probe.config, {check: partial(_run, check, given) for check in wanted}, seconds,
        lambda left: progress([check.what for check in left]),
    )  # fmt: skip
    progress.end()
    for check, outcome in outcomes.items():
        if isinstance(outcome, ShellError):
            findings.append(not_checked(check, as_failure(outcome)))
        else:
            findings += outcome
    return Health(
        cluster_id=metadata.cluster_id,
        brokers=len(metadata.brokers),
        topics=len(metadata),
        partitions=metadata.partitions,
        findings=tuple(sorted(combined(findings), key=lambda f: (f.severity, f.check != QUORUM))),
    )


def _run(check: Check, given: CheckInput, cluster: Cluster) -> list[Finding]:
    """The findings of a check, also if it fails halfway."""
    findings: list[Finding] = []
    try:
        findings.extend(check.find(cluster, given))
    except ShellError as error:
        findings.append(not_checked(check, as_failure(error)))
    return findings


class _Waiting:
    """Reports what `health` is waiting for: one task for each set."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._task = ""

    def __call__(self, pending: list[str]) -> None:
        task = f"waiting for {some(pending, 3)}"
        if task != self._task:
            self.end()
            self._task = task
        self._report(task, 0, None)

    def end(self) -> None:
        """End the current task."""
        if self._task:
            self._report(self._task, 1, 1)
        self._task = ""
