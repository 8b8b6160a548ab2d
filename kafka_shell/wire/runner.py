"""Runs calls: routes them to a broker, sends them, and retries them until their deadline."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.results import as_failure
from kafka_shell.base.structs import Resource
from kafka_shell.base.units import some
from kafka_shell.base.waits import FAILOVER_S, PROBE_S, REPORTED_S
from kafka_shell.wire import frames
from kafka_shell.wire import requests as versions
from kafka_shell.wire.endpoint import Address, ConnectionConfig
from kafka_shell.wire.error_codes import (
    COORDINATOR_LOAD_IN_PROGRESS,
    COORDINATOR_NOT_AVAILABLE,
    REQUEST_TIMED_OUT,
)
from kafka_shell.wire.failures import (
    MAY_STILL_HAPPEN,
    MOVED,
    TEMPORARY,
    NoBrokerError,
    OtherClusterError,
    as_error,
    error_name,
    failure,
    late,
    malformed,
)
from kafka_shell.wire.pool import Pool
from kafka_shell.wire.requests import (
    ANY,
    METADATA,
    AnyBroker,
    Call,
    Controller,
    Coordinator,
    Node,
    RawRequest,
    Request,
    as_request,
)
from kafka_shell.wire.transport import Exchange, Link

# A call in progress, and the errors of calls.

_MAX_NAMES = 3  # of brokers in one message
_NO_CONTROLLER_S = 10.0  # without response, after which no controller is active
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
        """Set the error. Of a change, the code `deadline` means that it was sent."""
        if error.code == "deadline" and not self.sent and self.call.changes(self.request):
            message, hint, status, see = error.message, error.hint, error.status, error.see
            error = ShellError(message, hint=hint, code="not-sent", status=status, see=see)
        self.error, self.done = error, True

    def refuse(self, code: int, message: str | None, about: str) -> None:
        """Set the error that a broker returned."""
        requires = self.call.requires
        self.fail(as_error(failure(code, message, about=about, requires=requires)))


def can_use_any_broker(job: Job) -> bool:
    """Whether it can be sent to another broker: a read that any broker can answer, or an unsent
    change that any broker forwards (KRaft)."""
    by_any = isinstance(job.call.to, AnyBroker | Controller)
    return by_any and not (job.sent and job.call.changes(job.request))


def needs_other_broker(job: Job) -> bool:
    """Whether its broker does not respond, and another one can be used."""
    return job.link is not None and job.link.silence >= PROBE_S and can_use_any_broker(job)


def needs_check(job: Job, link: Link) -> bool:
    """Whether the broker has not been used for a while, and another one can be used for a change:
    then a broker that responds is found first. A controller is not a broker."""
    silent = time.monotonic() - link.last_received >= PROBE_S
    one_of_many = can_use_any_broker(job) and not versions.is_controller(link.versions)
    return silent and one_of_many and job.call.changes(job.request)


def no_such_broker(pool: Pool, node: int) -> ShellError:
    """The metadata has no broker with this ID."""
    ids = ", ".join(str(row[0]) for row in sorted(pool.head.brokers))
    return ShellError(
        f"broker {node} does not exist or is down",
        hint=f"Use a running broker: {ids}.",
        code="unknown-broker",
    )


def shared_address(address: Address, nodes: Sequence[int]) -> ShellError:
    """Several brokers are at this address: which one responds there is unknown."""
    return ShellError(
        f"brokers {some(nodes, _MAX_NAMES)} have the same address, {address}:"
        " requests may reach the wrong broker",
        hint="Set advertised.listeners, or --address-map, to a different address for each broker.",
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
        else "Set advertised.listeners to an address that this machine can reach, or use"
        f" --address-map {address}=HOST:PORT.",
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
    others = [at for at in pool.silences if link is None or at != link.address]
    if link and silence and job.started - silence.began >= 1 and not forwarded:
        # It waited for less time, as the broker had not responded before.
        why = f"{_broker(pool, job, link)} has not responded for {now - silence.began:.0f} s"
    elif others and now - job.started < REPORTED_S:
        silent = some([pool.describe(address) for address in others], _MAX_NAMES)
        why = f"{late(job.extensible)} after waiting for {silent}, before {what} responded"
    else:
        why = f"{late(job.extensible)} after waiting {now - job.started:.1f} s for {what}"
    may_happen = job.sent and job.call.changes(job.request)
    reached = pool.command.responded or job.reached_broker or job.sent
    return ShellError(
        f"{why}{last}" + (MAY_STILL_HAPPEN if may_happen else ""),
        hint=_deadline_hint(job, may_happen=may_happen, forwarded=forwarded),
        see=Resource("cluster") if forwarded else None,
        code="deadline",
        status=Status.FAILED if reached else Status.UNREACHABLE,
    )


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
        silent_at = now + PROBE_S - job.link.silence
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


# Brokers still return a controller or coordinator for a while after its broker has crashed.
_MAX_LOST = 5  # connections that may be closed with one request in flight before it fails
_DROPPED = frozenset({"connection-lost", "closed-early"})
_SILENT = frozenset({"no-answer", "connect-timeout"})
_FIND_COORDINATOR = 10
_VERSIONS = (4, 6)  # of FindCoordinator, since the first one for several keys: Kafka 3.0
_RESERVE, _RESERVE_S = 0.25, 3.0  # part of the time, and seconds, kept for later requests


class Runner:
    """Runs jobs over the connections of a pool. Has no state of its own between runs."""

    def __init__(self, config: ConnectionConfig, pool: Pool) -> None:
        self._config = config
        self._pool = pool
        self.sent: set[int] = set()  # the API keys of all requests sent so far
        self._depth = 0  # of nested runs: coordinators are looked up while other jobs are in flight

    def deadline_of(self, deadline: float | None, timeout: float | None) -> float:
        """The deadline of a call: its own timeout or the default, limited by the deadline."""
        mine = time.monotonic() + (self._config.call_timeout if timeout is None else timeout)
        return mine if deadline is None else min(mine, deadline)

    def run(self, calls: Iterable[Call], deadline: float | None) -> list[Job]:
        """Run all calls. Raises ShellError only if no broker can be reached and none responded."""
        jobs = [self.job(call, deadline) for call in calls]
        self._drive(jobs)
        return jobs

    def stream(self, calls: Iterable[Call], deadline: float | None, ahead: int) -> Iterator[Job]:
        """Run the calls and yield each job when it is done, in order, with `ahead` in flight."""
        left, jobs = iter(calls), deque[Job]()
        responded = False
        with self.driving():
            while True:
                jobs.extend(self.job(call, deadline) for call in islice(left, ahead - len(jobs)))
                if not jobs:
                    return
                while not jobs[0].done:
                    self.round(jobs, responded)
                responded = responded or jobs[0].error is None
                yield jobs.popleft()

    def job(self, call: Call, deadline: float | None) -> Job:
        """A new job. A call to a certain broker may use only a part of the remaining time, so that
        a broker that hangs does not use the time for later requests to others."""
        until = self.deadline_of(None, call.timeout)
        extensible = False
        if deadline is not None:
            left = deadline - time.monotonic()
            to_one = isinstance(call.to, Node | Coordinator)
            reserve = max(0.0, min(_RESERVE_S, _RESERVE * left)) if to_one else 0.0
            extensible = (
                deadline == self._pool.command.given_deadline and deadline - reserve < until
            )
            until = min(until, deadline - reserve)
        return Job(call, as_request(call.request), until, extensible)

    def refresh(self, deadline: float | None) -> None:
        """Read the brokers, the cluster ID and the controller (Metadata)."""
        (job,) = self.run([Call(METADATA)], deadline)
        if job.error is not None:
            raise job.error

    # -- rounds ------------------------------------------------------------------------------------

    def _drive(self, jobs: Sequence[Job]) -> None:
        with self.driving():
            while not all(job.done for job in jobs):
                self.round(jobs)

    def round(self, jobs: Collection[Job], responded: bool = False) -> None:
        """One round. If no broker can be reached any more, results that arrived are kept."""
        try:
            self._send_and_wait(jobs)
        except NoBrokerError as error:
            if not responded and not any(job.done and job.error is None for job in jobs):
                raise
            for job in jobs:
                if not job.done:
                    job.fail(error)

    @contextmanager
    def driving(self) -> Iterator[None]:
        """Around rounds: detects closed connections before, and closes busy ones after."""
        self._pool.loop.turn(0.0)  # detects an idle connection that its broker has closed
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._pool.close_busy()
                self._pool.report_wait("")

    def _send_and_wait(self, jobs: Collection[Job]) -> None:
        """Send the jobs that can be sent, fail the late ones, and wait for the next event."""
        self._resend_to_others(jobs)
        idle = [job for job in jobs if not job.done and not job.sent]
        self._locate(idle)
        for job in idle:
            self.advance(job)
        if all(job.done for job in jobs):
            return
        self._expire(jobs)
        left = [job for job in jobs if not job.done]
        now = time.monotonic()
        wake = min((wake_time(job, now) for job in left), default=now)
        self._pool.loop.turn(min(wake, self._report_waiting(left)))

    def _report_waiting(self, jobs: Sequence[Job]) -> float:
        """Report waits longer than a second. Returns when to check again."""
        if self._pool.on_wait is None or not jobs:
            return math.inf
        now, since = time.monotonic(), [waited_since(job) for job in jobs]
        slow = [job for job, began in zip(jobs, since, strict=True) if now - began > REPORTED_S]
        self._pool.report_wait(awaited_brokers(self._pool, slow))
        return now + REPORTED_S if slow else min(since) + REPORTED_S + 0.01

    def _expire(self, jobs: Iterable[Job]) -> None:
        now = time.monotonic()
        for job in jobs:
            if not job.done and now >= ends_at(job):
                if job.link is not None:
                    self._pool.note_silence(job.link.address, job.started)
                job.fail(deadline_error(self._pool, job))

    def advance(self, job: Job) -> None:
        """Send a job if its broker is connected, and its deadline has not passed."""
        if time.monotonic() >= job.deadline:
            return
        link = self._ready_link(job)
        if link is None or job.done:
            return
        request, call = job.request, job.call
        if call.request is None:
            job.finish(link)
            return
        refused = self._config.refuse and self._config.refuse(request.api_key, call.to)
        if refused:
            job.fail(refused)
            return
        identity_unverified = self._pool.identity_unverified and request.api_key != frames.METADATA
        if identity_unverified or needs_check(job, link):
            self._verify_cluster(job)  # nothing is sent to another cluster than the expected one
            link = self._ready_link(job)
            if link is None or job.done:
                return
        who = self._pool.describe(link.address)
        try:
            version = versions.choose(request.api_key, call.versions(request), link.versions, who)
            lacking = request.unsupported_field(version)
            if lacking is not None:
                raise versions.field_missing(request.api_key, *lacking, link.versions, who)
            body = request.encode(version)
        except ShellError as error:
            job.fail(error)
            return
        job.sent = True
        job.sent_to.add(link.address)
        self.sent.add(request.api_key)
        link.send(
            request.api_key,
            version,
            body,
            request.flexible(version),
            timeout=call.timeout or 0.0,
            on_done=lambda exchange: self._on_response(job, link, version, exchange),
        )

    def _resend_to_others(self, jobs: Iterable[Job]) -> None:
        """Send reads whose broker is silent to another broker, too. The first response counts."""
        for job in jobs:
            if not job.done and job.sent and self._switch_broker(job):
                job.sent = False
                self.advance(job)

    def _switch_broker(self, job: Job) -> bool:
        """Assign a job of a silent broker to another one. Returns whether there is one."""
        if job.link is None or not needs_other_broker(job):
            return False
        link = self._pool.other_link({*job.sent_to, job.link.address})
        job.link = link or job.link
        return link is not None

    def _verify_cluster(self, job: Job) -> None:
        """Read the cluster ID after all connections were closed, and find a broker that responds
        before a change is sent. Raises OtherClusterError."""
        try:
            self.refresh(job.deadline)
            job.link = None  # changes go to the broker that has just responded
        except OtherClusterError:
            raise
        except ShellError as error:
            job.fail(error)

    def _ready_link(self, job: Job) -> Link | None:
        """The connection of a job if it is ready. None: not yet, or the job has failed."""
        to = job.call.to
        if job.done or time.monotonic() < job.retry_at:
            return None
        if isinstance(to, Coordinator) and to not in self._pool.coordinators:
            return None
        try:
            if job.link is None:
                job.link = self._route(job)
            self._switch_broker(job)
        except ShellError as error:
            self._on_unreachable(job, error)
            return None
        at = job.link.address
        silence = self._pool.silences.get(at)
        if isinstance(to, Node) and silence is not None and silence.noticed < job.started:
            limit = job.started + PROBE_S
            if limit < job.deadline:
                job.deadline, job.extensible = limit, False
        if job.link.ready:
            return None if needs_other_broker(job) else job.link
        if job.link.closed:
            why = self._pool.close_reason(job.link)
            self._on_unreachable(
                job, advertised_address_error(self._pool, self._config, job, at, why)
            )
        return None

    # -- routing -----------------------------------------------------------------------------------

    def _route(self, job: Job) -> Link:
        to = job.call.to
        if isinstance(to, AnyBroker | Controller):
            recent = self._pool.last_responding()
            kraft = recent is not None and versions.is_kraft(recent.versions)
            if recent is not None and kraft and job.call.changes(job.request):
                return recent  # any broker forwards it to the controller
        if isinstance(to, AnyBroker):
            return self._pool.any_link(job.deadline, job.extensible)
        if isinstance(to, Controller):
            self._load_brokers(job)
            node = self._pool.head.controller_id
        elif isinstance(to, Coordinator):
            node = self._pool.coordinators[to]
        else:
            node = to.id
        address = self._pool.address_of(node)
        if address is None:
            self._load_brokers(job, again=True)
            address = self._pool.address_of(node)
        if address is not None:
            reached = self._config.reachable(address)
            if isinstance(to, Node) and reached in self._pool.shared:
                raise shared_address(reached, self._pool.shared[reached])
            return self._pool.connect(address)
        if isinstance(to, Node):
            raise no_such_broker(self._pool, node)
        return self._pool.any_link(job.deadline, job.extensible)

    def _load_brokers(self, job: Job, again: bool = False) -> None:
        if again or not self._pool.head.brokers:
            self.refresh(job.deadline)

    # -- responses ---------------------------------------------------------------------------------

    def _on_response(self, job: Job, link: Link, version: int, exchange: Exchange) -> None:
        if job.done:
            return
        if exchange.error is not None:
            if link is job.link:  # otherwise it was sent to another broker since
                job.sent = False
                self._on_lost(job, exchange)
            return
        job.sent, job.link = False, link
        assert exchange.body is not None
        job.reached_broker = self._pool.command.responded = True
        self._pool.silences.pop(link.address, None)
        try:
            self._read(job, version, exchange.body)
        except ShellError as error:
            job.fail(error)
        except Exception as error:  # decoding invalid bytes can raise anything
            job.fail(self._malformed(job, error))

    def _read(self, job: Job, version: int, body: memoryview) -> None:
        if job.request.api_key == frames.METADATA:
            self._pool.update_metadata(body, version)
        if isinstance(job.request, RawRequest):
            job.finish(job.request.decode(version, body))
        else:
            self._check_response(job, job.request.decode(version, body))

    def _malformed(self, job: Job, error: Exception) -> ShellError:
        assert job.link is not None
        why = malformed(self._pool.describe(job.link.address), job.request.name, error)
        return outcome_unknown(job, why) if job.call.changes(job.request) else why

    def _check_response(self, job: Job, response: Any) -> None:
        """Finish the job, retry it if the broker was the wrong one, or fail it."""
        from kafka_shell.wire.codec import error_of, moved

        if not job.call.check:
            job.finish(response)
            return
        code, message = error_of(response)
        retriable = retriable_code(job, code or moved(response))
        if retriable and time.monotonic() < job.deadline:
            self._forget_route(job, retriable)
            self._retry(job, error_name(retriable))
        elif code:
            job.refuse(code, message, job.request.name)
        else:
            job.finish(response)

    # -- retries -----------------------------------------------------------------------------------

    def _on_unreachable(self, job: Job, error: ShellError) -> None:
        """The connection failed: fail the job, unless the broker was reachable a moment ago.

        Raises NoBrokerError if no broker at all can be reached, because every call then fails.
        """
        if error.code in _SILENT and job.link is not None:
            self._pool.note_silence(job.link.address, job.started)
        if self._may_succeed_later(job, error):
            self._forget_route(job, 0)
            self._retry(job, error.message)
            return
        if isinstance(error, NoBrokerError):
            raise error
        if not isinstance(job.call.to, AnyBroker):
            self._pool.forget_brokers()
        job.fail(error)

    def _on_lost(self, job: Job, exchange: Exchange) -> None:
        """The connection was closed while the request was in flight."""
        assert exchange.error is not None and job.link is not None
        error = self._lost_reason(job.link) or exchange.error
        if error.code == "no-answer":
            self._pool.note_silence(job.link.address, job.started)
        if error.code == "sasl-needed" or error.code.startswith("tls-"):
            job.fail(error)
        elif exchange.written and job.call.changes(job.request):
            job.fail(outcome_unknown(job, error))
        else:
            job.reached_broker = True
            job.lost_connections += 1
            hangs = error.code == "no-answer" and isinstance(job.call.to, Node)
            most = 1 if error.code == "token-expired" else _MAX_LOST
            if hangs or job.lost_connections > most:
                job.fail(error)  # the broker closes the connection because of this request
            else:
                self._retry(job, error.message)

    def _retry(self, job: Job, why: str) -> None:
        """Send it again after a pause, to a broker that is chosen then."""
        job.link = None
        job.sent_to.clear()
        job.last_failure = why
        pause = min(self._config.backoff * 2**job.tries, self._config.backoff_max)
        job.tries += 1
        job.retry_at = time.monotonic() + pause

    def _forget_route(self, job: Job, code: int) -> None:
        """Discard the known coordinator or brokers, so that they are looked up again."""
        to = job.call.to
        if isinstance(to, Coordinator) and code != COORDINATOR_LOAD_IN_PROGRESS:
            self._pool.coordinators.pop(to, None)
        if isinstance(to, Controller | Node):  # a broker may have left the cluster
            self._pool.forget_brokers()

    def _may_succeed_later(self, job: Job, error: ShellError) -> bool:
        """Whether a retry may succeed: a broker restarts, or another one is elected."""
        if error.code not in TEMPORARY or time.monotonic() >= job.deadline:
            return False
        moves = isinstance(job.call.to, Controller | Coordinator)
        moves = moves and not isinstance(error, NoBrokerError)
        grace = moves and time.monotonic() - job.started < FAILOVER_S
        dropped = error.code in _DROPPED and self._pool.connected_before
        return job.reached_broker or grace or dropped

    def _lost_reason(self, link: Link) -> ShellError | None:
        if link.responses or self._config.uses_sasl or link.error is None:
            return None
        if link.error.code == "connection-lost" and not link.diagnosed:
            from kafka_shell.wire.diagnosis import requires_login

            link.diagnosed = True
            required = requires_login(self._config, link.address, self._pool.limit_time)
            link.error = required or link.error
        return link.error

    # -- coordinators (FindCoordinator, API key 10) ------------------------------------------------

    def _locate(self, jobs: Iterable[Job]) -> None:
        """Look up unknown coordinators, all keys of a kind in one request."""
        now = time.monotonic()
        waiting: dict[Coordinator, list[Job]] = {}
        for job in jobs:
            to = job.call.to
            if not isinstance(to, Coordinator) or to in self._pool.coordinators:
                continue
            if not job.done and now >= job.retry_at:
                waiting.setdefault(to, []).append(job)
        for kind in {to.kind for to in waiting}:
            self._find_coordinators(
                kind, {to.key: keyed for to, keyed in waiting.items() if to.kind == kind}
            )

    def _find_coordinators(self, kind: int, waiting: dict[str, list[Job]]) -> None:
        from kafka_shell.wire.codec import find_coordinators

        jobs = [job for waiters in waiting.values() for job in waiters]
        last = max(jobs, key=lambda job: job.deadline)
        until, extensible = last.deadline, last.extensible
        try:
            link = self._pool.any_link(until, extensible)
            who = self._pool.describe(link.address)
            version = versions.choose(_FIND_COORDINATOR, _VERSIONS, link.versions, who)
        except ShellError as error:
            for job in jobs:
                self._on_unreachable(job, error)
            return
        request = find_coordinators(kind, list(waiting), version)
        finder = Job(Call(request, ANY, check=False), request, until, extensible)
        self._drive([finder])
        if finder.error is not None:
            for job in jobs:
                job.fail(finder.error)
            return
        for row in finder.result.coordinators:
            for job in waiting.get(row.key, ()):
                self._on_coordinator(row, job)

    def _on_coordinator(self, row: Any, job: Job) -> None:
        to = job.call.to
        assert isinstance(to, Coordinator)
        if not row.error_code:
            self._pool.coordinators[to] = row.node_id
        elif row.error_code in MOVED:
            self._retry(job, error_name(row.error_code))
        else:
            job.refuse(row.error_code, row.error_message, str(to).partition(" of ")[2])


class CallsInFlight:
    """Calls in flight by key. Made by `Cluster.calls_in_flight`, and used only within it.

    A call whose connection is lost fails at once, as its caller may know a better broker by then.
    """

    def __init__(self, runner: Runner, deadline: float | None) -> None:
        self._runner = runner
        self._deadline = deadline
        self._jobs: dict[Hashable, Job] = {}
        self._responded = False

    def __contains__(self, key: Hashable) -> bool:
        """Whether the call of this key is in flight."""
        return key in self._jobs

    def __bool__(self) -> bool:
        """Whether any call is in flight."""
        return bool(self._jobs)

    def send(self, key: Hashable, call: Call) -> None:
        """Send a call now, or as soon as its broker is connected."""
        self._jobs[key] = job = self._runner.job(call, self._deadline)
        try:
            self._runner.advance(job)
        except NoBrokerError as error:
            if not self._responded:
                raise
            job.fail(error)

    def take(self) -> tuple[Any, Any]:
        """Wait for any response. Returns its key, and the response or a Failure.

        Raises ShellError if no broker can be reached and none has responded.
        """
        while True:
            for key, job in self._jobs.items():
                if job.last_failure and not job.done:
                    job.fail(ShellError(job.last_failure, code="connection-lost"))
                if job.done:
                    del self._jobs[key]
                    self._responded = self._responded or job.error is None
                    return key, job.result if job.error is None else as_failure(job.error)
            self._runner.round(self._jobs.values(), self._responded)
