"""`decommission`: remove a broker for good. Each next step is worked out from the cluster."""

from __future__ import annotations

import time

from kafka_shell.admin.cluster import decommission as steps
from kafka_shell.admin.cluster import quorum, unregister
from kafka_shell.admin.cluster.decommission import DONE, NOT_CHECKED, SKIPPED, Decommission
from kafka_shell.admin.cluster.model import Voter
from kafka_shell.admin.cluster.restart.judge import Verdict
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.targets import plan_remove_throttle, wait_until_drained
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Plan, Runbook, Stage
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.base.waits import POLL_S, PROGRESS_S
from kafka_shell.commands import select
from kafka_shell.commands.partitions.reassignments import plan_start
from kafka_shell.commands.partitions.throttle_store import throttle_record
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.render import render

_KEEP = (
    "The active controller deletes the dynamic configs of the broker. If it cannot be reached, use"
    " --keep-configs."
)


def decommission(invocation: Invocation, context: Context) -> Runbook | Plan:
    """The runbook that removes a broker, or the plan that removes its cordon."""
    broker = select.broker_id(invocation["broker-id"], invocation.span("broker-id"))
    if invocation["undo"]:
        return _undo(context, broker)
    work = _Work(invocation, context, broker)
    state = work.read()
    moves = f": move {counted(state.replicas, 'replica')} to other brokers, then unregister it"
    return Runbook(
        about=state,
        refused="" if state.ok or state.possible else f"{_why_not(state)} (nothing was changed)",
        question=f"Decommission broker {broker}{moves if state.replicas else ''}",
        next=work.next,
        done=work.done,
        previews=work.previews,
        result=work.result,
        resume=render(invocation),
        undo=lambda: f"decommission {broker} --undo" if work.cordoned else "",
    )


def _undo(context: Context, broker: int) -> Plan:
    """The plan that removes the cordon; its warnings say what stays."""
    plan = steps.plan_uncordon(context.cluster, broker)
    if not plan.steps:
        return plan
    moving = [move for move in under_way(context.cluster) if broker in move.removing]
    warnings = [f"replicas that were moved off broker {broker} stay where they are"]
    if moving:
        warnings.append(
            f"{counted(len(moving), 'partition')} still being moved off broker {broker};"
            " cancel with reassign-partitions --cancel --partitions TOPIC:0,3"
        )
    return plan.advised(Advice(warnings=tuple(warnings)))


class _Work:
    """What is left of one run: read from the cluster, but for what it cannot tell of a broker that
    does not run. `cordoned` is whether the broker is left cordoned if the run ends now."""

    def __init__(self, invocation: Invocation, context: Context, broker: int) -> None:
        self._invocation, self._context, self._broker = invocation, context, broker
        self._done: set[str] = set()  # the steps that this run has done
        self._configs: tuple[str, ...] | None = None  # when it was last seen running
        self.cordoned = self._tried_to_cordon = False

    def read(self) -> Decommission:
        """How far it is."""
        progress, self._state, self._drain = steps.read(self._context.cluster, self._broker)
        if self._state.configs is not None:
            self._configs = self._state.configs
        if self._state.running:
            self._done.discard("stop")
        if self._state.cordoned is not None:
            self.cordoned = self._state.cordoned
        self._found = progress
        return progress

    def _read_patiently(self) -> Decommission:
        """The same. What cannot be read is read again for a while: brokers and controllers fail.
        Raises ShellError if the runbook cannot continue."""
        until = time.monotonic() + PROGRESS_S
        until = min(until, self._context.cluster.deadline or until)
        while True:
            try:
                progress = self.read()
            except ShellError as error:
                if error.code != "deadline" or time.monotonic() > until:
                    raise
            else:
                if progress.possible or not self._left:
                    return progress
                if progress.verdict is not Verdict.UNKNOWN or time.monotonic() > until:
                    raise ShellError(f"stopped: {_why_not(progress)}", code="not-safe")
            time.sleep(POLL_S)

    @property
    def _left(self) -> list[str]:
        """The steps that are left, in order."""
        kept = {"configs"} if self._invocation["keep-configs"] else set[str]()
        names = (step.name for step in self._found.steps if self._found.is_left(step.name))
        return [name for name in names if name not in self._done | kept]

    def next(self) -> Stage | None:
        """The first step that is left."""
        self._read_patiently()
        name = next(iter(self._left), None)
        if name is None or name == "stop":
            return None if name is None else self._stop()
        if name == "cordon" and not self._tried_to_cordon:
            self._tried_to_cordon = self.cordoned = True  # or may be, if there is no response
        return Stage(name, self._plan(name), message=_KEEP if name == "configs" else "")

    def done(self, name: str) -> None:
        """Note that a step was applied."""
        cluster = self._context.cluster
        if name == "drain":  # it is read again: without a cordon, topics may be created meanwhile
            wait_until_drained(cluster, self._broker)
            return
        self._done.add(name)
        self.cordoned = self.cordoned and name != "configs"
        if name == "cordon" and not steps.is_cordoned(cluster, self._broker):
            self._context.note(
                f"broker {self._broker} does not report its log directories as cordoned: it may get"
                " new replicas until it stops"
            )

    def _stop(self) -> Stage:
        """Remove what an interrupted drain left of its throttle, and wait for the stop."""
        cluster, broker, address = self._context.cluster, self._broker, self._state.address
        left = plan_remove_throttle(cluster, broker, throttle_record(self._context))
        message = (
            f"broker {broker} has no replicas left. Stop the broker now; this command continues"
            " once it is down."
        )
        return Stage(
            "stop",
            left if left.steps else None,
            lambda report: steps.wait_stopped(cluster, broker, address, report),
            message if self._state.running else "",
        )

    def _plan(self, name: str) -> Plan:
        cluster, broker = self._context.cluster, self._broker
        if name == "cordon":
            return steps.plan_cordon(cluster, broker)
        if name == "drain":
            return self._plan_drain()
        if name == "voter":
            return quorum.plan_alter(cluster, remove=[Voter(broker)])
        if name == "unregister":
            return unregister.plan_unregister(cluster, [broker])
        return steps.plan_delete_configs(cluster, broker, self._configs)

    def _plan_drain(self) -> Plan:
        """The reassignment of what the broker still has. It is waited for, and what is already
        moving off the broker is followed."""
        given = {**self._invocation.values, "wait": True}
        drain = self._drain
        plan = plan_start(
            replace(self._invocation, values=given), self._context, drain.wanted, now=drain.now,
            sizes=drain.disks.sizes, planned=drain.targets, throttle=self._invocation["throttle"],
        )  # fmt: skip
        return plan.followed(resume="")

    def previews(self) -> tuple[Plan, ...]:
        """The plans that can be made now."""
        now = ("cordon", "drain") if self._state.running else tuple(self._left)
        return tuple(self._plan(name) for name in self._left if name in now and name != "stop")

    def result(self) -> Decommission:
        """How far it is now. Steps that cannot be checked after the broker is removed count as done
        if this run did them."""
        known = dict.fromkeys(self._done, DONE)
        if self._invocation["keep-configs"] or "unregister" in known:
            known.setdefault("configs", SKIPPED)
        return replace(self._found, steps=tuple(
            replace(step, state=known[step.name], detail="")
            if step.name in known and step.state in (NOT_CHECKED, SKIPPED) else step
            for step in self._found.steps
        ))  # fmt: skip


def _why_not(progress: Decommission) -> str:
    """Why the broker cannot be decommissioned."""
    reasons = [reason for reason in progress.reasons if reason.verdict is progress.verdict]
    more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    verdict = progress.verdict.name.lower()
    return f"decommissioning broker {progress.broker} is {verdict}: {reasons[0].summary}{more}"
