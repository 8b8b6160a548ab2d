"""One cluster: send to any broker, the controller, a coordinator, a named broker, each broker.

Synchronous, and used by one thread at a time. Nothing is sent before the first call; a cluster that
goes away and comes back needs no new Cluster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from kafka_shell.admin.cluster.model import Broker
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure, Results

from . import frames, versions
from .endpoint import Address, ConnectionConfig
from .failures import as_failure
from .jobs import Job
from .malformed import reading
from .pool import Pool
from .requests import (
    ANY,
    METADATA,
    Call,
    Node,
    RawRequest,
    Target,
)
from .runner import Runner
from .transport import Link


class Cluster:
    """One cluster, as one identity. A context manager; `close` may be called at any time."""

    def __init__(self, config: ConnectionConfig) -> None:
        self.config = config
        self.deadline: float | None = None
        """When the command ends (monotonic seconds), or None. See `within`."""
        self._pool = Pool(config)
        self._runner = Runner(config, self._pool)
        self._heard: list[Job] = []  # the last answers

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Cluster({', '.join(map(str, self.config.bootstrap))})"

    def on_wait(self, tell: Callable[[str], None] | None) -> None:
        """Have it told whom is waited for, once that takes longer than a second; empty when the
        wait is over."""
        self._pool.on_wait = tell

    def close(self) -> None:
        """Close every connection. A later call opens new ones."""
        self._pool.drop()

    # -- sending -----------------------------------------------------------------------------------

    def send(
        self,
        request: Any,
        to: Target = ANY,
        *,
        raw: bool = False,
        version: int | None = None,
        lowest: int | None = None,
        highest: int | None = None,
        change: bool | None = None,
        check: bool = True,
        timeout: float | None = None,
    ) -> Any:
        """Send one request; its response message, or bytes with `raw`. The rest is as in Call.

        Raises ShellError: of the connection, the deadline, or the response's own error code.
        """
        call = Call(request, to, raw, version, lowest, highest, change, check, timeout)
        (job,) = self._heard = self._drive([call])
        if job.error is not None:
            raise job.error
        return job.result

    def send_all(self, calls: Sequence[Call]) -> list[Any]:
        """Send all at once, each to its broker; responses or Failures, in the order of the calls.

        Raises ShellError only where no broker at all could be reached.
        """
        jobs = self._heard = self._drive(calls)
        return [job.result if job.error is None else as_failure(job.error) for job in jobs]

    def send_each(self, calls: Iterable[Call], ahead: int) -> Iterator[Any]:
        """The same for more answers than memory should hold: each in its turn, as soon as it is
        there, while `ahead` of them are in flight. Calls are taken when their turn comes."""
        for job in self._stream(calls, ahead):
            self._heard = [job]
            yield job.result if job.error is None else as_failure(job.error)

    def send_raw(
        self,
        api_key: int,
        version: int,
        body: bytes,
        flexible: bool | None = None,
        to: Target = ANY,
        *,
        change: bool | None = None,
        timeout: float | None = None,
    ) -> bytes:
        """Send a body that is encoded already; the answer's body. kafka-python is not imported.

        `flexible` may be left out for the APIs whose flexible versions are known here.
        """
        since = None if flexible is None else (0 if flexible else 1 << 15)
        request = RawRequest(api_key, (version, version), lambda _: body, since)
        answer: bytes = self.send(request, to, change=change, timeout=timeout)
        return answer

    def each_broker(
        self,
        make_request: Callable[[Broker], Any],
        *,
        raw: bool = False,
        timeout: float | None = None,
        refresh: bool = False,
    ) -> Results[int, Any]:
        """Ask every broker at once; the outcome of each by its id."""
        brokers = self.brokers(refresh=refresh)
        calls = [
            Call(make_request(broker), Node(broker.id), raw=raw, timeout=timeout)
            for broker in brokers
        ]
        results: Results[int, Any] = Results()
        for broker, answer in zip(brokers, self.send_all(calls), strict=True):
            if isinstance(answer, Failure):
                results.failures[broker.id] = answer
            else:
                results.values[broker.id] = answer
        return results

    @contextmanager
    def within(self, seconds: float | None) -> Iterator[None]:
        """Around a command: one deadline for everything sent inside (an outer, earlier one holds;
        None sets none). Answers that make no sense to who asked are ShellErrors
        (`malformed-answer`)."""
        outer = self.deadline
        if outer is None:
            self._pool.begin()
        if seconds is not None:
            mine = time.monotonic() + seconds
            self.deadline = mine if outer is None else min(outer, mine)
        try:
            with reading(self._sender):
                yield
        finally:
            self.deadline = outer

    def attempts(self, timeout: float | None = None) -> Iterator[int]:
        """0, 1, 2 ... with a growing pause between, until the deadline: for retries of items."""
        until = self._runner.until(self.deadline, timeout)
        pause, attempt = self.config.backoff, 0
        while True:
            yield attempt
            attempt += 1
            if time.monotonic() + pause > until:
                return
            time.sleep(pause)
            pause = min(2 * pause, self.config.backoff_max)

    # -- what is known -----------------------------------------------------------------------------

    def brokers(self, *, refresh: bool = False) -> tuple[Broker, ...]:
        """The brokers that are up, by id. `version` is empty for those not connected to yet.

        `controller` is set on ZooKeeper-mode clusters only: brokers of KRaft do not know it.
        """
        head = self._head(refresh)
        kraft = all(versions.is_kraft(link.versions) for link in self._pool.ready())
        brokers = []
        for node, host, port, rack in sorted(head.brokers):
            link = self._pool.link_at(Address(host, port))
            told = versions.release(link.versions) if link is not None and link.versions else ""
            chief = not kraft and node == head.controller_id
            brokers.append(Broker(node, host, port, rack, chief, told))
        return tuple(brokers)

    def known_brokers(self) -> tuple[Broker, ...]:
        """The brokers of the last metadata; nothing is sent, so there may be none."""
        return tuple(
            Broker(node, host, port, rack)
            for node, host, port, rack in sorted(self._pool.head.brokers)
        )

    def versions_of_brokers(self) -> Results[int, str]:
        """The Kafka release of every broker, by its id; connects to each."""
        ids = sorted(row[0] for row in self._head(False).brokers)
        found: Results[int, str] = Results()
        for id, link in zip(ids, self.send_all([Call(None, Node(id)) for id in ids]), strict=True):
            if isinstance(link, Failure):
                found.failures[id] = link
            else:
                found.values[id] = versions.release(link.versions)
        return found

    @property
    def cluster_id(self) -> str:
        """The cluster's id, or empty before Kafka 0.10.1."""
        return self._head(False).cluster_id

    @property
    def known_id(self) -> str:
        """The cluster's id if anything has told it yet, or empty. Sends nothing."""
        return self._pool.head.cluster_id

    def expect(self, cluster_id: str) -> None:
        """Talk to this cluster only: another one at the same address is an OtherClusterError."""
        self._pool.expect(cluster_id)

    def check_identity(self) -> None:
        """Ask which cluster this is, now. Raises OtherClusterError where it is another one."""
        self._head(True)

    @property
    def controller_id(self) -> int:
        """The controller's id as Metadata has it; in KRaft a broker that forwards to it."""
        return self._head(False).controller_id

    def api_versions(self, to: Target = ANY) -> dict[int, tuple[int, int]]:
        """What a broker speaks: API key to its lowest and highest version."""
        return dict(self._link(to).versions)

    def release(self, to: Target = ANY) -> str:
        """The Kafka release of a broker, as its API versions tell it: "4.3"."""
        return versions.release(self._link(to).versions)

    def is_kraft(self) -> bool:
        """Whether the cluster runs without ZooKeeper."""
        return versions.is_kraft(self._link(ANY).versions)

    def negotiate(self, api_key: int, lowest: int, highest: int, to: Target = ANY) -> int:
        """The highest version both sides have, or a ShellError that says since when it exists."""
        link = self._link(to)
        who = self._pool.describe(link.address)
        return versions.choose(api_key, (lowest, highest), link.versions, who)

    def supports(self, api: Any, version: int = 0, to: Target = ANY) -> bool:
        """Whether a broker has a version of an API: a key, or a kafka-python request class."""
        key = api if isinstance(api, int) else api.API_KEY
        low, high = self._link(to).versions.get(key, (0, -1))
        return version <= high and low <= high

    # -- inside ------------------------------------------------------------------------------------

    def _sender(self) -> tuple[str, str] | None:
        """The broker and the API of the last answers, in words; None before any."""
        answered = [job for job in self._heard if job.link is not None]
        links = {job.link.address for job in answered if job.link is not None}
        names = {job.request.name for job in answered}
        if not answered:  # of a verb that looked only at what every connection learns
            return ("one of the brokers", "Metadata") if self._pool.ready() else None
        who = self._pool.describe(links.pop()) if len(links) == 1 else "one of the brokers"
        return who, " or ".join(sorted(names))

    def _drive(self, calls: Sequence[Call]) -> list[Job]:
        with self._guarded():
            return self._runner.run(calls, self.deadline)

    def _stream(self, calls: Iterable[Call], ahead: int) -> Iterator[Job]:
        with self._guarded():
            yield from self._runner.stream(calls, self.deadline, ahead)

    def _link(self, to: Target) -> Link:
        link: Link = self.send(None, to)
        return link

    def _head(self, refresh: bool) -> frames.MetadataHead:
        if refresh or self._pool.outdated or not self._pool.head.brokers:
            self.send(METADATA)
        return self._pool.head

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        self._pool.deadline = self.deadline
        try:
            yield
        except ShellError:
            raise
        except BaseException:
            # Ctrl-C may strike between any two steps: only fresh connections are surely whole.
            self._pool.drop()
            raise
