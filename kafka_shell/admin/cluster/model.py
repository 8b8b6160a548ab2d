"""The cluster: brokers, health, metadata quorum, features, API versions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.wire.model import Broker, Partition

FRESH_MS = 3_000  # who runs and is reachable has fetched from the quorum leader since
VOTER_BEHIND_MS = 10_000  # a voter that has not caught up for longer commits nothing

if TYPE_CHECKING:
    from kafka_shell.admin.configs.model import ConfigEntry
    from kafka_shell.admin.partitions.model import LogDirUse
    from kafka_shell.base.results import Failure


class ClusterMetadata(Struct, frozen=True):
    """Brokers and counts (Metadata, API key 3; DescribeCluster, 60).

    `controller` is None if there is none or if it is unknown. `not_read` has what could not be
    read, with the failure.
    """

    cluster_id: str
    controller: int | None
    brokers: tuple[Broker, ...]
    topics: int
    internal_topics: int
    partitions: int
    bootstrap: str = ""
    features: tuple[Feature, ...] = ()
    not_read: tuple[tuple[str, Failure], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything was read."""
        return not self.not_read


class Severity(IntEnum):
    """How bad a finding is; the worst sorts first."""

    CRITICAL = 0
    WARNING = 1
    NOT_CHECKED = 2  # a check could not run: the cluster may or may not be healthy
    NOTE = 3


class Finding(Struct, frozen=True):
    """One problem that `health` found, and how many resources have it.

    `cause` is the check of the finding that it follows from, if any; `short` is how it is told in
    the line of its cause.
    """

    severity: Severity
    check: str  # offline, under-min-isr, brokers, quorum, throttles, log-dirs, transactions ...
    summary: str
    count: int
    examples: tuple[str, ...] = ()
    cause: str = ""
    short: str = ""


# What follows from a cause is folded into it.

BROKERS, LOG_DIRS, QUORUM = "brokers", "log-dirs", "quorum"  # checks whose findings are causes
_OF_VOTERS = ("controllers", QUORUM)  # checks whose findings may follow from brokers
CAUSE_OF_CHECK = {  # of a check that could not run, unless a permission is missing
    "partitions": QUORUM,
    "moves": QUORUM,
    "throttles": QUORUM,
    "groups": BROKERS,
    "transactions": BROKERS,
    "log-dirs": BROKERS,
}
_COUNTED = {
    "offline": "offline",
    "under-min-isr": "under min ISR",
    "under-replicated": "under-replicated",
}


def cause_of(partition: Partition, down: Collection[int]) -> str:
    """The cause of a partition's state if these brokers are `down`; empty if it is another one."""
    missing = {*partition.out_of_sync, *partition.offline}
    if partition.leader is None:
        missing = {*partition.replicas}
        return BROKERS if missing & {*down} else LOG_DIRS if partition.offline else ""
    if missing and missing <= {*down}:
        return BROKERS
    return LOG_DIRS if partition.offline and missing <= {*down, *partition.offline} else ""


def by_cause(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that follow from no other one, with a count of what follows from each."""
    critical = [f for f in findings if f.severity is Severity.CRITICAL and not f.cause]
    causes = {finding.check: finding for finding in reversed(critical)}
    # Without a finding about the quorum itself, its loss follows from the brokers that are down.
    if QUORUM not in causes and any(f.check in _OF_VOTERS and f.cause for f in findings):
        findings = [replace(f, cause=BROKERS) if f.cause == QUORUM else f for f in findings]
    return [
        _with_consequences(finding, [f for f in findings if f.cause == finding.check])
        if causes.get(finding.check) is finding
        else finding
        for finding in findings
        if finding.cause not in causes
    ]


def _with_consequences(cause: Finding, following: Sequence[Finding]) -> Finding:
    """`broker 2 is down (broker and controller): 1 partition offline, 701 under-replicated`."""
    critical = [f for f in following if f.severity is Severity.CRITICAL]
    voters = next((f for f in critical if f.check in _OF_VOTERS), None)
    counts = [cause.short, *_counts(following), voters.short if voters else ""]
    unread = [f.short for f in following if f.short and f.severity is Severity.NOT_CHECKED]
    counts += [f"{' and '.join(unread)} not checked"] if unread else []
    told = ", ".join(filter(None, counts))
    role = "" if voters is None else _role(voters, cause)
    return replace(cause, summary=f"{cause.summary}{role}{told and ': '}{told}")


def _role(voters: Finding, cause: Finding) -> str:
    if voters.check == QUORUM:
        return ", so the metadata quorum has no majority"
    if voters.count < cause.count:
        return f" (controller {', '.join(voters.examples)} too)"
    return " (broker and controller)" if cause.count == 1 else " (brokers and controllers)"


def _counts(following: Iterable[Finding]) -> Iterator[str]:
    counts = {finding.check: finding.count for finding in following}
    noun = True
    for check, what in _COUNTED.items():
        if check in counts:
            number = counted(counts[check], "partition") if noun else f"{counts[check]:,}"
            yield f"{number} {what}"
            noun = False


class Health(Struct, frozen=True):
    """The health of a cluster. It is healthy if all findings are NOTE."""

    cluster_id: str
    brokers: int
    topics: int
    partitions: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether all checks ran, and nothing is CRITICAL or WARNING."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


class HealthDetails(Health, frozen=True):
    """The health of a cluster that is shown with what follows from each cause."""


class Endpoint(Struct, frozen=True):
    """A listener of a controller."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


class QuorumReplica(Struct, frozen=True):
    """A voter or observer of the metadata quorum (DescribeQuorum, API key 55).

    `lag` is in records, `behind_ms` the time since it had caught up with the leader; times are
    epoch milliseconds; -1 is unknown. Endpoints (of voters only) and directory IDs since Kafka 3.9.
    """

    id: int
    role: str  # leader, voter, observer
    log_end_offset: int
    lag: int
    last_caught_up: int = -1
    last_fetch: int = -1
    behind_ms: int = -1
    directory_id: str = ""
    endpoints: tuple[Endpoint, ...] = ()

    @property
    def votes(self) -> bool:
        """Whether it is a voter (or the leader)."""
        return self.role != "observer"

    @property
    def keeps_up(self) -> bool:
        """Whether it is the leader, or caught up with the leader lately. One that has not fetched
        since the leader was elected did not."""
        return self.role == "leader" or 0 <= self.behind_ms <= VOTER_BEHIND_MS


class Quorum(Struct, frozen=True):
    """The KRaft metadata quorum."""

    leader: int
    leader_epoch: int
    high_watermark: int
    replicas: tuple[QuorumReplica, ...]

    @property
    def voters(self) -> tuple[QuorumReplica, ...]:
        """The replicas that elect the leader and commit records."""
        return tuple(replica for replica in self.replicas if replica.votes)


class Voter(Struct, frozen=True):
    """A voter to add or remove. Without a directory ID, the only one known to the quorum."""

    id: int
    directory_id: str = ""
    endpoints: tuple[Endpoint, ...] = ()


class FeatureRange(Struct, frozen=True):
    """The levels of a feature that one broker supports."""

    broker: int
    lowest: int
    highest: int


class Feature(Struct, frozen=True):
    """A feature of the cluster: its level (0: off), and the levels that all brokers support.

    `release` and `highest_release` are names of levels of metadata.version: `4.3-IV0`. `unread` are
    brokers that did not respond, which may support less.
    """

    name: str
    level: int
    lowest: int
    highest: int
    release: str = ""
    highest_release: str = ""
    brokers: tuple[FeatureRange, ...] = ()
    unread: tuple[int, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether brokers support different levels."""
        return len({(broker.lowest, broker.highest) for broker in self.brokers}) > 1


class Features(Struct, frozen=True):
    """All features, as of an epoch (-1: unknown). `unread` are brokers that did not respond."""

    epoch: int
    features: tuple[Feature, ...]
    unread: tuple[tuple[int, Failure], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all brokers responded."""
        return not self.unread

    def get(self, name: str) -> Feature | None:
        """The feature of this name, if it exists."""
        return next((feature for feature in self.features if feature.name == name), None)


class ApiRange(Struct, frozen=True):
    """The versions of one API that one broker supports."""

    broker: int
    lowest: int
    highest: int


class ApiSupport(Struct, frozen=True):
    """One API: the versions that all brokers support (None: none), and those of each broker.

    `missing` are the brokers without it.
    """

    key: int
    name: str
    lowest: int | None
    highest: int | None
    brokers: tuple[ApiRange, ...]
    missing: tuple[int, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether brokers support different versions."""
        return bool(self.missing) or len({(b.lowest, b.highest) for b in self.brokers}) > 1


class BrokerDescription(Struct, frozen=True):
    """A broker with its replicas, log directories and non-default configs.

    `preferred` counts the partitions of which it is the preferred leader, `out_of_sync` its
    replicas that are not in sync. `quorum_role` is leader, voter or observer of the metadata
    quorum, or empty. `not_read` has what could not be read.
    """

    broker: Broker
    quorum_role: str
    leaders: int
    preferred: int
    replicas: int
    out_of_sync: int
    log_dirs: tuple[LogDirUse, ...] = ()
    configs: tuple[ConfigEntry, ...] = ()
    not_read: tuple[tuple[str, Failure], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything could be read."""
        return not self.not_read
