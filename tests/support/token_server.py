"""An OAuth token endpoint that checks its clients and signs tokens for brokers."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

AUDIENCE, ISSUER = "kafka-brokers", "https://tokens.test"
SECRET = "s3 cret"
_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_CLIENT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@dataclass
class TokenServer:
    """A token endpoint. Its clients are `me`, with SECRET, and the owners of two private keys."""

    folder: Path
    url: str = ""
    requests: list[dict[str, str]] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._key = RSAKey.generate_key(2048, {"kid": "tokens"})
        public = self._key.as_dict(private=False) | {"alg": "RS256", "use": "sig"}
        self.jwks.write_text(json.dumps({"keys": [public]}))
        keys = {
            "rs256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
            "es256": ec.generate_private_key(ec.SECP256R1()),
        }
        self._public: dict[str, RSAKey | ECKey] = {}
        for name, key in keys.items():
            locked = serialization.BestAvailableEncryption(b"locked")
            for suffix, encryption in (("", serialization.NoEncryption()), ("-locked", locked)):
                pem = key.private_bytes(
                    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
                )
                (self.folder / f"{name}{suffix}.pem").write_bytes(pem)
            public_pem = key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
            kind = RSAKey if name == "rs256" else ECKey
            self._public[name.upper()] = kind.import_key(public_pem)

    @property
    def jwks(self) -> Path:
        return self.folder / "jwks.json"

    def answer(self, authorization: str, form: dict[str, str]) -> str:
        """A token for the user, or an error as an empty string."""
        self.requests.append(form)
        if form["grant_type"] == _BEARER:
            user = self._asserted(form["assertion"])
        elif form.get("client_assertion_type") == _CLIENT:
            user = self._asserted(form["client_assertion"])
        else:
            expected = base64.b64encode(b"me:s3%20cret").decode()
            user = "me" if authorization == f"Basic {expected}" else ""
        return self.token(user) if user else ""

    def token(self, user: str) -> str:
        """A token that brokers accept."""
        now = int(time.time())
        payload = {
            "sub": user, "iss": ISSUER, "aud": AUDIENCE, "iat": now, "exp": now + 600,
            "scope": "kafka",
        }  # fmt: skip
        return jwt.encode({"alg": "RS256", "kid": "tokens"}, payload, self._key)

    def _asserted(self, assertion: str) -> str:
        registry = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": "me"}, aud={"essential": True, "value": ISSUER},
            exp={"essential": True}, nbf={"essential": True},
        )  # fmt: skip
        for algorithm, key in self._public.items():
            try:
                claims = jwt.decode(assertion, key, algorithms=[algorithm]).claims
                registry.validate(claims)
            except (JoseError, ValueError):
                continue
            self.claims.append(claims)
            return str(claims["sub"])
        return ""


@contextmanager
def running_token_server(folder: Path) -> Iterator[TokenServer]:
    """A token server that listens on this machine, with http."""
    found = TokenServer(folder)

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            token = found.answer(self.headers.get("Authorization", ""), form)
            answer = {"access_token": token} if token else {"error": "invalid_grant"}
            text = json.dumps(answer).encode()
            self.send_response(200 if token else 400)
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found.url = f"http://127.0.0.1:{server.server_port}/token"
        yield found
        server.shutdown()
