"""HTTP requests with a total timeout, without redirects, and with responses of limited size."""

from __future__ import annotations

import ssl
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from kafka_shell.base.text import quoted
from kafka_shell.wire.endpoint import Address, Via, is_loopback, normalize_url
from kafka_shell.wire.via import ViaError, connect

_ERROR_BYTES = 1 << 12


class HttpFailure(Exception):
    """A request that failed. `status` is that of the response, 0 if there was none. `str` is the
    reason, with text of the server in quotes. `body` is the beginning of the response."""

    def __init__(self, reason: str, status: int = 0, body: bytes = b"") -> None:
        super().__init__(reason)
        self.status, self.body = status, body


def opener(context: ssl.SSLContext | None = None, via: Via | None = None) -> OpenerDirector:
    """An HTTP client that trusts the CAs of the context. It does not follow redirects, which would
    send secrets to another server, and uses no proxy for this machine. `via` replaces the proxies
    of the environment."""

    class Proxies(ProxyHandler):
        def proxy_open(self, req: Request, proxy: str, type: str) -> Any:
            direct = via is not None or is_loopback(urlsplit(req.full_url).hostname or "")
            return None if direct else super().proxy_open(req, proxy, type)

    class NoRedirect(HTTPRedirectHandler):
        def redirect_request(self, *args: object, **kwargs: object) -> None:
            return None

    def connecting(kind: Any) -> Any:
        def connection(host: str, **options: Any) -> Any:
            opened = kind(host, **options)
            opened._create_connection = lambda address, timeout, _: connect(
                via, Address(*address), timeout
            )
            return opened

        return connection

    class Http(HTTPHandler):
        def http_open(self, req: Request) -> Any:
            return self.do_open(connecting(HTTPConnection), req)

    class Https(HTTPSHandler):
        def https_open(self, req: Request) -> Any:
            return self.do_open(connecting(HTTPSConnection), req, context=context)

    return build_opener(NoRedirect(), Proxies(), Http(), Https())


def fetch(client: OpenerDirector, request: Request, timeout: float, largest: int) -> bytes:
    """The body of a response, at most `largest` bytes. Raises HttpFailure.

    The timeout (seconds) is for the whole response. That of a socket applies to each read, so a
    server that sends one byte per second would never reach it.
    """
    request.full_url = normalize_url(request.full_url)
    server = request.host  # a proxy of the environment replaces it
    done: list[bytes | HttpFailure] = []

    def run() -> None:
        try:
            done.append(_read(client, request, timeout, largest))
        except HttpFailure as failure:  # raised on the waiting thread
            done.append(failure)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout)
    response = done[0] if done else _timed_out(timeout)
    if isinstance(response, HttpFailure):
        proxy = f" through the proxy {request.host}" if request.host != server else ""
        raise HttpFailure(f"{response}{proxy}", response.status, response.body)
    return response


def _read(client: OpenerDirector, request: Request, timeout: float, largest: int) -> bytes:
    body: bytes = b""
    try:
        with client.open(request, timeout=timeout) as response:
            body = response.read(largest + 1)
    except HTTPError as error:
        with error, suppress(OSError, HTTPException, ValueError):
            body = error.read(_ERROR_BYTES)
        raise HttpFailure(f"HTTP {error.code}", error.code, body) from None
    except (URLError, OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise _timed_out(timeout) from None
        why = str(reason) if isinstance(reason, ViaError) else quoted(str(reason))
        raise HttpFailure(why) from None
    if len(body) > largest:
        raise HttpFailure(f"the response is larger than {largest >> 10:,} KiB")
    return body


def _timed_out(timeout: float) -> HttpFailure:
    return HttpFailure(f"no response within {timeout:.1f} s")
