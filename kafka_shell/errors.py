"""The exception this program raises on purpose, and its kinds."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from .characters import escape
from .quoting import quote
from .resource import Resource


class Status(IntEnum):
    """Exit statuses: what a script may rely on."""

    OK = 0
    FAILED = 1  # the cluster, or our check against it, refused: some item failed
    WRONG = 2  # the line is wrong whatever the cluster holds
    UNREACHABLE = 3  # no broker could be reached, or the login failed
    INTERRUPTED = 130


class ShellError(Exception):
    """What happened, to which thing, and why; `hint` says what to do now, and `see` names
    the resource whose state explains the error.

    `code` is a stable word for programs (`no-broker`, `unknown-option`, a broker's own error name).
    `span` is (start, end) in the command line, when one word of it is to blame.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: str = "error",
        status: Status = Status.FAILED,
        span: tuple[int, int] | None = None,
        see: Resource | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.status = status
        self.span = span
        self.see = see


class EndedElsewhere(ShellError):
    """A long change that was followed is over, and is not what was wanted."""


class UsageError(ShellError):
    """The line is wrong whatever the cluster holds. `text` is the line that `span` points into."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: str = "usage",
        span: tuple[int, int] | None = None,
        text: str = "",
        usage: str = "",
        see: Resource | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code, status=Status.WRONG, span=span, see=see)
        self.text = text
        self.usage = usage


# Letters of the word times letters of all candidates that are compared: a comparison may take time
# in proportion to that, and names are chosen by whoever may create topics and groups.
_COMPARED = 1_000_000


def near_miss(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant, or None where nothing is close."""
    if not 0 < len(word) <= 64:
        return None
    known = list(dict.fromkeys(candidates))
    folded = {each.lower().replace("_", "-"): each for each in reversed(known)}
    plain = word.lower().replace("_", "-")
    if plain in folded:
        return folded[plain]
    parts = sorted(plain.split("-"))
    for each, original in folded.items():
        if len(parts) > 1 and sorted(each.split("-")) == parts:
            return original  # topics-list
    # difflib is slow to import, and only a mistake needs it
    from difflib import get_close_matches

    alike = [each for each in folded if 0.5 < len(each) / len(plain) < 2]  # others never reach 0.7
    if len(plain) * sum(map(len, alike)) <= _COMPARED:
        close = get_close_matches(plain, alike, n=1, cutoff=0.7)
        if close:
            return folded[close[0]]
    begun = [each for each in known if len(word) > 2 and each.lower().startswith(plain)]
    return begun[0] if len(begun) == 1 else None


def did_you_mean(word: str, candidates: Iterable[str], otherwise: str = "") -> str:
    """The hint that names the near miss, or `otherwise`."""
    near = near_miss(word, candidates)
    return f"Did you mean {quote(escape(near))}?" if near else otherwise
