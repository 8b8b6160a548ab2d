"""A closer look at a connection that failed in a way that could mean several things.

Each look is one short connection of its own, made only when a command is about to fail.
"""

from __future__ import annotations

import socket
from contextlib import suppress

from kafka_shell.errors import ShellError

from . import frames
from .endpoint import Address, ConnectionConfig
from .link_errors import not_kafka, tls_needed
from .login import sasl_needed

_PATIENCE = 1.0  # seconds; the other side was there a moment ago


def look_closer(config: ConnectionConfig, address: Address, error: ShellError) -> ShellError:
    """A better error than this one, where a look can give it."""
    with suppress(OSError, ValueError):
        if error.code == "tls-hostname":
            return _names(config, address) or error
        if error.code in ("closed-early", "no-answer"):
            better = _plain(address) if config.uses_tls else _secured(address)
            return better or _foreign(address) or error
    return error


def wants_login(config: ConnectionConfig, address: Address) -> ShellError | None:
    """Whether a listener that dropped a first request wants SASL, and which mechanisms it has.

    Asking for a mechanism that does not exist tells: a SASL listener lists its own, any other says
    that SASL is out of place.
    """
    with suppress(OSError, ValueError, ShellError):
        with _connect(config, address) as sock:
            _ask(sock, frames.API_VERSIONS, 0, b"")
            body = _ask(sock, frames.SASL_HANDSHAKE, 1, frames.sasl_handshake_body("?"))
            _, enabled = frames.read_sasl_handshake(body)
        if enabled:
            return sasl_needed(config, address, enabled)
    return None


def _connect(config: ConnectionConfig, address: Address) -> socket.socket:
    sock = socket.create_connection(address, timeout=_PATIENCE)
    if not config.uses_tls:
        return sock
    from .tls import make_context

    try:
        return make_context(config.tls).wrap_socket(sock, server_hostname=address.host)
    except BaseException:
        sock.close()
        raise


def _ask(sock: socket.socket, api_key: int, version: int, body: bytes) -> memoryview:
    sock.sendall(frames.request_frame(api_key, version, 1, "kafka-sh", body, False))
    size = int.from_bytes(_exactly(sock, 4), "big")
    if not 4 <= size <= 1 << 20:
        raise ValueError("not a Kafka frame")
    return frames.split_answer(memoryview(_exactly(sock, size)), False)[1]


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionResetError
        data += more
    return data


def _plain(address: Address) -> ShellError | None:
    """Whether Kafka answers in plain text where TLS was spoken."""
    from .tls import speaks_plain_text

    with suppress(OSError, ValueError), socket.create_connection(address, _PATIENCE) as sock:
        _ask(sock, frames.API_VERSIONS, 0, b"")
        return speaks_plain_text(address)
    return None


def _secured(address: Address) -> ShellError | None:
    """Whether TLS answers where plain text was spoken."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # only to see whether it is TLS; nothing is sent
    with suppress(OSError, ValueError), socket.create_connection(address, _PATIENCE) as sock:
        try:
            context.wrap_socket(sock, server_hostname=address.host).close()
        except ssl.SSLError as error:
            if "ALERT" not in (error.reason or ""):
                return None
        return tls_needed(address)
    return None


def _foreign(address: Address) -> ShellError | None:
    """What a listener says that is neither Kafka nor TLS: to a greeting of HTTP, or by itself."""
    with socket.create_connection(address, _PATIENCE) as sock:
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        data = sock.recv(60)
        return not_kafka(address, data) if len(data) >= 4 else None


def _names(config: ConnectionConfig, address: Address) -> ShellError | None:
    """Which names a trusted certificate is for."""
    from dataclasses import replace

    from .tls import make_context, wrong_names

    context = make_context(replace(config.tls, check_hostname=False))
    with (
        socket.create_connection(address, _PATIENCE) as sock,
        context.wrap_socket(sock, server_hostname=address.host) as secured,
    ):
        found = secured.getpeercert() or {}
    names = tuple(str(pair[1]) for pair in found.get("subjectAltName", ()) if len(pair) == 2)
    return wrong_names(address, names)
