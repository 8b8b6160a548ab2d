"""A closer look at a connection that failed in a way that could mean several things.

Each look is one short connection of its own, made only when a command is about to fail. A second is
enough for all of it: a peer that sends a byte at a time must not keep anybody longer.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from kafka_shell.characters import escape
from kafka_shell.errors import ShellError

from . import frames
from .endpoint import Address, ConnectionConfig, Patience
from .link_errors import not_kafka, tls_needed
from .login import sasl_needed

_PATIENCE = 1.0  # seconds; the other side was there a moment ago


class _Look:
    """Connections to one address that all end at one time."""

    def __init__(self, config: ConnectionConfig, address: Address, patience: Patience) -> None:
        self.config, self.address = config, address
        self._until = time.monotonic() + patience(_PATIENCE)

    @contextmanager
    def connect(self) -> Iterator[socket.socket]:
        """A fresh connection."""
        with socket.create_connection(self.address, self._left()) as sock:
            self.set_time(sock)
            yield sock

    def set_time(self, sock: socket.socket) -> None:
        """The next call on the socket ends in time. Raises TimeoutError where it is over."""
        sock.settimeout(self._left())

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def ask(self, sock: socket.socket, api_key: int, version: int, body: bytes) -> memoryview:
        """The body of an answer."""
        self.set_time(sock)
        sock.sendall(frames.request_frame(api_key, version, 1, "kafka-sh", body, False))
        size = int.from_bytes(self._exactly(sock, 4), "big")
        if not 4 <= size <= 1 << 20:
            raise ValueError("not a Kafka frame")
        return frames.split_answer(memoryview(self._exactly(sock, size)), False)[1]

    def _exactly(self, sock: socket.socket, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            self.set_time(sock)
            more = sock.recv(size - len(data))
            if not more:
                raise ConnectionResetError
            data += more
        return bytes(data)


def look_closer(
    config: ConnectionConfig, address: Address, error: ShellError, patience: Patience
) -> ShellError:
    """A better error than this one, where a look can give it."""
    if error.code == "tls-hostname":
        looks: tuple[Callable[[_Look], ShellError | None], ...] = (_names,)
    elif error.code in ("closed-early", "no-answer"):
        looks = (_plain if config.uses_tls else _secured, _foreign)
    else:
        return error
    for look in looks:
        with suppress(OSError, ValueError):
            better = look(_Look(config, address, patience))
            if better is not None:
                return better
    return error


def wants_login(
    config: ConnectionConfig, address: Address, patience: Patience
) -> ShellError | None:
    """Whether a listener that dropped a first request wants SASL, and which mechanisms it has.

    Asking for a mechanism that does not exist tells: a SASL listener lists its own, any other says
    that SASL is out of place.
    """
    look = _Look(config, address, patience)
    with suppress(OSError, ValueError, ShellError), look.connect() as plain:
        with _wrapped(look, plain) as sock:
            look.ask(sock, frames.API_VERSIONS, 0, b"")
            body = look.ask(sock, frames.SASL_HANDSHAKE, 1, frames.sasl_handshake_body("?"))
            _, enabled = frames.read_sasl_handshake(body)
        if enabled:
            return sasl_needed(config, address, enabled)
    return None


def _wrapped(look: _Look, sock: socket.socket) -> socket.socket:
    if not look.config.uses_tls:
        return sock
    from .tls import make_context

    look.set_time(sock)
    return make_context(look.config.tls).wrap_socket(sock, server_hostname=look.address.host)


def _plain(look: _Look) -> ShellError | None:
    """Whether Kafka answers in plain text where TLS was spoken."""
    from .tls import speaks_plain_text

    with look.connect() as sock:
        look.ask(sock, frames.API_VERSIONS, 0, b"")
        return speaks_plain_text(look.address)


def _secured(look: _Look) -> ShellError | None:
    """Whether TLS answers where plain text was spoken."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # only to see whether it is TLS; nothing is sent
    with look.connect() as sock:
        try:
            context.wrap_socket(sock, server_hostname=look.address.host).close()
        except ssl.SSLError as error:
            if "ALERT" not in (error.reason or ""):
                return None
        return tls_needed(look.address)


def _foreign(look: _Look) -> ShellError | None:
    """What a listener says that is neither Kafka nor TLS: to a greeting of HTTP, or by itself."""
    with look.connect() as sock:
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        look.set_time(sock)
        data = sock.recv(60)
        return not_kafka(look.address, data) if len(data) >= 4 else None


def _names(look: _Look) -> ShellError | None:
    """Which names a trusted certificate is for."""
    from kafka_shell.structs import replace

    from .tls import make_context, wrong_names

    context = make_context(replace(look.config.tls, check_hostname=False))
    with (
        look.connect() as sock,
        context.wrap_socket(sock, server_hostname=look.address.host) as secured,
    ):
        found = secured.getpeercert() or {}
    names = tuple(
        escape(str(pair[1])) for pair in found.get("subjectAltName", ()) if len(pair) == 2
    )
    return wrong_names(look.address, names)
