"""The words around the prompt: what cluster this is, what to try, what to do without a broker."""

from __future__ import annotations

from prompt_toolkit.formatted_text import StyleAndTextTuples

from kafka_shell.nouns import Failure
from kafka_shell.settings import Settings

TRY = ("health", "topics", "help")


def lines(settings: Settings, columns: int) -> StyleAndTextTuples:
    """Two lines: the cluster, and three things to try."""
    where = ",".join(map(str, settings.connection.bootstrap))
    named = f" ({settings.profile})" if settings.profile else ""
    head: StyleAndTextTuples = [("class:banner", "kafka.sh"), ("", f" at {where}{named}\n")]
    words: StyleAndTextTuples = [("", "Try ")]
    for number, word in enumerate(TRY):
        words += [("", ", " if number else ""), ("class:command", word)]
    if columns >= 60:
        words.append(("class:comment", "   Tab completes, F1 explains, Ctrl-D leaves"))
    return head + words


def prompt(settings: Settings) -> StyleAndTextTuples:
    """`kafka> `, or `kafka:prod> ` in the colour of its guard."""
    role, mark = {
        "confirm": ("prompt-confirm", "?"),
        "typed": ("prompt-typed", "!"),
        "read-only": ("prompt-read-only", " ro"),
    }.get(settings.guard, ("prompt", ""))
    name = f"kafka:{settings.profile}" if settings.profile else "kafka"
    return [(f"class:{role}", f"{name}{mark}>"), ("", " ")]


def unreachable(why: Failure) -> StyleAndTextTuples:
    """What to do where no broker answers."""
    pieces: StyleAndTextTuples = [("class:warning", f"{why.message}\n")]
    if why.hint:
        pieces.append(("", f"{why.hint}\n"))
    return [
        *pieces,
        ("class:command", "kafka.sh --sandbox"), ("", "   starts a real Kafka on this machine\n"),
        ("class:command", "connect HOST:PORT"), ("", "    works on another cluster"),
    ]  # fmt: skip
