"""Commands on SCRAM credentials (KIP-554) and users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_shell.commands.users.scram_options import MECHANISMS
from kafka_shell.common.command_results import NoRows
from kafka_shell.common.structs import replace
from kafka_shell.errors import UsageError, did_you_mean
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option, Short
from kafka_shell.plan.model import Effect, Plan

if TYPE_CHECKING:
    from kafka_shell.admin.users.model import UserPage
    from kafka_shell.commands.users.scram_options import RequestedCredential
    from kafka_shell.context import Context
    from kafka_shell.plan.model import Secret


def scram_credentials(invocation: Invocation, context: Context) -> Any:
    """Describe, set or delete SCRAM credentials."""
    from kafka_shell.admin.users import scram

    user = invocation["username"]
    if invocation["describe"]:
        found = scram.describe(context.cluster, [user] if user is not None else None)
        return found if len(found) else NoRows("no user has SCRAM credentials")
    if user is None:
        raise UsageError(
            "--username is required",
            span=invocation.span("add") or invocation.span("delete"),
            text=invocation.text,
        )
    if invocation["delete"]:
        return scram.plan_delete(context.cluster, [(user, each) for each in _to_delete(invocation)])
    return _add(invocation, context, user)


def _to_delete(invocation: Invocation) -> list[Any]:
    from kafka_shell.commands.users.scram_options import mechanism_of

    try:
        return [mechanism_of(word) for word in invocation["delete"].split(",")]
    except UsageError as error:
        error.span = invocation.span("delete")
        raise


def _add(invocation: Invocation, context: Context, user: str) -> Plan:
    from kafka_shell.admin.users import scram
    from kafka_shell.commands.users import scram_options

    try:
        requested = scram_options.read_list(invocation["add"])
    except UsageError as error:
        error.span = invocation.span("add")
        raise
    password = _password(invocation, context, user, requested)
    credentials = scram_options.complete(requested, user, password, invocation["iterations"])
    plan = scram.plan_upsert(context.cluster, credentials)
    if not invocation["generate"]:
        return plan
    from kafka_shell.admin.users.model import GeneratedPassword

    assert password is not None
    return replace(plan, secrets=(GeneratedPassword(user, password),))


def _password(
    invocation: Invocation, context: Context, user: str, requested: list[RequestedCredential]
) -> Secret | None:
    """The password for the credentials that have none on the command line; None if all have one."""
    from kafka_shell.commands.users import scram_options

    source = next((name for name in ("password-file", "generate") if invocation[name]), "")
    if all(each.password for each in requested):
        if source:
            raise UsageError(
                f"--{source} cannot be used: every credential has a password",
                span=invocation.span(source),
                text=invocation.text,
            )
        return None
    if source == "password-file":
        return scram_options.password_from(invocation["password-file"])
    if not source:
        return scram_options.prompt_password(user, invocation, context)
    scram_options.refuse_lost_password(invocation, context)
    return scram_options.new_password()


def describe_user(invocation: Invocation, context: Context) -> UserPage:
    """Everything about one user; a part that cannot be read shows why."""
    from kafka_shell.admin.users import read as users

    found = users.describe(context.cluster, invocation["user"])
    if not found.known:
        near = did_you_mean(found.user, users.known_users(context.cluster))
        context.note(f"nothing found for user {found.user}{'. ' if near else ''}{near}")
    return found


# fmt: off
COMMANDS = (
    Command(
        name="scram-credentials",
        summary="Describe, set and delete SCRAM credentials.",
        family="clients",
        run=scram_credentials,
        effect=Effect.CHANGE,
        options=(
            Option("--username", kinds.USER, "The user. With --describe, default: all users.",
                   aliases=("--user",), metavar="NAME"),
            Option("--describe", kinds.FLAG, "Show mechanisms and iterations."),
            Option("--add", kinds.TEXT, "Set credentials: SCRAM-SHA-256, or"
                   " SCRAM-SHA-256=[iterations=8192,password=...]", choices=MECHANISMS,
                   metavar="MECHANISMS"),
            Option("--delete", kinds.TEXT, "Delete credentials: SCRAM-SHA-512",
                   choices=MECHANISMS, metavar="MECHANISMS"),
            Option("--iterations", kinds.INTEGER, "Iterations, 4096 to 16384 (default: those of an"
                   " existing credential, else 4096).",
                   least=4096, most=16384, requires=("--add",)),
            Option("--password-file", kinds.FILE, "Read the password from a file.",
                   excludes=("--generate",), requires=("--add",)),
            Option("--generate", kinds.FLAG, "Generate a password and show it once.",
                   requires=("--add",)),
        ),
        exactly_one=(("describe", "add", "delete"),),
        shorts=(Short("users", "scram-credentials --describe"),),
        search=("password", "login", "sasl", "user"),
        apis=(50, 51),
        description=(
            "If no password is given, the command prompts for it without echo. Passwords on the"
            " command line are kept out of the history and the journal, but are visible in ps."
        ),
        examples=(
            Example("scram-credentials --describe --username alice",
                    "show the credentials of alice"),
            Example("scram-credentials --add SCRAM-SHA-512 --username dave --generate",
                    "add a user with a generated password, shown once"),
            Example("scram-credentials"
                    " --add 'SCRAM-SHA-256=[iterations=8192,password=alice-secret]'"
                    " --username alice --yes",
                    "replace a credential, in KIP-248's form"),
            Example("scram-credentials --delete SCRAM-SHA-256 --username carol --dry-run",
                    "preview deleting a credential"),
        ),
    ),
    Command(
        name="describe-user",
        summary="Show everything about a user: credentials, quotas, ACLs, tokens, groups.",
        family="clients",
        run=describe_user,
        arguments=(
            Argument("user", kinds.USER, "The user: alice or User:alice.", option="--user"),
        ),
        shorts=(Short("user", "describe-user"),),
        search=("principal", "rights", "permissions", "access"),
        apis=(1, 2, 16, 29, 32, 41, 48, 50),
        examples=(Example("describe-user alice", "show one page about alice"),),
    ),
)
# fmt: on
