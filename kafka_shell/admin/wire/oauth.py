"""Tokens of OAUTHBEARER (KIP-255, KIP-768): from a property, a file, an endpoint, or unsigned."""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafka_shell.characters import quoted
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Secret
from kafka_shell.units import to_path

from .endpoint import ConnectionConfig, OAuth, Sasl
from .failures import unreachable

if TYPE_CHECKING:
    from urllib.request import OpenerDirector, Request

_UNSECURED_LIFE = 3600  # seconds
_LONGEST = 1 << 18  # bytes of an endpoint's answer
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750; anything else could add to the message
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ALLOW = "sasl.oauthbearer.token.endpoint.allow.loopback.http"


def bearer_token(sasl: Sasl, config: ConnectionConfig, patience: float | None = None) -> Secret:
    """A token for one login, within `patience` seconds (the connect timeout). Raises ShellError
    where none can be had."""
    oauth = sasl.oauth or OAuth()
    if oauth.token is not None:
        return oauth.token
    if oauth.token_file:
        return _from_file(oauth.token_file)
    if oauth.token_endpoint:
        return _from_endpoint(oauth, config, patience or config.connect_timeout)
    if oauth.unsecured_claims:
        return _unsecured(dict(oauth.unsecured_claims))
    raise _failed(
        "SASL OAUTHBEARER has no token",
        "Set sasl.oauthbearer.token.endpoint.url with clientId and clientSecret in"
        " sasl.jaas.config, or a token file: sasl.oauthbearer.token.endpoint.url=file:///path",
    )


def _from_file(path: str) -> Secret:
    try:
        text = to_path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise _failed(f"the token file {path} cannot be read: {why}", "") from None
    if not text:
        raise _failed(f"the token file {path} is empty", "")
    return Secret(text)


def _unsecured(claims: dict[str, str | float | tuple[str, ...]]) -> Secret:
    """A JWS without signature (RFC 7515), as Kafka's own unsecured login module makes it."""
    now = int(time.time())
    body: dict[str, object] = {"iat": now, "exp": now + _UNSECURED_LIFE, **claims}
    parts = [_base64({"alg": "none"}), _base64(body), ""]
    return Secret(".".join(parts))


def _base64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _from_endpoint(oauth: OAuth, config: ConnectionConfig, patience: float) -> Secret:
    """The client credentials grant (RFC 6749, 4.4), in so many seconds at most."""
    from urllib.parse import quote, urlencode
    from urllib.request import Request

    if not oauth.client_id or oauth.client_secret is None:
        raise _failed(
            "OAUTHBEARER needs clientId and clientSecret", "Set both in sasl.jaas.config."
        )
    opener = _opener(oauth, config)
    fields = {"grant_type": "client_credentials"} | ({"scope": oauth.scope} if oauth.scope else {})
    pair = f"{quote(oauth.client_id, '')}:{quote(oauth.client_secret.reveal(), '')}"
    request = Request(oauth.token_endpoint, urlencode(fields).encode())
    request.add_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
    request.add_header("Accept", "application/json")
    answer = _in_time(lambda: _fetch(opener, request, patience), oauth.token_endpoint, patience)
    try:
        token = json.loads(answer)["access_token"]
    except (ValueError, KeyError, TypeError, RecursionError):
        token = None
    if not (isinstance(token, str) and _TOKEN.fullmatch(token)):
        raise _failed(f"{oauth.token_endpoint} answered without a valid access_token", "")
    return Secret(token)


def _opener(oauth: OAuth, config: ConnectionConfig) -> OpenerDirector:
    """What asks an endpoint: it follows no redirect, which would carry the secret elsewhere, and
    trusts whom the properties trust. Raises ShellError for an address that is not safe."""
    from urllib.parse import urlsplit
    from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, build_opener

    from kafka_shell.structs import replace

    from .tls import make_context

    class NoRedirect(HTTPRedirectHandler):
        def redirect_request(self, *args: object, **kwargs: object) -> None:
            return None

    try:
        parts = urlsplit(oauth.token_endpoint)
        scheme, host = parts.scheme, parts.hostname or ""
    except ValueError:
        scheme, host = "", ""
    if scheme == "https" and host:
        trust = replace(
            config.tls, certificate_file="", certificate_text="", key_text=None, check_hostname=True
        )
        return build_opener(NoRedirect, HTTPSHandler(context=make_context(trust)))
    if scheme == "http" and host in _LOOPBACK and oauth.allow_loopback_http:
        return build_opener(NoRedirect, ProxyHandler({}))
    here = f" ({_ALLOW}=true allows http on this machine itself)" if host in _LOOPBACK else ""
    raise _failed(
        f"sasl.oauthbearer.token.endpoint.url must be an https: address{here}, got"
        f" {quoted(oauth.token_endpoint)}",
        "The client's secret is sent there: it must not travel unencrypted.",
    )


def _fetch(opener: OpenerDirector, request: Request, patience: float) -> bytes:
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError

    where = request.full_url
    try:
        with opener.open(request, timeout=patience) as answer:
            body: bytes = answer.read(_LONGEST + 1)
    except HTTPError as error:
        error.close()
        if 300 <= error.code < 400:
            raise _failed(
                f"{where} redirects elsewhere (HTTP {error.code}), which is not followed",
                "Set sasl.oauthbearer.token.endpoint.url to the endpoint itself.",
            ) from None
        raise _failed(
            f"{where} gave no token: HTTP {error.code}", "Check the client's secret."
        ) from None
    except (URLError, OSError, HTTPException, ValueError) as error:
        why = quoted(str(getattr(error, "reason", error)))  # it may repeat what the server sent
        raise _failed(f"{where} cannot be reached: {why}", "") from None
    if len(body) > _LONGEST:
        raise _failed(f"the answer of {where} is longer than {_LONGEST >> 10} KiB", "")
    return body


def _in_time(fetch: Callable[[], bytes], where: str, patience: float) -> bytes:
    """What it returns, or the error when the time is over: a server that sends a byte a second
    would hold up anything that only limits each wait."""
    done: list[bytes | Exception] = []

    def run() -> None:
        try:
            done.append(fetch())
        except Exception as error:  # told on the thread that waits
            done.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(patience)
    if not done:
        raise _failed(f"{where} did not give a token within {patience:.1f} s", "")
    if isinstance(done[0], Exception):
        raise done[0]
    return done[0]


def _failed(message: str, hint: str) -> ShellError:
    return unreachable(message, hint, "sasl-token")
