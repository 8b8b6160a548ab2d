"""Commands on delegation tokens (KIP-48, 373)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_shell.answers import Nothing
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option, Short
from kafka_shell.plan.model import Effect, Plan
from kafka_shell.units import to_path

if TYPE_CHECKING:
    from pathlib import Path

    from kafka_shell.admin.tokens.model import DelegationToken, NewToken
    from kafka_shell.admin.wire.endpoint import ConnectionConfig
    from kafka_shell.context import Context
    from kafka_shell.plan.model import Secret


# -- describe --------------------------------------------------------------------------------------


def describe_tokens(
    invocation: Invocation, context: Context
) -> tuple[DelegationToken, ...] | Nothing:
    """Tokens of these owners, or all that one may see."""
    from kafka_shell.admin.tokens import read as delegation_tokens

    owners = _principals(invocation, "owner-principal")
    found = delegation_tokens.describe(context.cluster, owners or None)
    return found or Nothing("no delegation token that this user may see")


def _principals(invocation: Invocation, name: str) -> list[str]:
    """The principals that were typed; an error points at one without a type."""
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
    """Make a token; it is shown once, or written into a properties file."""
    from dataclasses import replace

    from kafka_shell.admin.tokens import change as token_changes

    owners = _principals(invocation, "owner-principal")
    renewers = _principals(invocation, "renewer-principal")
    name = invocation["properties-file"]
    output = invocation["output"] or context.settings.output
    if not name and not invocation["dry-run"] and output != "table":
        raise UsageError(
            f"a token is never written as {output.upper()}, and would be lost",
            hint="Add --properties-file FILE to have the client's properties written there.",
            code="lost-token",
            span=invocation.span("output"),
        )
    path = to_path(name) if name else None
    if path is not None and path.exists():
        raise ShellError(
            f"{path} is there already",
            hint="Nothing was sent. Name a new file.",
            code="file-exists",
        )

    def keep(made: NewToken) -> NewToken:
        if path is None or not _written(path, made, context.cluster.config):
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


def _written(path: Path, made: NewToken, config: ConnectionConfig) -> bool:
    """Whether the properties could be written (0600); where not, the token is shown instead."""
    import os

    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            stream.write(_properties(made, config))
    except OSError:
        return False
    return True


def _properties(made: NewToken, config: ConnectionConfig) -> str:
    """A client's properties that log in with the token, as this cluster is reached."""
    scram = config.sasl.mechanism if config.sasl else ""
    lines = {
        "bootstrap.servers": ",".join(map(str, config.bootstrap)),
        "security.protocol": "SASL_SSL" if config.uses_tls else "SASL_PLAINTEXT",
        "sasl.mechanism": scram if scram.startswith("SCRAM") else "SCRAM-SHA-256",
        "sasl.jaas.config": made.login(),
    }
    if config.tls.ca_file:
        lines |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": config.tls.ca_file}
    return "".join(f"{key}={value}\n" for key, value in lines.items())


# -- renew, expire ---------------------------------------------------------------------------------


def renew_token(invocation: Invocation, context: Context) -> Plan:
    """Let tokens live longer."""
    from kafka_shell.admin.tokens import change as token_changes

    return token_changes.plan_renew(*_chosen(invocation, context, "renew-time-period"))


def expire_token(invocation: Invocation, context: Context) -> Plan:
    """End tokens, now or after a while."""
    from kafka_shell.admin.tokens import change as token_changes

    return token_changes.plan_expire(*_chosen(invocation, context, "expiry-time-period"))


def _chosen(invocation: Invocation, context: Context, period: str) -> tuple[Any, ...]:
    given: int | None = invocation[period]
    hmacs: list[Secret] = [_checked(hmac, invocation) for hmac in invocation["hmac"]]
    until = None if given is None or given < 0 else given
    now = int(context.clock() * 1000)
    ids = list(dict.fromkeys(invocation["token"]))
    return context.cluster, ids, list(dict.fromkeys(hmacs)), now, until


def _checked(hmac: Secret, invocation: Invocation) -> Secret:
    from base64 import b64decode
    from binascii import Error

    try:
        b64decode(hmac.reveal(), validate=True)
    except (Error, ValueError):
        raise UsageError(
            "--hmac wants a token's HMAC in base64",
            hint="A token's id needs no HMAC: name it alone.",
            code="bad-value",
            span=invocation.span("hmac"),
        ) from None
    return hmac


_TOKEN = Argument("token", Kind.TOKEN, "Ids of tokens; describe-tokens tells them.", many=True,
                  required=False)  # fmt: skip
_HMAC = Option("--hmac", Kind.SECRET, "The HMAC of a token that one may not describe.", many=True,
               metavar="HMAC")  # fmt: skip
_NO_LOGIN = "It takes a login by SASL or TLS, and not by a token: the demo has none."

COMMANDS: tuple[Command, ...] = (
    Command(
        name="describe-tokens",
        summary="Delegation tokens: owner, renewers, and how long they live.",
        family="access",
        run=describe_tokens,
        options=(
            Option("--owner-principal", Kind.PRINCIPAL, "Only of this owner; may be repeated.",
                   many=True, metavar="PRINCIPAL"),
        ),
        shorts=(Short("tokens", "describe-tokens"),),
        search=("delegation", "hmac"),
        description=(
            "One sees one's own tokens, those one may renew, and those that ACLs show (Describe on"
            f" the delegation token, DescribeTokens on the owner). {_NO_LOGIN}"
        ),
        examples=(
            Example("describe-tokens", "every token one may see (here: why there is none)",
                    status=1),
        ),
        apis=(41,),
    ),
    Command(
        name="create-token",
        summary="Make a delegation token, which logs in without a password of its owner's.",
        family="access",
        run=create_token,
        effect=Effect.CHANGE,
        options=(
            Option("--owner-principal", Kind.PRINCIPAL,
                   "For whom, if not for oneself: takes CreateTokens on that user.",
                   metavar="PRINCIPAL"),
            Option("--renewer-principal", Kind.PRINCIPAL,
                   "Who may renew it besides the owner; may be repeated.", many=True,
                   metavar="PRINCIPAL"),
            Option("--max-life-time-period", Kind.DURATION,
                   "How long it may live, renewals and all: 7d. The broker's maximum holds.",
                   metavar="DURATION", least=-1),
            Option("--properties-file", Kind.FILE,
                   "Write client properties that log in with it, and do not show it.",
                   metavar="FILE"),
        ),
        search=("delegation", "login", "credential"),
        description=(
            "The token is its id, a user name, and its HMAC, the password that goes with it: a"
            " client logs in with both by SCRAM and tokenauth=true. It is shown once, and never"
            f" as JSON, YAML or CSV. {_NO_LOGIN}"
        ),
        examples=(
            Example("create-token --max-life-time-period 1d --renewer-principal User:alice",
                    "for a job that runs today, which alice may renew", status=1),
        ),
        apis=(38, 41),
    ),
    Command(
        name="renew-token",
        summary="Let delegation tokens live longer.",
        family="access",
        run=renew_token,
        effect=Effect.CHANGE,
        arguments=(_TOKEN,),
        options=(
            _HMAC,
            Option("--renew-time-period", Kind.DURATION,
                   "How long from now; without it, as long as the broker gives.",
                   metavar="DURATION", least=-1),
        ),
        at_least_one=(("token", "hmac"),),
        search=("delegation", "extend"),
        description=f"No token outlives the maximum it was made with. {_NO_LOGIN}",
        examples=(
            Example("renew-token 3Fq8xk1VSVOQbUJm0WnKtA --renew-time-period 12h",
                    "for another half day", status=1),
        ),
        apis=(39, 41),
    ),
    Command(
        name="expire-token",
        summary="End delegation tokens, now or after a while.",
        family="access",
        run=expire_token,
        effect=Effect.DESTROY,
        arguments=(_TOKEN,),
        options=(
            _HMAC,
            Option("--expiry-time-period", Kind.DURATION,
                   "How long they live on from now; without it they end at once.",
                   metavar="DURATION", least=-1),
        ),
        at_least_one=(("token", "hmac"),),
        search=("delegation", "revoke", "delete", "logout"),
        description=_NO_LOGIN,
        examples=(
            Example("expire-token 3Fq8xk1VSVOQbUJm0WnKtA --yes", "at once", status=1),
        ),
        apis=(40, 41),
    ),
)  # fmt: skip
