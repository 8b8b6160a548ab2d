"""Calls on their way: routed to a broker, sent, answered or sent again until their deadline."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from kafka_shell.errors import ShellError
from kafka_shell.nouns import Results

from . import frames, versions
from .endpoint import ConnectionConfig
from .failures import (
    COORDINATOR_LOAD_IN_PROGRESS,
    MOVED,
    NoBrokerError,
    as_error,
    as_failure,
    error_name,
    failure,
)
from .jobs import NOTHING, Job, as_advertised, ask_again, late, outcome_unknown, wakes
from .malformed import malformed
from .pool import Pool
from .requests import (
    ANY,
    AnyBroker,
    Call,
    Controller,
    Coordinator,
    Node,
    RawRequest,
    Target,
    as_request,
)
from .transport import Exchange, Link

# A controller or coordinator whose broker just died is still named by the others for a while.
_MOVE_GRACE = 15.0
_LOSSES = 5  # connections that may end with one request in flight before it is given up
_MAY_PASS = frozenset(
    {"refused", "connect-timeout", "connection-lost", "closed-early", "no-answer", "no-broker"}
)
_DROPPED = frozenset({"connection-lost", "closed-early"})
_FIND_COORDINATOR = 10
_FIND_COORDINATOR_VERSIONS = (0, 6)
_LOWEST_OF_KIND = (0, 1, 6)  # of FindCoordinator, by CoordinatorKind


class Runner:
    """Drives jobs over the links of a pool. Holds no state between runs but the pool's."""

    def __init__(self, config: ConnectionConfig, pool: Pool) -> None:
        self._config = config
        self._pool = pool
        self._depth = 0  # drives inside drives: finding a coordinator while others are in flight

    def until(self, deadline: float | None, timeout: float | None) -> float:
        """When a call ends: its own timeout or the default, and never after the deadline."""
        mine = time.monotonic() + (self._config.call_timeout if timeout is None else timeout)
        return mine if deadline is None else min(mine, deadline)

    def run(self, calls: Iterable[Call], deadline: float | None) -> list[Job]:
        """Every call to its end. Raises ShellError only where no broker can be reached at all."""
        jobs = [self._job(call, deadline) for call in calls]
        self._drive(jobs)
        return jobs

    def stream(self, calls: Iterable[Call], deadline: float | None, ahead: int) -> Iterator[Job]:
        """The same one after the other, each as soon as it is done; so many are in flight that
        brokers work while an answer is looked at."""
        left, jobs = iter(calls), deque[Job]()
        with self._driving():
            while True:
                jobs.extend(self._job(call, deadline) for call in islice(left, ahead - len(jobs)))
                if not jobs:
                    return
                while not jobs[0].done:
                    self._round(jobs)
                yield jobs.popleft()

    def _job(self, call: Call, deadline: float | None) -> Job:
        return Job(call, as_request(call.request), self.until(deadline, call.timeout))

    def link_to(self, to: Target, deadline: float | None) -> Link:
        """A ready link to a target."""
        job = Job(Call(None, to), NOTHING, self.until(deadline, None))
        self._pool.loop.turn(0.0)
        while True:
            self._locate([job])
            if job.error is not None:
                raise job.error
            link = self._ready_link(job)
            if job.error is not None:
                raise job.error
            if link is not None:
                return link
            if time.monotonic() > job.until:
                raise late(self._pool, job)
            self._pool.loop.turn(self._next([job]))

    def refresh(self, deadline: float | None) -> None:
        """Ask a broker for the brokers, the cluster's id and the controller (Metadata)."""
        request = RawRequest(frames.METADATA, frames.METADATA_VERSIONS, frames.metadata_body)
        (job,) = self.run([Call(request)], deadline)
        if job.error is not None:
            raise job.error

    def connect_all(
        self, brokers: Sequence[tuple[int, str, int, str | None]], deadline: float | None
    ) -> Results[int, Link]:
        """A ready link to each broker, all made at once."""
        jobs = {row[0]: Job(Call(None, Node(row[0])), NOTHING, self.until(deadline, None))
                for row in brokers}  # fmt: skip
        results: Results[int, Link] = Results()
        while jobs:
            for node, job in list(jobs.items()):
                link = self._ready_link(job)
                if link is not None:
                    results.values[node] = link
                elif job.error is None and time.monotonic() > job.until:
                    job.error = late(self._pool, job)
                if job.error is not None:
                    results.failures[node] = as_failure(job.error)
                if link is not None or job.error is not None:
                    del jobs[node]
            if jobs:
                self._pool.loop.turn(self._next(jobs.values()))
        return results

    # -- the round ---------------------------------------------------------------------------------

    def _drive(self, jobs: Sequence[Job]) -> None:
        with self._driving():
            while not all(job.done for job in jobs):
                self._round(jobs)

    @contextmanager
    def _driving(self) -> Iterator[None]:
        self._pool.loop.turn(0.0)  # an idle connection that its broker closed is seen here
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._pool.drop_busy()

    def _round(self, jobs: Collection[Job]) -> None:
        """Send what can be sent, give up what is late, and wait for what comes next."""
        idle = [job for job in jobs if not job.done and not job.sent]
        self._locate(idle)
        for job in idle:
            self._advance(job)
        if all(job.done for job in jobs):
            return
        self._expire(jobs)
        self._pool.loop.turn(self._next(job for job in jobs if not job.done))

    def _next(self, jobs: Iterable[Job]) -> float:
        """When something has to be done even if no bytes come."""
        now = time.monotonic()
        return min((wakes(job, now) for job in jobs), default=now)

    def _expire(self, jobs: Iterable[Job]) -> None:
        now = time.monotonic()
        for job in jobs:
            if not job.done and now >= job.until:
                job.fail(late(self._pool, job))

    def _advance(self, job: Job) -> None:
        link = self._ready_link(job)
        if link is None or job.done:
            return
        request, call = job.request, job.call
        who = self._pool.describe(link.address)
        try:
            version = versions.choose(request.api_key, call.versions(request), link.versions, who)
            lacking = request.lacks(version)
            if lacking is not None:
                raise versions.field_missing(request.api_key, *lacking, link.versions, who)
            body = request.encode(version)
        except ShellError as error:
            job.fail(error)
            return
        job.sent = True
        patience = 0.0 if call.timeout is None else call.timeout
        link.ask(
            request.api_key,
            version,
            body,
            request.flexible(version),
            patience=patience,
            on_done=lambda exchange: self._came(job, version, exchange),
        )

    def _ready_link(self, job: Job) -> Link | None:
        """The link of a job once it can be used. None: not yet, or the job has failed."""
        to = job.call.to
        if job.done or time.monotonic() < job.retry_at:
            return None
        if isinstance(to, Coordinator) and to not in self._pool.coordinators:
            return None
        try:
            if job.link is None:
                job.link = self._route(job)
        except ShellError as error:
            self._not_reached(job, error)
            return None
        if job.link.ready:
            return job.link
        if job.link.closed:
            why = self._pool.why(job.link)
            at = job.link.address
            self._not_reached(job, as_advertised(self._pool, self._config, job, at, why))
        return None

    # -- where to ----------------------------------------------------------------------------------

    def _route(self, job: Job) -> Link:
        to = job.call.to
        if isinstance(to, AnyBroker):
            return self._pool.any_link(job.until)
        if isinstance(to, Controller):
            self._know_brokers(job)
            node = self._pool.head.controller_id
        elif isinstance(to, Coordinator):
            node = self._pool.coordinators[to]
        else:
            node = to.id
        address = self._pool.address_of(node)
        if address is None:
            self._know_brokers(job, again=True)
            address = self._pool.address_of(node)
        if address is not None:
            return self._pool.connect(address)
        if isinstance(to, Node):
            raise self._no_such_broker(node)
        return self._pool.any_link(job.until)

    def _know_brokers(self, job: Job, again: bool = False) -> None:
        if again or not self._pool.head.brokers:
            self.refresh(job.until)

    def _no_such_broker(self, node: int) -> ShellError:
        known = ", ".join(str(row[0]) for row in sorted(self._pool.head.brokers))
        return ShellError(
            f"the cluster has no broker {node}: it has {known}",
            hint="A broker that is down is not listed.",
            code="unknown-broker",
        )

    def _locate(self, jobs: Iterable[Job]) -> None:
        """Find the coordinators that are not known yet, all keys of a kind in one request."""
        now = time.monotonic()
        wanting: dict[Coordinator, list[Job]] = {}
        for job in jobs:
            to = job.call.to
            if not isinstance(to, Coordinator) or to in self._pool.coordinators:
                continue
            if not job.done and now >= job.retry_at:
                wanting.setdefault(to, []).append(job)
        for kind in {to.kind for to in wanting}:
            self._find(kind, {to.key: found for to, found in wanting.items() if to.kind == kind})

    def _find(self, kind: int, wanting: dict[str, list[Job]]) -> None:
        from .wire import find_coordinators, read_coordinators

        jobs = [job for each in wanting.values() for job in each]
        until = max(job.until for job in jobs)
        try:
            link = self._pool.any_link(until)
            ours = (_LOWEST_OF_KIND[kind], _FIND_COORDINATOR_VERSIONS[1])
            who = self._pool.describe(link.address)
            version = versions.choose(_FIND_COORDINATOR, ours, link.versions, who)
        except ShellError as error:
            for job in jobs:
                self._not_reached(job, error)
            return
        requests = find_coordinators(kind, list(wanting), version)
        finders = [Job(Call(request, ANY, check=False), request, until) for request in requests]
        self._drive(finders)
        for finder, asked in zip(finders, wanting, strict=False):
            if finder.error is not None:
                keys = wanting if version >= 4 else {asked: wanting[asked]}
                for job in (job for key in keys for job in wanting[key]):
                    job.fail(finder.error)
                continue
            for key, node, code, message in read_coordinators(finder.result, asked):
                self._found(kind, key, node, code, message, wanting.get(key, []))

    def _found(
        self, kind: int, key: str, node: int, code: int, message: str | None, jobs: list[Job]
    ) -> None:
        for job in jobs:
            to = job.call.to
            assert isinstance(to, Coordinator)
            if not code:
                self._pool.coordinators[to] = node
            elif code in MOVED:
                self._again(job, error_name(code))
            else:
                job.fail(as_error(failure(code, message, about=str(to).partition(" of ")[2])))

    # -- what came ---------------------------------------------------------------------------------

    def _came(self, job: Job, version: int, exchange: Exchange) -> None:
        if job.done:
            return
        job.sent = False
        if exchange.error is not None:
            self._lost(job, exchange)
            return
        assert exchange.body is not None
        job.met = True
        try:
            self._read(job, version, exchange.body)
        except ShellError as error:
            job.fail(error)
        except Exception as error:  # foreign bytes are read: anything can be raised
            job.fail(self._malformed(job, error))

    def _read(self, job: Job, version: int, body: memoryview) -> None:
        if job.request.api_key == frames.METADATA:
            self._pool.learn(body, version)
        if job.call.raw:
            job.finish(bytes(body))
        elif isinstance(job.request, RawRequest):
            job.finish(job.request.decode(version, body))
        else:
            self._judge(job, job.request.decode(version, body))

    def _malformed(self, job: Job, error: Exception) -> ShellError:
        assert job.link is not None
        why = malformed(self._pool.describe(job.link.address), job.request.name, error)
        return outcome_unknown(job, why) if job.call.changes(job.request) else why

    def _judge(self, job: Job, response: Any) -> None:
        """Take an answer, ask again where the wrong broker was asked, or fail."""
        from .wire import error_of, moved

        if not job.call.check:
            job.finish(response)
            return
        code, message = error_of(response)
        again = ask_again(job, code or moved(response))
        if again and time.monotonic() < job.until:
            self._forget_route(job, again)
            self._again(job, error_name(again))
        elif code:
            job.fail(as_error(failure(code, message, about=job.request.name)))
        else:
            job.finish(response)

    def _forget_route(self, job: Job, code: int) -> None:
        to = job.call.to
        if isinstance(to, Coordinator) and code != COORDINATOR_LOAD_IN_PROGRESS:
            self._pool.coordinators.pop(to, None)
        if isinstance(to, Controller):
            self._pool.forget_brokers()

    def _again(self, job: Job, why: str) -> None:
        job.link = None
        job.last = why
        pause = min(self._config.backoff * 2**job.tries, self._config.backoff_max)
        job.tries += 1
        job.retry_at = time.monotonic() + pause

    def _lost(self, job: Job, exchange: Exchange) -> None:
        """The connection ended with the request in flight."""
        assert exchange.error is not None and job.link is not None
        error = self._first_request_refused(job.link) or exchange.error
        if error.code == "sasl-needed" or error.code.startswith("tls-"):
            job.fail(error)
        elif exchange.left and job.call.changes(job.request):
            job.fail(outcome_unknown(job, error))
        else:
            job.met = True
            job.losses += 1
            if job.losses > _LOSSES:
                job.fail(error)  # a broker that hangs up on this request will do so again
            else:
                self._again(job, error.message)

    def _first_request_refused(self, link: Link) -> ShellError | None:
        if link.answers or self._config.uses_sasl or link.error is None:
            return None
        if link.error.code == "connection-lost" and not link.looked:
            from .diagnosis import wants_login

            link.looked = True
            link.error = wants_login(self._config, link.address) or link.error
        return link.error

    def _not_reached(self, job: Job, error: ShellError) -> None:
        """No link came about: fail at once, unless the broker was there a moment ago.

        Where there is no broker at all, that is raised: every call has met the same.
        """
        if self._worth_waiting(job, error):
            self._forget_route(job, 0)
            self._again(job, error.message)
            return
        if isinstance(error, NoBrokerError):
            raise error
        if not isinstance(job.call.to, AnyBroker):
            self._pool.forget_brokers()
        job.fail(error)

    def _worth_waiting(self, job: Job, error: ShellError) -> bool:
        """Whether the failure may pass: a broker restarts, or the others elect another."""
        if error.code not in _MAY_PASS or time.monotonic() >= job.until:
            return False
        moves = isinstance(job.call.to, Controller | Coordinator)
        moves = moves and not isinstance(error, NoBrokerError)
        grace = moves and time.monotonic() - job.started < _MOVE_GRACE
        dropped = error.code in _DROPPED and self._pool.entered
        return job.met or grace or dropped
