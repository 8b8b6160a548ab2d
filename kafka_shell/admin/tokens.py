"""Tokens of OAUTHBEARER (KIP-255, KIP-768): from a property, a file, an endpoint, or unsigned."""

from __future__ import annotations

import base64
import json
import time

from kafka_shell.errors import ShellError
from kafka_shell.nouns import Secret
from kafka_shell.values import to_path

from .endpoint import ConnectionConfig, OAuth, Sasl
from .failures import unreachable

_UNSECURED_LIFE = 3600  # seconds


def bearer_token(sasl: Sasl, config: ConnectionConfig) -> Secret:
    """A token for one login. Raises ShellError where none can be had."""
    oauth = sasl.oauth or OAuth()
    if oauth.token is not None:
        return oauth.token
    if oauth.token_file:
        return _from_file(oauth.token_file)
    if oauth.token_endpoint:
        return _from_endpoint(oauth, config)
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


def _from_endpoint(oauth: OAuth, config: ConnectionConfig) -> Secret:
    """The client credentials grant (RFC 6749, 4.4)."""
    from urllib.error import HTTPError, URLError
    from urllib.parse import quote, urlencode
    from urllib.request import Request, urlopen

    if not oauth.client_id or oauth.client_secret is None:
        raise _failed(
            "OAUTHBEARER needs clientId and clientSecret", "Set both in sasl.jaas.config."
        )
    fields = {"grant_type": "client_credentials"} | ({"scope": oauth.scope} if oauth.scope else {})
    pair = f"{quote(oauth.client_id, '')}:{quote(oauth.client_secret.reveal(), '')}"
    request = Request(oauth.token_endpoint, urlencode(fields).encode())
    request.add_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
    request.add_header("Accept", "application/json")
    try:
        with urlopen(request, timeout=config.connect_timeout) as answer:
            token = json.load(answer)["access_token"]
    except HTTPError as error:
        raise _failed(
            f"{oauth.token_endpoint} gave no token: HTTP {error.code}", "Check the client's secret."
        ) from None
    except (URLError, OSError) as error:
        why = getattr(error, "reason", error)
        raise _failed(f"{oauth.token_endpoint} cannot be reached: {why}", "") from None
    except (ValueError, KeyError, TypeError):
        raise _failed(f"{oauth.token_endpoint} answered without an access_token", "") from None
    return Secret(str(token))


def _failed(message: str, hint: str) -> ShellError:
    return unreachable(message, hint, "sasl-token")
