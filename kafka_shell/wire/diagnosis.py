"""Diagnosis of connections that failed for an ambiguous reason.

Each check opens a short connection of its own, and runs only when a command is about to fail. All
reads of a check together take at most one second.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import replace
from kafka_shell.base.text import escape
from kafka_shell.wire import frames
from kafka_shell.wire.endpoint import Address, ConnectionConfig, LimitTime
from kafka_shell.wire.failures import is_tls_alert, not_kafka, tls_needed
from kafka_shell.wire.login import sasl_needed
from kafka_shell.wire.tls import make_context, speaks_plain_text, wrong_names
from kafka_shell.wire.via import connect, through

_MAX_S = 1.0  # the server was reachable a moment ago


class _Probe:
    """Connections to one address with a common deadline."""

    def __init__(self, config: ConnectionConfig, address: Address, limit_time: LimitTime) -> None:
        self.config, self.address = config, address
        self._until = time.monotonic() + limit_time(_MAX_S)

    @contextmanager
    def connect(self) -> Iterator[socket.socket]:
        """A new connection."""
        address = self.config.reachable(self.address)
        with connect(self.config.via, address, self._left()) as sock:
            self.set_time(sock)
            yield sock

    def set_time(self, sock: socket.socket) -> None:
        """Limit the next call on the socket. Raises TimeoutError after the deadline."""
        sock.settimeout(self._left())

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def ask(self, sock: socket.socket, api_key: int, version: int, body: bytes) -> memoryview:
        """The body of a response."""
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


def diagnose(
    config: ConnectionConfig, address: Address, error: ShellError, limit_time: LimitTime
) -> ShellError:
    """A more precise error than this one if a check finds one, else the same."""
    if error.code == "tls-hostname":
        checks: tuple[Callable[[_Probe], ShellError | None], ...] = (_names,)
    elif error.code in ("closed-early", "no-answer"):
        checks = (_plain if config.uses_tls else _secured, _foreign)
    else:
        return error
    for probe in checks:
        with suppress(OSError, ValueError):
            better = probe(_Probe(config, address, limit_time))
            if better is not None:
                return through(better, config.route(config.reachable(address)))
    return error


def requires_login(
    config: ConnectionConfig, address: Address, limit_time: LimitTime
) -> ShellError | None:
    """The error with the enabled mechanisms if the listener requires SASL, else None.

    A SaslHandshake with an unknown mechanism is answered with the enabled mechanisms by a SASL
    listener, and with an error by any other.
    """
    probe = _Probe(config, address, limit_time)
    with suppress(OSError, ValueError, ShellError), probe.connect() as plain:
        with _wrapped(probe, plain) as sock:
            probe.ask(sock, frames.API_VERSIONS, 0, b"")
            body = probe.ask(sock, frames.SASL_HANDSHAKE, 1, frames.sasl_handshake_body("?"))
            _, enabled = frames.read_sasl_handshake(body)
        if enabled:
            return sasl_needed(config, address, enabled)
    return None


def _wrapped(probe: _Probe, sock: socket.socket) -> socket.socket:
    if not probe.config.uses_tls:
        return sock
    probe.set_time(sock)
    return make_context(probe.config.tls).wrap_socket(sock, server_hostname=probe.address.host)


def _plain(probe: _Probe) -> ShellError | None:
    """The error if the listener is a plaintext one, but TLS was used."""
    with probe.connect() as sock:
        probe.ask(sock, frames.API_VERSIONS, 0, b"")
        return speaks_plain_text(probe.address)


def _secured(probe: _Probe) -> ShellError | None:
    """The error if the listener requires TLS, but plaintext was used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # only to detect TLS; nothing is sent
    with probe.connect() as sock:
        try:
            context.wrap_socket(sock, server_hostname=probe.address.host).close()
        except ssl.SSLError as error:
            if "ALERT" not in (error.reason or ""):
                return None
        return tls_needed(probe.address)


def _foreign(probe: _Probe) -> ShellError | None:
    """The error if the listener uses neither Kafka's protocol nor TLS."""
    with probe.connect() as sock:
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        probe.set_time(sock)
        data = sock.recv(60)
    if len(data) < 4 or (probe.config.uses_tls and is_tls_alert(data)):
        return None  # a TLS listener, which is what it should be
    return not_kafka(probe.address, data)


def _names(probe: _Probe) -> ShellError | None:
    """The error with the host names of a trusted certificate."""
    context = make_context(replace(probe.config.tls, check_hostname=False))
    with (
        probe.connect() as sock,
        context.wrap_socket(sock, server_hostname=probe.address.host) as secured,
    ):
        certificate = secured.getpeercert() or {}
    names = tuple(
        escape(str(pair[1])) for pair in certificate.get("subjectAltName", ()) if len(pair) == 2
    )
    return wrong_names(probe.address, names)
