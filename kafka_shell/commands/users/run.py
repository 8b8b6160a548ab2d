"""Commands on SCRAM credentials (KIP-554) and users."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from kafka_shell.admin.users import scram
from kafka_shell.admin.users.model import (
    MAX_ITERATIONS,
    MIN_ITERATIONS,
    GeneratedPassword,
    NewScramCredential,
    ScramMechanism,
    UserPage,
)
from kafka_shell.admin.users.scram import plan_delete
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError, did_you_mean, pointing_at
from kafka_shell.base.files import bad_file, read_text
from kafka_shell.base.plans import Change, Plan, Secret
from kafka_shell.commands.configs.kinds import config_pairs
from kafka_shell.commands.users.spec import MECHANISMS
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation

_ITEM = re.compile(r"(?:\[(?:\\.|[^\]\\])*\]|[^,\[])+")
_SETTINGS = re.compile(r"(?:iterations=(-?[0-9]{1,9}))?(?:(?:^|,)password=(.*))?", re.DOTALL)
_MAX_PASSWORD_FILE = 1 << 16  # bytes


class RequestedCredential(Struct, frozen=True):
    """One credential to set; None for what was not given."""

    mechanism: ScramMechanism
    iterations: int | None = None
    password: Secret | None = None


def is_scram(key: str) -> bool:
    """Whether a config key is the name of a SCRAM mechanism."""
    return key.upper().startswith("SCRAM-")


def mechanism_of(word: str) -> ScramMechanism:
    """The mechanism of this name, such as `SCRAM-SHA-256`. Raises UsageError if unknown."""
    for known in ScramMechanism:
        if known.label == word.strip().upper() and known is not ScramMechanism.UNKNOWN:
            return known
    hint = did_you_mean(word, MECHANISMS, f"Use one of: {', '.join(MECHANISMS)}.")
    raise UsageError(f"unknown SCRAM mechanism '{word.strip()}'", hint=hint, code="bad-value")


def read_list(text: str) -> list[RequestedCredential]:
    """`SCRAM-SHA-256=[iterations=8192,password=x],SCRAM-SHA-512`. Errors never show the text."""
    items = _ITEM.findall(text)
    if not items or sum(map(len, items)) + len(items) - 1 != len(text):
        raise _malformed()
    return [credential for item in items for credential in _read_item(item, whole=text)]


def _read_item(item: str, *, whole: str) -> list[RequestedCredential]:
    if "=" not in item:
        if "password" in whole and item.strip().upper() not in MECHANISMS:
            raise _malformed()  # may be the rest of a password
        return [RequestedCredential(mechanism_of(item))]
    try:
        pairs = config_pairs(item)
    except UsageError:
        raise _malformed() from None
    return [read(key, value) for key, value in pairs]


def read(key: str, value: str) -> RequestedCredential:
    """One credential. As in kafka-configs, all text after `password=` is the password."""
    mechanism = mechanism_of(key)
    if value.startswith("[") and value.endswith("]"):  # as in a properties file
        value = value[1:-1]
    settings = _SETTINGS.fullmatch(value)
    if settings is None or not value:
        raise _malformed()
    iterations, password = settings.groups()
    if iterations == "-1":  # the default in kafka-configs
        iterations = MIN_ITERATIONS
    if iterations and not MIN_ITERATIONS <= int(iterations) <= MAX_ITERATIONS:
        raise UsageError(
            f"iterations of {mechanism.label} must be from {MIN_ITERATIONS} to {MAX_ITERATIONS},"
            f" got {iterations}",
            code="bad-value",
        )
    if password == "":
        raise UsageError(f"the password of {mechanism.label} is empty", code="bad-value")
    return RequestedCredential(
        mechanism,
        None if iterations is None else int(iterations),
        None if password is None else Secret(password),
    )


def _malformed() -> UsageError:
    return UsageError(
        "expected a SCRAM mechanism, such as SCRAM-SHA-256 or SCRAM-SHA-256=[iterations=8192]",
        hint="Omit the password to be prompted, or use --password-file FILE or --generate.",
        code="bad-value",
    )


def complete(
    requested: Iterable[RequestedCredential],
    user: str,
    password: Secret | None,
    iterations: int | None = None,
) -> list[NewScramCredential]:
    """The credentials to set; `password` and `iterations` are for those without their own."""
    credentials = []
    for credential in requested:
        secret = credential.password or password
        assert secret is not None
        count = credential.iterations or iterations or 0
        credentials.append(NewScramCredential(user, credential.mechanism, secret, count))
    return credentials


# -- passwords -------------------------------------------------------------------------------------


def prompt_password(user: str, invocation: Invocation, context: Context) -> Secret:
    """A password typed twice at the terminal, without echo; a placeholder in a dry run.

    Raises UsageError if there is no terminal.
    """
    if invocation["dry-run"]:
        return Secret("not prompted for in a dry run")
    if context.ask is None:
        raise UsageError(
            "cannot ask for the password: standard input is not a terminal",
            hint="Use --password-file FILE or --generate.",
            code="no-terminal",
        )
    first = context.ask(f"Password for {user}: ", secret=True).rstrip("\r\n")
    if not first:
        raise ShellError("no password entered (nothing was changed)", code="declined")
    if context.ask("Repeat the password: ", secret=True).rstrip("\r\n") != first:
        raise ShellError("the passwords differ (nothing was changed)", code="declined")
    return Secret(first)


def password_from(file: str) -> Secret:
    """The password in a file of one line. Errors name the file, never its content."""
    text = read_text(file, largest=_MAX_PASSWORD_FILE).removesuffix("\n").removesuffix("\r")
    if not text or "\n" in text:
        problem = "has more than one line" if text else "is empty"
        raise bad_file(file, f"{problem}: expected one password")
    return Secret(text)


def new_password() -> Secret:
    """A random password of 24 characters (143 bits)."""
    letters = string.ascii_letters + string.digits
    return Secret("".join(secrets.choice(letters) for _ in range(24)))


def refuse_lost_password(invocation: Invocation, context: Context) -> None:
    """Raise UsageError if a generated password would not be printed (JSON, YAML, CSV)."""
    output = invocation["output"] or context.settings.output
    if output != "table" and not invocation["dry-run"]:
        raise UsageError(
            f"a generated password cannot be printed as {output.upper()} and would be lost",
            hint="Use a password file, or omit --output.",
            code="lost-password",
            span=invocation.span("output"),
        )


def scram_credentials(invocation: Invocation, context: Context) -> Any:
    """Describe, set or delete SCRAM credentials."""
    user = invocation["username"]
    if invocation["describe"]:
        credentials = scram.describe(context.cluster, [user] if user is not None else None)
        return credentials if len(credentials) else NoRows("no user has SCRAM credentials")
    if user is None:
        raise UsageError(
            "--username is required", span=invocation.span("add") or invocation.span("delete")
        )
    if invocation["delete"]:
        return scram.plan_delete(context.cluster, [(user, each) for each in _to_delete(invocation)])
    return _add(invocation, context, user)


def _to_delete(invocation: Invocation) -> list[Any]:
    with pointing_at(invocation.span("delete")):
        return [mechanism_of(word) for word in invocation["delete"].split(",")]


def _add(invocation: Invocation, context: Context, user: str) -> Plan:
    with pointing_at(invocation.span("add")):
        requested = read_list(invocation["add"])
    password = _password(invocation, context, user, requested)
    credentials = complete(requested, user, password, invocation["iterations"])
    plan = scram.plan_upsert(context.cluster, credentials)
    if not invocation["generate"]:
        return plan

    assert password is not None
    return plan.noted(secrets=(GeneratedPassword(user, password),))


def _password(
    invocation: Invocation, context: Context, user: str, requested: list[RequestedCredential]
) -> Secret | None:
    """The password for the credentials that have none on the command line; None if all have one."""
    source = next((name for name in ("password-file", "generate") if invocation[name]), "")
    if all(credential.password for credential in requested):
        if source:
            raise UsageError(
                f"--{source} cannot be used: every credential has a password",
                span=invocation.span(source),
            )
        return None
    if source == "password-file":
        return password_from(invocation["password-file"])
    if not source:
        return prompt_password(user, invocation, context)
    refuse_lost_password(invocation, context)
    return new_password()


def describe_user(invocation: Invocation, context: Context) -> UserPage:
    """Everything about one user; a part that cannot be read shows why."""
    from kafka_shell.admin.users import read as users

    page = users.describe(context.cluster, invocation["user"])
    if not page.known:
        near = did_you_mean(page.user, users.known_users(context.cluster))
        context.note(f"nothing found for user {page.user}{'. ' if near else ''}{near}")
    return page


def plan_deletions(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that deletes what these changes delete."""
    mechanisms = {mechanism.label: mechanism for mechanism in ScramMechanism}
    named = [(change.resource.name, mechanisms[change.field]) for change in changes]
    return plan_delete(context.cluster, named)
