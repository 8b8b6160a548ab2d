"""Several verbs side by side over one Cluster: what they ask for goes out in the same round.

Verbs are plain synchronous functions, and a Cluster is used by one thread at a time. Here each verb
has a thread and a Cluster of its own that only hands wishes over. When every verb waits, the thread
that called sends all they wait for at once. So n verbs of two round trips each take two, and there
is still one set of connections, one login.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from kafka_shell.errors import ShellError
from kafka_shell.nouns import Results

from .connection import Call, Cluster
from .frames import MetadataHead
from .jobs import Job
from .requests import Target
from .transport import Link

T = TypeVar("T")


def together(cluster: Cluster, verbs: Sequence[Callable[[Cluster], T]]) -> list[T | ShellError]:
    """Run the verbs side by side; the answer of each, or the error that ended it, in their order.

    Raises what is no ShellError, and what ends the program: Ctrl-C.
    """
    desk = _Desk(cluster, len(verbs))
    errands = [_Errand(verb, _Guest(cluster, desk), desk) for verb in verbs]
    for errand in errands:
        threading.Thread(target=errand.run, daemon=True).start()
    desk.serve()
    return [errand.outcome() for errand in errands]


@dataclass
class _Wish:
    """What a verb waits for: the ends of calls, or whatever else wants the connections."""

    calls: Sequence[Call]
    run: Callable[[], Any] | None = None
    result: Any = None
    error: BaseException | None = None
    granted: bool = False


class _Desk:
    """Where wishes are handed in, and granted all at once when every verb waits."""

    def __init__(self, cluster: Cluster, verbs: int) -> None:
        self._cluster = cluster
        self._busy = verbs  # that neither wait nor have ended
        self._wishes: list[_Wish] = []
        self._changed = threading.Condition()
        self._closed: BaseException | None = None

    def ask(self, wish: _Wish) -> Any:
        """Hand in a wish and wait; on the verb's thread."""
        with self._changed:
            if self._closed is not None:
                raise self._closed
            self._wishes.append(wish)
            self._busy -= 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: wish.granted)
        if wish.error is not None:
            raise wish.error
        return wish.result

    def leave(self) -> None:
        """A verb has ended."""
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()

    def serve(self) -> None:
        """Grant wishes until every verb has ended; on the thread that owns the cluster."""
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: not self._busy)
                    wishes = list(self._wishes)
                if not wishes:
                    return
                self._grant(wishes)
                self._release(wishes)
        except BaseException as error:
            self._close(error)
            raise

    def _grant(self, wishes: Sequence[_Wish]) -> None:
        sending = [wish for wish in wishes if wish.run is None]
        try:
            jobs = self._cluster._drive([call for wish in sending for call in wish.calls])
        except ShellError as error:  # no broker at all can be reached
            for wish in sending:
                wish.error = error
        else:
            rest = iter(jobs)
            for wish in sending:
                wish.result = [next(rest) for _ in wish.calls]
        for wish in wishes:
            if wish.run is not None:
                try:
                    wish.result = wish.run()
                except ShellError as error:
                    wish.error = error

    def _release(self, wishes: Sequence[_Wish]) -> None:
        with self._changed:
            self._busy += len(wishes)
            self._wishes = []
            for wish in wishes:
                wish.granted = True
            self._changed.notify_all()

    def _close(self, error: BaseException) -> None:
        with self._changed:
            self._closed = error
            for wish in self._wishes:
                wish.error, wish.granted = error, True
            self._changed.notify_all()


class _Guest(Cluster):
    """The Cluster that a verb is handed: it sends nothing itself."""

    def __init__(self, host: Cluster, desk: _Desk) -> None:
        self.config = host.config
        self.deadline = host.deadline
        self._pool, self._runner = host._pool, host._runner
        self._host, self._desk = host, desk
        self._heard = []

    def close(self) -> None:
        """The connections are the host's."""

    def versions_of_brokers(self) -> Results[int, str]:
        """As the host has them."""
        found: Results[int, str] = self._wait(self._host.versions_of_brokers)
        return found

    def _drive(self, calls: Sequence[Call]) -> list[Job]:
        jobs: list[Job] = self._desk.ask(_Wish(list(calls)))
        return jobs

    def _link(self, to: Target) -> Link:
        link: Link = self._wait(lambda: self._host._link(to))
        return link

    def _head(self, refresh: bool) -> MetadataHead:
        head: MetadataHead = self._wait(lambda: self._host._head(refresh))
        return head

    def _wait(self, run: Callable[[], Any]) -> Any:
        return self._desk.ask(_Wish((), run))


class _Errand(Generic[T]):
    """One verb on its thread."""

    def __init__(self, verb: Callable[[Cluster], T], guest: _Guest, desk: _Desk) -> None:
        self._verb, self._guest, self._desk = verb, guest, desk
        self._value: T | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """To its end, whatever it is."""
        try:
            with self._guest.within(None):
                self._value = self._verb(self._guest)
        except BaseException as error:  # told on the thread that called
            self._error = error
        finally:
            self._desk.leave()

    def outcome(self) -> T | ShellError:
        """The answer, or the error. Raises what is no ShellError."""
        if isinstance(self._error, ShellError):
            return self._error
        if self._error is not None:
            raise self._error
        return cast(T, self._value)
