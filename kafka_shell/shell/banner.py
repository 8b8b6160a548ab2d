"""The words around the prompt: what cluster this is, what to try, what to do without a broker."""

from __future__ import annotations

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.styles.style import parse_color

from kafka_shell.plan.look import hint_of
from kafka_shell.plan.results import Failure
from kafka_shell.settings import Settings

TRY = ("health", "topics", "help")
HINT = "   Tab completes, F1 explains, Ctrl-D leaves"
SANDBOX = "kafka.sh --sandbox"


def lines(settings: Settings, columns: int) -> StyleAndTextTuples:
    """Two lines: the cluster, and three things to try."""
    where = ",".join(map(str, settings.connection.bootstrap))
    named = f" ({settings.profile})" if settings.profile else ""
    head: StyleAndTextTuples = [("class:banner", "kafka.sh"), ("", f" at {where}{named}\n")]
    words: StyleAndTextTuples = [("", "Try ")]
    for number, word in enumerate(TRY):
        words += [("", ", " if number else ""), ("class:command", word)]
    if columns > len(HINT) + sum(len(text) for _, text, *_ in words):
        words.append(("class:comment", HINT))
    return head + words


def guard_of(settings: Settings) -> str:
    """The guard somebody set; the one that holds anyway is not worth a word."""
    return settings.guard if "guard" in settings.sources else ""


def prompt(settings: Settings) -> StyleAndTextTuples:
    """`kafka> `, or `kafka:prod!> ` in the colour of its guard or its profile."""
    role, mark = {
        "confirm": ("prompt-confirm", "?"),
        "typed": ("prompt-typed", "!"),
        "read-only": ("prompt-read-only", " ro"),
    }.get(guard_of(settings), ("prompt", ""))
    name = f"kafka:{settings.profile}" if settings.profile else "kafka"
    return [(f"class:{role} {_colour(settings.colour)}", f"{name}{mark}>"), ("", " ")]


def _colour(name: str) -> str:
    """A profile's own colour, where it is one."""
    try:
        return f"fg:{name}" if name and parse_color(name) else ""
    except ValueError:
        return ""


def unreachable(why: Failure) -> StyleAndTextTuples:
    """What to do where no broker answers."""
    pieces: StyleAndTextTuples = [("class:warning", f"{why.message}\n")]
    hint = hint_of(why)
    if hint and SANDBOX not in hint:
        pieces.append(("", f"{hint}\n"))
    return [
        *pieces,
        ("class:command", SANDBOX), ("", "   starts a real Kafka on this machine\n"),
        ("class:command", "connect HOST:PORT"), ("", "    works on another cluster"),
    ]  # fmt: skip
