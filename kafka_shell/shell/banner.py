"""The texts around the prompt: the banner, the prompt itself, and help if no broker answers."""

from __future__ import annotations

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.styles.style import parse_color

from kafka_shell.context import Context
from kafka_shell.identity import known_guard
from kafka_shell.output.resource_kinds import hint_of
from kafka_shell.plan.results import Failure
from kafka_shell.settings import Settings
from kafka_shell.view.view import ClusterView

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


class KnownGuard:
    """The guard that applies to a change, as far as the cached view tells. Computed once for each
    view and settings, because it is drawn on each key."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._of: tuple[Settings, ClusterView | None] | None = None
        self._guard = ""

    def __call__(self) -> str:
        """Return the guard, or an empty string."""
        settings, cache = self._context.settings, self._context.cache
        view = cache.view if cache else None
        if self._of is None or self._of[0] is not settings or self._of[1] is not view:
            self._of, self._guard = (settings, view), known_guard(self._context)
        return self._guard


def prompt(settings: Settings, guard: str) -> StyleAndTextTuples:
    """`kafka> `, or `kafka:prod!> ` in the color of the guard or profile; `kafka:rehearsal> ` on a
    twin."""
    role, mark = {
        "confirm": ("prompt-confirm", "?"),
        "typed": ("prompt-typed", "!"),
        "read-only": ("prompt-read-only", " ro"),
    }.get(guard, ("prompt", ""))
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
