"""The one exception this program raises on purpose."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Status(IntEnum):
    """Exit statuses: what a script may rely on."""

    OK = 0
    FAILED = 1  # the cluster, or our check against it, refused: some item failed
    WRONG = 2  # the line is wrong whatever the cluster holds
    UNREACHABLE = 3  # no broker could be reached, or the login failed
    INTERRUPTED = 130


class ShellError(Exception):
    """What happened, to which thing, and why; `hint` says what to do now.

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
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.status = status
        self.span = span


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
    ) -> None:
        super().__init__(message, hint=hint, code=code, status=Status.WRONG, span=span)
        self.text = text
        self.usage = usage


def near_miss(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` was most likely meant to be, if any is near enough."""
    from difflib import get_close_matches

    matches = get_close_matches(word, list(candidates), n=1, cutoff=0.7)
    return matches[0] if matches else None
