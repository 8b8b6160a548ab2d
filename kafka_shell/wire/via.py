"""Connections through a SOCKS5 proxy, an HTTP proxy, or ssh. Those to this machine are direct."""

from __future__ import annotations

import socket

from kafka_shell.base.errors import ShellError
from kafka_shell.base.text import quoted
from kafka_shell.wire.endpoint import Address, Via, is_loopback

_INSTALL = "Run pip install 'kafka-sh[proxy]'."


class ViaError(OSError):
    """A connection through a proxy failed. `str` is the reason, and names the proxy."""


def connect(via: Via | None, address: Address, timeout: float) -> socket.socket:
    """Return a connection to the address. Raises OSError, and ViaError if a proxy is between. The
    timeout is in seconds."""
    if via is None or is_loopback(address.host):
        return socket.create_connection(address, timeout)
    try:
        from python_socks import ProxyError, ProxyType
        from python_socks.sync import Proxy
    except ImportError:
        raise ViaError(f"python-socks is not installed. {_INSTALL}") from None
    from kafka_shell.wire.tunnel import tunnel

    kind = ProxyType.HTTP if via.scheme == "http" else ProxyType.SOCKS5
    login = via.username or None, via.password.reveal() if via.password else None
    try:
        if via.scheme == "ssh":
            client = Proxy(kind, *tunnel(via), rdns=True)
        else:
            client = Proxy(kind, via.host, via.port, *login, rdns=True)
        connected: socket.socket = client.connect(address.host, address.port, timeout)
    except (ProxyError, OSError, ShellError) as error:
        if isinstance(error, TimeoutError):
            reason = f"no response within {timeout:.1f} s"
        else:
            reason = quoted(str(error))
        raise ViaError(f"{reason} (through {via})") from None
    return connected


def through(error: ShellError, via: Via | None) -> ShellError:
    """Return the error, with the proxy that was between."""
    if via is not None and str(via) not in error.message:
        error.message += f" (through {via})"
    return error
