"""Whether a broker can be decommissioned, and which steps are left. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from kafka_shell.admin.cluster.restart import judge
from kafka_shell.admin.cluster.restart.judge import ClusterState, Reason, Verdict
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.targets import Drain
from kafka_shell.base.units import counted
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
            [each.name for each in refused],
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
    stuck = [each for each in sorted(wanted) if drain.now.current[each][0] is None]
    if stuck:
        yield _reason(
            Verdict.UNSAFE, "offline",
            f"{counted(len(stuck), 'partition')} without a leader cannot be moved",
            stuck,
        )  # fmt: skip
    fewer = [each for each in drain.targets.replicas if _fewer_racks(drain, each)]
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


def _fewer_racks(drain: Drain, each: TopicPartition) -> bool:
    racks = drain.now.racks

    def spread(replicas: Iterable[int]) -> int:
        return len({racks.get(id) or id for id in replicas})

    return spread(drain.targets.replicas[each]) < spread(drain.now.replicas[each])


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
    yield _configs(state)
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
        "requires metadata.version 4.3: until it stops, the broker may get replicas of new topics"
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


def _configs(state: BrokerState) -> DecommissionStep:
    if state.registered is False:
        detail = "controllers accept no configs of a broker that is not registered"
        return DecommissionStep("configs", SKIPPED, detail)
    if state.configs is None:
        return DecommissionStep("configs", NOT_CHECKED, "only a running broker returns its configs")
    count = len({*state.configs, *((CORDON,) if state.can_cordon else ())})
    if not count:
        return DecommissionStep("configs", DONE, "no dynamic configs")
    return DecommissionStep("configs", TO_DO, counted(count, "dynamic config"))
