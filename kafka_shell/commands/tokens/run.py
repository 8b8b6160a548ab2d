"""Commands on delegation tokens (KIP-48, 373)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from kafka_shell.admin.tokens import change as token_changes
from kafka_shell.admin.tokens import read as delegation_tokens
from kafka_shell.admin.tokens.model import DelegationToken, NewToken
from kafka_shell.admin.tokens.read import split_principal
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.files import open_private, to_properties
from kafka_shell.base.plans import Change, Plan, Secret, merge_plans
from kafka_shell.base.structs import replace
from kafka_shell.base.units import to_path
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire.endpoint import ConnectionConfig

# -- describe --------------------------------------------------------------------------------------


def describe_tokens(
    invocation: Invocation, context: Context
) -> tuple[DelegationToken, ...] | NoRows:
    """The tokens of these owners, or all tokens visible to the user."""
    owners = _principals(invocation, "owner-principal")
    tokens = delegation_tokens.describe(context.cluster, owners or None)
    return tokens or NoRows("no delegation tokens visible to this user")


def _principals(invocation: Invocation, name: str) -> list[str]:
    """The principals of an option; an error points at an invalid one."""
    given = invocation[name]
    words = list(given) if isinstance(given, tuple) else [given] if given else []
    for index, word in enumerate(words):
        try:
            split_principal(word)
        except ShellError as error:
            raise UsageError(
                error.message, hint=error.hint, code=error.code, span=invocation.span(name, index)
            ) from None
    return words


# -- create ----------------------------------------------------------------------------------------


def create_token(invocation: Invocation, context: Context) -> Plan:
    """Create a token; it is shown once, or written to a properties file."""
    owners = _principals(invocation, "owner-principal")
    renewers = _principals(invocation, "renewer-principal")
    name = invocation["properties-file"]
    output = invocation["output"] or context.settings.output
    if not name and not invocation["dry-run"] and output != "table":
        raise UsageError(
            f"a token cannot be printed as {output.upper()} and would be lost",
            hint="Add --properties-file FILE to write client properties to a file.",
            code="lost-token",
            span=invocation.span("output"),
        )
    path = to_path(name) if name else None
    if path is not None and path.exists():
        raise ShellError(f"{path} already exists", hint="Use another file.", code="file-exists")
    if path is not None and not os.access(path.parent, os.W_OK | os.X_OK):
        raise ShellError(
            f"{path.parent} is not a directory in which you can create files", code="bad-file"
        )

    def keep(made: NewToken) -> NewToken:
        if path is None:
            return made
        properties = _properties(made, context.cluster.config)
        try:
            with open_private(path, "x") as file:
                file.write(properties)
        except OSError as error:
            context.note(f"cannot write {path}: {error.strerror}; the token was shown instead")
            context.err.write(properties)  # the only copy, and in every format
            return made
        return replace(made, file=str(path))

    max_life = invocation["max-life-time-period"]
    return token_changes.plan_create(
        context.cluster,
        owner=owners[0] if owners else "",
        renewers=renewers,
        max_life=None if max_life is None or max_life < 0 else max_life,
        keep=keep,
    )


def _properties(made: NewToken, config: ConnectionConfig) -> str:
    """Client properties that log in to this cluster with the token."""
    scram = config.sasl.mechanism if config.sasl else ""
    lines = {
        "bootstrap.servers": ",".join(map(str, config.bootstrap)),
        "security.protocol": "SASL_SSL" if config.uses_tls else "SASL_PLAINTEXT",
        "sasl.mechanism": scram if scram.startswith("SCRAM") else "SCRAM-SHA-256",
        "sasl.jaas.config": made.login(),
    }
    if config.tls.ca_file:
        lines |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": config.tls.ca_file}
    return to_properties(lines)


# -- renew, expire ---------------------------------------------------------------------------------


def renew_token(invocation: Invocation, context: Context) -> Plan:
    """Extend the expiry of tokens."""
    return token_changes.plan_renew(*_chosen(invocation, context, "renew-time-period"))


def expire_token(invocation: Invocation, context: Context) -> Plan:
    """Expire tokens, now or later."""
    return token_changes.plan_expire(*_chosen(invocation, context, "expiry-time-period"))


def _chosen(invocation: Invocation, context: Context, period: str) -> tuple[Any, ...]:
    given: int | None = invocation[period]
    hmacs: list[Secret] = list(dict.fromkeys(invocation["hmac"]))
    until = None if given is None or given < 0 else given
    now = int(context.clock() * 1000)
    ids = list(dict.fromkeys(invocation["token"]))
    return context.cluster, ids, hmacs, now, until


def plan_changes(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that makes these changes."""
    new = [change.resource.name for change in changes if change.verb == "delete"]
    other = [change.resource.name for change in changes if change.verb != "delete"]
    now = int(context.clock() * 1000)
    steps = ((token_changes.plan_expire, new), (token_changes.plan_renew, other))
    return merge_plans([plan(context.cluster, ids, (), now, None) for plan, ids in steps if ids])
