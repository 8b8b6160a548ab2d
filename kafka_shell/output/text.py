"""Text made of parts with roles, measured in terminal cells. A StyledStream adds the colors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from kafka_shell.base.text import escape

Role = Literal[
    "",
    "heading",
    "good",
    "warning",
    "bad",
    "dim",
    "key",
    "value",
    "override",
    "default",
    "sensitive",
    "read-only",
    "added",
    "removed",
    "error",
    "hint",
    "pointer",
    "name",
    "json",
    "yaml",
    "xml",
    "properties",
    "sql",
]
# Colored by output.syntax: parts of a diff, and languages.
SYNTAX: tuple[Role, ...] = ("added", "removed", "json", "yaml", "xml", "properties", "sql")

ELLIPSIS = "…"


class Text(Struct, frozen=True):
    """A line, or a piece of one: parts of (role, characters). Build it with `text` and `+`."""

    parts: tuple[tuple[Role, str], ...] = ()

    @property
    def plain(self) -> str:
        """The characters alone."""
        return "".join([part for _, part in self.parts])

    @property
    def width(self) -> int:
        """Terminal cells."""
        return width(self.plain)

    def __add__(self, other: Text | str) -> Text:
        return Text(self.parts + (text(other).parts if isinstance(other, str) else other.parts))

    def __bool__(self) -> bool:
        return any(part for _, part in self.parts)


def text(value: str, role: Role = "") -> Text:
    """Text in a role, with control, invisible and bidirectional characters escaped."""
    return Text(((role, escape(value)),)) if value else Text()


def join(separator: str, pieces: Iterable[Text]) -> Text:
    """The pieces joined by a plain separator."""
    parts: list[tuple[Role, str]] = []
    for number, piece in enumerate(pieces):
        if number:
            parts.append(("", separator))
        parts.extend(piece.parts)
    return Text(tuple(parts))


def width(value: str) -> int:
    """Terminal cells of printable characters."""
    if value.isascii() or value.replace(ELLIPSIS, "").isascii():
        return len(value)
    return sum(map(_cells, value))


def _cells(char: str) -> int:
    if char < "\u0300":
        return 1
    from wcwidth import wcwidth

    return max(0, wcwidth(char))


def pad(line: Text, cells: int, align: Literal["left", "right"] = "left") -> Text:
    """The line padded with spaces to this many cells; longer lines are unchanged."""
    missing = cells - line.width
    if missing <= 0:
        return line
    space = Text((("", " " * missing),))
    return line + space if align == "left" else space + line


def cut(line: Text, cells: int) -> Text:
    """The line cut to at most this many cells, ending in `…` if cut."""
    if line.width <= cells:
        return line
    kept, _ = _split(line, max(0, cells - 1))
    role = kept.parts[-1][0] if kept.parts else ""
    return kept + Text(((role, ELLIPSIS),))


def cut_start(line: Text, cells: int) -> Text:
    """The line cut to at most this many cells, beginning with `…` if cut: a path keeps its end."""
    excess = line.width - cells
    if excess <= 0:
        return line
    _, kept = _split(line, excess)
    while kept and kept.width >= cells:  # also makes room for the ellipsis
        _, kept = _split_at(kept, 1)
    role = kept.parts[0][0] if kept.parts else ""
    return Text(((role, ELLIPSIS),)) + kept


def wrap(line: Text, cells: int) -> list[Text]:
    """Lines of at most this many cells, broken after a space or comma if possible."""
    if line.width <= cells:
        return [line]
    return list(map(rstrip, _slices(line, _places(line.plain, max(1, cells))))) or [line]


def hang(line: Text, cells: int | None, indent: int) -> Iterator[Text]:
    """The line wrapped to this many cells, with all lines but the first indented."""
    if cells is None or line.width <= cells or cells < 3 * indent:
        yield line
        return
    first, rest = _split_at(line, _break(line.plain, cells))
    yield rstrip(first)
    for piece in wrap(_lstrip(rest), cells - indent):
        yield text(" " * indent) + piece


def paragraphs(prose: str, cells: int, role: Role = "") -> Iterator[Text]:
    """The lines of a text, each wrapped; blank lines are kept."""
    for line in prose.strip().splitlines():
        yield from wrap(text(line.strip().replace("\t", " "), role), cells)


def rstrip(line: Text) -> Text:
    """The line without spaces at its end."""
    if line.parts and line.parts[-1][1][-1:] not in ("", " "):
        return line
    return _split_at(line, len(line.plain.rstrip(" ")))[0]


def _lstrip(line: Text) -> Text:
    return _split_at(line, len(line.plain) - len(line.plain.lstrip(" ")))[1]


def _places(plain: str, cells: int) -> Iterator[tuple[int, int]]:
    """The start and the end of each line. Lines begin without spaces."""
    start = 0
    while start < len(plain):
        end = _break(plain, cells, start)
        yield start, end
        start = end
        while plain[start : start + 1] == " ":
            start += 1


def _break(plain: str, cells: int, start: int = 0) -> int:
    """The index to break at: after the last space that fits, else the last comma, else at the
    width. The end if all fits."""
    used = 0
    for full in range(start, len(plain)):
        used += _cells(plain[full])
        if used > cells:
            break
    else:
        return len(plain)
    full = max(start + 1, full)
    if plain[full : full + 1] == " ":
        return full
    for stops in (" ", ",;"):
        for index in range(full, start + (full - start) // 3, -1):
            if plain[index - 1] in stops:
                return index
    return full


def _slices(line: Text, places: Iterable[tuple[int, int]]) -> Iterator[Text]:
    """The pieces of the line between these indexes, which ascend."""
    parts, offset = deque(line.parts), 0
    for start, end in places:
        piece: list[tuple[Role, str]] = []
        while parts and offset < end:
            role, part = parts[0]
            if offset + len(part) > start:
                piece.append((role, part[max(0, start - offset) : end - offset]))
            if offset + len(part) > end:
                break
            offset += len(part)
            parts.popleft()
        yield Text(tuple(piece))


def _split(line: Text, cells: int) -> tuple[Text, Text]:
    plain = line.plain
    if plain.isascii():
        return _split_at(line, cells)
    used = 0
    for index, char in enumerate(plain):
        used += _cells(char)
        if used > cells:
            return _split_at(line, index)
    return line, Text()


def _split_at(line: Text, index: int) -> tuple[Text, Text]:
    head, tail = _slices(line, ((0, index), (index, len(line.plain))))
    return head, tail
