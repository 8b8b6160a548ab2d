"""The texts around the prompt: the banner, the prompt itself, and help if no broker answers."""

from __future__ import annotations

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.styles.style import parse_color

from kafka_shell.output.resource_kinds import hint_of
from kafka_shell.plan.results import Failure
from kafka_shell.settings import Settings

TRY = ("health", "topics", "help")
HINT = "   Tab: complete, F1: help, Ctrl-D: exit"
SANDBOX = "kafka.sh --sandbox"


def lines(settings: Settings, columns: int) -> StyleAndTextTuples:
    """Return the banner: the cluster, and three commands to try."""
    where = ",".join(map(str, settings.connection.bootstrap))
    name = settings.label or settings.profile
    named = f" ({name})" if name else ""
    head: StyleAndTextTuples = [("class:banner", "kafka.sh"), ("", f" at {where}{named}\n")]
    words: StyleAndTextTuples = [("", "Try ")]
    for number, word in enumerate(TRY):
        words += [("", ", " if number else ""), ("class:command", word)]
    if columns > len(HINT) + sum(len(text) for _, text, *_ in words):
        words.append(("class:comment", HINT))
    return head + words


def guard_of(settings: Settings) -> str:
    """Return the guard if it was set explicitly."""
    return settings.guard if "guard" in settings.sources else ""


def prompt(settings: Settings) -> StyleAndTextTuples:
    """`kafka> `, or `kafka:prod!> ` in the color of the guard or profile; `kafka:rehearsal> ` on a
    twin."""
    role, mark = {
        "confirm": ("prompt-confirm", "?"),
        "typed": ("prompt-typed", "!"),
        "read-only": ("prompt-read-only", " ro"),
    }.get(guard_of(settings), ("prompt", ""))
    cluster = settings.label or settings.profile
    name = f"kafka:{cluster}" if cluster else "kafka"
    return [(f"class:{role} {_color(settings.color)}", f"{name}{mark}>"), ("", " ")]


def _color(name: str) -> str:
    """Return the style of the color of a profile, or an empty string if it is invalid."""
    try:
        return f"fg:{name}" if name and parse_color(name) else ""
    except ValueError:
        return ""


def unreachable(why: Failure) -> StyleAndTextTuples:
    """Return the error and what to do if no broker answers."""
    pieces: StyleAndTextTuples = [("class:warning", f"{why.message}\n")]
    hint = hint_of(why)
    if hint and SANDBOX not in hint:
        pieces.append(("", f"{hint}\n"))
    return [
        *pieces,
        ("class:command", SANDBOX), ("", "   start a Kafka cluster on this machine\n"),
        ("class:command", "connect HOST:PORT"), ("", "    connect to another cluster"),
    ]  # fmt: skip
