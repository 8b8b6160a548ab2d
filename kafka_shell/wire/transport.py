"""One connection to one broker: TCP, TLS, login, then any number of requests in order."""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.wire import frames
from kafka_shell.wire.dial import Dial, Loop
from kafka_shell.wire.endpoint import Address, ConnectionConfig, LimitTime
from kafka_shell.wire.failures import (
    closed_early,
    connect_timeout,
    lost,
    malformed,
    not_kafka,
    silent,
    token_expired,
)
from kafka_shell.wire.login import Login, LoginResult
from kafka_shell.wire.requests import api_name
from kafka_shell.wire.via import through

if TYPE_CHECKING:
    import ssl

_CHUNK = 1 << 18
_FIRST_FRAME_MAX = 1 << 20  # ApiVersions and SASL responses are smaller
_DIAGNOSE_AFTER_S = 1.5  # without any response to the first request


class State(Enum):
    """The state of a connection. The value describes what is being waited for."""

    CONNECTING = "a connection to"
    TLS_HANDSHAKE = "the TLS handshake with"
    LOGIN = "the first response from"
    READY = "a response from"
    CLOSED = "closed"


class Exchange:
    """A request in flight, until it has a `body` or an `error`. If `written`, the broker may have
    executed it."""

    def __init__(
        self,
        api_key: int,
        correlation: int,
        flexible: bool,
        timeout: float,
        on_done: Callable[[Exchange], None] | None,
    ) -> None:
        self.api_key = api_key
        self.correlation = correlation
        self.flexible = flexible
        self.timeout = timeout
        self.sent_at = time.monotonic()
        self.on_done = on_done
        self.body: memoryview | None = None
        self.error: ShellError | None = None
        self.end_position = 0  # of the request in the bytes ever queued on this connection
        self.written = False  # whether all of it was written to the socket

    def finish(self) -> None:
        """Call the callback."""
        done, self.on_done = self.on_done, None
        if done is not None:
            done(self)


class Link:
    """One connection to one broker. Driven by its loop; only SASL providers may block."""

    def __init__(
        self,
        loop: Loop,
        config: ConnectionConfig,
        address: Address,
        login: Callable[[ConnectionConfig, Address], Login],
        tls: ssl.SSLContext | None,
        limit_time: LimitTime,
    ) -> None:
        self.address = address
        self.state = State.CONNECTING
        self.error: ShellError | None = None
        self.versions: frames.Versions = {}
        self.diagnosed = False  # whether it was checked what listens at the address
        self.trusted = False  # the cluster was reached before: no diagnosis if it is silent
        self.responses = 0  # since the login
        self.login_responses = 0  # during the login
        self._loop = loop
        self._config = config
        self._limit_time = limit_time
        self._new_login = login
        self._login: Login | None = None
        self._tls = tls
        self._sock: socket.socket | None = None
        target = config.reachable(address)
        self._via = config.route(target)
        self._dial = Dial(loop, target, self._via, config.connect_timeout, self._connected)
        self._started = time.monotonic()
        self._last_activity = self._started
        self.last_received = self._started  # bytes (monotonic seconds)
        self._expires: float | None = None
        self._outbox: deque[memoryview] = deque()
        self._queued = self._sent = 0  # bytes ever queued, bytes ever written
        self._inbox = bytearray()
        self._in_flight: deque[Exchange] = deque()
        self._correlation = 0
        loop.add(self)
        self._dial.start()

    # -- state and requests ------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether requests can be sent."""
        return self.state is State.READY

    @property
    def closed(self) -> bool:
        """Whether it is closed. `error` says why."""
        return self.state is State.CLOSED

    @property
    def load(self) -> int:
        """The number of requests in flight."""
        return len(self._in_flight)

    @property
    def last_activity(self) -> float:
        """When bytes were last sent or received (monotonic seconds)."""
        return self._last_activity

    @property
    def silence(self) -> float:
        """For how many seconds a response has been overdue, or 0 if none is expected."""
        if self.closed or (self.ready and not self._in_flight):
            return 0.0
        since = self._in_flight[0].sent_at if self._in_flight else self._started
        return time.monotonic() - max(self.last_received, since)

    @property
    def stale(self) -> bool:
        """Whether its session is about to expire (KIP-368), so that a new connection is needed."""
        return self._expires is not None and time.monotonic() > self._expires

    def send(
        self,
        api_key: int,
        version: int,
        body: bytes,
        flexible: bool,
        *,
        timeout: float = 0.0,
        on_done: Callable[[Exchange], None] | None = None,
    ) -> Exchange:
        """Send a request after those in flight. `timeout` extends the request timeout."""
        self._correlation += 1
        frame = frames.request_frame(
            api_key, version, self._correlation, self._config.client_id, body, flexible
        )
        # ApiVersions responses always have the old header, because the versions are not known yet.
        response_flexible = flexible and api_key != frames.API_VERSIONS
        timeout = max(timeout, self._config.request_timeout)
        exchange = Exchange(api_key, self._correlation, response_flexible, timeout, on_done)
        if not self._in_flight:
            self._last_activity = time.monotonic()
        self._in_flight.append(exchange)
        self._queued += len(frame)
        exchange.end_position = self._queued
        self._outbox.append(memoryview(frame))
        if len(self._outbox) == 1:
            self._write()
        return exchange

    def close(self, error: ShellError | None = None) -> None:
        """Close it. Requests in flight fail with the error."""
        if self.state is State.CLOSED:
            return
        self.state = State.CLOSED
        self.error = through(error or lost(self.address), self._via)
        self._loop.remove(self)
        self._dial.cancel()
        if self._login is not None:
            self._login.close()
        if self._sock is not None:
            self._loop.forget(self._sock)
            self._sock.close()
            self._sock = None
        unanswered, self._in_flight = self._in_flight, deque()
        for exchange in unanswered:
            exchange.error = self.error
            exchange.written = exchange.end_position <= self._sent
            exchange.finish()

    # -- time --------------------------------------------------------------------------------------

    def due(self) -> float | None:
        """When the next timeout ends, or the next address is tried."""
        if self.state is State.READY:
            return self._last_activity + self._in_flight[0].timeout if self._in_flight else None
        times = [self._started + self._config.connect_timeout, self._dial.due()]
        if self._needs_diagnosis:
            times.append(self._last_activity + _DIAGNOSE_AFTER_S)
        return min(when for when in times if when is not None)

    def tick(self, now: float) -> None:
        """Handle the timeout, or try the next address."""
        if self.state is State.READY:
            self.close(silent(self.address, now - self._last_activity))
        elif now < self._started + self._config.connect_timeout:
            if self._needs_diagnosis and now >= self._last_activity + _DIAGNOSE_AFTER_S:
                self._diagnose()
            else:
                self._dial.tick(now)
        elif self.state is State.CONNECTING:
            self.close(connect_timeout(self.address))
        else:
            self.close(silent(self.address, now - self._started))

    @property
    def _needs_diagnosis(self) -> bool:
        """Whether the other side accepted the connection and has sent nothing."""
        greeted = self.state is State.TLS_HANDSHAKE or self.state is State.LOGIN
        return greeted and not self.login_responses and not self.diagnosed and not self.trusted

    def _diagnose(self) -> None:
        from kafka_shell.wire.diagnosis import diagnose

        self.diagnosed = True
        doubt = silent(self.address, 0)
        better = diagnose(self._config, self.address, doubt, self._limit_time)
        if better is not doubt:
            self.close(better)

    # -- TCP, TLS, login ---------------------------------------------------------------------------

    def _connected(self, sock: socket.socket | None, error: ShellError | None) -> None:
        if sock is None:
            self.close(error)
            return
        self._sock = sock
        self._last_activity = self.last_received = time.monotonic()
        if self._tls is None:
            self._start_login()
            return
        self.state = State.TLS_HANDSHAKE
        self._sock = self._tls.wrap_socket(
            sock, server_hostname=self.address.host, do_handshake_on_connect=False
        )
        self._handshake(0)

    def _handshake(self, events: int) -> None:
        import ssl

        assert isinstance(self._sock, ssl.SSLSocket)
        try:
            self._sock.do_handshake()
        except ssl.SSLWantReadError:
            self._loop.watch(self._sock, selectors.EVENT_READ, self._handshake)
        except ssl.SSLWantWriteError:
            self._loop.watch(self._sock, selectors.EVENT_WRITE, self._handshake)
        except (OSError, ValueError) as error:
            from kafka_shell.wire.tls import handshake_error

            self.close(handshake_error(self.address, error))
        else:
            self._start_login()

    def _start_login(self) -> None:
        assert self._sock is not None
        self.state = State.LOGIN
        self._loop.watch(self._sock, selectors.EVENT_READ, self._on_ready)
        self._login = self._new_login(self._config, self.address)
        self._advance_login(None)

    def _advance_login(self, body: memoryview | None) -> None:
        """Pass a response to the login and send its next request."""
        assert self._login is not None
        try:
            request = next(self._login) if body is None else self._login.send(body)
        except StopIteration as end:
            entry: LoginResult = end.value
            self.versions = entry.versions
            if entry.lifetime is not None:
                # A little early, so that no request meets an expired session.
                self._expires = time.monotonic() + 0.85 * entry.lifetime
            self._login = None
            self.state = State.READY
        except ShellError as error:
            self.close(error)
        else:
            self.send(*request, on_done=self._on_login_response)

    def _on_login_response(self, exchange: Exchange) -> None:
        if exchange.body is None:
            return
        self.login_responses += 1
        try:
            self._advance_login(exchange.body)
        except Exception as error:  # foreign bytes are read: anything can be raised
            self.close(self._malformed(exchange.api_key, error))

    def _malformed(self, api_key: int, why: object, data: bytes = b"") -> ShellError:
        """The error for an invalid response. `data` is its beginning."""
        if not self.ready and api_key == frames.API_VERSIONS:
            return not_kafka(self.address, data)
        return malformed(
            f"the broker at {self.address}", api_name(api_key), why, Status.UNREACHABLE
        )

    # -- bytes -------------------------------------------------------------------------------------

    def _on_ready(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._write()
        if events & selectors.EVENT_READ and not self.closed:
            self._read()

    def _write(self) -> None:
        assert self._sock is not None
        while self._outbox:
            try:
                count = self._sock.send(self._outbox[0])
            except OSError as error:
                if not _would_block(error):
                    # Read first: an error response may have arrived before the reset.
                    self._read(gone=error)
                    return
                break
            self._last_activity = time.monotonic()
            self._sent += count
            if count == len(self._outbox[0]):
                self._outbox.popleft()
            else:
                self._outbox[0] = self._outbox[0][count:]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outbox else 0)
        self._loop.watch(self._sock, events, self._on_ready)

    def _read(self, gone: OSError | None = None) -> None:
        ended: OSError | None = gone
        while True:
            try:
                data = self._sock.recv(_CHUNK) if self._sock is not None else b""
            except OSError as error:
                if not _would_block(error):
                    ended = gone or error
                break
            if not data:
                ended = ended or ConnectionResetError()
                break
            self._inbox += data
            self._read_frames()  # each time, so that an oversized response is not collected
        self._read_frames()
        if ended is not None and not self.closed:
            self.close(self._close_reason(ended))

    def _read_frames(self) -> None:
        while len(self._inbox) >= 4 and not self.closed:
            size = int.from_bytes(self._inbox[:4], "big", signed=True)
            limit = self._config.max_frame if self.ready else _FIRST_FRAME_MAX
            if not 4 <= size <= limit or not self._in_flight:
                self.close(self._unexpected_frame(size, limit))
                return
            if len(self._inbox) < 4 + size:
                self._last_activity = self.last_received = time.monotonic()
                return
            frame = memoryview(bytes(memoryview(self._inbox)[4 : 4 + size]))
            del self._inbox[: 4 + size]
            self._on_response(frame)

    def _unexpected_frame(self, size: int, limit: int) -> ShellError:
        key = self._in_flight[0].api_key if self._in_flight else -1
        why = f"{size:,} bytes exceed the limit of {limit:,}" if size > limit else "invalid size"
        why = why if self._in_flight else "unexpected response"
        return self._malformed(key, why, bytes(self._inbox[:60]))

    def _on_response(self, frame: memoryview) -> None:
        exchange = self._in_flight[0]
        try:
            correlation, body = frames.split_answer(frame, exchange.flexible)
        except ValueError:
            correlation, body = -1, frame
        if correlation != exchange.correlation:
            why = "it belongs to another request"
            self.close(self._malformed(exchange.api_key, why, bytes(frame[:60])))
            return
        self._in_flight.popleft()
        self._last_activity = self.last_received = time.monotonic()
        if self.ready:
            self.responses += 1
        exchange.written = True
        exchange.body = body
        exchange.finish()

    def _close_reason(self, error: OSError) -> ShellError:
        if self._tls is not None:
            from kafka_shell.wire.tls import session_error

            why = session_error(self.address, error)
            if why is not None:
                return why
        if self._inbox and self.state is State.LOGIN:
            return not_kafka(self.address, bytes(self._inbox[:60]))
        if self.state is State.LOGIN and not self.login_responses:
            return closed_early(self.address, self._tls is not None)
        sasl = self._config.sasl
        if sasl is not None and sasl.token and self.login_responses and not self.responses:
            return token_expired(self.address, sasl.username)
        return lost(self.address)


def _would_block(error: OSError) -> bool:
    if isinstance(error, BlockingIOError | InterruptedError):
        return True
    return type(error).__name__ in ("SSLWantReadError", "SSLWantWriteError")
