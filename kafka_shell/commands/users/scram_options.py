"""SCRAM credentials as they are typed (KIP-248), and the ways to come by a password."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_shell.errors import ShellError, UsageError, did_you_mean
from kafka_shell.files import bad_file, read_text
from kafka_shell.language.command import Invocation
from kafka_shell.language.convert import config_pairs
from kafka_shell.plan.model import Secret

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafka_shell.admin.users.model import NewScramCredential, ScramMechanism
    from kafka_shell.context import Context

MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_ITEM = re.compile(r"(?:\[(?:\\.|[^\]\\])*\]|[^,\[])+")
_SETTINGS = re.compile(r"(?:iterations=(-?[0-9]{1,9}))?(?:(?:^|,)password=(.*))?", re.DOTALL)
_DEFAULT_ITERATIONS = 4096
_LEAST, _MOST = 4096, 16384  # the brokers' own bounds
_LONGEST = 1 << 16  # bytes of a file of one password


@dataclass(frozen=True, slots=True)
class Wanted:
    """One credential of a line; what it does not say is None."""

    mechanism: ScramMechanism
    iterations: int | None = None
    password: Secret | None = None


def is_scram(key: str) -> bool:
    """Whether a config key is the name of a SCRAM mechanism."""
    return key.upper().startswith("SCRAM-")


def mechanism_of(word: str) -> ScramMechanism:
    """`SCRAM-SHA-256`. Raises UsageError for another word."""
    from kafka_shell.admin.users.model import ScramMechanism

    for known in ScramMechanism:
        if known.label == word.strip().upper() and known is not ScramMechanism.UNKNOWN:
            return known
    hint = did_you_mean(word, MECHANISMS, f"There are: {', '.join(MECHANISMS)}.")
    raise UsageError(f"{word.strip()} is no SCRAM mechanism", hint=hint, code="bad-value")


def read_list(text: str) -> list[Wanted]:
    """`SCRAM-SHA-256=[iterations=8192,password=x],SCRAM-SHA-512`. Errors never show the text."""
    items = _ITEM.findall(text)
    if not items or sum(map(len, items)) + len(items) - 1 != len(text):
        raise _form()
    return [each for item in items for each in _read_item(item, whole=text)]


def _read_item(item: str, *, whole: str) -> list[Wanted]:
    if "=" not in item:
        if "password" in whole and item.strip().upper() not in MECHANISMS:
            raise _form()  # it may be the rest of a password
        return [Wanted(mechanism_of(item))]
    try:
        pairs = config_pairs(item)
    except UsageError:
        raise _form() from None
    return [read(key, value) for key, value in pairs]


def read(key: str, value: str) -> Wanted:
    """One credential. As in Kafka's tool the password is all that follows `password=`."""
    mechanism = mechanism_of(key)
    if value.startswith("[") and value.endswith("]"):  # from a properties file, as on a line
        value = value[1:-1]
    settings = _SETTINGS.fullmatch(value)
    if settings is None or not value:
        raise _form()
    iterations, password = settings.groups()
    if iterations not in (None, "-1") and not _LEAST <= int(iterations) <= _MOST:
        raise UsageError(
            f"iterations of {mechanism.label} must be from {_LEAST} to {_MOST}, got {iterations}",
            code="bad-value",
        )
    if password == "":
        raise UsageError(f"the password of {mechanism.label} is empty", code="bad-value")
    return Wanted(
        mechanism,
        None if iterations is None else int(iterations),
        None if password is None else Secret(password),
    )


def _form() -> UsageError:
    return UsageError(
        "a credential is a mechanism, or SCRAM-SHA-256=[iterations=8192,password=...]",
        hint="Without a password it is asked for; or --password-file FILE, or --generate.",
        code="bad-value",
    )


def complete(
    wanted: Iterable[Wanted], user: str, password: Secret | None, iterations: int | None = None
) -> list[NewScramCredential]:
    """The credentials to set; those without a password of their own get this one."""
    from kafka_shell.admin.users.model import NewScramCredential

    made = []
    for each in wanted:
        secret = each.password or password
        assert secret is not None
        count = each.iterations if each.iterations is not None else iterations
        if count is None or count == -1:  # Kafka's tool has -1 for its default
            count = _DEFAULT_ITERATIONS
        made.append(NewScramCredential(user, each.mechanism, secret, count))
    return made


# -- passwords -------------------------------------------------------------------------------------


def asked_password(user: str, invocation: Invocation, context: Context) -> Secret:
    """A password from the person at the terminal, typed twice without echo.

    A dry run asks for none. Raises UsageError where there is nobody to ask.
    """
    if invocation["dry-run"]:
        return Secret("none is asked for in a dry run")
    if context.ask is None:
        raise UsageError(
            "there is no terminal to ask for the password at",
            hint="Nothing was changed. Give --password-file FILE or --generate.",
            code="no-terminal",
            text=invocation.text,
        )
    first = context.ask(f"Password of {user}: ", secret=True).rstrip("\r\n")
    if not first:
        raise ShellError("no password was given: nothing was changed", code="declined")
    if context.ask("The same again: ", secret=True).rstrip("\r\n") != first:
        raise ShellError("the two differ: nothing was changed", code="declined")
    return Secret(first)


def password_from(file: str) -> Secret:
    """The first line of a file, which is all of it. Errors name the file, never what it holds."""
    text = read_text(file, largest=_LONGEST).removesuffix("\n").removesuffix("\r")
    if not text or "\n" in text:
        held = "has more than one line" if text else "is empty"
        raise bad_file(file, f"{held}: expected one password")
    return Secret(text)


def new_password() -> Secret:
    """A password that nobody guesses: 24 characters, 143 bits."""
    import secrets
    import string

    letters = string.ascii_letters + string.digits
    return Secret("".join(secrets.choice(letters) for _ in range(24)))
