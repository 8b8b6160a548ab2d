"""An event loop over sockets, and TCP connections to a host name with several addresses."""

from __future__ import annotations

import errno
import selectors
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from kafka_shell.base.errors import ShellError
from kafka_shell.wire.endpoint import Address, Via
from kafka_shell.wire.failures import connect_error, unknown_host
from kafka_shell.wire.via import ViaError, connect

_STAGGER = 0.2  # seconds before the next address is tried in parallel (RFC 8305)
_IN_PROGRESS = {0, errno.EINPROGRESS, errno.EWOULDBLOCK}

Sockaddr = tuple[int, Any]  # address family, socket address


class Ticking(Protocol):
    """An object with a timer."""

    def due(self) -> float | None:
        """When to call `tick` next (monotonic seconds), or None."""

    def tick(self, now: float) -> None:
        """Called when the time has come."""


class Loop:
    """A selector with callbacks, and timers. Used by one thread."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._ticking: list[Ticking] = []

    def watch(self, sock: socket.socket, events: int, callback: Callable[[int], None]) -> None:
        """Call back when the socket is readable or writable. Replaces an earlier callback."""
        key = self._selector.get_map().get(sock)
        if key is None:
            self._selector.register(sock, events, callback)
        elif key.events != events or key.data != callback:
            self._selector.modify(sock, events, callback)

    def forget(self, sock: socket.socket) -> None:
        """Stop watching the socket. Does nothing if it is not watched."""
        if sock.fileno() >= 0 and sock in self._selector.get_map():
            self._selector.unregister(sock)

    def add(self, ticking: Ticking) -> None:
        """Add a timer."""
        self._ticking.append(ticking)

    def remove(self, ticking: Ticking) -> None:
        """Remove a timer."""
        if ticking in self._ticking:
            self._ticking.remove(ticking)

    def turn(self, until: float) -> None:
        """Wait for one batch of events or timers, at most until then (monotonic seconds)."""
        dues = [due for due in (clock.due() for clock in self._ticking) if due is not None]
        wait = min([until, *dues]) - time.monotonic()
        for key, events in self._selector.select(max(0.0, wait)):
            # A callback may have closed the socket of a later key in the same batch.
            if self._selector.get_map().get(key.fileobj) is key:
                key.data(events)
        now = time.monotonic()
        for attempt in list(self._ticking):
            due = attempt.due()
            if due is not None and due <= now:
                attempt.tick(now)

    def close(self) -> None:
        """Close the selector. The sockets stay open."""
        self._selector.close()


class Dial:
    """Resolves a host name on another thread and connects to its addresses in parallel. The first
    connection wins. A connection through a proxy is made on the thread.

    `done` is called once, with a connected non-blocking socket or a ShellError.
    """

    def __init__(
        self,
        loop: Loop,
        address: Address,
        via: Via | None,
        timeout: float,
        done: Callable[[socket.socket | None, ShellError | None], None],
    ) -> None:
        self._loop = loop
        self._address, self._via, self._timeout = address, via, timeout
        self._done: Callable[[socket.socket | None, ShellError | None], None] | None = done
        self._wakeup: socket.socket | None = None
        self._found: list[Sockaddr] | socket.socket | OSError = []
        self._left: list[Sockaddr] = []
        self._connecting: list[socket.socket] = []
        self._next_at: float | None = None
        self._last_error: OSError | None = None

    def start(self) -> None:
        """Start. `done` may be called before this returns."""
        addresses = _resolve_without_dns(self._address) if self._via is None else []
        if addresses:
            self._connect_all(addresses)
        else:
            self._work_on_thread()

    def cancel(self) -> None:
        """Close everything. `done` is not called any more."""
        self._done = None
        self._next_at = None
        for sock in self._connecting:
            self._loop.forget(sock)
            sock.close()
        self._connecting = []
        self._close_wakeup()

    def due(self) -> float | None:
        """When the next address is tried."""
        return self._next_at

    def tick(self, now: float) -> None:
        """Try the next address."""
        self._try_next()

    def _work_on_thread(self) -> None:
        # getaddrinfo has no timeout and cannot be interrupted: a thread waits for it.
        self._wakeup, resolved = socket.socketpair()
        self._loop.watch(self._wakeup, selectors.EVENT_READ, self._resolved)
        thread = threading.Thread(target=self._work, args=(resolved,), daemon=True)
        thread.start()

    def _work(self, resolved: socket.socket) -> None:
        try:
            if self._via is None:
                self._found = _resolve(self._address)
            else:
                self._found = connect(self._via, self._address, self._timeout)
        except OSError as error:
            self._found = error
        except UnicodeError:
            self._found = socket.gaierror(socket.EAI_NONAME, "invalid host name")
        except Exception as error:  # the loop waits for a result
            self._found = OSError(f"{type(error).__name__}: {error}")
        finally:
            if self._done is None and isinstance(self._found, socket.socket):  # cancelled
                self._found.close()
            resolved.close()

    def _resolved(self, events: int) -> None:
        self._close_wakeup()
        if isinstance(self._found, socket.socket):
            _prepare(self._found)
            self._end(self._found, None)
        elif isinstance(self._found, ViaError):
            self._end(None, self._found.error)
        elif isinstance(self._found, OSError):
            self._end(None, unknown_host(self._address, self._found))
        else:
            self._connect_all(self._found)

    def _close_wakeup(self) -> None:
        if self._wakeup is not None:
            self._loop.forget(self._wakeup)
            self._wakeup.close()
            self._wakeup = None

    def _connect_all(self, addresses: list[Sockaddr]) -> None:
        self._left = list(dict.fromkeys(addresses))
        self._try_next()

    def _try_next(self) -> None:
        self._next_at = None
        while self._left and self._done is not None:
            family, sockaddr = self._left.pop(0)
            if self._try(family, sockaddr):
                if self._left:
                    self._next_at = time.monotonic() + _STAGGER
                return
        if not self._connecting and self._done is not None:
            self._end(None, connect_error(self._address, self._last_error))

    def _try(self, family: int, sockaddr: Any) -> bool:
        try:
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:  # an IPv6 address where the kernel has no IPv6
            self._last_error = error
            return False
        _prepare(sock)
        code = sock.connect_ex(sockaddr)
        if code not in _IN_PROGRESS:
            self._last_error = OSError(code, "")
            sock.close()
            return False
        self._connecting.append(sock)
        self._loop.watch(sock, selectors.EVENT_WRITE, lambda events: self._settled(sock))
        return True

    def _settled(self, sock: socket.socket) -> None:
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        self._loop.forget(sock)
        self._connecting.remove(sock)
        if code == 0:
            self._end(sock, None)
            return
        sock.close()
        self._last_error = OSError(code, "")
        self._try_next()

    def _end(self, sock: socket.socket | None, error: ShellError | None) -> None:
        done = self._done
        self.cancel()
        if done is not None:
            done(sock, error)


def _prepare(sock: socket.socket) -> None:
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def _resolve_without_dns(address: Address) -> list[Sockaddr]:
    """The addresses of IP literals and localhost, which need no name server."""
    try:
        if address.host == "localhost":
            return _resolve(address)
        return _resolve(address, socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return []


def _resolve(address: Address, flags: int = 0) -> list[Sockaddr]:
    host, port = address
    # Bytes, because for text Python imports its slow IDNA tables.
    plain = host.encode() if host.isascii() else host
    addresses = socket.getaddrinfo(plain, port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, sockaddr) for family, _, _, _, sockaddr in addresses]
