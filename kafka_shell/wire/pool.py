"""The connections to one cluster, and what is known about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.structs import replace
from kafka_shell.base.waits import PROBE_S, REPORTED_S
from kafka_shell.wire import frames
from kafka_shell.wire.dial import Loop
from kafka_shell.wire.endpoint import STAND_INS, Address, ConnectionConfig
from kafka_shell.wire.failures import NoBrokerError, OtherClusterError, late
from kafka_shell.wire.login import Login, log_in
from kafka_shell.wire.requests import Coordinator, is_controller
from kafka_shell.wire.transport import Link
from kafka_shell.wire.via import SSH_S, open_tunnel

if TYPE_CHECKING:
    import ssl

_STAGGER = 0.25  # seconds before the next bootstrap server is tried in parallel
_MAX_KNOWN = 3  # brokers of the last metadata that are tried in addition to bootstrap servers


class Silence(Struct, frozen=True):
    """Since when a broker has not responded, and when that was last noticed (monotonic seconds)."""

    began: float
    noticed: float


class CurrentCommand:
    """What is known of the command that is being run. Connections for a part of it share this."""

    def __init__(self) -> None:
        self.given_deadline: float | None = None  # the user's, who can increase it
        self.responded = False  # whether a broker has


class Pool:
    """Connections by address, the last metadata, and coordinators."""

    def __init__(self, config: ConnectionConfig) -> None:
        self._config = config
        self._loop: Loop | None = None
        self._links: dict[Address, Link] = {}
        self._tls: ssl.SSLContext | None = None
        self.deadline: float | None = None  # of what is being sent, monotonic seconds
        self.command = CurrentCommand()
        self.connected_before = False
        self.silences: dict[Address, Silence] = {}  # of brokers during the current command
        self.metadata_outdated = False  # a broker was silent, so it may have left the cluster
        self.on_wait: Callable[[str], None] | None = None
        self.expected = config.cluster_id  # empty before the first response
        # Whether no broker has returned the cluster ID since all connections were closed.
        self.identity_unverified = bool(config.cluster_id)
        self.head = frames.MetadataHead()
        self.shared: dict[Address, list[int]] = {}
        """The broker IDs at each address that several brokers are reached at."""
        self.coordinators: dict[Coordinator, int] = {}

    @property
    def loop(self) -> Loop:
        """The event loop, created when first needed."""
        if self._loop is None:
            self._loop = Loop()
        return self._loop

    def expect(self, cluster_id: str) -> None:
        """Set the only cluster to use."""
        if cluster_id and cluster_id != self.expected:
            self.expected, self.identity_unverified = cluster_id, True

    def close(self) -> None:
        """Close all connections. The metadata is kept."""
        links, self._links = self._links, {}
        for link in links.values():
            link.close()
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def close_busy(self) -> None:
        """Close connections with requests in flight whose responses are no longer needed."""
        for address, link in list(self._links.items()):
            if link.load or not link.ready:
                link.close()
                del self._links[address]

    def start_command(self) -> None:
        """Forget which brokers were silent during the previous command."""
        self.command = CurrentCommand()
        self.metadata_outdated = self.metadata_outdated or bool(self.silences)
        self.silences.clear()

    def note_silence(self, address: Address, began: float) -> None:
        """Note that a broker has not responded since this time, or since it was noted before."""
        known = self.silences.get(address)
        self.silences[address] = Silence(known.began if known else began, time.monotonic())

    def report_wait(self, brokers: str) -> None:
        """Report which brokers are being waited for. Empty when the wait is over."""
        if self.on_wait is not None:
            self.on_wait(brokers)

    def forget_brokers(self) -> None:
        """Discard the brokers and the controller, so that the next call that needs them reads
        them."""
        self.head = frames.MetadataHead(cluster_id=self.head.cluster_id)

    def ready(self) -> list[Link]:
        """The connections that requests can be sent on."""
        return [link for link in list(self._links.values()) if link.ready]

    def link_at(self, address: Address) -> Link | None:
        """The connection to an address in any state, or None."""
        return self._links.get(address)

    def connect(self, address: Address) -> Link:
        """The connection to an address. A new one if it is closed or its session is expiring."""
        link = self._links.get(address)
        if link is not None and link.stale and not link.load:
            link.close()
        if link is None or link.closed:
            self.identity_unverified = self.identity_unverified or (
                bool(self.expected) and not self.ready()
            )
            # The time to connect does not count yet.
            open_tunnel(self._config, address, self.limit_time(SSH_S))
            link = Link(
                self.loop, self._config, address, self._log_in, self._context(), self.limit_time
            )
            # A diagnosis blocks: a broker that hangs must not delay responses of other brokers.
            link.trusted = self.connected_before
            self._links[address] = link
        return link

    def _log_in(self, config: ConnectionConfig, address: Address) -> Login:
        return log_in(config, address, self.limit_time)

    def limit_time(self, most: float) -> float:
        """The seconds `most`, limited to the time that is left until the deadline."""
        left = most if self.deadline is None else self.deadline - time.monotonic()
        return max(0.05, min(most, left))

    def address_of(self, node: int) -> Address | None:
        """The address of a broker in the last metadata, or None."""
        for broker, host, port, _ in self.head.brokers:
            if broker == node:
                return Address(host, port)
        return None

    def describe(self, address: Address) -> str:
        """The broker for messages: "broker 3 (host:9092)"."""
        for node, host, port, _ in self.head.brokers:
            if Address(host, port) == address:
                return f"broker {node} ({address})"
        link = self._links.get(address)
        controller = link is not None and link.ready and is_controller(link.versions)
        return f"the {'controller' if controller else 'broker'} at {address}"

    def update_metadata(self, body: memoryview, version: int) -> None:
        """Update brokers, cluster ID and controller from a Metadata response.

        Raises OtherClusterError if it is from another cluster.
        """
        head = frames.read_metadata_head(body, version)
        if self.expected and head.cluster_id and head.cluster_id != self.expected:
            where = ", ".join(map(str, self._config.bootstrap))
            raise OtherClusterError(where, self.expected, head.cluster_id)
        self.expected = self.expected or head.cluster_id
        self.identity_unverified = self.metadata_outdated = False
        if head.brokers:
            self._note_shared(head)
            if self._config.avoid:
                brokers = (row for row in head.brokers if row[0] not in self._config.avoid)
                head = replace(head, brokers=tuple(brokers))
            self.head = head

    def _note_shared(self, head: frames.MetadataHead) -> None:
        at: dict[Address, list[int]] = {}
        if not head.cluster_id.startswith(STAND_INS):
            for node, host, port, _ in sorted(head.brokers):
                at.setdefault(self._config.reachable(Address(host, port)), []).append(node)
        self.shared = {address: ids for address, ids in at.items() if len(ids) > 1}

    def any_link(self, until: float, extensible: bool) -> Link:
        """The least busy ready connection, or a new one to the first server that responds.
        `extensible`: whether the user has set the deadline.

        Raises ShellError if no server can be reached, or at the deadline.
        """
        behind = self._config.behind
        ready = [each for each in self.ready() if not each.stale and each.address not in behind]
        if ready:
            return min(ready, key=lambda link: (link.silence >= PROBE_S, link.load))
        return self._connect_any(until, extensible)

    def other_link(self, besides: Iterable[Address]) -> Link | None:
        """A ready connection to another broker that is not silent. None if there is none yet: then
        connections to other brokers are started."""
        besides = self._config.behind.union(besides)
        others = [link for link in self.ready() if link.address not in besides]
        responsive = [link for link in others if link.silence < PROBE_S and not link.stale]
        if responsive:
            return min(responsive, key=lambda link: link.load)
        known = (Address(host, port) for _, host, port, _ in self.head.brokers)
        candidates = [
            address
            for address in dict.fromkeys((*self._config.bootstrap, *known))
            if address not in besides and not self._is_unresponsive(address)
        ]
        for address in candidates[:_MAX_KNOWN]:
            self.connect(address)
        return None

    def _is_unresponsive(self, address: Address) -> bool:
        link = self._links.get(address)
        return link is not None and (link.closed or link.silence >= PROBE_S)

    def last_responding(self) -> Link | None:
        """The ready connection with the most recent response: it most likely still works."""
        ready = [link for link in self.ready() if not link.stale]
        return max(ready, key=lambda link: link.last_received, default=None)

    def _connect_any(self, until: float, extensible: bool) -> Link:
        every = [Address(host, port) for _, host, port, _ in self.head.brokers]
        known = [address for address in every if address not in self._config.behind][:_MAX_KNOWN]
        left = list(dict.fromkeys((*self._config.bootstrap, *known)))
        tried: list[Link] = []
        began, next_at = time.monotonic(), 0.0
        while True:
            now = time.monotonic()
            if left and (now >= next_at or all(link.closed for link in tried)):
                tried.append(self.connect(left.pop(0)))
                next_at = now + _STAGGER
            for link in tried:
                if link.ready:
                    self.connected_before = self.command.responded = True
                    for other in tried:
                        if not other.ready:
                            other.close()
                    return link
            if not left and all(link.closed for link in tried):
                raise self._no_broker(tried)
            if now >= until:
                raise _too_slow(tried, self.command.responded, extensible)
            self.loop.turn(min(until, next_at if left else until, now + REPORTED_S))
            if time.monotonic() - began > REPORTED_S:
                self.report_wait(", ".join(str(each.address) for each in tried if not each.closed))

    def close_reason(self, link: Link) -> ShellError:
        """Why a connection was closed, diagnosed if its error is ambiguous."""
        from kafka_shell.wire.diagnosis import diagnose

        assert link.error is not None
        if link.diagnosed or (link.trusted and link.error.code == "no-answer"):
            return link.error  # the diagnosis would hang, too
        link.diagnosed = True
        link.error = diagnose(self._config, link.address, link.error, self.limit_time)
        return link.error

    def _no_broker(self, tried: list[Link]) -> ShellError:
        errors = [self.close_reason(link) for link in tried]
        message = "; ".join(error.message for error in errors)
        codes = {error.code for error in errors}
        refused = any(code.startswith(("sasl", "tls")) for code in codes)
        what = "no broker accepted the connection" if refused else "no broker could be reached"
        return NoBrokerError(
            message if len(errors) == 1 else f"{what}: {message}",
            hint=errors[0].hint,
            code=codes.pop() if len(codes) == 1 else "no-broker",
            status=Status.UNREACHABLE,
        )

    def _context(self) -> ssl.SSLContext | None:
        if self._tls is None and self._config.uses_tls:
            from kafka_shell.wire.tls import make_context

            self._tls = make_context(self._config.tls)
        return self._tls


def _too_slow(tried: list[Link], responded: bool, extensible: bool) -> ShellError:
    what = ", ".join(f"{link.state.value} {link.address}" for link in tried if not link.closed)
    return ShellError(
        f"{late(extensible)} while waiting for {what or 'a broker'}",
        hint=f"{'Increase the deadline, or check' if extensible else 'Check'} broker and address.",
        code="deadline",
        status=Status.FAILED if responded else Status.UNREACHABLE,
    )
