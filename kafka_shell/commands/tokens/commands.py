"""Commands on delegation tokens (KIP-48, 373)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.files import open_private, to_properties
from kafka_shell.base.plans import Effect, Plan
from kafka_shell.base.units import to_path
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option, Short

if TYPE_CHECKING:
    from kafka_shell.admin.tokens.model import DelegationToken, NewToken
    from kafka_shell.base.plans import Secret
    from kafka_shell.context import Context
    from kafka_shell.wire.endpoint import ConnectionConfig


# -- describe --------------------------------------------------------------------------------------


def describe_tokens(
    invocation: Invocation, context: Context
) -> tuple[DelegationToken, ...] | NoRows:
    """The tokens of these owners, or all tokens visible to the user."""
    from kafka_shell.admin.tokens import read as delegation_tokens

    owners = _principals(invocation, "owner-principal")
    found = delegation_tokens.describe(context.cluster, owners or None)
    return found or NoRows("no delegation tokens visible to this user")


def _principals(invocation: Invocation, name: str) -> list[str]:
    """The principals of an option; an error points at an invalid one."""
    from kafka_shell.admin.tokens.read import split_principal

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
    from kafka_shell.admin.tokens import change as token_changes
    from kafka_shell.base.structs import replace

    owners = _principals(invocation, "owner-principal")
    renewers = _principals(invocation, "renewer-principal")
    name = invocation["properties-file"]
    output = invocation["output"] or context.settings.output
    if not name and not invocation["dry-run"] and output != "table":
        raise UsageError(
            f"a token is never printed as {output.upper()} and would be lost",
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
            context.note(f"{path} cannot be written: {error.strerror}; the token was shown instead")
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
    from kafka_shell.admin.tokens import change as token_changes

    return token_changes.plan_renew(*_chosen(invocation, context, "renew-time-period"))


def expire_token(invocation: Invocation, context: Context) -> Plan:
    """Expire tokens, now or later."""
    from kafka_shell.admin.tokens import change as token_changes

    return token_changes.plan_expire(*_chosen(invocation, context, "expiry-time-period"))


def _chosen(invocation: Invocation, context: Context, period: str) -> tuple[Any, ...]:
    given: int | None = invocation[period]
    hmacs: list[Secret] = list(dict.fromkeys(invocation["hmac"]))
    until = None if given is None or given < 0 else given
    now = int(context.clock() * 1000)
    ids = list(dict.fromkeys(invocation["token"]))
    return context.cluster, ids, hmacs, now, until


_TOKEN = Argument("token", kinds.TOKEN, "Token IDs, as listed by describe-tokens.", many=True,
                  required=False)  # fmt: skip
_HMAC = Option("--hmac", kinds.SECRET, "The HMAC of a token that is hidden from you.", many=True,
               metavar="HMAC")  # fmt: skip
_NO_LOGIN = "Requires a SASL or TLS login that is not itself a token."

COMMANDS: tuple[Command, ...] = (
    Command(
        name="describe-tokens",
        summary="Show delegation tokens: owner, renewers, expiry.",
        family="access",
        run=describe_tokens,
        options=(
            Option("--owner-principal", kinds.PRINCIPAL,
                   "Only tokens of this owner; may be repeated.", many=True),
        ),
        shorts=(Short("tokens", "describe-tokens"),),
        search=("delegation", "hmac"),
        description=(
            "Lists your own tokens, tokens you may renew, and tokens that ACLs make visible"
            f" (DESCRIBE on the token, DESCRIBE_TOKENS on the owner). {_NO_LOGIN}"
        ),
        examples=(
            Example("describe-tokens", "show all visible tokens (the demo has no logins)",
                    status=1),
        ),
        apis=(41,),
    ),
    Command(
        name="create-token",
        summary="Create a delegation token.",
        family="access",
        run=create_token,
        effect=Effect.CHANGE,
        options=(
            Option("--owner-principal", kinds.PRINCIPAL,
                   "The owner (default: you); requires CREATE_TOKENS on that user."),
            Option("--renewer-principal", kinds.PRINCIPAL,
                   "A principal that may renew it, besides the owner; may be repeated.", many=True),
            Option("--max-life-time-period", kinds.DURATION,
                   "Maximum lifetime including renewals: 7d; limited by the brokers.", least=-1),
            Option("--properties-file", kinds.FILE,
                   "Write client properties for the login instead of showing the token."),
        ),
        search=("delegation", "login", "credential"),
        description=(
            "A token consists of an ID, used as user name, and an HMAC, used as password, for a"
            " SCRAM login with tokenauth=true. It is shown once, and never as JSON, YAML or CSV."
            f" {_NO_LOGIN}"
        ),
        examples=(
            Example("create-token --max-life-time-period 1d --renewer-principal User:alice",
                    "create a token for one day that alice may renew", status=1),
        ),
        apis=(38, 41),
    ),
    Command(
        name="renew-token",
        summary="Renew delegation tokens.",
        family="access",
        run=renew_token,
        effect=Effect.CHANGE,
        arguments=(_TOKEN,),
        options=(
            _HMAC,
            Option("--renew-time-period", kinds.DURATION,
                   "The new expiry, from now (default: set by the broker).", least=-1),
        ),
        at_least_one=(("token", "hmac"),),
        search=("delegation", "extend"),
        description=f"The expiry cannot exceed the maximum lifetime of the token. {_NO_LOGIN}",
        examples=(
            Example("renew-token 3Fq8xk1VSVOQbUJm0WnKtA --renew-time-period 12h",
                    "renew a token for 12 hours", status=1),
        ),
        apis=(39, 41),
    ),
    Command(
        name="expire-token",
        summary="Expire delegation tokens, now or later.",
        family="access",
        run=expire_token,
        effect=Effect.DESTROY,
        arguments=(_TOKEN,),
        options=(
            _HMAC,
            Option("--expiry-time-period", kinds.DURATION, "Time until they expire (default: now).",
                   least=-1),
        ),
        at_least_one=(("token", "hmac"),),
        search=("delegation", "revoke", "delete", "logout"),
        description=_NO_LOGIN,
        examples=(
            Example("expire-token 3Fq8xk1VSVOQbUJm0WnKtA --yes", "expire a token now", status=1),
        ),
        apis=(40, 41),
    ),
)  # fmt: skip
