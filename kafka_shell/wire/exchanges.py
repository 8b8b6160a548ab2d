"""The states of a connection, the requests of its login, and requests in flight."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from enum import Enum
from typing import NamedTuple

from kafka_shell.base.errors import ShellError
from kafka_shell.wire import frames


class State(Enum):
    """The state of a connection. The value describes what is being waited for."""

    CONNECTING = "a connection to"
    TLS_HANDSHAKE = "the TLS handshake with"
    LOGIN = "the first response from"
    READY = "a response from"
    CLOSED = "closed"


class LoginRequest(NamedTuple):
    """One request of the login. The generator that yields it receives the response's body."""

    api_key: int
    version: int
    body: bytes
    flexible: bool = False


class LoginResult(NamedTuple):
    """The result of a login. `lifetime` is in seconds, None for unlimited."""

    versions: frames.Versions
    lifetime: float | None = None


Login = Generator[LoginRequest, memoryview, LoginResult]


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
