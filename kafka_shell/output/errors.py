"""Render errors: the message, the word it points at, the hint, the usage. Never a traceback."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, mentions
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.text import escape, masked
from kafka_shell.base.units import counted, some
from kafka_shell.output.resource_kinds import see_line, title_of
from kafka_shell.output.styled_stream import StyledStream
from kafka_shell.output.text import ELLIPSIS, Role, Text, cut, hang, text, width, wrap

MARGIN = "  "
_KINDS = ("topic", "partition", "group", "broker", "user")
_ALIKE = 3  # more failures of resources than this, with the same error and hint, are combined
Place = Callable[[], str]  # what precedes an error: `file:line: ` in a script
DEFAULT_WIDTH = 100  # cells of the source line if the width is unknown


def draw_error(error: ShellError, stream: StyledStream, *, line: str = "") -> None:
    """Print an error. `line` is what the span points into."""
    stream.lines(error_lines(error, stream.width, line=line, place=stream.place))


def draw_note(message: str, stream: StyledStream, *, label: str = "warning") -> None:
    """Print a message with a label, `warning` by default."""
    role: Role = "warning" if label == "warning" else "hint"
    stream.lines(_labeled(text(f"{label}: ", role), message, stream.width))


def error_lines(
    error: ShellError, room: int | None = None, *, line: str = "", place: Place = str
) -> Iterator[Text]:
    """`error: message`, the source line with the word marked, `hint:`, `usage:`."""
    yield from _labeled(error_label(place), masked(_short(error.message)), room)
    source = masked(getattr(error, "text", "") or line)
    if error.span is not None and source:
        yield from pointed(source, error.span, room)
    yield from _hint(masked(_short(error.hint)), see_line(error), room)
    usage = getattr(error, "usage", "")
    if usage:
        yield from _usage(usage, room)


def error_label(place: Place) -> Text:
    """`error: `, in a script after the place of the line."""
    return text(place()) + text("error: ", "error")


def failure_lines(label: Text, failure: Failure, about: object, room: int | None) -> Iterator[Text]:
    """`error: orders: UNKNOWN_TOPIC_OR_PARTITION: ...` and its hint.

    The subject is left out if the message already names it.
    """
    name = str(about) if getattr(about, "name", about) else _side(about)[1]
    subject = f"{name}: " if name and not mentions(failure.message, name) else ""
    yield from _labeled(label, subject + str(failure), room)
    yield from _hint(failure.hint, see_line(failure), room)


def grouped_failure_lines(
    failures: Mapping[Any, Failure],
    room: int | None = None,
    *,
    most: int | None = None,
    listed: str = "",
    place: Place = str,
) -> Iterator[Text]:
    """The failure of each resource. Of many that are alike the first, and the names of the rest, at
    most so many (`listed` says where all are); a hint that several have in a row once."""
    label = error_label(place) if failures else Text()
    shown, more = combine_alike(failures.items(), most)
    for about, failure, same in shown:
        side, resource = _side(about)
        if side:
            failure = replace(failure, message=failure.message.removeprefix(f"{resource}: "))
        yield from failure_lines(label, failure, about, room)
        yield from same_lines(label, same, room, most=most, listed=listed)
    yield from more_lines(label, more, room, listed)


def combine_alike(
    failures: Iterable[tuple[Any, Failure]], most: int | None
) -> tuple[list[tuple[Any, Failure, Sequence[Any]]], int]:
    """At most so many resources with their failures, and the other resources whose failures are
    alike if there are many; and how many failures are left out. Of consecutive failures with the
    same hint, only the last keeps it."""
    alike: dict[tuple[str, ...], list[tuple[Any, Failure]]] = {}
    for about, failure in failures:
        alike.setdefault(_alike(about, failure), []).append((about, failure))
    shown: list[tuple[Any, Failure, Sequence[Any]]] = []
    for items in alike.values():
        rest = [about for about, _ in items[1:]]
        shown += [(*items[0], rest)] if len(items) > _ALIKE else [(*item, ()) for item in items]
    shown, left_out = shown[:most], shown[len(shown) if most is None else most :]
    for at, (about, failure, same) in enumerate(shown[:-1]):
        following = shown[at + 1][1]
        if (following.hint, following.see) == (failure.hint, failure.see):
            shown[at] = about, replace(failure, hint="", see=None), same
    return shown, sum(1 + len(same) for _, _, same in left_out)


def more_lines(label: Text, more: int, room: int | None, listed: str) -> Iterator[Text]:
    """That so many failures are left out; nothing if there are none."""
    if more:
        yield from _labeled(label, f"{more:,} more ({listed})", room)


def same_lines(
    label: Text, same: Sequence[Any], room: int | None, *, most: int | None, listed: str
) -> Iterator[Text]:
    """The names of the other resources whose failures are alike; nothing if there are none."""
    if same:
        yield from _labeled(label, _same_for([_side(each)[1] for each in same], most, listed), room)


def _side(about: object) -> tuple[str, str]:
    """A resource, after the side of a comparison: `cluster production: topic orders`."""
    if isinstance(about, Resource):  # whose name may contain anything
        return "", title_of(about)
    side, _, resource = str(about).rpartition(": ")
    return side, resource


def _alike(about: object, failure: Failure) -> tuple[str, ...]:
    """What failures have in common that differ only in their resource."""
    side, resource = _side(about)
    name = resource.partition(" ")[2] or resource
    name = about.name if isinstance(about, Resource) else name
    topic = name.rpartition(":")[0]  # of a partition
    why = f" {failure.message} {failure.hint}"
    for word in filter(None, (name, topic)):
        why = why.replace(f" {word}", "").replace(f"'{word}'", "")
    return side, failure.name, why


def _same_for(resources: Sequence[str], most: int | None, listed: str) -> str:
    """`the same for 3 more topics: a, b, c`; without a common type with the type of each."""
    kinds = {resource.partition(" ")[0] for resource in resources}
    kind = kinds.pop() if len(kinds) == 1 else ""
    names, count = list(resources), f"{len(resources):,} more"
    if kind in _KINDS:
        names = [resource.partition(" ")[2] for resource in resources]
        count = counted(len(names), f"more {kind}")
    most = len(names) if most is None else most
    full = f" ({listed})" if listed and len(names) > most else ""
    return f"the same for {count}: {some(names, most)}{full}"


def _hint(hint: str, see: str, room: int | None) -> Iterator[Text]:
    """`hint: ...`. A line such as `To continue: <command>` is not wrapped, for copying."""
    lines = hint.split("\n")
    sentences = "\n".join(line for line in lines if not _COMMAND_LINE.match(line))
    if sentences or see:
        advice = " ".join(filter(None, (sentences, see)))
        yield from _labeled(text("hint: ", "hint"), advice, room)
    for line in lines:
        if match := _COMMAND_LINE.match(line):
            yield text(match[1], "hint") + text(line[match.end(1) :])


def pointed(source: str, span: tuple[int, int], room: int | None = None) -> Iterator[Text]:
    """The source line with carets under the span; long lines are cut around it."""
    before, word, after = _around(source, span)
    cells = max(20, (room or DEFAULT_WIDTH) - len(MARGIN) - 1)
    before, word, after = _window(before, word, after, cells)
    yield text(MARGIN + before) + text(word, "pointer") + text(after)
    yield text(MARGIN + " " * width(before)) + text("^" * max(1, width(word)), "error")


def _around(source: str, span: tuple[int, int]) -> tuple[str, str, str]:
    """(before, word, after) of the line with the span, escaped; a tab becomes one space."""
    start = max(0, min(span[0], len(source)))
    end = max(start, min(span[1], len(source)))
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", start)
    last = len(source) if last < 0 else last
    parts = source[first:start], source[start : min(end, last)], source[min(end, last) : last]
    before, word, after = (part.rstrip("\r").replace("\t", " ") for part in parts)
    # Escape only what may be visible: the line can be megabytes long.
    return _tail(before), _head(word), _head(after)


def _tail(part: str) -> str:
    return (ELLIPSIS if len(part) > 4 * DEFAULT_WIDTH else "") + escape(part[-4 * DEFAULT_WIDTH :])


def _head(part: str) -> str:
    return escape(part[: 4 * DEFAULT_WIDTH]) + (ELLIPSIS if len(part) > 4 * DEFAULT_WIDTH else "")


def _window(before: str, word: str, after: str, cells: int) -> tuple[str, str, str]:
    """The three parts cut to this many cells, keeping the word whole if it fits."""
    if width(before + word + after) <= cells:
        return before, word, after
    word = _keep_start(word, cells - 8)
    rest = cells - width(word)
    behind = min(width(after), rest // 3)
    before = _keep_end(before, rest - behind)
    return before, word, _keep_start(after, cells - width(before) - width(word))


def _keep_start(part: str, cells: int) -> str:
    return cut(text(part), cells).plain


def _keep_end(part: str, cells: int) -> str:
    return _keep_start(part[::-1], cells)[::-1]


_COMMAND_LINE = re.compile(r"(To [a-z0-9, ]+: )\S")
MAX_MESSAGE = 2_000  # characters; longer messages are cut


def _labeled(label: Text, message: str, room: int | None) -> Iterator[Text]:
    message = _short(message)
    first, *rest = message.split("\n") if message else [""]
    yield from hang(label + text(first), room, len(MARGIN))
    for line in rest:
        yield from hang(text(MARGIN) + text(line), room, len(MARGIN))


def _short(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + ELLIPSIS


def _usage(usage: str, room: int | None) -> Iterator[Text]:
    label = text("usage: ", "hint")
    cells = (room or 10**6) - label.width
    lines = [piece for line in usage.splitlines() for piece in wrap(text(line), cells)]
    for number, line in enumerate(lines):
        yield (text(" " * label.width) if number else label) + line
