"""A call in progress, and the errors of calls."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from kafka_shell.admin.wire.endpoint import Address, ConnectionConfig
from kafka_shell.admin.wire.error_codes import (
    COORDINATOR_LOAD_IN_PROGRESS,
    COORDINATOR_NOT_AVAILABLE,
    REQUEST_TIMED_OUT,
)
from kafka_shell.admin.wire.failures import MAY_STILL_HAPPEN, MOVED, late
from kafka_shell.admin.wire.pool import SILENCE_S, Pool
from kafka_shell.admin.wire.requests import AnyBroker, Call, Controller, Node, Request
from kafka_shell.admin.wire.transport import Link
from kafka_shell.common.resource import Resource
from kafka_shell.common.units import some
from kafka_shell.errors import ShellError, Status

_MAX_NAMES = 3  # of brokers in one message
_NO_CONTROLLER_S = 10.0  # without response, after which no controller is active
_SHORT_S = 1.0  # a wait that does not explain why a deadline has passed
_NOT_YET = (COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE)


class Job:
    """One call until it has a `result` or an `error`. `extensible`: its deadline is that of the
    user, who can increase it."""

    def __init__(self, call: Call, request: Request, deadline: float, extensible: bool) -> None:
        self.call = call
        self.request = request
        self.deadline = deadline
        self.extensible = extensible
        self.started = time.monotonic()
        self.link: Link | None = None
        self.sent = False
        self.sent_to: set[Address] = set()
        self.done = False
        self.result: Any = None
        self.error: ShellError | None = None
        self.retry_at = 0.0
        self.tries = 0
        self.lost_connections = 0  # connections that ended with it in flight
        self.reached_broker = False  # it was sent before, so waiting for a broker may help
        self.last_failure = ""  # why it is retried

    def finish(self, result: Any) -> None:
        """Set the result."""
        self.result, self.done = result, True

    def fail(self, error: ShellError) -> None:
        """Set the error."""
        self.error, self.done = error, True


def can_use_any_broker(job: Job) -> bool:
    """Whether it can be sent to another broker: a read that any broker can answer, or an unsent
    change that any broker forwards (KRaft)."""
    if not isinstance(job.call.to, AnyBroker | Controller):
        return False
    return not (job.sent and job.call.changes(job.request))


def needs_other_broker(job: Job) -> bool:
    """Whether its broker does not respond, and another one can be used."""
    return job.link is not None and job.link.silence >= SILENCE_S and can_use_any_broker(job)


def needs_check(job: Job, link: Link) -> bool:
    """Whether the broker has not been used for a while, and another one can be used for a change:
    then a broker that responds is found first."""
    silent = time.monotonic() - link.last_received >= SILENCE_S
    return silent and job.call.changes(job.request) and can_use_any_broker(job)


def no_such_broker(pool: Pool, node: int) -> ShellError:
    """The metadata has no broker with this ID."""
    ids = ", ".join(str(row[0]) for row in sorted(pool.head.brokers))
    return ShellError(
        f"broker {node} does not exist or is down",
        hint=f"Running brokers: {ids}.",
        code="unknown-broker",
    )


def shared_address(address: Address, nodes: Sequence[int]) -> ShellError:
    """Several brokers advertise this address: which one responds there is unknown."""
    return ShellError(
        f"brokers {some(nodes, _MAX_NAMES)} advertise the same address, {address}:"
        " requests to one of them may reach another",
        hint="Set advertised.listeners to a different address on each broker.",
        code="shared-address",
    )


def advertised_address_error(
    pool: Pool, config: ConnectionConfig, job: Job, address: Address, error: ShellError
) -> ShellError:
    """A broker cannot be reached at its advertised address."""
    if isinstance(job.call.to, AnyBroker) or address in config.bootstrap:
        return error
    to = job.call.to
    who = f"{to} ({address})" if isinstance(to, Node) else pool.describe(address)
    if error.code == "no-answer":  # the address is right, but the broker hangs
        message = error.message.replace(str(address), who, 1)
        return ShellError(message, hint=error.hint, code=error.code, status=error.status)
    return ShellError(
        f"{who} cannot be reached at its advertised address: {error.message}",
        hint=error.hint
        if error.code.startswith(("tls", "sasl"))
        else "The advertised.listeners of the brokers must be reachable from this machine.",
        code=error.code,
        status=Status.UNREACHABLE,
    )


def outcome_unknown(job: Job, error: ShellError) -> ShellError:
    """A change was sent, and the connection was closed before the response."""
    return ShellError(
        f"{job.request.name} was sent, but {error.message}: outcome unknown",
        hint="Check whether it was applied before you retry.",
        code="outcome-unknown",
    )


def deadline_error(pool: Pool, job: Job) -> ShellError:
    """The deadline passed: what was being waited for, and whether a change may still happen."""
    link, name = job.link, job.request.name
    if job.sent and link is not None:
        what = f"{name} response from {_broker(pool, job, link)}"
    elif link is not None and not link.ready and not link.closed:
        what = f"{link.state.value} {_broker(pool, job, link)}"
    else:
        what = f"{job.call.to} ({name})" if name else str(job.call.to)
    forwarded = job.sent and isinstance(job.call.to, Controller)
    if forwarded and link is not None and time.monotonic() < job.deadline:
        return ShellError(
            f"no active controller responds: {_broker(pool, job, link)} has forwarded {name} to it"
            f" for {_NO_CONTROLLER_S:.0f} s",
            hint=_deadline_hint(job, may_happen=False, forwarded=True),
            see=Resource("cluster"),
            code="deadline",
        )
    what += ", which forwards it to the active controller" if forwarded else ""
    last = f" (last error: {job.last_failure})" if job.last_failure else ""
    now = time.monotonic()
    silence = pool.silences.get(link.address) if link is not None else None
    if link and silence and job.started - silence.began >= 1 and not forwarded:
        # It waited for less time, as the broker had not responded before.
        why = f"{_broker(pool, job, link)} has not responded for {now - silence.began:.0f} s"
    elif now - job.started < _SHORT_S and (others := _other_silent_brokers(pool, link)):
        silent = some([pool.describe(each) for each in others], _MAX_NAMES)
        why = f"{late(job.extensible)}: waiting for {silent} left no time for {what}"
    else:
        why = f"{late(job.extensible)} after waiting {now - job.started:.1f} s for {what}"
    is_change = job.call.changes(job.request)
    may_happen = job.sent and is_change
    reached = pool.command.responded or job.reached_broker or job.sent
    return ShellError(
        f"{why}{last}" + (MAY_STILL_HAPPEN if may_happen else ""),
        hint=_deadline_hint(job, may_happen=may_happen, forwarded=forwarded),
        see=Resource("cluster") if forwarded else None,
        code="not-sent" if is_change and not job.sent else "deadline",
        status=Status.FAILED if reached else Status.UNREACHABLE,
    )


def _other_silent_brokers(pool: Pool, link: Link | None) -> list[Address]:
    """The brokers that this command has waited for, besides the one of this connection."""
    return [each for each in pool.silences if link is None or each != link.address]


def _deadline_hint(job: Job, *, may_happen: bool, forwarded: bool) -> str:
    if may_happen:
        return "Check whether it was applied before you retry."
    if forwarded:
        return "Check that there is an active controller; without one, a longer wait does not help."
    return "Increase the deadline." if job.extensible else ""


def waited_since(job: Job) -> float:
    """Since when a job has waited without any activity on its connection."""
    if job.sent and job.link is not None:
        return max(job.started, job.link.last_activity)
    return job.started


def ends_at(job: Job) -> float:
    """When it fails without a response: at its deadline; earlier if a broker forwards it to the
    controller, and it changes nothing."""
    forwarded = job.sent and isinstance(job.call.to, Controller)
    if not forwarded or job.call.changes(job.request):
        return job.deadline
    return min(job.deadline, waited_since(job) + _NO_CONTROLLER_S)


def awaited_brokers(pool: Pool, jobs: Sequence[Job]) -> str:
    """The brokers that these jobs wait for, such as "broker 3 (host:9092)"; empty for no jobs."""
    brokers = dict.fromkeys(
        _broker(pool, job, job.link) if job.link is not None else str(job.call.to) for job in jobs
    )
    return some(list(brokers), _MAX_NAMES)


def _broker(pool: Pool, job: Job, link: Link) -> str:
    to = job.call.to
    return f"{to} ({link.address})" if isinstance(to, Node) else pool.describe(link.address)


def wake_time(job: Job, now: float) -> float:
    """When a job needs attention even if no bytes arrive."""
    if job.link is not None and can_use_any_broker(job):
        silent_at = now + SILENCE_S - job.link.silence
        return min(ends_at(job), silent_at) if silent_at > now else ends_at(job)
    if job.sent or job.link is not None:
        return job.deadline
    return max(now, min(job.retry_at, job.deadline))


def retriable_code(job: Job, code: int) -> int:
    """The error code if the same call can succeed later or on another broker, else 0."""
    if code == REQUEST_TIMED_OUT:
        return 0 if job.call.changes(job.request) else code
    if isinstance(job.call.to, Node) and code not in _NOT_YET:
        return 0  # the caller must choose another broker
    return code if code in MOVED else 0
