"""Declarations of the tokens commands."""

from __future__ import annotations

from kafka_shell.base.plans import Effect
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option, Short

_TOKEN = Argument("token", kinds.TOKEN, "Token IDs, as listed by describe-tokens.", many=True,
                  required=False)  # fmt: skip
_HMAC = Option("--hmac", kinds.SECRET, "The HMAC of a token that is hidden from you.", many=True,
               metavar="HMAC")  # fmt: skip
_AUTHENTICATION = "Requires authentication with SASL or TLS, not with a token."


COMMANDS: tuple[Command, ...] = (
    Command(
        name="describe-tokens",
        summary="Show delegation tokens: owner, renewers, expiry.",
        family="access",
        run="tokens.run:describe_tokens",
        options=(
            Option("--owner-principal", kinds.PRINCIPAL,
                   "Only tokens of this owner; may be repeated.", many=True),
        ),
        shorts=(Short("tokens", "describe-tokens"),),
        search=("delegation", "hmac"),
        description=(
            "Lists your own tokens, tokens you may renew, and tokens that ACLs make visible"
            f" (DESCRIBE on the token, DESCRIBE_TOKENS on the owner). {_AUTHENTICATION}"
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
        run="tokens.run:create_token",
        effect=Effect.CHANGE,
        options=(
            Option("--owner-principal", kinds.PRINCIPAL,
                   "The owner (default: you); requires CREATE_TOKENS on that user."),
            Option("--renewer-principal", kinds.PRINCIPAL,
                   "A principal that may renew it, besides the owner; may be repeated.", many=True),
            Option("--max-life-time-period", kinds.DURATION,
                   "Maximum lifetime including renewals: 7d; limited by the brokers.", least=-1),
            Option("--properties-file", kinds.FILE,
                   "Write client properties with the token to a file instead of showing it."),
        ),
        search=("delegation", "login", "credential"),
        description=(
            "A token consists of an ID, used as user name, and an HMAC, used as password, for"
            " SCRAM with tokenauth=true. It is shown once, and never as JSON, YAML or CSV."
            f" {_AUTHENTICATION}"
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
        run="tokens.run:renew_token",
        effect=Effect.CHANGE,
        arguments=(_TOKEN,),
        options=(
            _HMAC,
            Option("--renew-time-period", kinds.DURATION,
                   "The new expiry, from now (default: set by the broker).", least=-1),
        ),
        at_least_one=(("token", "hmac"),),
        search=("delegation", "extend"),
        description="The expiry cannot exceed the maximum lifetime of the token. "
        + _AUTHENTICATION,
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
        run="tokens.run:expire_token",
        effect=Effect.DESTROY,
        arguments=(_TOKEN,),
        options=(
            _HMAC,
            Option("--expiry-time-period", kinds.DURATION, "Time until they expire (default: now).",
                   least=-1),
        ),
        at_least_one=(("token", "hmac"),),
        search=("delegation", "revoke", "delete", "logout"),
        description=_AUTHENTICATION,
        examples=(
            Example("expire-token 3Fq8xk1VSVOQbUJm0WnKtA --yes", "expire a token now", status=1),
        ),
        apis=(40, 41),
    ),
)  # fmt: skip
