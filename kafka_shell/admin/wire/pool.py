"""The connections of one cluster and what they have told of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kafka_shell.errors import ShellError, Status
from kafka_shell.structs import replace

from . import frames
from .dial import Loop
from .endpoint import Address, ConnectionConfig
from .exchanges import Login
from .failures import NoBrokerError, OtherClusterError
from .login import log_in
from .requests import Coordinator
from .transport import Link

if TYPE_CHECKING:
    import ssl

_STAGGER = 0.25  # seconds before the next bootstrap server is tried beside the last
SILENT_S = 1.0  # what is waited for longer is told
DOUBT_S = 2.0  # a broker that is silent for longer is not relied on where another will do
_KNOWN_TRIED = 3  # brokers of the last metadata that are tried beside the bootstrap servers


class Pool:
    """Links by address, the last metadata, and coordinators. Knows how to connect, not what to
    send."""

    def __init__(self, config: ConnectionConfig) -> None:
        self._config = config
        self._loop: Loop | None = None
        self._links: dict[Address, Link] = {}
        self._tls: ssl.SSLContext | None = None
        self.deadline: float | None = None  # of what is being sent, monotonic seconds
        self.entered = False  # whether this cluster has let us in before
        self.answered = False  # whether a broker has answered the command that runs
        self.silent: dict[Address, float] = {}  # since when: let the command that runs wait in vain
        self.outdated = False  # a broker was silent since: the cluster may have noticed by now
        self.on_wait: Callable[[str], None] | None = None
        self.expected = config.cluster_id  # empty until a cluster has answered
        self.in_doubt = bool(config.cluster_id)  # nobody that answers has told its cluster's id
        self.head = frames.MetadataHead()
        self.coordinators: dict[Coordinator, int] = {}

    @property
    def loop(self) -> Loop:
        """The loop, made when first needed."""
        if self._loop is None:
            self._loop = Loop()
        return self._loop

    def expect(self, cluster_id: str) -> None:
        """The only cluster to talk to."""
        if cluster_id and cluster_id != self.expected:
            self.expected, self.in_doubt = cluster_id, True

    def drop(self) -> None:
        """Close everything; what is known of the cluster stays."""
        links, self._links = self._links, {}
        for link in links.values():
            link.close()
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def drop_busy(self) -> None:
        """Close the links that nobody waits for any more: an answer would come to nobody."""
        for address, link in list(self._links.items()):
            if link.load or not link.ready:
                link.close()
                del self._links[address]

    def begin(self) -> None:
        """Another command begins: what one broker did to the last is no reason to doubt it now."""
        self.answered = False
        self.outdated = self.outdated or bool(self.silent)
        self.silent.clear()

    def waits_for(self, whom: str) -> None:
        """Tell whom is waited for; empty when the wait is over."""
        if self.on_wait is not None:
            self.on_wait(whom)

    def forget_brokers(self) -> None:
        """The next call that needs the brokers or the controller asks for them anew."""
        self.head = frames.MetadataHead(cluster_id=self.head.cluster_id)

    def ready(self) -> list[Link]:
        """The links that requests can be put on."""
        return [link for link in list(self._links.values()) if link.ready]

    def link_at(self, address: Address) -> Link | None:
        """The link to an address, in whatever state."""
        return self._links.get(address)

    def connect(self, address: Address) -> Link:
        """The link to an address; a new one where it is closed or its login is about to lapse."""
        link = self._links.get(address)
        if link is not None and link.stale and not link.load:
            link.close()
        if link is None or link.closed:
            self.in_doubt = self.in_doubt or (bool(self.expected) and not self.ready())
            link = Link(
                self.loop, self._config, address, self._log_in, self._context(), self.patience
            )
            # A second look blocks: a broker that hangs must not hold up what its fellows answer.
            link.trusted = self.entered
            self._links[address] = link
        return link

    def _log_in(self, config: ConnectionConfig, address: Address) -> Login:
        return log_in(config, address, self.patience)

    def patience(self, most: float) -> float:
        """So many seconds, or fewer where the deadline is nearer; never none at all."""
        left = most if self.deadline is None else self.deadline - time.monotonic()
        return max(0.05, min(most, left))

    def address_of(self, node: int) -> Address | None:
        """Where the last metadata has a broker."""
        for broker, host, port, _ in self.head.brokers:
            if broker == node:
                return Address(host, port)
        return None

    def describe(self, address: Address) -> str:
        """A broker in words: its id where it is known, and where it is."""
        for node, host, port, _ in self.head.brokers:
            if (host, port) == address:
                return f"broker {node} ({address})"
        return f"the broker at {address}"

    def learn(self, body: memoryview, version: int) -> None:
        """Take brokers, cluster and controller from any Metadata response that passes.

        Raises OtherClusterError where another cluster has taken the place of the one that is meant.
        """
        head = frames.read_metadata_head(body, version)
        if self.expected and head.cluster_id and head.cluster_id != self.expected:
            where = ", ".join(map(str, self._config.bootstrap))
            raise OtherClusterError(where, self.expected, head.cluster_id)
        self.expected = self.expected or head.cluster_id
        self.in_doubt = self.outdated = False
        if head.brokers:
            if self._config.avoid:
                there = (row for row in head.brokers if row[0] not in self._config.avoid)
                head = replace(head, brokers=tuple(there))
            self.head = head

    def any_link(self, until: float) -> Link:
        """A ready link, the least busy one; else the first server that can be entered.

        Raises ShellError that names each server, where none can, or the deadline's.
        """
        ready = [link for link in self.ready() if not link.stale]
        if ready:
            return min(ready, key=lambda link: (link.silence >= DOUBT_S, link.load))
        return self._enter_somewhere(until)

    def another(self, besides: Iterable[Address]) -> Link | None:
        """A ready link to another broker, none that is silent. None while there is none: brokers
        that are known are being connected to then."""
        besides = frozenset(besides)
        others = [link for link in self.ready() if link.address not in besides]
        lively = [link for link in others if link.silence < DOUBT_S and not link.stale]
        if lively:
            return min(lively, key=lambda link: link.load)
        known = (Address(host, port) for _, host, port, _ in self.head.brokers)
        left = [
            each
            for each in dict.fromkeys((*self._config.bootstrap, *known))
            if each not in besides and not self._in_vain(each)
        ]
        for address in left[:_KNOWN_TRIED]:
            self.connect(address)
        return None

    def _in_vain(self, address: Address) -> bool:
        link = self._links.get(address)
        return link is not None and (link.closed or link.silence >= DOUBT_S)

    def heard_last(self) -> Link | None:
        """The ready link that an answer came on last: no other is as sure to be alive."""
        ready = [link for link in self.ready() if not link.stale]
        return max(ready, key=lambda link: link.heard, default=None)

    def _enter_somewhere(self, until: float) -> Link:
        known = [Address(host, port) for _, host, port, _ in self.head.brokers[:_KNOWN_TRIED]]
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
                    self.entered = self.answered = True
                    self._close_others(tried, link)
                    return link
            if not left and all(link.closed for link in tried):
                raise self._no_broker(tried)
            if now >= until:
                raise _too_slow(tried, self.answered)
            self.loop.turn(min(until, next_at if left else until, now + SILENT_S))
            if time.monotonic() - began > SILENT_S:
                self.waits_for(", ".join(str(each.address) for each in tried if not each.closed))

    def _close_others(self, links: list[Link], winner: Link) -> None:
        for link in links:
            if link is not winner and not link.ready:
                link.close()

    def why(self, link: Link) -> ShellError:
        """Why a link is closed, after a closer look where its own error leaves a doubt."""
        from .diagnosis import look_closer

        assert link.error is not None
        if link.looked or (link.trusted and link.error.code == "no-answer"):
            return link.error  # a second look blocks: it would hang there as well
        link.looked = True
        link.error = look_closer(self._config, link.address, link.error, self.patience)
        return link.error

    def _no_broker(self, tried: list[Link]) -> ShellError:
        errors = [self.why(link) for link in tried]
        message = "; ".join(error.message for error in errors)
        codes = {error.code for error in errors}
        return NoBrokerError(
            message if len(errors) == 1 else f"no broker could be reached: {message}",
            hint=errors[0].hint,
            code=codes.pop() if len(codes) == 1 else "no-broker",
            status=Status.UNREACHABLE,
        )

    def _context(self) -> ssl.SSLContext | None:
        if self._tls is None and self._config.uses_tls:
            from .tls import make_context

            self._tls = make_context(self._config.tls)
        return self._tls


def _too_slow(tried: list[Link], answered: bool) -> ShellError:
    doing = ", ".join(f"{link.state.value} {link.address}" for link in tried if not link.closed)
    return ShellError(
        f"the deadline passed while waiting for {doing or 'a broker'}",
        hint="Give it longer with --deadline, or check the address.",
        code="deadline",
        status=Status.FAILED if answered else Status.UNREACHABLE,
    )
