"""One connection to one broker: TCP, TLS, login, then requests in flight in order."""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafka_shell.errors import ShellError, Status

from . import frames
from .dial import Dial, Loop
from .endpoint import Address, ConnectionConfig, Patience
from .exchanges import Entry, Exchange, Login, State
from .link_errors import closed_early, connect_timeout, lost, not_kafka, silent, token_expired
from .malformed import malformed
from .versions import api_name

if TYPE_CHECKING:
    import ssl

_CHUNK = 1 << 18
_FIRST_FRAME_MAX = 1 << 20  # ApiVersions and SASL answers are small: more is not Kafka
_QUIET = 1.5  # seconds without any answer to a greeting before a second look is taken


class Link:
    """One connection to one broker. Driven by its loop; never blocks but in a SASL provider."""

    def __init__(
        self,
        loop: Loop,
        config: ConnectionConfig,
        address: Address,
        login: Callable[[ConnectionConfig, Address], Login],
        tls: ssl.SSLContext | None,
        patience: Patience,
    ) -> None:
        self.address = address
        self.state = State.DIALLING
        self.error: ShellError | None = None
        self.versions: frames.Versions = {}
        self.looked = False  # whether a second look was taken at what listens there
        self.trusted = False  # a broker of a cluster that has let us in: silence needs no look
        self.answers = 0  # responses since the login
        self.answers_before = 0  # responses during it
        self._loop = loop
        self._config = config
        self._patience = patience
        self._new_login = login
        self._login: Login | None = None
        self._tls = tls
        self._sock: socket.socket | None = None
        self._dial = Dial(loop, address, self._dialled)
        self._started = time.monotonic()
        self._moved = self._started
        self.heard = self._started  # when bytes last came (monotonic seconds)
        self._expires: float | None = None
        self._out: deque[memoryview] = deque()
        self._put = self._sent = 0  # bytes ever queued, bytes ever written
        self._inbox = bytearray()
        self._in_flight: deque[Exchange] = deque()
        self._correlation = 0
        loop.add(self)
        self._dial.start()

    # -- what a cluster asks of it -----------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether requests can be put on it."""
        return self.state is State.READY

    @property
    def closed(self) -> bool:
        """Whether it is over; `error` says why."""
        return self.state is State.CLOSED

    @property
    def load(self) -> int:
        """Requests in flight."""
        return len(self._in_flight)

    @property
    def moved(self) -> float:
        """When bytes last went either way (monotonic seconds)."""
        return self._moved

    @property
    def silence(self) -> float:
        """For how many seconds it has let wait in vain; 0 where nothing is waited for."""
        if self.closed or (self.ready and not self._in_flight):
            return 0.0
        asked = self._in_flight[0].asked if self._in_flight else self._started
        return time.monotonic() - max(self.heard, asked)

    @property
    def stale(self) -> bool:
        """Whether its login is about to lapse (KIP-368): a new connection is to be made."""
        return self._expires is not None and time.monotonic() > self._expires

    def ask(
        self,
        api_key: int,
        version: int,
        body: bytes,
        flexible: bool,
        *,
        patience: float = 0.0,
        on_done: Callable[[Exchange], None] | None = None,
    ) -> Exchange:
        """Put a request on the connection, behind those in flight."""
        self._correlation += 1
        frame = frames.request_frame(
            api_key, version, self._correlation, self._config.client_id, body, flexible
        )
        # ApiVersions is answered with the old header always: a client cannot know better yet.
        answer_flexible = flexible and api_key != frames.API_VERSIONS
        patience = max(patience, self._config.request_timeout)
        exchange = Exchange(api_key, self._correlation, answer_flexible, patience, on_done)
        if not self._in_flight:
            self._moved = time.monotonic()
        self._in_flight.append(exchange)
        self._put += len(frame)
        exchange.end = self._put
        self._out.append(memoryview(frame))
        if len(self._out) == 1:
            self._write()
        return exchange

    def close(self, error: ShellError | None = None) -> None:
        """End it. Whatever is in flight gets the error."""
        if self.state is State.CLOSED:
            return
        self.state = State.CLOSED
        self.error = error or lost(self.address)
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
            exchange.left = exchange.end <= self._sent
            exchange.finish()

    # -- time --------------------------------------------------------------------------------------

    def due(self) -> float | None:
        """When its patience ends, or the dial wants to act."""
        if self.state is State.READY:
            return self._moved + self._in_flight[0].patience if self._in_flight else None
        times = [self._started + self._config.connect_timeout, self._dial.due()]
        if self._wonders:
            times.append(self._moved + _QUIET)
        return min(when for when in times if when is not None)

    def tick(self, now: float) -> None:
        """Its patience ended, or the dial's time came."""
        if self.state is State.READY:
            self.close(silent(self.address, now - self._moved))
        elif now < self._started + self._config.connect_timeout:
            if self._wonders and now >= self._moved + _QUIET:
                self._look()
            else:
                self._dial.tick(now)
        elif self.state is State.DIALLING:
            self.close(connect_timeout(self.address))
        else:
            self.close(silent(self.address, now - self._started))

    @property
    def _wonders(self) -> bool:
        """Whether the other side took the connection and has said nothing at all."""
        greeted = self.state is State.SECURING or self.state is State.ENTERING
        return greeted and not self.answers_before and not self.looked and not self.trusted

    def _look(self) -> None:
        from .diagnosis import look_closer

        self.looked = True
        doubt = silent(self.address, 0)
        better = look_closer(self._config, self.address, doubt, self._patience)
        if better is not doubt:
            self.close(better)

    # -- up: TCP, TLS, login -----------------------------------------------------------------------

    def _dialled(self, sock: socket.socket | None, error: ShellError | None) -> None:
        if sock is None:
            self.close(error)
            return
        self._sock = sock
        self._moved = self.heard = time.monotonic()
        if self._tls is None:
            self._enter()
            return
        self.state = State.SECURING
        self._sock = self._tls.wrap_socket(
            sock, server_hostname=self.address.host.rstrip("."), do_handshake_on_connect=False
        )
        self._secure(0)

    def _secure(self, events: int) -> None:
        import ssl

        assert isinstance(self._sock, ssl.SSLSocket)
        try:
            self._sock.do_handshake()
        except ssl.SSLWantReadError:
            self._loop.watch(self._sock, selectors.EVENT_READ, self._secure)
        except ssl.SSLWantWriteError:
            self._loop.watch(self._sock, selectors.EVENT_WRITE, self._secure)
        except (OSError, ValueError) as error:
            from .tls import handshake_error

            self.close(handshake_error(self.address, error))
        else:
            self._enter()

    def _enter(self) -> None:
        assert self._sock is not None
        self.state = State.ENTERING
        self._loop.watch(self._sock, selectors.EVENT_READ, self._ready_to)
        self._login = self._new_login(self._config, self.address)
        self._step(None)

    def _step(self, body: memoryview | None) -> None:
        """Give the login its answer and send what it asks next."""
        assert self._login is not None
        try:
            ask = next(self._login) if body is None else self._login.send(body)
        except StopIteration as end:
            entry: Entry = end.value
            self.versions = entry.versions
            if entry.lifetime is not None:
                # A little early, so that no request meets a login that has lapsed.
                self._expires = time.monotonic() + 0.85 * entry.lifetime
            self._login = None
            self.state = State.READY
        except ShellError as error:
            self.close(error)
        else:
            self.ask(*ask, on_done=self._stepped)

    def _stepped(self, exchange: Exchange) -> None:
        if exchange.body is None:
            return
        self.answers_before += 1
        try:
            self._step(exchange.body)
        except Exception as error:  # foreign bytes are read: anything can be raised
            self.close(self._nonsense(exchange.api_key, error))

    def _nonsense(self, api_key: int, why: object, data: bytes = b"") -> ShellError:
        """The error for an answer that is none; `data` is how it begins."""
        if not self.ready and api_key == frames.API_VERSIONS:
            return not_kafka(self.address, data)
        return malformed(
            f"the broker at {self.address}", api_name(api_key), why, Status.UNREACHABLE
        )

    # -- bytes -------------------------------------------------------------------------------------

    def _ready_to(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._write()
        if events & selectors.EVENT_READ and not self.closed:
            self._read()

    def _write(self) -> None:
        assert self._sock is not None
        while self._out:
            try:
                count = self._sock.send(self._out[0])
            except OSError as error:
                if not _would_block(error):
                    # Read what is there first: a refusal may have come before the reset.
                    self._read(gone=error)
                    return
                break
            self._moved = time.monotonic()
            self._sent += count
            if count == len(self._out[0]):
                self._out.popleft()
            else:
                self._out[0] = self._out[0][count:]
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._out else 0)
        self._loop.watch(self._sock, wanted, self._ready_to)

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
            self._take_frames()  # each time: what is too much must not be collected first
        self._take_frames()
        if ended is not None and not self.closed:
            self.close(self._why_lost(ended))

    def _take_frames(self) -> None:
        while len(self._inbox) >= 4 and not self.closed:
            size = int.from_bytes(self._inbox[:4], "big", signed=True)
            limit = self._config.max_frame if self.ready else _FIRST_FRAME_MAX
            if not 4 <= size <= limit or not self._in_flight:
                self.close(self._out_of_step(size, limit))
                return
            if len(self._inbox) < 4 + size:
                self._moved = self.heard = time.monotonic()
                return
            frame = memoryview(bytes(memoryview(self._inbox)[4 : 4 + size]))
            del self._inbox[: 4 + size]
            self._answered(frame)

    def _out_of_step(self, size: int, limit: int) -> ShellError:
        key = self._in_flight[0].api_key if self._in_flight else -1
        why = f"its size is {size:,} bytes, of {limit:,} at most" if size > limit else "it has none"
        why = why if self._in_flight else "nothing was asked"
        return self._nonsense(key, why, bytes(self._inbox[:60]))

    def _answered(self, frame: memoryview) -> None:
        exchange = self._in_flight[0]
        try:
            correlation, body = frames.split_answer(frame, exchange.flexible)
        except ValueError:
            correlation, body = -1, frame
        if correlation != exchange.correlation:
            why = "it answers another request"
            self.close(self._nonsense(exchange.api_key, why, bytes(frame[:60])))
            return
        self._in_flight.popleft()
        self._moved = self.heard = time.monotonic()
        if self.ready:
            self.answers += 1
        exchange.left = True
        exchange.body = body
        exchange.finish()

    def _why_lost(self, error: OSError) -> ShellError:
        if self._tls is not None:
            from .tls import session_error

            why = session_error(self.address, error)
            if why is not None:
                return why
        if self._inbox and self.state is State.ENTERING:
            return not_kafka(self.address, bytes(self._inbox[:60]))
        if self.state is State.ENTERING and not self.answers_before:
            return closed_early(self.address)
        sasl = self._config.sasl
        if sasl is not None and sasl.token and self.answers_before and not self.answers:
            return token_expired(self.address, sasl.username)
        return lost(self.address)


def _would_block(error: OSError) -> bool:
    if isinstance(error, BlockingIOError | InterruptedError):
        return True
    return type(error).__name__ in ("SSLWantReadError", "SSLWantWriteError")
