"""OAUTHBEARER tokens (KIP-255, KIP-768): from a property, a file or an endpoint, or unsigned."""

from __future__ import annotations

import base64
import json
import re
import time
from typing import TYPE_CHECKING

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Secret
from kafka_shell.base.structs import replace
from kafka_shell.base.text import quoted
from kafka_shell.base.units import to_path
from kafka_shell.wire import http
from kafka_shell.wire.endpoint import ConnectionConfig, OAuth, Sasl, is_loopback
from kafka_shell.wire.failures import unreachable

if TYPE_CHECKING:
    from urllib.request import OpenerDirector, Request

_UNSECURED_LIFE_S = 3600
_MAX_RESPONSE = 1 << 18  # bytes
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750; other characters could inject fields
_ALLOW = "sasl.oauthbearer.token.endpoint.allow.loopback.http"


def bearer_token(sasl: Sasl, config: ConnectionConfig, timeout: float | None = None) -> Secret:
    """A token for one login. The default `timeout` (seconds) is the connect timeout. Raises
    ShellError."""
    oauth = sasl.oauth or OAuth()
    if oauth.token is not None:
        return oauth.token
    if oauth.token_file:
        return _from_file(oauth.token_file)
    if oauth.token_endpoint:
        return _from_endpoint(oauth, config, timeout or config.connect_timeout)
    if oauth.unsecured_claims:
        return _unsecured(dict(oauth.unsecured_claims))
    raise _failed(
        "SASL OAUTHBEARER requires a token",
        "Set sasl.oauthbearer.token.endpoint.url with clientId and clientSecret in"
        " sasl.jaas.config, or to a token file such as file:///path.",
    )


def _from_file(path: str) -> Secret:
    try:
        text = to_path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise _failed(f"the token file {path} cannot be read: {why}", "") from None
    if not text:
        raise _failed(f"the token file {path} is empty", "")
    return Secret(text)


def _unsecured(claims: dict[str, str | float | tuple[str, ...]]) -> Secret:
    """A JWS without signature (RFC 7515), like the one of Kafka's unsecured login module."""
    now = int(time.time())
    body: dict[str, object] = {"iat": now, "exp": now + _UNSECURED_LIFE_S, **claims}
    parts = [_base64({"alg": "none"}), _base64(body), ""]
    return Secret(".".join(parts))


def _base64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _from_endpoint(oauth: OAuth, config: ConnectionConfig, timeout: float) -> Secret:
    """A token of the client credentials grant (RFC 6749, section 4.4)."""
    from urllib.parse import quote, urlencode
    from urllib.request import Request

    if not oauth.client_id or oauth.client_secret is None:
        raise _failed(
            "OAUTHBEARER requires clientId and clientSecret", "Set both in sasl.jaas.config."
        )
    opener = _opener(oauth, config)
    fields = {"grant_type": "client_credentials"} | ({"scope": oauth.scope} if oauth.scope else {})
    pair = f"{quote(oauth.client_id, '')}:{quote(oauth.client_secret.reveal(), '')}"
    request = Request(oauth.token_endpoint, urlencode(fields).encode())
    request.add_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
    request.add_header("Accept", "application/json")
    response = _fetch(opener, request, timeout)
    try:
        token = json.loads(response)["access_token"]
    except (ValueError, KeyError, TypeError, RecursionError):
        token = None
    if not (isinstance(token, str) and _TOKEN.fullmatch(token)):
        raise _failed(f"the response of {oauth.token_endpoint} has no valid access_token", "")
    return Secret(token)


def _opener(oauth: OAuth, config: ConnectionConfig) -> OpenerDirector:
    """The HTTP client for an endpoint. It does not follow redirects, which would send the secret to
    another server, and trusts the CAs of the properties. Raises ShellError for an unsafe URL."""
    from urllib.parse import urlsplit

    from kafka_shell.wire.tls import make_context

    try:
        parts = urlsplit(oauth.token_endpoint)
        scheme, host = parts.scheme, parts.hostname or ""
    except ValueError:
        scheme, host = "", ""
    if scheme == "https" and host:
        trust = replace(
            config.tls, certificate_file="", certificate_text="", key_text=None, check_hostname=True
        )
        return http.opener(make_context(trust), config.via)
    if scheme == "http" and is_loopback(host) and oauth.allow_loopback_http:
        return http.opener()
    local = f" ({_ALLOW}=true allows http on localhost)" if is_loopback(host) else ""
    raise _failed(
        f"sasl.oauthbearer.token.endpoint.url must be an https URL{local}, got"
        f" {quoted(oauth.token_endpoint)}",
        "The client secret must not be sent unencrypted.",
    )


def _fetch(opener: OpenerDirector, request: Request, timeout: float) -> bytes:
    where = request.full_url
    try:
        return http.fetch(opener, request, timeout, _MAX_RESPONSE)
    except http.HttpFailure as failure:
        if 300 <= failure.status < 400:
            raise _failed(
                f"{where} redirects to another URL ({failure})",
                "Set sasl.oauthbearer.token.endpoint.url to the final URL.",
            ) from None
        if failure.status:
            raise _failed(
                f"{where} returned no token: {failure}", "Check clientId and clientSecret."
            ) from None
        raise _failed(f"{where} cannot be reached: {failure}", "") from None


def _failed(message: str, hint: str) -> ShellError:
    return unreachable(message, hint, "sasl-token")
