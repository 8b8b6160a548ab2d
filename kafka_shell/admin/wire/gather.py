"""Several verbs side by side over one Cluster, none waiting for what another one asked.

Verbs are plain synchronous functions, and a Cluster is used by one thread at a time. Here each verb
has a thread and a Cluster of its own that sends nothing itself: it hands its calls over. The thread
that called sends them, as they come, and hands each answer back as soon as it is there. So n verbs
take as long as the slowest, over one set of connections and one login.
"""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import TypeVar

from kafka_shell.errors import ShellError

from .connection import Cluster
from .failures import NoBrokerError
from .jobs import Job
from .malformed import reading
from .requests import Call

T = TypeVar("T")

_IDLE_S = 60.0  # a bell ends the wait long before


def together(cluster: Cluster, verbs: Sequence[Callable[[Cluster], T]]) -> list[T | ShellError]:
    """Run the verbs side by side; the answer of each, or the error that ended it, in their order.

    Raises what is no ShellError, and what ends the program: Ctrl-C.
    """
    desk = _Desk(cluster)
    runs = [_start(verb, _Guest(cluster, desk), desk) for verb in verbs]
    with cluster._guarded():
        desk.serve(runs)
    answers: list[T | ShellError] = []
    for run in runs:
        error = run.exception()
        answers.append(error if isinstance(error, ShellError) else run.result())
    return answers


def _start(verb: Callable[[Cluster], T], guest: Cluster, desk: _Desk) -> Future[T]:
    """Run a verb on a thread of its own."""
    ended: Future[T] = Future()

    def run() -> None:
        try:
            with reading(guest._sender):
                ended.set_result(verb(guest))
        except BaseException as error:  # told on the thread that called
            ended.set_exception(error)
        finally:
            desk.ring()

    threading.Thread(target=run, daemon=True).start()
    return ended


class _Desk:
    """Where verbs hand their calls in. All of them are sent by the one thread that serves."""

    def __init__(self, cluster: Cluster) -> None:
        self._runner, self._pool = cluster._runner, cluster._pool
        self._handed_in: deque[tuple[Job, Future[Job]]] = deque()
        self._bell, self._rope = socket.socketpair()
        self._bell.setblocking(False)
        self._rope.setblocking(False)
        self._closed: BaseException | None = None

    # -- on a verb's thread ------------------------------------------------------------------------

    def hand_in(self, call: Call, deadline: float | None) -> Future[Job]:
        """Have a call sent; its job when that is done."""
        ended: Future[Job] = Future()
        self._handed_in.append((self._runner.job(call, deadline), ended))
        self.ring()
        if self._closed is not None:
            raise self._closed
        return ended

    def ring(self) -> None:
        """Have the one that serves look what is new."""
        try:
            self._rope.send(b"!")
        except OSError:
            return  # it is full, so it has been rung; or nobody serves any more

    # -- on the thread that serves -----------------------------------------------------------------

    def serve(self, runs: Sequence[Future[T]]) -> None:
        """Send what is handed in until every verb has ended."""
        waiting: dict[Job, Future[Job]] = {}
        try:
            with self._runner.driving():
                self._pool.loop.watch(self._bell, selectors.EVENT_READ, lambda _: self._rung())
                while not all(run.done() for run in runs):
                    while self._handed_in:
                        job, ended = self._handed_in.popleft()
                        waiting[job] = ended
                    self._round(waiting)
        except BaseException as error:
            self._closed = error
            for ended in (*waiting.values(), *(each for _, each in self._handed_in)):
                ended.set_exception(error)
            raise
        finally:
            self._pool.loop.forget(self._bell)
            self._bell.close()
            self._rope.close()

    def _rung(self) -> None:
        while True:
            try:
                if not self._bell.recv(4096):
                    return
            except BlockingIOError:
                return

    def _round(self, waiting: dict[Job, Future[Job]]) -> None:
        """Send and wait once; hand back what is done."""
        if not waiting:
            self._pool.loop.turn(time.monotonic() + _IDLE_S)
            return
        try:
            self._runner.round(list(waiting))
        except ShellError as error:  # no broker at all can be reached
            for job in waiting:
                if not job.done:
                    job.fail(error)
        for job in [job for job in waiting if job.done]:
            waiting.pop(job).set_result(job)


class _Guest(Cluster):
    """The Cluster that a verb is handed: what it wants sent, it hands in."""

    def __init__(self, host: Cluster, desk: _Desk) -> None:
        self.config = host.config
        self.deadline = host.deadline
        self._pool, self._runner = host._pool, host._runner
        self._desk = desk
        self._heard = []

    def close(self) -> None:
        """The connections are the host's."""

    def _drive(self, calls: Sequence[Call]) -> list[Job]:
        handed_in = [self._desk.hand_in(call, self.deadline) for call in calls]
        jobs = [ended.result() for ended in handed_in]
        errors = [job.error for job in jobs]
        for error in errors[:1]:
            if isinstance(error, NoBrokerError) and all(errors):
                raise error
        return jobs

    def _stream(self, calls: Iterable[Call], ahead: int) -> Iterator[Job]:
        left, handed_in = iter(calls), deque[Future[Job]]()
        while True:
            some = islice(left, ahead - len(handed_in))
            handed_in.extend(self._desk.hand_in(call, self.deadline) for call in some)
            if not handed_in:
                return
            yield handed_in.popleft().result()
