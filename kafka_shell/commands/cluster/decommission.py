"""`decommission`: remove a broker for good, as a runbook that can be continued at any step."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Effect, Plan, Resource
from kafka_shell.base.runbook import Runbook, Stage, Stages
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.commands import select
from kafka_shell.commands.partitions.reassignments import BATCHES, THROTTLE, plan_start
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option
from kafka_shell.language.render import render

if TYPE_CHECKING:
    from kafka_shell.admin.cluster.decommission.check import BrokerState, Decommission
    from kafka_shell.admin.partitions.targets import Drain
    from kafka_shell.base.outcome import Outcome
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster

_REMOVED = ("voter", "configs", "unregister")  # unregistered, its configs could not be deleted
_NOT_REGISTERED = "BROKER_ID_NOT_REGISTERED"
_ATTEMPTS, _ATTEMPT_S = 4, 8.0  # to ask the active controller
_PATIENCE_S, _PAUSE_S = 60.0, 1.0  # to read the state again, after a controller has failed
_ROUNDS = 6  # of draining: without a cordon, new topics may get replicas on the broker meanwhile


def decommission(invocation: Invocation, context: Context) -> Runbook | Plan:
    """The runbook that removes a broker, or the plan that removes its cordon."""
    broker = select.broker_id(
        invocation["broker-id"], invocation.span("broker-id"), invocation.text
    )
    if invocation["undo"]:
        return _undo(context, broker)
    from kafka_shell.admin.cluster.decommission import read

    found, state, drain = read.read(context.cluster, broker)
    work = _Work(invocation, context, broker, cordoned=bool(state.cordoned))
    moves = f": move {counted(found.replicas, 'replica')} to other brokers, then unregister it"
    return Runbook(
        about=found,
        refused="" if found.ok or found.possible else f"{_why_not(found)} (nothing was changed)",
        question=f"Decommission broker {broker}{moves if found.replicas else ''}",
        stages=work.stages,
        previews=lambda: tuple(work.previews(found, state, drain)),
        result=work.result,
        resume=render(invocation),
        undo=lambda: f"decommission {broker} --undo" if work.cordoned else "",
    )


def _undo(context: Context, broker: int) -> Plan:
    """The plan that removes the cordon; its warnings say what stays."""
    from kafka_shell.admin.cluster.decommission import plans
    from kafka_shell.admin.partitions.progress import under_way

    plan = plans.plan_uncordon(context.cluster, broker)
    if not plan.steps:
        return plan
    moving = [move for move in under_way(context.cluster) if broker in move.removing]
    warnings = [f"replicas that were moved off broker {broker} stay where they are"]
    if moving:
        warnings.append(
            f"{counted(len(moving), 'partition')} still being moved off broker {broker};"
            " to cancel that, run reassign-partitions --cancel --topics '*'"
        )
    return plan.advised(Advice(warnings=tuple(warnings)))


class _Work:
    """The stages of one run. `cordoned` is whether the broker is left cordoned if it ends now."""

    def __init__(
        self, invocation: Invocation, context: Context, broker: int, *, cordoned: bool
    ) -> None:
        self._invocation = invocation
        self._context = context
        self._broker = broker
        self.cordoned = cordoned
        # Its dynamic configs when it was last seen running. A stopped broker returns none.
        self._keys: tuple[str, ...] | None = None
        self._done: list[str] = []  # what was removed in this run

    def stages(self) -> Stages:
        """Cordon, drain, wait for the broker to stop, and remove what is left of it."""
        while True:
            state = yield from self._drain()
            if state is None:
                return
            yield from self._stop(state)
            found, _, _ = self._read()
            if not found.replicas:
                break  # else a topic was created between draining and the stop
        yield from self._remove(found)

    def _cordon(self) -> Generator[Stage, Outcome | None, bool]:
        """Place no new replicas on the broker. Returns whether that worked."""
        from kafka_shell.admin.cluster.decommission import plans

        self.cordoned = True  # or may be, if there is no response
        outcome = yield Stage(plans.plan_cordon(self._context.cluster, self._broker))
        if not _is_done(outcome):
            self.cordoned = _may_be_applied(outcome)
            return False
        if not plans.is_cordoned(self._context.cluster, self._broker):
            self._context.note(
                f"broker {self._broker} does not report its log directories as cordoned: it may get"
                " new replicas until it stops"
            )
        return True

    def _read(self) -> tuple[Decommission, BrokerState, Drain]:
        """How far it is. What cannot be read is read again for a while: brokers and controllers
        fail. Raises ShellError if the runbook cannot continue."""
        from kafka_shell.admin.cluster.decommission import read
        from kafka_shell.admin.cluster.restart.judge import Verdict

        cluster, until = self._context.cluster, time.monotonic() + _PATIENCE_S
        until = min(until, cluster.deadline or until)
        while True:
            try:
                found, state, drain = read.read(cluster, self._broker)
            except ShellError as error:
                if error.code != "deadline" or time.monotonic() > until:
                    raise
            else:
                if found.possible:
                    return found, state, drain
                if found.verdict is not Verdict.UNKNOWN or time.monotonic() > until:
                    raise ShellError(f"stopped: {_why_not(found)}", code="not-safe")
            time.sleep(_PAUSE_S)

    def _drain(self) -> Generator[Stage, Outcome | None, BrokerState | None]:
        """Move replicas until none is left, after a cordon as soon as the broker runs. Returns its
        state after that; None if it did not work."""
        from kafka_shell.admin.partitions.targets import plan_remove_throttle, wait_until_drained
        from kafka_shell.commands.partitions.throttle_store import throttle_record

        for _ in range(_ROUNDS):
            found, state, drain = self._read()
            if found.is_left("cordon") and not self.cordoned:
                if not (yield from self._cordon()):
                    return None
                continue
            if not found.replicas:
                self._keys = self._keys if state.configs is None else state.configs
                break
            outcome = yield Stage(self.plan_drain(drain))
            if not _is_done(outcome, besides=self._broker):
                return None
            wait_until_drained(self._context.cluster, self._broker)
        else:
            raise ShellError(
                f"broker {self._broker} still has {counted(found.replicas, 'replica')} after"
                f" {_ROUNDS} reassignments",
                code="not-drained",
            )
        record = throttle_record(self._context)
        left = plan_remove_throttle(self._context.cluster, self._broker, record)
        outcome = (yield Stage(left)) if left.steps else None
        return state if _is_done(outcome, besides=self._broker) else None

    def plan_drain(self, drain: Drain) -> Plan:
        """The reassignment of what the broker still has. It is waited for, and what is already
        moving off the broker is followed."""
        given = {**self._invocation.values, "wait": True, "additional": True}
        plan = plan_start(
            replace(self._invocation, values=given), self._context,
            drain.wanted, now=drain.now, sizes=drain.disks.sizes,
            planned=drain.targets, throttle=self._invocation["throttle"],
        )  # fmt: skip
        return plan.followed(resume="")

    def _stop(self, state: BrokerState) -> Iterator[Stage]:
        from kafka_shell.admin.cluster.decommission import read

        cluster, broker = self._context.cluster, self._broker
        message = (
            f"broker {broker} has no replicas left. Stop the broker now; this command continues"
            " once it is down."
        )
        yield Stage(
            wait=lambda report: read.wait_stopped(
                cluster, broker, state.address, report, self._note_configs
            ),
            message=message if state.running else "",
        )
        self._done.append("stop")

    def _note_configs(self, cluster: Cluster) -> None:
        """Read the dynamic configs again: others change them until the broker stops."""
        from kafka_shell.admin.cluster.decommission import read

        with suppress(ShellError):  # it may be stopping
            self._keys = read.own_configs(cluster, self._broker)

    def _remove(self, found: Decommission) -> Stages:
        for name in self._left(found):
            plan = self._removal(name)
            if name == "configs" and not self._may_delete(plan):
                continue
            if plan.steps or not plan.refused.ok:
                outcome = yield Stage(plan)
                if not _is_done(outcome) and not _is_unregistered(outcome):
                    return
            self._done.append(name)
            self.cordoned = self.cordoned and name != "configs"

    def _left(self, found: Decommission) -> list[str]:
        """What is to be removed after the stop, in order."""
        kept = ("configs",) if self._invocation["keep-configs"] else ()
        return [name for name in _REMOVED if found.is_left(name) and name not in kept]

    def _removal(self, name: str) -> Plan:
        """The plan that removes the voter, the registration or the configs of a stopped broker."""
        from kafka_shell.admin.cluster import quorum as quorum_change
        from kafka_shell.admin.cluster import unregister
        from kafka_shell.admin.cluster.decommission import plans
        from kafka_shell.admin.cluster.model import Voter

        cluster, broker = self._context.cluster, self._broker
        if name == "voter":
            return quorum_change.plan_alter(cluster, remove=[Voter(broker)])
        if name == "unregister":
            return unregister.plan_unregister(cluster, [broker])
        return plans.plan_delete_configs(cluster, broker, self._keys)

    def _may_delete(self, plan: Plan) -> bool:
        """Whether the active controller would delete the configs; False if the broker is not
        registered any more. Raises ShellError if it cannot be asked, as clients often cannot
        connect to controllers, or refuses."""
        for attempt in range(_ATTEMPTS):
            try:
                with self._context.cluster.within(_ATTEMPT_S):
                    self._validate(plan)
                return True
            except ShellError as error:
                if error.code == _NOT_REGISTERED:
                    return False
                if error.code == "deadline" and attempt < _ATTEMPTS - 1:
                    continue  # it hangs: there is another one soon
                error.message = f"the dynamic configs were not deleted: {error.message}"
                keep = "Use --keep-configs to unregister the broker without deleting its configs."
                error.hint = "\n".join(filter(None, (error.hint, keep)))
                raise
        return False

    def _validate(self, plan: Plan) -> None:
        from kafka_shell.wire.failures import as_error

        for step in plan.steps:
            sent = step.send(self._context.cluster, validate_only=True)
            for failure in sent.failures.values():
                raise as_error(failure)

    def previews(self, found: Decommission, state: BrokerState, drain: Drain) -> Iterator[Plan]:
        """The plans that can be made now."""
        from kafka_shell.admin.cluster.decommission import plans

        if found.is_left("cordon"):
            yield plans.plan_cordon(self._context.cluster, self._broker)
        if found.replicas:
            yield self.plan_drain(drain)
        if not state.running:
            yield from map(self._removal, self._left(found))

    def result(self) -> Decommission:
        """How far it is now. Steps that cannot be checked after the broker is removed count as done
        if this run did them."""
        from kafka_shell.admin.cluster.decommission import read
        from kafka_shell.admin.cluster.decommission.check import DONE, NOT_CHECKED, SKIPPED

        found = read.describe(self._context.cluster, self._broker)
        known = dict.fromkeys(self._done, DONE)
        if self._invocation["keep-configs"]:
            known["configs"] = SKIPPED
        elif "unregister" in self._done:
            known.setdefault("configs", SKIPPED)
        return replace(found, steps=tuple(
            replace(step, state=known[step.name], detail="")
            if step.name in known and step.state in (NOT_CHECKED, SKIPPED) else step
            for step in found.steps
        ))  # fmt: skip


def _why_not(found: Decommission) -> str:
    """Why the broker cannot be decommissioned."""
    reasons = [each for each in found.reasons if each.verdict is found.verdict]
    more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    verdict = found.verdict.name.lower()
    return f"decommissioning broker {found.broker} is {verdict}: {reasons[0].summary}{more}"


def _is_done(outcome: Outcome | None, besides: int | None = None) -> bool:
    """Whether the plan was applied, except for the throttle of the broker `besides`: if it does not
    run, that cannot be removed, but is deleted with its configs."""
    if outcome is None:
        return True
    about = {Resource("throttle", f"broker {besides}"), Resource("broker", str(besides))}
    return outcome.plan.refused.ok and all(
        item.status == "done" or (besides is not None and item.change.resource in about)
        for item in outcome.changes
    )


def _is_unregistered(outcome: Outcome | None) -> bool:
    """Whether the broker is no longer registered at the controller."""
    failures = [] if outcome is None else [item.failure for item in outcome.changes]
    return any(failure is not None and failure.name == _NOT_REGISTERED for failure in failures)


def _may_be_applied(outcome: Outcome | None) -> bool:
    """Whether a change was applied, or has an unknown outcome."""
    return outcome is not None and any(
        item.status in ("done", "unknown") for item in outcome.changes
    )


COMMANDS = (
    Command(
        name="decommission",
        summary="Remove a broker for good: cordon, drain, wait until it stops, unregister.",
        family="cluster",
        run=decommission,
        effect=Effect.DESTROY,
        arguments=(
            Argument("broker-id", kinds.BROKER, "The ID of the broker: 4.", option="--broker-id"),
        ),
        options=(
            replace(THROTTLE, excludes=("--undo",)),
            *BATCHES,
            Option("--keep-configs", kinds.FLAG,
                   "Keep the dynamic configs of the broker (deleting them requires a connection to"
                   " the controllers).", excludes=("--undo",)),
            Option("--undo", kinds.FLAG,
                   "Only remove the cordon, so that the broker gets new replicas again. Replicas"
                   " that were moved stay where they are."),
        ),
        search=("remove broker", "retire", "shrink", "scale in", "cordon", "drain"),
        description=(
            "First checks whether the other brokers can hold everything: replication factors,"
            " racks, disk space, and the majority of the metadata quorum. Then, after one question:"
            " cordons the log directories of the broker (Kafka 4.3), moves all replicas off it and"
            " removes the throttle, waits until you stop the broker, removes its voter and its"
            " dynamic configs, and unregisters it.\n"
            "The completed steps are read from the cluster: if the command was interrupted at any"
            " step, run the same command again to continue. A broker that is permanently down is"
            " decommissioned in the same way, if every partition has a leader.\n"
            "Exit status: 0 if the broker is decommissioned; 1 if it cannot be, or a step failed;"
            " 130 after Ctrl-C, also while waiting for the broker to stop."
        ),
        apis=(2, 32, 34, 35, 44, 45, 46, 55, 60, 64, 81),
        examples=(
            Example("decommission 1 --dry-run", "check whether broker 1 can be removed", status=1),
            Example("decommission 1 --undo", "let broker 1 get new replicas again"),
        ),
    ),
)  # fmt: skip
