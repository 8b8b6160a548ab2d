"""`decommission` from given facts: which steps are left, what prevents them, the stages of a run.

A stage is named for its plan; `stop` is the wait for the broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Struct

from kafka_shell.admin.cluster import decommission as steps
from kafka_shell.admin.cluster import quorum as quorum_change
from kafka_shell.admin.cluster import unregister
from kafka_shell.admin.cluster.decommission import BrokerState, Decommission
from kafka_shell.admin.cluster.restart.judge import ClusterState, Reason, Verdict
from kafka_shell.admin.partitions import targets
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.progress import current_assignment
from kafka_shell.admin.partitions.sizes import Disks, Sizes
from kafka_shell.admin.partitions.targets import Drain
from kafka_shell.admin.steps import BaseStep
from kafka_shell.base.errors import ShellError
from kafka_shell.base.outcome import ChangeResult, Outcome
from kafka_shell.base.plans import Change, Effect, Plan, Resource
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.commands.cluster import decommission
from kafka_shell.output.text import Text
from kafka_shell.run import execute
from kafka_shell.wire.model import Broker
from tests.support.given_moves import GivenCluster, given

UP = BrokerState(
    Broker(5, "host-5", 9092, state="up"), registered=True, cordoned=False, can_cordon=True,
    configs=("log.cleaner.threads",), voter=True, voters=4,
)  # fmt: skip
DENIED = Failure("CLUSTER_AUTHORIZATION_FAILED", "not authorized", 31)
GONE = Failure("BROKER_ID_NOT_REGISTERED", "broker 5 is not registered", 102)
ALL = "cordon drain stop voter configs unregister"
Facts = dict[str, Any]


class Named(Struct, BaseStep, frozen=True):
    """A step that is never sent."""

    name: str

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change(Resource("broker", "5"), "alter", self.name),)


class Removing:
    """The facts of broker 5 as the plans of a run change them. `outcomes` are the status of plans
    that are not done, and `then` what happens after a stage."""

    def __init__(self, facts: GivenCluster, patch: pytest.MonkeyPatch) -> None:
        self.facts, self.state = facts, UP
        self.shown: list[str] = []
        self.names: list[str] = []
        self.notes: list[str] = []
        self.outcomes: dict[str, ChangeResult | str] = {}
        self.then: dict[str, list[Callable[[], object]]] = {}
        self.unread: list[ShellError | Verdict] = []
        self.options: dict[str, Any] = {"keep-configs": False, "throttle": None}
        patch.setattr(steps, "read", lambda *_: self.read())
        patch.setattr(steps, "wait_stopped", lambda *_: (self.stop(), self.applied("stop")))
        patch.setattr(steps, "plan_cordon", lambda *_: self.plan("cordon"))
        patch.setattr(steps, "is_cordoned", lambda *_: self.state.cordoned)
        patch.setattr(decommission, "plan_remove_throttle", lambda *_: Plan(Effect.CHANGE, ()))
        patch.setattr(decommission, "wait_until_drained", lambda *_: None)
        patch.setattr(decommission, "throttle_record", lambda *_: None)
        self.context: Any = SimpleNamespace(
            cluster=facts, note=self.notes.append, report=lambda *_: None
        )
        self.work = decommission._Work(self.options, self.context, 5)  # type: ignore[arg-type]
        patch.setattr(self.work, "_plan_drain", lambda: self.plan("drain"))
        patch.setattr(quorum_change, "plan_alter", lambda *_, **__: self.plan("voter"))
        patch.setattr(unregister, "plan_unregister", lambda *_: self.plan("unregister"))
        patch.setattr(steps, "plan_delete_configs", lambda *args: self.delete(args[-1]))
        patch.setattr(execute, "_apply", lambda plan, *_: self.apply(plan))

    def plan(self, name: str) -> Plan:
        return Plan(Effect.CHANGE, (Named(name),))

    def read(self) -> tuple[Decommission, BrokerState, Drain]:
        found = decommissioned(self.facts, self.state)
        if self.unread:
            why = self.unread.pop(0)
            if isinstance(why, ShellError):
                raise why
            reason = Reason(why, "quorum", "the quorum has no majority", 1)
            return (replace(found[0], verdict=why, reasons=(reason,)), *found[1:])
        return found

    def delete(self, keys: tuple[str, ...]) -> Plan:
        self.deleted = keys
        return self.plan("configs")

    def stop(self) -> None:
        self.facts.up.discard(5)
        broker = replace(self.state.broker, state="fenced")
        self.state = replace(self.state, broker=broker, configs=None, cordoned=None)

    def applied(self, name: str) -> None:
        self.names.append(name)
        for action in self.then.pop(name, []):
            action()

    def apply(self, plan: Plan) -> Outcome:
        (step,) = plan.steps
        (change,) = step.changes
        result = self.outcomes.pop(change.field, "done")
        if isinstance(result, str):
            result = ChangeResult(change, result)
        if result.status == "done" or result.change == OF_ITSELF:
            self.state = replace(self.state, **{
                "cordon": {"cordoned": True}, "drain": {}, "voter": {"voter": False},
                "configs": {}, "unregister": {"registered": False},
            }[change.field])  # fmt: skip
            if change.field == "drain":
                self.facts.replicas = {
                    key: tuple(id for id in each if id != 5) for key, each in
                    self.facts.replicas.items()
                }  # fmt: skip
        elif result.failure is GONE:
            self.state = replace(self.state, registered=False)
        self.applied(change.field)
        return Outcome(plan, (result,))

    def run(self) -> str:
        """The stages, in order, and the error that ended them."""
        writer: Any = SimpleNamespace(err=SimpleNamespace(width=None, lines=self.show))
        runbook: Any = SimpleNamespace(next=self.work.next, done=self.work.done)
        try:
            execute._run_stages(runbook, self.context, writer, "", True)
        except ShellError as error:
            return f"{' '.join(self.names)}: {error.message}"
        return " ".join(self.names)

    def show(self, lines: Iterable[Text]) -> None:
        self.shown += [line.plain for line in lines]


def decommissioned(
    facts: GivenCluster, state: BrokerState, factor: int | None = None
) -> tuple[Decommission, BrokerState, Drain]:
    now = current_assignment(facts)
    sizes = {each: dict.fromkeys(replicas, 1) for each, replicas in facts.replicas.items()}
    disks = Disks(Sizes(sizes, frozenset(facts.up)), dict.fromkeys(facts.up, 1_000))
    drain = Drain(5, now, disks, targets.drained(now, disks, 5))
    others = ClusterState(
        dict.fromkeys(facts.up), (), {}, stored={5: frozenset(facts.scan().names)},
        topics=frozenset(facts.scan().names),
    )  # fmt: skip
    return steps.decommission(others, state, drain, factor), state, drain


@pytest.fixture
def removing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Removing]:
    with given({"t": [(5, 1), (2, 5), (1, 2)]}, 1, 2, 3, 4, 5) as facts:
        yield Removing(facts, monkeypatch)


def test_a_broker_is_removed_in_six_steps(removing: Removing) -> None:
    assert removing.run() == ALL
    message, keep = removing.shown
    assert message.startswith("broker 5 has no replicas left. Stop the broker now")
    assert "--keep-configs" in keep
    assert not removing.work.cordoned
    steps = {step.name: step.state for step in removing.work.result().steps}
    assert set(steps.values()) <= {"done", "skipped"}, steps
    assert removing.work.result().ok


def test_the_configs_that_it_had_when_it_ran_are_deleted(removing: Removing) -> None:
    assert removing.run() == ALL
    assert removing.deleted == UP.configs


# -- what has been done, and what happens meanwhile ------------------------------------------------


def down(removing: Removing) -> None:
    removing.stop()


def back(removing: Removing) -> None:
    removing.facts.up.add(5)
    removing.state = UP


def late(removing: Removing) -> None:
    removing.facts.replicas[TopicPartition("late", 0)] = (5, 1)


@pytest.mark.parametrize(
    ("before", "then", "stages", "asked"),
    [
        ([], {}, ALL, 1),
        ([lambda r: setattr(r, "state", replace(UP, cordoned=True))], {}, ALL[7:], 1),
        ([lambda r: setattr(r, "state", replace(UP, can_cordon=False))], {}, ALL[7:], 1),
        ([lambda r: setattr(r, "state", replace(UP, voter=False))], {},
         "cordon drain stop configs unregister", 1),
        ([lambda r: r.facts.replicas.clear()], {}, "cordon stop voter configs unregister", 1),
        ([down], {}, "drain stop voter configs unregister", 0),
        ([down], {"drain": [back]}, "drain cordon stop voter configs unregister", 1),
        ([], {"drain": [late]}, "cordon drain drain stop voter configs unregister", 1),
        ([], {"stop": [late]}, "cordon drain stop drain voter configs unregister", 1),
        ([], {"drain": [down]}, ALL, 0),
        ([lambda r: r.options.update({"keep-configs": True})], {},
         "cordon drain stop voter unregister", 1),
        ([lambda r: setattr(r, "state", replace(UP, kraft=False, voter=False))], {},
         "cordon drain stop configs", 1),
    ],
)  # fmt: skip
def test_a_run_does_what_is_left(
    removing: Removing,
    before: list[Callable[[Removing], None]],
    then: dict[str, list[Callable[[Removing], None]]],
    stages: str,
    asked: int,
) -> None:
    for each in before:
        each(removing)
    removing.then = {
        name: [lambda act=act: act(removing) for act in acts] for name, acts in then.items()
    }
    assert removing.run() == stages
    asks = [line for line in removing.shown if "Stop the broker now" in line]
    assert len(asks) == asked, "it is only asked to stop a broker that runs"


def failed(name: str, why: Failure) -> ChangeResult:
    return ChangeResult(Change(Resource("partition", "t:0"), "alter", name), "failed", why)


OF_ITSELF = Change(Resource("throttle", "broker 5"), "alter", "drain")


@pytest.mark.parametrize(
    ("outcomes", "stages", "cordoned"),
    [
        ({"cordon": "failed"}, "cordon", False),
        ({"drain": failed("drain", DENIED)}, "cordon drain", True),
        ({"drain": ChangeResult(OF_ITSELF, "failed", DENIED)}, ALL, False),  # of the broker itself
        ({"voter": "failed"}, "cordon drain stop voter", True),
        ({"configs": "failed"}, "cordon drain stop voter configs", True),
        ({"configs": failed("configs", GONE)}, "cordon drain stop voter configs", True),
        ({"unregister": failed("unregister", DENIED)}, ALL, False),
        ({"unregister": failed("unregister", GONE)}, ALL, False),  # by another run
    ],
)
def test_a_stage_that_fails_ends_the_run_if_it_is_still_left(
    removing: Removing, outcomes: dict[str, Any], stages: str, cordoned: bool
) -> None:
    removing.outcomes = dict(outcomes)
    assert removing.run() == stages
    assert removing.work.cordoned == cordoned
    gone = any(getattr(each, "failure", None) is GONE for each in outcomes.values())
    assert removing.work.result().ok == (gone or (stages == ALL and "unregister" not in outcomes))


def test_a_cordon_that_is_not_reported_is_noted(
    removing: Removing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "is_cordoned", lambda *_: False)
    assert removing.run() == ALL
    assert "does not report its log directories as cordoned" in removing.notes[0]


LATE = ShellError("the controller has not responded", code="deadline")


@pytest.mark.parametrize(
    ("unread", "end"),
    [
        ([LATE] * 30, ""),
        ([Verdict.UNKNOWN] * 30, ""),
        ([LATE, Verdict.UNKNOWN] * 15, ""),
        ([LATE] * 199, "the controller has not responded"),
        ([Verdict.UNKNOWN] * 199, "stopped: decommissioning broker 5 is unknown: the quorum has"
         " no majority"),
        ([Verdict.UNSAFE], "stopped: decommissioning broker 5 is unsafe: the quorum has no"
         " majority"),
        ([ShellError("not authorized", code="no")], "not authorized"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("after", ["", "drain", "stop"])
def test_what_cannot_be_read_is_read_again_for_a_minute(
    removing: Removing, unread: list[ShellError | Verdict], end: str, after: str
) -> None:
    """Controllers fail and are replaced; what has become unsafe is not done."""
    removing.then = {after: [lambda: removing.unread.extend(unread)]}
    if not after:
        removing.unread.extend(unread)
    done = ALL.partition(after)[0] + after if after else ""
    begun = removing.run()
    assert begun == (f"{done}: {end}" if end else ALL)


# -- what is left, and what prevents it ------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "steps"),
    [
        ({}, "to do, to do, to do, to do, to do, to do"),
        ({"cordoned": True}, "done, to do, to do, to do, to do, to do"),
        ({"can_cordon": False}, "skipped, to do, to do, to do, to do, to do"),
        ({"can_cordon": False, "configs": ()}, "skipped, to do, to do, to do, done, to do"),
        ({"can_cordon": False, "configs": None},
         "not checked, to do, to do, to do, not checked, to do"),
        ({"voter": None}, "to do, to do, to do, not checked, to do, to do"),
        ({"voter": False}, "to do, to do, to do, done, to do, to do"),
        ({"registered": None}, "to do, to do, to do, to do, to do, not checked"),
        ({"registered": False}, "to do, to do, to do, to do, skipped, done"),
        ({"kraft": False, "voter": False}, "to do, to do, to do, done, to do, skipped"),
        ({"broker": "fenced", "configs": None},
         "skipped, to do, not checked, to do, not checked, to do"),
        ({"broker": "unknown", "configs": None, "registered": False},
         "skipped, to do, done, to do, skipped, done"),
    ],
)  # fmt: skip
def test_the_steps_that_are_left(removing: Removing, state: Facts, steps: str) -> None:
    broker = replace(UP.broker, state=state.get("broker", "up"))
    found, _, _ = decommissioned(removing.facts, replace(UP, **{**state, "broker": broker}))
    assert ", ".join(step.state for step in found.steps) == steps
    assert not found.ok


@pytest.mark.parametrize(
    ("facts", "state", "factor", "verdict", "checks"),
    [
        ({}, {"voter": False}, None, Verdict.SAFE, ""),
        ({}, {}, None, Verdict.RISKY, "quorum"),
        ({}, {"voters": 1}, None, Verdict.UNSAFE, "quorum"),
        ({}, {"dynamic": False}, None, Verdict.UNSAFE, "quorum"),
        ({}, {"voter": False}, 4, Verdict.SAFE, ""),
        ({}, {"voter": False}, 5, Verdict.RISKY, "replication-factor"),
        ({"full": (1, 2, 3, 4, 5)}, {"voter": False}, None, Verdict.UNSAFE, "drain"),
        ({"gets": (1, 5)}, {"voter": False}, None, Verdict.UNSAFE, "moves"),
        ({"leaves": (1, 2)}, {"voter": False}, None, Verdict.SAFE, ""),
        ({"offline": (5, 6)}, {"voter": False, "broker": "unknown"}, None, Verdict.UNSAFE,
         "offline brokers"),
        ({"racks": (4, 5)}, {"voter": False}, None, Verdict.RISKY, "racks"),
    ],
)  # fmt: skip
def test_what_makes_it_risky_or_unsafe(
    removing: Removing,
    facts: dict[str, tuple[int, ...]],
    state: Facts,
    factor: int | None,
    verdict: Verdict,
    checks: str,
) -> None:
    for name, replicas in facts.items():
        each = TopicPartition(name, 0)
        moves = {"gets": (1, 2), "leaves": (1, 5)}
        removing.facts.replicas[each] = moves.get(name, replicas)
        if name in moves:
            removing.facts.start(each, replicas)
    if "racks" in facts:
        removing.facts.racks = dict.fromkeys((1, 2, 3, 4), "a") | {5: "b"}
        removing.facts.replicas = {TopicPartition("racks", 0): (4, 5)}
    broker = replace(UP.broker, state=state.get("broker", "up"))
    if broker.state == "unknown":
        removing.facts.up.discard(5)
    given_state = replace(UP, **{**state, "broker": broker})
    found, _, _ = decommissioned(removing.facts, given_state, factor)
    assert {reason.check for reason in found.reasons} == set(checks.split()), found.reasons
    assert found.verdict is verdict
    assert found.leaving == ("leaves" in facts), "the move of another client is followed"
