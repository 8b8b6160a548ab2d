"""What is asked on a connection: the states of a connection, its login, requests in flight."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from enum import Enum
from typing import NamedTuple

from kafka_shell.errors import ShellError

from . import frames


class State(Enum):
    """How far a connection is; the value says what it is doing."""

    DIALLING = "connecting to"
    SECURING = "the TLS handshake with"
    ENTERING = "the first answer of"
    READY = "an answer of"
    CLOSED = "closed"


class Ask(NamedTuple):
    """One request of the login: the generator that yields it is sent the response's body."""

    api_key: int
    version: int
    body: bytes
    flexible: bool = False


class Entry(NamedTuple):
    """What a login found out. `lifetime` is in seconds, None for unlimited."""

    versions: frames.Versions
    lifetime: float | None = None


Login = Generator[Ask, memoryview, Entry]


class Exchange:
    """One request and what became of it: `body` or `error`. `written`: it may have been done."""

    __slots__ = (
        "api_key", "asked", "body", "correlation", "end", "error", "flexible", "left", "on_done",
        "patience",
    )  # fmt: skip

    def __init__(
        self,
        api_key: int,
        correlation: int,
        flexible: bool,
        patience: float,
        on_done: Callable[[Exchange], None] | None,
    ) -> None:
        self.api_key = api_key
        self.correlation = correlation
        self.flexible = flexible
        self.patience = patience
        self.asked = time.monotonic()
        self.on_done = on_done
        self.body: memoryview | None = None
        self.error: ShellError | None = None
        self.end = 0  # where the request ends in all that was ever put on this connection
        self.left = False  # whether all of it left this machine's program

    def finish(self) -> None:
        """Tell whoever asked."""
        done, self.on_done = self.on_done, None
        if done is not None:
            done(self)
