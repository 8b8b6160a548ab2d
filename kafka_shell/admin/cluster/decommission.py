"""How far a broker is decommissioned: read, judge and plan the steps that are left.

API keys 3 (Metadata), 18 (ApiVersions), 32 (DescribeConfigs), 35 (DescribeLogDirs), 46
(ListPartitionReassignments), 55 (DescribeQuorum) and 60 (DescribeCluster).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from kafka_shell.admin.cluster import features, probes, quorum
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.cluster.model import Quorum
from kafka_shell.admin.cluster.read import PartReader
from kafka_shell.admin.cluster.registrations import registered
from kafka_shell.admin.cluster.restart import judge
from kafka_shell.admin.cluster.restart.judge import ClusterState, Reason, Verdict
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.change import DeleteLeftoverConfigs
from kafka_shell.admin.configs.model import (
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    ResourceType,
)
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import LogDir, TopicPartition
from kafka_shell.admin.partitions.targets import Drain, read_drain
from kafka_shell.admin.partitions.throttles import RATES
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Effect, Plan, Report
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.base.waits import PART_S, POLL_S, PROBE_S
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.endpoint import Address
from kafka_shell.wire.model import Broker

# How far a broker is decommissioned, and whether it can be.

CORDON = "cordoned.log.dirs"  # KIP-1066
DONE, TO_DO, SKIPPED, NOT_CHECKED = "done", "to do", "skipped", "not checked"


class DecommissionStep(Struct, frozen=True):
    """One step: `done`, `to do`, `skipped` (impossible or not needed here) or `not checked`."""

    name: str  # cordon, drain, stop, voter, configs, unregister
    state: str
    detail: str = ""


class Decommission(Struct, frozen=True):
    """How far a broker is decommissioned.

    `verdict` and `reasons` are those of check-restart, for a cluster without this broker: it can be
    decommissioned if the verdict is SAFE or RISKY. `replicas` are assigned to the broker, of which
    `leaving` are being moved to others; `size` is their size in bytes, or None if unknown.
    """

    broker: int
    state: str  # as in Broker; `unknown` if the cluster does not list it
    verdict: Verdict
    reasons: tuple[Reason, ...]
    replicas: int
    leaving: int
    size: int | None
    steps: tuple[DecommissionStep, ...]

    @property
    def possible(self) -> bool:
        """Whether nothing prevents the steps that are left."""
        return self.verdict in (Verdict.SAFE, Verdict.RISKY)

    @property
    def ok(self) -> bool:
        """Whether nothing is left to do."""
        return not any(self.is_left(step.name) for step in self.steps)

    def step(self, name: str) -> DecommissionStep:
        """The step of this name."""
        return next(step for step in self.steps if step.name == name)

    def is_left(self, name: str) -> bool:
        """Whether a step is neither done nor skipped."""
        return self.step(name).state in (TO_DO, NOT_CHECKED)


class BrokerState(Struct, frozen=True):
    """The state of the broker in the cluster.

    `address` is where it listens, if known. `registered` is None if brokers are too old to list
    registrations. `cordoned` is None if its log directories could not be read. `configs` are the
    names of its dynamic configs, None if it does not run. `voter` is whether it is a voter of the
    metadata quorum (None if that was not read), of `voters` in all; `dynamic` whether voters can
    be removed (KIP-853).
    """

    broker: Broker
    address: Address | None = None
    registered: bool | None = None
    kraft: bool = True
    cordoned: bool | None = None
    can_cordon: bool = False
    configs: tuple[str, ...] | None = None
    voter: bool | None = False
    voters: int = 0
    dynamic: bool = True

    @property
    def running(self) -> bool:
        """Whether it is in the metadata, even if it did not respond to a probe."""
        return self.broker.state in ("up", "not responding")


_STATIC = "voters of a static quorum (kraft.version 0) cannot be removed"


def decommission(
    others: ClusterState, state: BrokerState, drain: Drain, default_factor: int | None
) -> Decommission:
    """The verdict and the steps. `others` is the state for check-restart without partitions: all
    of them leave the broker before it is stopped."""
    reasons = sorted(
        (
            *judge.check(judge.Index(others), [state.broker.id]).reasons,
            *_moves(drain),
            *_quorum(state),
            *_factor(others, state, default_factor),
        ),
        key=lambda reason: reason.verdict,
        reverse=True,
    )
    held = drain.held
    return Decommission(
        broker=state.broker.id,
        state=state.broker.state,
        verdict=max((reason.verdict for reason in reasons), default=Verdict.SAFE),
        reasons=tuple(reasons),
        replicas=len(held),
        leaving=len(drain.leaving),
        size=drain.disks.sizes.on(state.broker.id),
        steps=tuple(_steps(state, held, len(drain.leaving))),
    )


# -- reasons ---------------------------------------------------------------------------------------


def _moves(drain: Drain) -> Iterator[Reason]:
    """What prevents the replicas from leaving, or is worse when they have left."""
    refused = drain.targets.refused
    if refused:
        why = next(iter(refused.values()))
        yield _reason(
            Verdict.UNSAFE, "drain",
            f"{counted(len(refused), 'topic')} cannot be moved: {why.message}. {why.hint}",
            [resource.name for resource in refused],
        )  # fmt: skip
    if busy := drain.busy:
        are = "is" if len(busy) == 1 else "are"
        yield _reason(
            Verdict.UNSAFE, "moves",
            f"{counted(len(busy), 'partition')} on the broker {are} being reassigned; wait for"
            " the reassignments to complete, or cancel them",
            busy,
        )  # fmt: skip
    wanted = {*drain.targets.replicas, *drain.leaving}
    stuck = [partition for partition in sorted(wanted) if drain.now.current[partition][0] is None]
    if stuck:
        yield _reason(
            Verdict.UNSAFE, "offline",
            f"{counted(len(stuck), 'partition')} without a leader cannot be moved",
            stuck,
        )  # fmt: skip
    fewer = [replica for replica in drain.targets.replicas if _fewer_racks(drain, replica)]
    if fewer:
        yield _reason(
            Verdict.RISKY, "racks",
            f"{counted(len(fewer), 'partition')} would have replicas in fewer racks", fewer,
        )  # fmt: skip
    for warning in drain.targets.warnings:
        yield Reason(Verdict.RISKY, "brokers", warning, 1)


def _reason(
    verdict: Verdict, check: str, summary: str, subjects: Sequence[TopicPartition | str]
) -> Reason:
    examples = tuple(map(str, subjects[: judge.EXAMPLES]))
    return Reason(verdict, check, summary, len(subjects), examples)


def _fewer_racks(drain: Drain, partition: TopicPartition) -> bool:
    racks = drain.now.racks

    def spread(replicas: Iterable[int]) -> int:
        return len({racks.get(id) or id for id in replicas})

    return spread(drain.targets.replicas[partition]) < spread(drain.now.replicas[partition])


def _quorum(state: BrokerState) -> Iterator[Reason]:
    if not state.voter:
        return
    if not state.dynamic:
        yield Reason(Verdict.UNSAFE, "quorum", f"broker {state.broker.id} is a voter: {_STATIC}", 1)
    elif state.voters == 1:
        yield Reason(
            Verdict.UNSAFE, "quorum",
            f"broker {state.broker.id} is the only voter of the metadata quorum", 1,
        )  # fmt: skip
    else:
        left = state.voters - 1
        tolerated = counted((left - 1) // 2, "failure")
        yield Reason(
            Verdict.RISKY, "quorum",
            f"{counted(left, 'voter')} of the metadata quorum would be left, which"
            f" {'tolerates' if left == 1 else 'tolerate'} {tolerated}",
            1,
        )  # fmt: skip


def _factor(others: ClusterState, state: BrokerState, factor: int | None) -> Iterator[Reason]:
    left = len(others.brokers.keys() - {state.broker.id})
    if factor is not None and factor > left:
        yield Reason(
            Verdict.RISKY, "replication-factor",
            f"topics could no longer be created with the default replication factor {factor}:"
            f" {counted(left, 'broker')} would be left",
            1,
        )  # fmt: skip


# -- steps -----------------------------------------------------------------------------------------


def _steps(
    state: BrokerState, held: Sequence[TopicPartition], leaving: int
) -> Iterator[DecommissionStep]:
    yield _cordon(state, len(held))
    detail = counted(len(held), "replica")
    if leaving:
        detail += f", {leaving:,} of them already being moved"
    yield DecommissionStep("drain", TO_DO if held else DONE, detail if held else "no replicas")
    yield _stop(state)
    yield _voter(state)
    yield _configs_step(state)
    yield _unregister(state)


def _cordon(state: BrokerState, held: int) -> DecommissionStep:
    if state.cordoned:
        return DecommissionStep("cordon", DONE, "all log directories")
    if not state.running:
        return DecommissionStep("cordon", SKIPPED, "the broker is not running")
    if state.can_cordon:
        return DecommissionStep("cordon", TO_DO, "all log directories")
    if state.configs is None:
        return DecommissionStep("cordon", NOT_CHECKED, "the configs of the broker were not read")
    detail = (
        "requires metadata.version 4.3; the broker may get replicas of new topics until it stops"
    )
    return DecommissionStep("cordon", SKIPPED, detail)


def _stop(state: BrokerState) -> DecommissionStep:
    if state.running:
        return DecommissionStep("stop", TO_DO, "by you")
    if state.broker.state == "fenced":
        return DecommissionStep("stop", NOT_CHECKED, "the broker is fenced, but may still run")
    return DecommissionStep("stop", DONE)


def _voter(state: BrokerState) -> DecommissionStep:
    if state.voter:
        return DecommissionStep("voter", TO_DO, f"1 of {counted(state.voters, 'voter')}")
    if state.voter is None:
        return DecommissionStep("voter", NOT_CHECKED, "the metadata quorum was not read")
    return DecommissionStep("voter", DONE, "not a voter")


def _unregister(state: BrokerState) -> DecommissionStep:
    if not state.kraft:
        return DecommissionStep("unregister", SKIPPED, "not required with ZooKeeper")
    if state.registered is None:
        return DecommissionStep(
            "unregister", NOT_CHECKED, "only Kafka 4.0 and later list registrations"
        )
    return DecommissionStep("unregister", TO_DO if state.registered else DONE)


def _configs_step(state: BrokerState) -> DecommissionStep:
    if state.registered is False:
        detail = "controllers accept no configs of a broker that is not registered"
        return DecommissionStep("configs", SKIPPED, detail)
    if state.configs is None:
        return DecommissionStep("configs", NOT_CHECKED, "only a running broker returns its configs")
    count = len({*state.configs, *((CORDON,) if state.can_cordon else ())})
    if not count:
        return DecommissionStep("configs", DONE, "no dynamic configs")
    return DecommissionStep("configs", TO_DO, counted(count, "dynamic config"))


# -- Reads how far a broker is decommissioned, and waits until it has stopped ----------------------

DEFAULT_FACTOR = "default.replication.factor"
_CORDON_SINCE = "4.3-IV0"  # the metadata.version
# What a probe of a host finds on which no broker runs any more. A broker that hangs is not stopped.
_STOPPED = frozenset(
    {"refused", "connect-timeout", "unreachable", "unknown-host", "connection-lost",
     "closed-early", "not-kafka"}
)  # fmt: skip


def describe(cluster: Cluster, broker: int) -> Decommission:
    """How far a broker is decommissioned, and whether the other brokers can hold its replicas.

    Raises ShellError if it is the only running broker, or a controller that is not a broker.
    """
    return read(cluster, broker)[0]


def read(cluster: Cluster, broker: int) -> tuple[Decommission, BrokerState, Drain]:
    """The same, with what it is based on."""
    known = cluster_reads.brokers(cluster, PART_S)
    described = known.probe.quorum
    with Cluster(known.config) as own:
        own.join(cluster)
        reader = PartReader(own)
        state, dirs = _state(reader, known, broker, described)
        drain = read_drain(own, broker)
        factor = reader(DEFAULT_FACTOR, lambda own: _default_factor(own, known, broker))
    others = ClusterState(
        brokers={id: each.rack for id, each in known.by_id.items() if each.state == "up"},
        partitions=(),
        minimum={},
        silent=frozenset(known.silent),
        behind=frozenset(known.probe.behind),
        quorum=described,
        unread={**{k: v for k, v in known.not_read.items() if k == "fenced brokers"},
                **known.probe.not_current, **reader.failures},
        topics=frozenset(known.metadata.names),
        stored={broker: _stored(dirs, broker)} if state.broker.state == "up" else {},
    )  # fmt: skip
    return decommission(others, state, drain, factor), state, drain


Dirs = Results[int, tuple[LogDir, ...]]


def _state(
    reader: PartReader, known: cluster_reads.Brokers, id: int, described: Quorum | None
) -> tuple[BrokerState, Dirs | None]:
    """The state of the broker in the cluster, and its log directories if it responds."""
    broker = known.by_id.get(id) or Broker(id, "", 0, state="unknown")
    registrations = reader("registered brokers", registered)
    dirs, entries, can_cordon = None, None, False
    if broker.state == "up":
        dirs = reader("log directories", lambda own: log_dirs.describe(own, [id]))
        entries = reader(f"configs of broker {id}", lambda own: _configs(own, id))
        if entries is not None and CORDON in entries:
            supported = reader("features", features.describe)
            level = supported.get(features.METADATA) if supported is not None else None
            since = features.level_of(_CORDON_SINCE)
            can_cordon = level is not None and since is not None and level.level >= since
    voters = described.voters if described is not None else ()
    kraft = reader.cluster.is_kraft()
    state = BrokerState(
        broker=broker,
        address=Address(broker.host, broker.port) if broker.host else None,
        registered=None if registrations is None else id in registrations,
        kraft=kraft,
        cordoned=id in log_dirs.cordoned(dirs) if dirs is not None and id in dirs.values else None,
        can_cordon=can_cordon,
        configs=None if entries is None else _dynamic(entries),
        voter=None if kraft and described is None else any(voter.id == id for voter in voters),
        voters=len(voters),
        dynamic=any(voter.directory_id for voter in voters),
    )
    if broker.state == "unknown" and any(v.id == id and 0 <= v.behind_ms < 1_000 for v in voters):
        raise ShellError(f"{id} is a controller, not a broker", code="no-match")
    return state, dirs


def _configs(cluster: Cluster, id: int) -> dict[str, ConfigEntry]:
    resource = ConfigResource(ResourceType.BROKER, str(id))
    entries = configs.describe(cluster, [resource])
    for failure in entries.failures.values():
        raise ShellError(failure.message, hint=failure.hint, code=failure.name)
    return configs.by_name(entries[resource])


def _dynamic(entries: dict[str, ConfigEntry]) -> tuple[str, ...]:
    """The names of the broker's own dynamic configs."""
    return tuple(
        name for name, each in entries.items() if each.source is ConfigSource.DYNAMIC_BROKER
    )


def _default_factor(cluster: Cluster, known: cluster_reads.Brokers, broker: int) -> int | None:
    """The default replication factor of new topics, as another broker has it."""
    others = [id for id, each in known.by_id.items() if each.state == "up" and id != broker]
    if not others:
        return None
    entry = _configs(cluster, others[0]).get(DEFAULT_FACTOR)
    return int(entry.value) if entry is not None and entry.value else None


def _stored(dirs: Dirs | None, broker: int) -> frozenset[str] | Failure:
    """The topics in the log directories of the broker, or why they could not be read."""
    if dirs is None:
        return Failure("NOT_READ", "log directories were not read")
    if broker in dirs.failures:
        return dirs.failures[broker]
    failed = next((dir.error for dir in dirs[broker] if dir.error is not None), None)
    return failed or frozenset(replica.topic for dir in dirs[broker] for replica in dir.replicas)


def dynamic_configs(cluster: Cluster) -> tuple[str, ...]:
    """The names of all configs that the first responding broker accepts as dynamic configs. Raises
    ShellError if none responds."""
    unread = ShellError("no broker is running", code="no-broker")
    for broker in cluster.brokers(refresh=True):
        try:
            with cluster.within(PART_S):
                entries = _configs(cluster, broker.id)
        except ShellError as error:
            unread = error
            continue
        fixed = _fixed(cluster)
        return tuple(n for n, each in entries.items() if not each.read_only and n not in fixed)
    raise unread


def _fixed(cluster: Cluster) -> frozenset[str]:
    """Configs that no broker can have of its own. Deleting one would be refused, and with it all
    others (KIP-966)."""
    with cluster.within(PART_S):
        elr = features.describe(cluster).get("eligible.leader.replicas.version")
    return frozenset({"min.insync.replicas"} if elr is not None and elr.level > 0 else ())


# -- waiting ---------------------------------------------------------------------------------------


def wait_stopped(
    cluster: Cluster,
    broker: int,
    address: Address | None = None,
    report: Report = lambda *_: None,
) -> None:
    """Wait until the broker has left the cluster and does not respond at its address (None: as the
    cluster lists it), until the deadline. Raises ShellError (code `deadline`) that says what was
    found last."""
    if address is None:
        listed = cluster_reads.brokers(cluster).by_id.get(broker)
        address = Address(listed.host, listed.port) if listed and listed.host else None
    task = found = ""
    while True:
        try:
            found = _running(cluster, broker, address)
        except ShellError as error:
            if error.status is Status.WRONG:
                raise
            if cluster.has_time(POLL_S) or not found:  # else keep the last finding
                found = error.message  # of one attempt: a broker may hang
        if not found:
            report(task, 1, 1)
            return
        report(task := f"Waiting: {found}", 0, None)
        cluster.pause(POLL_S, found)


def _running(cluster: Cluster, broker: int, address: Address | None) -> str:
    """Why the broker does not count as stopped; empty if it does."""
    with probes.fresh(cluster) as own, own.within(PART_S):
        if any(node.id == broker for node in own.brokers(refresh=True)):
            return f"broker {broker} is running"
        if own.is_kraft() and quorum.describe(own).leader in (broker, -1):
            return "there is no active controller yet"
        if address is None:
            return ""
        probed = probes.probe_brokers(own.config, {broker: address}, PROBE_S)
    if broker in probed.values:
        return f"broker {broker} is fenced, but responds at {address}"
    failure = probed.failures[broker]
    return "" if failure.name in _STOPPED else f"broker {broker}: {failure.message}"


# -- Plans that cordon a broker, and delete the dynamic configs of one that is gone ----------------

ALL = "*"


def plan_cordon(cluster: Cluster, broker: int) -> Plan:
    """Cordon all log directories of a broker: it gets no new replicas (KIP-1066, Kafka 4.3)."""
    return _alter(cluster, broker, ConfigAlteration(CORDON, ConfigOp.SET, ALL))


def plan_uncordon(cluster: Cluster, broker: int) -> Plan:
    """Remove the cordon of a broker. If it is not running, the active controller does it."""
    if any(node.id == broker for node in cluster.brokers(refresh=True)):
        return _alter(cluster, broker, ConfigAlteration(CORDON, ConfigOp.DELETE))
    return config_changes.plan_delete(cluster, [broker], [CORDON])


def _alter(cluster: Cluster, broker: int, alteration: ConfigAlteration) -> Plan:
    resource = ConfigResource(ResourceType.BROKER, str(broker))
    return config_changes.plan_alter(cluster, {resource: [alteration]})


def is_cordoned(cluster: Cluster, broker: int) -> bool:
    """Whether the broker reports its log directories as cordoned, a moment after the change."""

    def cordoned() -> bool:
        return broker in log_dirs.cordoned(log_dirs.describe(cluster, [broker], []))

    wait_until_visible(cordoned)
    return cordoned()


def plan_delete_configs(cluster: Cluster, broker: int, seen: Collection[str] | None = None) -> Plan:
    """Delete all dynamic configs of a broker that is not running.

    No broker returns them, so every config that another broker accepts as dynamic is deleted, and
    so are the rates of replication throttles, and those `seen` while the broker ran (None: unknown;
    if there were none, nothing is deleted). Raises ShellError if no other broker returns its
    configs.
    """
    if seen is not None and not seen:
        return Plan(Effect.CHANGE, ())
    plan = config_changes.plan_delete(cluster, [broker], [CORDON])
    if not plan.steps:
        return plan
    every = dict.fromkeys((*dynamic_configs(cluster), *RATES, *sorted(seen or ())))
    return replace(plan, steps=(DeleteLeftoverConfigs(broker, tuple(every), whole=True),))
