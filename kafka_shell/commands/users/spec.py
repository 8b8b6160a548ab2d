"""Declarations of the users commands."""

from __future__ import annotations

from kafka_shell.admin.users.model import MAX_ITERATIONS, MIN_ITERATIONS
from kafka_shell.base.plans import Effect
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option, Short

MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")


COMMANDS: tuple[Command, ...] = (
    Command(
        name="scram-credentials",
        summary="Describe, set and delete SCRAM credentials.",
        family="clients",
        run="users.run:scram_credentials",
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
            Option("--iterations", kinds.INTEGER, f"Iterations, {MIN_ITERATIONS} to"
                   f" {MAX_ITERATIONS} (default: those of an existing credential, else"
                   f" {MIN_ITERATIONS}).",
                   least=MIN_ITERATIONS, most=MAX_ITERATIONS, requires=("--add",)),
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
        run="users.run:describe_user",
        arguments=(
            Argument("user", kinds.USER, "The user: alice or User:alice.", option="--user"),
        ),
        shorts=(Short("user", "describe-user"),),
        search=("principal", "rights", "permissions", "access"),
        apis=(1, 2, 16, 29, 32, 41, 48, 50),
        examples=(Example("describe-user alice", "show one page about alice"),),
    ),
)  # fmt: skip
