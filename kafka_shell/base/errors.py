"""The exceptions that this program raises for expected errors, and its exit statuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

from kafka_shell.base.text import escape, quote

if TYPE_CHECKING:
    from kafka_shell.base.structs import Resource


class Status(IntEnum):
    """Exit statuses. Scripts rely on them."""

    OK = 0
    FAILED = 1  # at least one item failed, on the cluster or in a check against it
    WRONG = 2  # the command line or a file is invalid, whatever the state of the cluster
    UNREACHABLE = 3  # no broker could be reached, or authentication failed
    UNKNOWN = 4  # of a rehearsal: nothing failed, but some outcome cannot be known
    INTERRUPTED = 130


class ShellError(Exception):
    """What failed, on which resource, and why. `hint` says what to do next, and
    `see` names the resource whose state explains the failure.

    `code` is a stable identifier for programs (`no-broker`, `unknown-option`, or Kafka's error
    name). `span` is the (start, end) of the invalid word in the command line, if there is one.
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


def missing_package(purpose: str, package: str, extra: str, *, hint: str = ".") -> ShellError:
    """The error that something requires a Python package, which an extra of the program installs.
    `hint` follows the
    command that installs it."""
    return ShellError(
        f"{purpose} requires the Python package {package}, which is not installed",
        hint=f"Run pip install 'kafka-sh[{extra}]'{hint}",
        code="missing-package",
        status=Status.WRONG,
    )


class UnexpectedEnd(ShellError):
    """A long-running change ended with another result than the one requested."""


class UsageError(ShellError):
    """The command line is invalid. `text` is the line that `span` refers to."""

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


class Mistakes(ShellError):
    """Several errors, `each` of which is a line of the message."""

    def __init__(self, each: Sequence[ShellError]) -> None:
        shown = [f"{one.message}. {one.hint}".removesuffix(". ") for one in each[:_LISTED]]
        more = [f"and {len(each) - _LISTED:,} more"] if len(each) > _LISTED else []
        message = "\n".join([f"{len(each):,} mistakes:", *shown, *more])
        super().__init__(message, code=each[0].code, status=each[0].status)
        self.each = tuple(each)


class MistakeCollector:
    """Keeps errors for the end, so that all mistakes are reported at once."""

    def __init__(self) -> None:
        self.found: list[ShellError] = []

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep an error of the body, each of several by itself."""
        try:
            yield
        except ShellError as error:
            self.found += error.each if isinstance(error, Mistakes) else [error]

    def check(self) -> None:
        """Raise what was found."""
        raise_all(self.found)


@contextmanager
def pointing_at(span: tuple[int, int] | None) -> Iterator[None]:
    """Let an error of the body point to this span of the line."""
    try:
        yield
    except ShellError as error:
        error.span = span
        raise


def raise_all(errors: Sequence[ShellError]) -> None:
    """Raise one error as it is, and several in one; do nothing without errors."""
    if errors:
        raise errors[0] if len(errors) == 1 else Mistakes(errors)


_LISTED = 10  # mistakes

# The limit for (length of the word) x (total length of the candidates). The time of a comparison
# can be proportional to it, and anyone who may create topics chooses the candidates.
_MAX_COMPARISON = 1_000_000


def near_miss(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant, or None if none is similar."""
    if not 0 < len(word) <= 64:
        return None
    names = list(dict.fromkeys(candidates))
    by_normalized = {_normalize(name): name for name in reversed(names)}
    normalized = _normalize(word)
    if normalized in by_normalized:
        return by_normalized[normalized]
    parts = sorted(normalized.split("-"))
    for key, name in by_normalized.items():
        if len(parts) > 1 and sorted(key.split("-")) == parts:
            return name  # topics-list
    from difflib import get_close_matches  # slow to import, and only needed for a mistake

    # Candidates of very different length never reach the cutoff.
    similar = [key for key in by_normalized if 0.5 < len(key) / len(normalized) < 2]
    if len(normalized) * sum(map(len, similar)) <= _MAX_COMPARISON:
        close = get_close_matches(normalized, similar, n=1, cutoff=0.7)
        if close:
            return by_normalized[close[0]]
    completed = [name for name in names if len(word) > 2 and name.lower().startswith(normalized)]
    return completed[0] if len(completed) == 1 else None


def is_one_edit(word: str, name: str) -> bool:
    """Whether a word becomes the name by one character: added, removed, replaced or exchanged with
    the next one. Words in another order are the same (`topic-delete`)."""
    word, name = _normalize(word), _normalize(name)
    if sorted(word.split("-")) == sorted(name.split("-")):
        return True
    start = next((at for at, pair in enumerate(zip(word, name, strict=False))
                  if pair[0] != pair[1]), min(len(word), len(name)))  # fmt: skip
    left, right = word[start:], name[start:]
    exchanged = left[1:2] + left[:1] + left[2:] == right
    return exchanged or left[1:] == right[1:] or left[1:] == right or left == right[1:]


def _normalize(name: str) -> str:
    return name.lower().replace("_", "-")


def did_you_mean(word: str, candidates: Iterable[str], otherwise: str = "") -> str:
    """A hint with the candidate that was probably meant, or `otherwise`."""
    near = near_miss(word, candidates)
    return f"Did you mean {quote(escape(near))}?" if near else otherwise
