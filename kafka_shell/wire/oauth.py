"""OAUTHBEARER tokens (KIP-255, KIP-768): from a property, a file or an endpoint, or unsigned."""

from __future__ import annotations

import base64
import json
import re
import time
import uuid
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import OpenerDirector, Request

from kafka_shell.base.errors import ShellError, missing_package
from kafka_shell.base.plans import Secret
from kafka_shell.base.structs import replace
from kafka_shell.base.text import quoted
from kafka_shell.base.units import to_path
from kafka_shell.wire import http
from kafka_shell.wire.endpoint import Assertion, ConnectionConfig, OAuth, Sasl, is_loopback
from kafka_shell.wire.failures import unreachable
from kafka_shell.wire.tls import make_context

_UNSECURED_LIFE_S = 3600
_URN = "urn:ietf:params:oauth"
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
        return _from_file(oauth.token_file, "token file")
    if oauth.token_endpoint:
        return _from_endpoint(oauth, config, timeout or config.connect_timeout)
    if oauth.unsecured_claims:
        return _unsecured(dict(oauth.unsecured_claims))
    raise _failed(
        "SASL OAUTHBEARER requires a token",
        "Set sasl.oauthbearer.token.endpoint.url with clientId and clientSecret in"
        " sasl.jaas.config, or to a token file such as file:///path.",
    )


def _from_file(path: str, noun: str) -> Secret:
    try:
        text = to_path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise _failed(f"the {noun} {path} cannot be read: {why}", "") from None
    if not text:
        raise _failed(f"the {noun} {path} is empty", "")
    return Secret(text)


def _unsecured(claims: dict[str, str | float | tuple[str, ...]]) -> Secret:
    """A JWS without signature (RFC 7515), like the one of Kafka's unsecured login module."""
    now = int(time.time())
    body: dict[str, object] = {"iat": now, "exp": now + _UNSECURED_LIFE_S, **claims}
    parts = [_base64({"alg": "none"}), _base64(body), ""]
    return Secret(".".join(parts))


def _base64(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _from_endpoint(oauth: OAuth, config: ConnectionConfig, timeout: float) -> Secret:
    """A token of the client credentials grant (RFC 6749, section 4.4) or for a JWT (RFC 7523)."""
    opener = _opener(oauth, config)
    fields = {"grant_type": "client_credentials", "scope": oauth.scope}
    pair = ""
    if oauth.assertion is not None:
        jwt = _assertion(oauth.assertion)
        if oauth.jwt_bearer:
            fields |= {"grant_type": f"{_URN}:grant-type:jwt-bearer", "assertion": jwt}
        else:
            kind = f"{_URN}:client-assertion-type:jwt-bearer"
            fields |= {"client_assertion_type": kind, "client_assertion": jwt}
            fields["client_id"] = oauth.client_id
    elif not oauth.client_id or oauth.client_secret is None:
        raise _failed(
            "OAUTHBEARER requires clientId and clientSecret", "Set both in sasl.jaas.config."
        )
    else:
        pair = f"{quote(oauth.client_id, '')}:{quote(oauth.client_secret.reveal(), '')}"
    sent = {name: value for name, value in fields.items() if value}
    request = Request(oauth.token_endpoint, urlencode(sent).encode())
    if pair:
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


def _assertion(assertion: Assertion) -> str:
    """The JWT of a file, or a new one signed with a private key. As in Java, the claims of
    properties replace those of the template, and the times replace both. Raises ShellError."""
    if assertion.file:
        return _from_file(assertion.file, "assertion").reveal()
    now = int(time.time())
    times = {
        "iat": now, "exp": now + assertion.lifetime, "nbf": now - assertion.valid_before,
    }  # fmt: skip
    template = _template(assertion.template_file) if assertion.template_file else {}
    header = template.get("header", {}) | {"alg": assertion.algorithm, "typ": "JWT"}
    claims = template.get("payload", {}) | dict(assertion.claims) | times
    if assertion.with_id:
        claims["jti"] = str(uuid.uuid4())
    text = f"{_base64(header)}.{_base64(claims)}"
    return f"{text}.{_base64(_signature(assertion, text.encode()))}"


def _template(path: str) -> dict[str, dict[str, object]]:
    text = _from_file(path, "template").reveal()
    try:
        claims = json.loads(text)
    except (ValueError, RecursionError):
        claims = None
    if not (isinstance(claims, dict) and all(isinstance(part, dict) for part in claims.values())):
        expected = 'Use {"header": {...}, "payload": {...}}.'
        raise _failed(f"the template {path} is not a JSON object of objects", expected)
    return claims


def _signature(assertion: Assertion, text: bytes) -> bytes:
    """The signature (RFC 7518). Raises ShellError."""
    try:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise missing_package("an OAuth assertion", "cryptography", "oauth") from None
    path, algorithm = assertion.key_file, assertion.algorithm
    password = assertion.key_password
    try:
        pem = to_path(path).read_bytes()
        key = load_pem_private_key(pem, password.reveal().encode() if password else None)
    except (OSError, ValueError, TypeError) as error:
        why = getattr(error, "strerror", None) or (
            "a wrong passphrase, or not a private key in PEM" if password
            else "it is not a private key in PEM, or has a passphrase"
        )  # fmt: skip
        hint = "Check sasl.oauthbearer.assertion.private.key.file and .passphrase."
        raise _failed(f"the private key {path} cannot be read: {why}", hint) from None
    if algorithm == "RS256" and isinstance(key, rsa.RSAPrivateKey):
        return bytes(key.sign(text, padding.PKCS1v15(), hashes.SHA256()))
    if isinstance(key, ec.EllipticCurvePrivateKey) and (algorithm, key.key_size) == ("ES256", 256):
        r, s = decode_dss_signature(key.sign(text, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    expected = "an RSA key" if algorithm == "RS256" else "a key of the curve P-256"
    raise _failed(f"{algorithm} requires {expected}, which {path} is not", "")


def _opener(oauth: OAuth, config: ConnectionConfig) -> OpenerDirector:
    """The HTTP client for an endpoint. It does not follow redirects, which would send the secret to
    another server, and trusts the CAs of the properties. Raises ShellError for an unsafe URL."""
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
            hint = "Check the credentials of the client: clientId and clientSecret, or assertion.*."
            raise _failed(f"{where} returned no token: {failure}", hint) from None
        raise _failed(f"{where} cannot be reached: {failure}", "") from None


def _failed(message: str, hint: str) -> ShellError:
    return unreachable(message, hint, "sasl-token")
