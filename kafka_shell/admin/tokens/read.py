"""Delegation tokens: describe (KIP-48, 373; API key 41).

A token's ID and HMAC are the user name and password of a SCRAM login (`tokenauth`).
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from kafka_shell.admin.tokens.model import DelegationToken
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Secret
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import Resource, replace
from kafka_shell.wire import error_codes as codes
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import as_error, failure

_HINTS = {
    codes.DELEGATION_TOKEN_AUTH_DISABLED: (
        "Set delegation.token.secret.key on all brokers and controllers."
    ),
    codes.DELEGATION_TOKEN_OWNER_MISMATCH: (
        "Only the owner and the renewers of a token can renew or expire it."
    ),
    codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: (
        "Use a SASL or TLS listener: set security.protocol in client properties."
    ),
}

Tokens = dict[str, tuple[DelegationToken, Secret]]


def describe(cluster: Cluster, owners: Sequence[str] | None = None) -> tuple[DelegationToken, ...]:
    """The visible tokens of these owners (`User:bob`), or all (API key 41). Sorted by owner, age.

    A caller sees its own tokens, tokens it may renew, and tokens that ACLs allow it to DESCRIBE.
    Raises ShellError if the broker refuses: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED without a login.
    """
    now = time.time() * 1000
    tokens = (
        replace(token, expired=token.expires <= now)
        for token, _ in read_tokens(cluster, owners).values()
    )
    return tuple(sorted(tokens, key=lambda token: (token.owner, token.issued, token.id)))


def read_tokens(cluster: Cluster, owners: Sequence[str] | None = None) -> Tokens:
    """Tokens by ID, each with its HMAC."""
    kind = messages.DescribeDelegationTokenRequest.DescribeDelegationTokenOwner
    named = None
    if owners is not None:
        pairs = map(split_principal, dict.fromkeys(owners))
        named = [kind(principal_type=type_, principal_name=name) for type_, name in pairs]
    response = cluster.send(messages.DescribeDelegationTokenRequest(owners=named), check=False)
    if response.error_code:
        raise as_error(failure_of(response.error_code, "delegation tokens"))
    return {row.token_id: (_token(row), hmac_secret(row.hmac)) for row in response.tokens}


def _token(row: Any) -> DelegationToken:
    return DelegationToken(
        id=row.token_id,
        owner=format_principal(row.principal_type, row.principal_name),
        requester=format_principal(
            row.token_requester_principal_type, row.token_requester_principal_name
        ),
        renewers=tuple(format_principal(renewer.principal_type, renewer.principal_name)
                       for renewer in row.renewers),
        issued=row.issue_timestamp,
        expires=row.expiry_timestamp,
        max_time=row.max_timestamp,
    )  # fmt: skip


def format_principal(kind: str | None, name: str | None) -> str:
    return f"{kind}:{name}" if kind else ""


def split_principal(principal: str) -> tuple[str, str]:
    """(type, name) of `User:bob`. Raises ShellError if it has no type."""
    kind, colon, name = principal.partition(":")
    if not (kind and colon and name):
        raise ShellError(
            f"{principal} is not a valid principal (expected User:NAME)",
            hint=f"Use User:{principal.strip(':')}.",
            code="bad-principal",
        )
    return kind, name


def hmac_secret(hmac: bytes) -> Secret:
    """The HMAC in base64, as it is typed and used as the SCRAM password."""
    return Secret(b64encode(hmac).decode())


def failure_of(code: int, about: str) -> Failure:
    missing = code in (codes.DELEGATION_TOKEN_NOT_FOUND, codes.DELEGATION_TOKEN_OWNER_MISMATCH)
    see = Resource("token") if missing else None
    return failure(code, about=about, hint=_HINTS.get(code, ""), see=see)
