"""One cluster: requests to any broker, the controller, a coordinator, or certain brokers.

Synchronous, and used by one thread at a time. Connects with the first request, and reconnects when
needed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Results, as_failure
from kafka_shell.base.waits import GRACE_S, VISIBLE_S, WAITING_S, until
from kafka_shell.wire import frames
from kafka_shell.wire import requests as versions
from kafka_shell.wire.endpoint import Address, ConnectionConfig
from kafka_shell.wire.failures import reading
from kafka_shell.wire.model import Broker
from kafka_shell.wire.pool import Pool
from kafka_shell.wire.requests import ANY, METADATA, Call, Coordinator, Node, Target
from kafka_shell.wire.runner import CallsInFlight, Job, Runner, shared_address
from kafka_shell.wire.transport import Link


class Cluster:
    """One cluster, with the credentials of one user. A context manager; `close` may be called at
    any time."""

    def __init__(self, config: ConnectionConfig) -> None:
        self.config = config
        self.deadline: float | None = None
        """The deadline of the current command (monotonic seconds), or None. See `within`."""
        self._pool = Pool(config)
        self._runner = Runner(config, self._pool)
        self._last_jobs: list[Job] = []

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Cluster({', '.join(map(str, self.config.bootstrap))})"

    def on_wait(self, report: Callable[[str], None] | None) -> None:
        """Report the brokers that have been waited for longer than a second. Reports an empty
        string when the wait is over."""
        self._pool.on_wait = report

    def report_wait(self, what: str) -> None:
        """Report what is waited for between requests, as a broker is; "" when the wait is over."""
        self._pool.report_wait(what)

    def close(self) -> None:
        """Close all connections. A later request opens new ones."""
        self._pool.close()

    # -- sending -----------------------------------------------------------------------------------

    def send(
        self,
        request: Any,
        to: Target = ANY,
        *,
        lowest: int | None = None,
        highest: int | None = None,
        change: bool | None = None,
        check: bool = True,
        timeout: float | None = None,
        requires: str = "",
    ) -> Any:
        """Send one request and return its response message. See Call for the other parameters.

        Raises ShellError for connection errors, at the deadline, and for the response's error code.
        """
        call = Call(request, to, lowest, highest, change, check, timeout, requires)
        (job,) = self._drive([call])
        if job.error is not None:
            raise job.error
        return job.result

    def send_all(self, calls: Sequence[Call]) -> list[Any]:
        """Send all calls at once and return responses or Failures, in the order of the calls.

        Raises ShellError only if no broker at all can be reached.
        """
        jobs = self._drive(calls)
        return [job.result if job.error is None else as_failure(job.error) for job in jobs]

    def send_each(self, calls: Iterable[Call], ahead: int) -> Iterator[Any]:
        """Send the calls with `ahead` of them in flight, and yield each response or Failure in
        order as soon as it arrives. For more responses than fit in memory."""
        with self._closing_on_error():
            for job in self._runner.stream(calls, self.deadline, ahead):
                self._last_jobs = [job]
                yield job.result if job.error is None else as_failure(job.error)

    @contextmanager
    def calls_in_flight(self) -> Iterator[CallsInFlight]:
        """Calls that are added while others are in flight, and responses in order of arrival."""
        with self._closing_on_error(), self._runner.driving():
            yield CallsInFlight(self._runner, self.deadline)

    def each_broker(self, request: Any) -> Results[int, Any]:
        """Send a request to every broker at once. Returns responses and Failures by broker ID.

        The list of brokers is read again: one may have come back since."""
        ids = sorted(row[0] for row in self._head(True).brokers)
        responses = self.send_all([Call(request, Node(id)) for id in ids])
        return Results.collect(zip(ids, responses, strict=True))

    @contextmanager
    def within(self, seconds: float | None, *, given: bool = False) -> Iterator[None]:
        """Set a deadline for all requests of a block, unless an outer deadline is earlier. None
        sets none. Unexpected exceptions after a response become MisreadErrors.

        `given`: by the user, who can increase it. Other deadlines are limits of the program.
        """
        outer = self.deadline
        if outer is None:
            self._pool.start_command()
            self._last_jobs = []
        if seconds is not None:
            mine = time.monotonic() + seconds
            self.deadline = mine if outer is None else min(outer, mine)
        if given:
            self._pool.command.given_deadline = self.deadline
        try:
            with reading(self._sender):
                yield
        finally:
            self.deadline = outer

    def join(self, other: Cluster) -> None:
        """Use this connection for a part of the command of another one, with its deadline. If a
        broker has responded to one of them, the other does not report that none can be reached."""
        self.deadline = other.deadline
        self._pool.command = other._pool.command

    def attempts(self, timeout: float | None = None) -> Iterator[int]:
        """Yield 0, 1, 2 and so on with growing pauses until the deadline, for retries of items."""
        until = self._runner.deadline_of(self.deadline, timeout)
        pause, attempt = self.config.backoff, 0
        while True:
            yield attempt
            attempt += 1
            if time.monotonic() + pause > until:
                return
            time.sleep(pause)
            pause = min(2 * pause, self.config.backoff_max)

    def has_time(self, seconds: float) -> bool:
        """Whether the deadline leaves so many seconds."""
        return self.deadline is None or time.monotonic() + seconds <= self.deadline

    def time_left(self, seconds: float) -> float:
        """These seconds, or those that are left until the deadline; at least 0.1."""
        if self.deadline is None:
            return seconds
        return max(0.1, min(seconds, self.deadline - time.monotonic()))

    def pause(self, seconds: float, task: str) -> None:
        """Sleep before the next look at something that takes long. Raises ShellError (code
        `deadline`) that names the task if the deadline does not leave the time."""
        if not self.has_time(seconds):
            raise ShellError(f"deadline exceeded: {task}", code="deadline")
        time.sleep(seconds)

    def forget_coordinator(self, to: Coordinator) -> None:
        """Look up the coordinator again when it is next needed: a response that is not checked, or
        a row of one, said that it has moved."""
        self._pool.coordinators.pop(to, None)

    # -- metadata ----------------------------------------------------------------------------------

    def brokers(self, *, refresh: bool = False) -> tuple[Broker, ...]:
        """The brokers that are up, sorted by ID. `version` is empty for brokers without connection.

        `controller` is set only in ZooKeeper mode: Metadata does not contain it in KRaft mode.
        """
        head = self._head(refresh)
        kraft = all(versions.is_kraft(link.versions) for link in self._pool.ready())
        brokers = []
        for node, host, port, rack in sorted(head.brokers):
            link = self._pool.link_at(Address(host, port))
            release = versions.release(link.versions) if link is not None and link.versions else ""
            controller = not kraft and node == head.controller_id
            brokers.append(Broker(node, host, port, rack, controller, release))
        return tuple(brokers)

    def known_brokers(self) -> tuple[Broker, ...]:
        """The brokers of the last metadata. Sends nothing, so there may be none."""
        return tuple(
            Broker(node, host, port, rack)
            for node, host, port, rack in sorted(self._pool.head.brokers)
        )

    def versions_of_brokers(self) -> Results[int, str]:
        """The Kafka release of every broker by broker ID. Connects to each."""
        return self.each_broker(None).map(lambda link: versions.release(link.versions))

    @property
    def cluster_id(self) -> str:
        """The cluster ID, or empty before Kafka 0.10.1."""
        return self._head(False).cluster_id

    @property
    def sent(self) -> set[int]:
        """The API keys of all requests sent so far. May be cleared."""
        return self._runner.sent

    @property
    def known_id(self) -> str:
        """The cluster ID, or empty before the first response. Sends nothing."""
        return self._pool.head.cluster_id

    @property
    def shared_addresses(self) -> tuple[str, ...]:
        """The errors of requests to brokers that advertise the same address. Sends nothing."""
        shared = self._pool.shared.items()
        return tuple(shared_address(address, ids).message for address, ids in shared)

    def expect(self, cluster_id: str) -> None:
        """Use only this cluster. Requests to another one at its address raise OtherClusterError."""
        self._pool.expect(cluster_id)

    def check_identity(self) -> None:
        """Read the cluster ID again. Raises OtherClusterError if it has changed."""
        self._head(True)

    def api_versions(self, to: Target = ANY) -> dict[int, tuple[int, int]]:
        """The lowest and highest version of each API of a broker, by API key."""
        return dict(self._link(to).versions)

    def release(self, to: Target = ANY) -> str:
        """The Kafka release of a broker, such as "4.3", derived from its API versions."""
        return versions.release(self._link(to).versions)

    def is_kraft(self) -> bool:
        """Whether the cluster runs without ZooKeeper."""
        return versions.is_kraft(self._link(ANY).versions)

    def supports(self, api: Any, version: int = 0) -> bool:
        """Whether a broker supports a version of an API (API key or kafka-python request class)."""
        key = api if isinstance(api, int) else api.API_KEY
        low, high = self._link(ANY).versions.get(key, (0, -1))
        return version <= high and low <= high

    # -- internals ---------------------------------------------------------------------------------

    def _sender(self) -> tuple[str, str] | None:
        """The broker and the API of the last responses for messages; None before the first."""
        names = {job.request.name for job in self._last_jobs if job.link is not None}
        links = {job.link.address for job in self._last_jobs if job.link is not None}
        if not links:
            return None
        broker = self._pool.describe(links.pop()) if len(links) == 1 else "one of the brokers"
        return broker, " or ".join(sorted(names))

    def _drive(self, calls: Sequence[Call]) -> list[Job]:
        with self._closing_on_error():
            jobs = self._runner.run(calls, self.deadline)
        self._last_jobs = jobs or self._last_jobs
        return jobs

    def _link(self, to: Target) -> Link:
        link: Link = self.send(None, to)
        return link

    def _head(self, refresh: bool) -> frames.MetadataHead:
        if refresh or self._pool.metadata_outdated or not self._pool.head.brokers:
            self.send(METADATA)
        return self._pool.head

    @contextmanager
    def _closing_on_error(self) -> Iterator[None]:
        self._pool.deadline = self.deadline
        try:
            yield
        except ShellError:
            raise
        except BaseException:
            # Ctrl-C may interrupt between any two steps: a connection may be in an invalid state.
            self._pool.close()
            raise


# Operations that run in parallel, each with its own thread and its own Cluster.
#
# A broker that does not respond delays only the operation that waits for it.

K = TypeVar("K")
T = TypeVar("T")


def run_within(
    config: ConnectionConfig,
    operations: Mapping[K, Callable[[Cluster], T]],
    seconds: float,
    waiting: Callable[[list[K]], None] = lambda running: None,
) -> dict[K, T | ShellError]:
    """The result of each operation, or its ShellError (code `deadline` after these seconds).

    `waiting` is called repeatedly with the operations that are still running. Other exceptions are
    raised.
    """
    ended = threading.Condition()
    outcomes: dict[K, T | BaseException] = {}

    def run(key: K, operation: Callable[[Cluster], T]) -> None:
        outcome: T | BaseException
        try:
            with Cluster(config) as cluster, cluster.within(seconds):
                outcome = operation(cluster)
        except BaseException as error:  # raised on the calling thread
            outcome = error
        with ended:
            outcomes[key] = outcome
            ended.notify_all()

    until = time.monotonic() + seconds + GRACE_S
    for key, operation in operations.items():
        threading.Thread(target=run, args=(key, operation), daemon=True).start()
    with ended:
        while running := [key for key in operations if key not in outcomes]:
            left = until - time.monotonic()
            if left <= 0:
                break
            waiting(running)
            ended.wait(min(left, WAITING_S))
    late = ShellError(f"no response within {seconds:.0f} s", code="deadline")
    results: dict[K, T | ShellError] = {}
    for key in operations:
        outcome = outcomes.get(key, late)
        if isinstance(outcome, BaseException) and not isinstance(outcome, ShellError):
            raise outcome
        results[key] = outcome
    return results


# Waiting until an acknowledged change is visible: in KRaft, brokers apply it a moment later.
#
# Without this, describing a resource right after changing it could show the old state.


def wait_until_visible(visible: Callable[[], bool], seconds: float = VISIBLE_S) -> None:
    """Wait until `visible()` returns true, but not longer. Its ShellErrors end the wait."""
    with suppress(ShellError):
        until(visible, seconds)
