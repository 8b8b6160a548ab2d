"""Connections through a SOCKS5 proxy, an HTTP proxy, or ssh. Those to this machine are direct."""

from __future__ import annotations

import socket

from kafka_shell.base.errors import ShellError, missing_package
from kafka_shell.base.text import quoted
from kafka_shell.wire.endpoint import Address, ConnectionConfig, Via, is_loopback
from kafka_shell.wire.failures import unreachable

SSH_S = 120.0  # for ssh, which includes typing a passphrase


class ViaError(OSError):
    """A connection through a proxy failed. `error` says why."""

    def __init__(self, error: ShellError) -> None:
        super().__init__(error.message)
        self.error = error


def connect(via: Via | None, address: Address, timeout: float) -> socket.socket:
    """Return a connection to the address. Raises OSError, and ViaError for one through a proxy.
    The timeout is in seconds."""
    if via is None or is_loopback(address.host):
        return socket.create_connection(address, timeout)
    try:
        return _connect(via, address, timeout)
    except ShellError as error:
        raise ViaError(through(error, via)) from None


def _connect(via: Via, address: Address, timeout: float) -> socket.socket:
    try:
        from python_socks import ProxyError, ProxyType
        from python_socks.sync import Proxy
    except ImportError:
        raise missing_package(f"a connection to {address}", "python-socks", "proxy") from None
    kind = ProxyType.HTTP if via.scheme == "http" else ProxyType.SOCKS5
    if via.scheme == "ssh":
        from kafka_shell.wire.tunnel import tunnel

        proxy = Proxy(kind, *tunnel(via, timeout), rdns=True)
    else:
        login = via.username or None, via.password.reveal() if via.password else None
        proxy = Proxy(kind, via.host, via.port, *login, rdns=True)
    try:
        connected: socket.socket = proxy.connect(address.host, address.port, timeout)
    except (ProxyError, OSError) as error:
        slow = isinstance(error, TimeoutError)
        told = getattr(error, "strerror", None) or str(error)  # without `[Errno 111]`
        reason = f"no response within {timeout:.1f} s" if slow else quoted(told)
        message = f"cannot connect to {address}: {reason}"
        raise unreachable(message, "Check the proxy and its access rules.", "via") from None
    return connected


def open_tunnel(config: ConnectionConfig, address: Address, timeout: float) -> None:
    """Start ssh if the address is behind it. ssh may ask on the terminal, and takes longer than a
    connection. Raises ShellError."""
    via = config.route(config.reachable(address))
    if via is not None and via.scheme == "ssh":
        from kafka_shell.wire.tunnel import tunnel

        tunnel(via, timeout)


def through(error: ShellError, via: Via | None) -> ShellError:
    """Return the error, with the proxy in its message."""
    if via is not None and str(via) not in error.message:
        error.message += f" (through {via})"
    return error
