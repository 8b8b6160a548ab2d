"""Logins that a hostile server asks for."""

from __future__ import annotations

import base64

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Secret
from kafka_shell.wire.endpoint import ConnectionConfig, OAuth, Sasl, Tls
from kafka_shell.wire.oauth import bearer_token

SALT = base64.b64encode(b"salt" * 8).decode()


def token_from(address: str, tls: Tls | None = None, *, patience: float = 5.0) -> str:
    oauth = OAuth(
        token_endpoint=address,
        client_id="me",
        client_secret=Secret("hush"),
        allow_loopback_http=True,
    )
    config = ConnectionConfig(tls=tls or Tls())
    return bearer_token(Sasl("OAUTHBEARER", oauth=oauth), config, patience).reveal()


def refused(address: str, tls: Tls | None = None, *, patience: float = 5.0) -> str:
    with pytest.raises(ShellError) as caught:
        token_from(address, tls, patience=patience)
    assert caught.value.code == "sasl-token"
    assert "hush" not in f"{caught.value.message}{caught.value.hint}"
    return caught.value.message
