"""Runs calls: routes them to a broker, sends them, and retries them until their deadline."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from kafka_shell.admin.wire import frames, versions
from kafka_shell.admin.wire.endpoint import ConnectionConfig
from kafka_shell.admin.wire.exchanges import Exchange
from kafka_shell.admin.wire.failures import (
    NoBrokerError,
    OtherClusterError,
    as_error,
    error_name,
    failure,
)
from kafka_shell.admin.wire.jobs import (
    Job,
    advertised_address_error,
    awaited_brokers,
    deadline_error,
    ends_at,
    needs_check,
    needs_other_broker,
    no_such_broker,
    outcome_unknown,
    retriable_code,
    shared_address,
    waited_since,
    wake_time,
)
from kafka_shell.admin.wire.locator import Locator
from kafka_shell.admin.wire.malformed import malformed
from kafka_shell.admin.wire.pool import REPORT_WAIT_S, Pool
from kafka_shell.admin.wire.requests import (
    METADATA,
    AnyBroker,
    Call,
    Controller,
    Coordinator,
    Node,
    RawRequest,
    as_request,
)
from kafka_shell.admin.wire.retries import Retries
from kafka_shell.admin.wire.transport import Link
from kafka_shell.errors import ShellError

_SILENT_BROKER_S = 2.0  # limit for a broker that was silent during this command
_RESERVE, _RESERVE_S = 0.25, 3.0  # part of the time, and seconds, kept for later requests


class Runner:
    """Runs jobs over the connections of a pool. Has no state of its own between runs."""

    def __init__(self, config: ConnectionConfig, pool: Pool) -> None:
        self._config = config
        self._pool = pool
        self._retries = Retries(config, pool)
        self._locator = Locator(pool, self._retries, self._drive)
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
        self._locator.locate(idle)
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
        slow = [job for job, began in zip(jobs, since, strict=True) if now - began > REPORT_WAIT_S]
        self._pool.report_wait(awaited_brokers(self._pool, slow))
        return now + REPORT_WAIT_S if slow else min(since) + REPORT_WAIT_S + 0.01

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
        timeout = 0.0 if call.timeout is None else call.timeout
        link.send(
            request.api_key,
            version,
            body,
            request.flexible(version),
            timeout=timeout,
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
            self._retries.on_unreachable(job, error)
            return None
        at = job.link.address
        silence = self._pool.silences.get(at)
        if isinstance(to, Node) and silence is not None and silence.noticed < job.started:
            limit = job.started + _SILENT_BROKER_S
            if limit < job.deadline:
                job.deadline, job.extensible = limit, False
        if job.link.ready:
            return None if needs_other_broker(job) else job.link
        if job.link.closed:
            why = self._pool.close_reason(job.link)
            self._retries.on_unreachable(
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
        if isinstance(to, Node) and address in self._pool.shared:
            raise shared_address(address, self._pool.shared[address])
        if address is not None:
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
                self._retries.on_lost(job, exchange)
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
        from kafka_shell.admin.wire.codec import error_of, moved

        if not job.call.check:
            job.finish(response)
            return
        code, message = error_of(response)
        retriable = retriable_code(job, code or moved(response))
        if retriable and time.monotonic() < job.deadline:
            self._retries.forget_route(job, retriable)
            self._retries.retry(job, error_name(retriable))
        elif code:
            job.fail(as_error(failure(code, message, about=job.request.name)))
        else:
            job.finish(response)
