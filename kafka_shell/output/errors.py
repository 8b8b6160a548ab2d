"""Errors for people: what happened, the word to blame, what to do. Never a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_shell.characters import escape
from kafka_shell.errors import ShellError
from kafka_shell.masking import masked
from kafka_shell.plan.look import see_line
from kafka_shell.plan.results import Failure, names

from .pane import Pane
from .text import ELLIPSIS, Role, Text, hang, text, width, wrap

MARGIN = "  "
ROOM = 100  # cells for a line of input where the terminal does not say


def draw_error(error: ShellError, pane: Pane, *, place: str = "", line: str = "") -> None:
    """An error on a pane. `place` is `file:line` in a script; `line` what the span points into."""
    pane.lines(error_lines(error, pane.width, place=place, line=line))


def draw_failure(failure: Failure, about: object, pane: Pane, *, place: str = "") -> None:
    """Why one thing of several failed."""
    pane.lines(failure_lines(failure, about, pane.width, place=place))


def draw_note(message: str, pane: Pane, *, label: str = "warning") -> None:
    """A sentence that is no error: a warning, or another label."""
    role: Role = "warning" if label == "warning" else "hint"
    pane.lines(_labelled(text(f"{label}: ", role), message, pane.width))


def error_lines(
    error: ShellError, room: int | None = None, *, place: str = "", line: str = ""
) -> Iterator[Text]:
    """`error: message`, the line with its word pointed at, `hint:`, `usage:`."""
    head = text(f"{place}: ") if place else Text()
    yield from _labelled(head + text("error: ", "error"), masked(_short(error.message)), room)
    source = masked(getattr(error, "text", "") or line)
    if error.span is not None and source:
        yield from pointed(source, error.span, room)
    yield from _hint(masked(_short(error.hint)), see_line(error), room)
    usage = getattr(error, "usage", "")
    if usage:
        yield from _usage(usage, room)


def failure_lines(
    failure: Failure, about: object, room: int | None = None, *, place: str = ""
) -> Iterator[Text]:
    """`error: orders: UNKNOWN_TOPIC_OR_PARTITION: ...` and its hint.

    The subject is left out where the failure's own words name it.
    """
    head = text(f"{place}: ") if place else Text()
    subject = f"{about}: " if str(about) and not names(failure.message, str(about)) else ""
    yield from _labelled(head + text("error: ", "error"), subject + str(failure), room)
    yield from _hint(failure.hint, see_line(failure), room)


def _hint(hint: str, see: str, room: int | None) -> Iterator[Text]:
    """What to do now. A line `To go on: <line>` is left whole, to be copied."""
    lines = hint.split("\n")
    sentences = "\n".join(line for line in lines if not _TYPED.match(line))
    if sentences or see:
        advice = " ".join(filter(None, (sentences, see)))
        yield from _labelled(text("hint: ", "hint"), advice, room)
    for line in lines:
        if found := _TYPED.match(line):
            yield text(found[1], "hint") + text(line[found.end(1) :])


def pointed(source: str, span: tuple[int, int], room: int | None = None) -> Iterator[Text]:
    """The line of `source` that holds the span, and carets under it; a window of a long line."""
    before, word, after = _around(source, span)
    cells = max(20, (room or ROOM) - len(MARGIN) - 1)
    before, word, after = _window(before, word, after, cells)
    yield text(MARGIN + before) + text(word, "pointer") + text(after)
    yield text(MARGIN + " " * width(before)) + text("^" * max(1, width(word)), "error")


def _around(source: str, span: tuple[int, int]) -> tuple[str, str, str]:
    """The line of the span in three parts, escaped; tabs are one space, line ends are left out."""
    start = max(0, min(span[0], len(source)))
    end = max(start, min(span[1], len(source)))
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", start)
    last = len(source) if last < 0 else last
    parts = source[first:start], source[start : min(end, last)], source[min(end, last) : last]
    before, word, after = (part.rstrip("\r").replace("\t", " ") for part in parts)
    # Far from the word nothing will be seen: escape what might be, not ten megabytes.
    return _tail(before), _head(word), _head(after)


def _tail(part: str) -> str:
    return (ELLIPSIS if len(part) > 4 * ROOM else "") + escape(part[-4 * ROOM :])


def _head(part: str) -> str:
    return escape(part[: 4 * ROOM]) + (ELLIPSIS if len(part) > 4 * ROOM else "")


def _window(before: str, word: str, after: str, cells: int) -> tuple[str, str, str]:
    """The three parts in so many cells: the word whole if it fits, and what is near it."""
    if width(before + word + after) <= cells:
        return before, word, after
    word = _keep_start(word, cells - 8)
    rest = cells - width(word)
    behind = min(width(after), rest // 3)
    before = _keep_end(before, rest - behind)
    return before, word, _keep_start(after, cells - width(before) - width(word))


def _keep_start(part: str, cells: int) -> str:
    if width(part) <= cells:
        return part
    kept = part[: max(0, cells - 1)]
    while kept and width(kept) > cells - 1:
        kept = kept[:-1]
    return kept + ELLIPSIS


def _keep_end(part: str, cells: int) -> str:
    if width(part) <= cells:
        return part
    kept = part[-max(1, cells - 1) :]
    while kept and width(kept) > cells - 1:
        kept = kept[1:]
    return ELLIPSIS + kept


_TYPED = re.compile(r"(To [a-z ]+: )\S")
LONGEST = 2_000  # characters of one message: nobody reads more, and a terminal should not have to


def _labelled(label: Text, message: str, room: int | None) -> Iterator[Text]:
    message = _short(message)
    first, *rest = message.split("\n") if message else [""]
    yield from hang(label + text(first), room, len(MARGIN))
    for line in rest:
        yield from hang(text(MARGIN) + text(line), room, len(MARGIN))


def _short(message: str) -> str:
    return message if len(message) <= LONGEST else message[: LONGEST - 1] + ELLIPSIS


def _usage(usage: str, room: int | None) -> Iterator[Text]:
    label = text("usage: ", "hint")
    cells = (room or 10**6) - label.width
    lines = [piece for line in usage.splitlines() for piece in wrap(text(line), cells)]
    for number, line in enumerate(lines):
        yield (text(" " * label.width) if number else label) + line
