"""Calls on their way: routed to a broker, sent, answered or sent again until their deadline."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from kafka_shell.errors import ShellError

from . import frames, versions
from .endpoint import ConnectionConfig
from .exchanges import Exchange
from .failures import MOVED, NoBrokerError, OtherClusterError, as_error, error_name, failure
from .jobs import (
    Job,
    as_advertised,
    ask_again,
    late,
    no_such_broker,
    outcome_unknown,
    unproved,
    waited_since,
    waiting_for,
    wakes,
    wants_another,
)
from .malformed import malformed
from .pool import SILENT_S, Pool
from .requests import (
    ANY,
    METADATA,
    AnyBroker,
    Call,
    Controller,
    Coordinator,
    Node,
    RawRequest,
    as_request,
)
from .retries import Retries
from .transport import Link

_SECOND_CHANCE_S = 2.0  # for a broker that has let this command wait in vain already
_KEPT_BACK, _KEPT_BACK_S = 0.25, 3.0  # of the deadline, for what follows a broker's answer
_FIND_COORDINATOR = 10
_FIND_COORDINATOR_VERSIONS = (0, 6)
_LOWEST_OF_KIND = (0, 1, 6)  # of FindCoordinator, by CoordinatorKind


class Runner:
    """Drives jobs over the links of a pool. Holds no state between runs but the pool's."""

    def __init__(self, config: ConnectionConfig, pool: Pool) -> None:
        self._config = config
        self._pool = pool
        self._retries = Retries(config, pool)
        self._depth = 0  # drives inside drives: finding a coordinator while others are in flight

    def until(self, deadline: float | None, timeout: float | None) -> float:
        """When a call ends: its own timeout or the default, and never after the deadline."""
        mine = time.monotonic() + (self._config.call_timeout if timeout is None else timeout)
        return mine if deadline is None else min(mine, deadline)

    def run(self, calls: Iterable[Call], deadline: float | None) -> list[Job]:
        """Every call to its end. Raises ShellError only where no broker can be reached at all, and
        none has answered."""
        jobs = [self.job(call, deadline) for call in calls]
        self._drive(jobs)
        return jobs

    def stream(self, calls: Iterable[Call], deadline: float | None, ahead: int) -> Iterator[Job]:
        """The same one after the other, each as soon as it is done; so many are in flight that
        brokers work while an answer is looked at."""
        left, jobs = iter(calls), deque[Job]()
        answered = False
        with self._driving():
            while True:
                jobs.extend(self.job(call, deadline) for call in islice(left, ahead - len(jobs)))
                if not jobs:
                    return
                while not jobs[0].done:
                    self._round(jobs, answered)
                answered = answered or jobs[0].error is None
                yield jobs.popleft()

    def job(self, call: Call, deadline: float | None) -> Job:
        """A call that is to be sent. One of several brokers may take only a part of the time that
        is left, so that a broker that hangs does not use up what its fellows' answers need."""
        until = self.until(deadline, call.timeout)
        if deadline is not None and isinstance(call.to, Node | Coordinator):
            left = deadline - time.monotonic()
            until = min(until, deadline - max(0.0, min(_KEPT_BACK_S, _KEPT_BACK * left)))
        return Job(call, as_request(call.request), until)

    def refresh(self, deadline: float | None) -> None:
        """Ask a broker for the brokers, the cluster's id and the controller (Metadata)."""
        (job,) = self.run([Call(METADATA)], deadline)
        if job.error is not None:
            raise job.error

    # -- the round ---------------------------------------------------------------------------------

    def _drive(self, jobs: Sequence[Job]) -> None:
        with self._driving():
            while not all(job.done for job in jobs):
                self._round(jobs)

    def _round(self, jobs: Collection[Job], answered: bool = False) -> None:
        """One round. If no broker can be reached any more, results that arrived are kept."""
        try:
            self._send_and_wait(jobs)
        except NoBrokerError as error:
            if not answered and not any(job.done and job.error is None for job in jobs):
                raise
            for job in jobs:
                if not job.done:
                    job.fail(error)

    @contextmanager
    def _driving(self) -> Iterator[None]:
        """Around rounds: detects closed connections before, and closes busy ones after."""
        self._pool.loop.turn(0.0)  # detects an idle connection that its broker has closed
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._pool.drop_busy()
                self._pool.waits_for("")

    def _send_and_wait(self, jobs: Collection[Job]) -> None:
        """Send the jobs that can be sent, fail the late ones, and wait for the next event."""
        self._ask_others(jobs)
        idle = [job for job in jobs if not job.done and not job.sent]
        self._locate(idle)
        for job in idle:
            self._advance(job)
        if all(job.done for job in jobs):
            return
        self._expire(jobs)
        left = [job for job in jobs if not job.done]
        self._pool.loop.turn(min(self._next(left), self._tell(left)))

    def _next(self, jobs: Iterable[Job]) -> float:
        """When something has to be done even if no bytes come."""
        now = time.monotonic()
        return min((wakes(job, now) for job in jobs), default=now)

    def _tell(self, jobs: Sequence[Job]) -> float:
        """Say what has been waited for longer than a second, and when to look again."""
        if self._pool.on_wait is None or not jobs:
            return math.inf
        now, since = time.monotonic(), [waited_since(job) for job in jobs]
        slow = [job for job, began in zip(jobs, since, strict=True) if now - began > SILENT_S]
        self._pool.waits_for(waiting_for(self._pool, slow))
        return now + SILENT_S if slow else min(since) + SILENT_S + 0.01

    def _expire(self, jobs: Iterable[Job]) -> None:
        now = time.monotonic()
        for job in jobs:
            if not job.done and now >= job.until:
                if job.link is not None:
                    self._pool.silent[job.link.address] = time.monotonic()
                job.fail(late(self._pool, job))

    def _advance(self, job: Job) -> None:
        link = self._ready_link(job)
        if link is None or job.done:
            return
        request, call = job.request, job.call
        if call.request is None:
            job.finish(link)
            return
        in_doubt = self._pool.in_doubt and request.api_key != frames.METADATA
        if in_doubt or unproved(job, link):
            self._make_sure(job)  # nothing is asked of a cluster that is not the one meant
            link = self._ready_link(job)
            if link is None or job.done:
                return
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
        job.asked.add(link.address)
        patience = 0.0 if call.timeout is None else call.timeout
        link.ask(
            request.api_key,
            version,
            body,
            request.flexible(version),
            patience=patience,
            on_done=lambda exchange: self._came(job, link, version, exchange),
        )

    def _ask_others(self, jobs: Iterable[Job]) -> None:
        """Reads whose broker is silent are asked of another one too: the first answer counts."""
        for job in jobs:
            if not job.done and job.sent and self._turn_to_another(job):
                job.sent = False
                self._advance(job)

    def _turn_to_another(self, job: Job) -> bool:
        """Whether a job was taken from a broker that is silent to another one that is not."""
        if job.link is None or not wants_another(job):
            return False
        link = self._pool.another({*job.asked, job.link.address})
        job.link = link or job.link
        return link is not None

    def _make_sure(self, job: Job) -> None:
        """Ask for the cluster's id after all connections were lost, and who answers before a change
        is sent. Raises OtherClusterError."""
        try:
            self.refresh(job.until)
            job.link = None  # whoever has answered is the one for a change
        except OtherClusterError:
            raise
        except ShellError as error:
            job.fail(error)

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
            self._turn_to_another(job)
        except ShellError as error:
            self._retries.not_reached(job, error)
            return None
        at = job.link.address
        if isinstance(to, Node) and self._pool.silent.get(at, math.inf) < job.started:
            job.until = min(job.until, job.started + _SECOND_CHANCE_S)
        if job.link.ready:
            return None if wants_another(job) else job.link
        if job.link.closed:
            why = self._pool.why(job.link)
            self._retries.not_reached(job, as_advertised(self._pool, self._config, job, at, why))
        return None

    # -- where to ----------------------------------------------------------------------------------

    def _route(self, job: Job) -> Link:
        to = job.call.to
        if isinstance(to, AnyBroker | Controller):
            heard = self._pool.heard_last()
            kraft = heard is not None and versions.is_kraft(heard.versions)
            if heard is not None and kraft and job.call.changes(job.request):
                return heard  # any broker forwards
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
            raise no_such_broker(self._pool, node)
        return self._pool.any_link(job.until)

    def _know_brokers(self, job: Job, again: bool = False) -> None:
        if again or not self._pool.head.brokers:
            self.refresh(job.until)

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
        from .codec import find_coordinators, read_coordinators

        jobs = [job for each in wanting.values() for job in each]
        until = max(job.until for job in jobs)
        try:
            link = self._pool.any_link(until)
            ours = (_LOWEST_OF_KIND[kind], _FIND_COORDINATOR_VERSIONS[1])
            who = self._pool.describe(link.address)
            version = versions.choose(_FIND_COORDINATOR, ours, link.versions, who)
        except ShellError as error:
            for job in jobs:
                self._retries.not_reached(job, error)
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
                self._retries.again(job, error_name(code))
            else:
                job.fail(as_error(failure(code, message, about=str(to).partition(" of ")[2])))

    # -- what came ---------------------------------------------------------------------------------

    def _came(self, job: Job, link: Link, version: int, exchange: Exchange) -> None:
        if job.done:
            return
        if exchange.error is not None:
            if link is job.link:  # else another one was asked since
                job.sent = False
                self._retries.lost(job, exchange)
            return
        job.sent, job.link = False, link
        assert exchange.body is not None
        job.met = self._pool.answered = True
        self._pool.silent.pop(link.address, None)
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
        from .codec import error_of, moved

        if not job.call.check:
            job.finish(response)
            return
        code, message = error_of(response)
        again = ask_again(job, code or moved(response))
        if again and time.monotonic() < job.until:
            self._retries.forget_route(job, again)
            self._retries.again(job, error_name(again))
        elif code:
            job.fail(as_error(failure(code, message, about=job.request.name)))
        else:
            job.finish(response)
