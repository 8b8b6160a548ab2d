"""One call on its way, and how its failures read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from kafka_shell.errors import ShellError, Status

from .endpoint import Address, ConnectionConfig
from .failures import (
    COORDINATOR_LOAD_IN_PROGRESS,
    COORDINATOR_NOT_AVAILABLE,
    MOVED,
    REQUEST_TIMED_OUT,
)
from .pool import DOUBT_S, Pool
from .requests import AnyBroker, Call, Controller, Node, Request
from .transport import Link

_NAMED = 3  # brokers that are named at once
_NOT_YET = (COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE)


class Job:
    """One call until it has a `result` or an `error`."""

    def __init__(self, call: Call, request: Request, until: float) -> None:
        self.call = call
        self.request = request
        self.until = until
        self.started = time.monotonic()
        self.link: Link | None = None
        self.sent = False
        self.asked: set[Address] = set()  # those it was sent to
        self.done = False
        self.result: Any = None
        self.error: ShellError | None = None
        self.retry_at = 0.0
        self.tries = 0
        self.losses = 0  # connections that ended with it in flight
        self.met = False  # a broker had taken the request before: it is worth waiting for
        self.last = ""  # why it was sent again

    def finish(self, result: Any) -> None:
        """It has its answer."""
        self.result, self.done = result, True

    def fail(self, error: ShellError) -> None:
        """It has failed for good."""
        self.error, self.done = error, True


def any_will_do(job: Job) -> bool:
    """Whether it can go to another broker as well: a read that any of them answers, or a change
    that any forwards (KRaft) and that was not sent yet."""
    if not isinstance(job.call.to, AnyBroker | Controller):
        return False
    return not (job.sent and job.call.changes(job.request))


def wants_another(job: Job) -> bool:
    """Whether its broker is silent, and another one will do."""
    return job.link is not None and job.link.silence >= DOUBT_S and any_will_do(job)


def unproved(job: Job, link: Link) -> bool:
    """Whether a change is about to go to a broker that may hang by now, while any other will do."""
    silent = time.monotonic() - link.heard >= DOUBT_S
    return silent and job.call.changes(job.request) and any_will_do(job)


def no_such_broker(pool: Pool, node: int) -> ShellError:
    """The metadata has no broker with this id."""
    known = ", ".join(str(row[0]) for row in sorted(pool.head.brokers))
    return ShellError(
        f"the cluster has no broker {node}: it has {known}",
        hint="A broker that is down is not listed.",
        code="unknown-broker",
    )


def as_advertised(
    pool: Pool, config: ConnectionConfig, job: Job, address: Address, error: ShellError
) -> ShellError:
    """A broker that the cluster names by an address which is no good here."""
    if isinstance(job.call.to, AnyBroker) or address in config.bootstrap:
        return error
    to = job.call.to
    who = f"{to} ({address})" if isinstance(to, Node) else pool.describe(address)
    if error.code == "no-answer":  # it is there, and hangs
        message = error.message.replace(str(address), who, 1)
        return ShellError(message, hint=error.hint, code=error.code, status=error.status)
    return ShellError(
        f"{who} is advertised by the cluster at that address, but {error.message}",
        hint=error.hint
        if error.code.startswith(("tls", "sasl"))
        else "The brokers' advertised.listeners must be reachable from this machine.",
        code=error.code,
        status=Status.UNREACHABLE,
    )


def outcome_unknown(job: Job, error: ShellError) -> ShellError:
    """A change was written, and its connection ended before an answer."""
    return ShellError(
        f"{job.request.name} was sent, but {error.message}: it may or may not have been done",
        hint="Look before you repeat it.",
        code="outcome-unknown",
    )


def late(pool: Pool, job: Job) -> ShellError:
    """The deadline passed: what was being waited for, and whether a change may still happen."""
    link, name = job.link, job.request.name
    if job.sent and link is not None:
        doing = f"{_whom(pool, job, link)} to answer {name}"
    elif link is not None and not link.ready and not link.closed:
        doing = f"{link.state.value} {_whom(pool, job, link)}"
    else:
        doing = f"{job.call.to} to take {name}" if name else str(job.call.to)
    last = f" (last: {job.last})" if job.last else ""
    waited = time.monotonic() - job.started
    may_happen = job.sent and job.call.changes(job.request)
    return ShellError(
        f"the deadline passed after {waited:.1f} s of waiting for {doing}{last}"
        + (": the change may still happen" if may_happen else ""),
        hint="Look before you repeat it." if may_happen else "Give it longer with --deadline.",
        code="deadline",
        status=Status.FAILED if pool.answered or job.met or job.sent else Status.UNREACHABLE,
    )


def waited_since(job: Job) -> float:
    """When a job, or the last answer that came before its own, was last heard of."""
    return max(job.started, job.link.moved) if job.sent and job.link is not None else job.started


def waiting_for(pool: Pool, jobs: Sequence[Job]) -> str:
    """Whom these jobs wait for: "broker 3 (host:9092)"; empty where there are none."""
    whom = dict.fromkeys(
        _whom(pool, job, job.link) if job.link is not None else str(job.call.to) for job in jobs
    )
    named = ", ".join(list(whom)[:_NAMED])
    return named + (f" and {len(whom) - _NAMED} more" if len(whom) > _NAMED else "")


def _whom(pool: Pool, job: Job, link: Link) -> str:
    to = job.call.to
    return f"{to} ({link.address})" if isinstance(to, Node) else pool.describe(link.address)


def wakes(job: Job, now: float) -> float:
    """When a job has to be looked at even if no bytes come."""
    if job.link is not None and any_will_do(job):
        doubted = now + DOUBT_S - job.link.silence
        return min(job.until, doubted) if doubted > now else job.until
    if job.sent or job.link is not None:
        return job.until
    return max(now, min(job.retry_at, job.until))


def ask_again(job: Job, code: int) -> int:
    """The code where it says: the wrong broker, or not yet; and where asking again can help."""
    if code == REQUEST_TIMED_OUT:
        return 0 if job.call.changes(job.request) else code
    if isinstance(job.call.to, Node) and code not in _NOT_YET:
        return 0  # whoever chose the broker chooses again
    return code if code in MOVED else 0
