"""What a config key is, in a few lines below the menu: type, values, and the broker's own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prompt_toolkit.formatted_text import StyleAndTextTuples

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigType, ResourceType
from kafka_shell.config_units import format_config_value
from kafka_shell.output.text import Text, cut, text, width, wrap
from kafka_shell.view.view import ClusterView, ConfigDoc

STYLE = "class:documentation"
HEADING = "class:documentation class:key"
_LINES = ((24, 5), (16, 3), (10, 1))  # rows of the terminal -> lines that we take of them


def lines_for(rows: int) -> int:
    """How many lines the documentation gets on a terminal of so many rows."""
    return next((lines for least, lines in _LINES if rows >= least), 0)


def pane(
    view: ClusterView,
    kind: ResourceType,
    resource: ConfigResource | None,
    key: str,
    columns: int,
    lines: int,
) -> StyleAndTextTuples:
    """Exactly `lines` lines about a key, so that the menu does not jump as one moves through it."""
    doc = view.docs(kind).get(key)
    entry = view.entries(resource).get(key) if resource else None
    body = list(_body(doc, max(2, columns - 2))) if doc else []
    return _drawn(key, _heading(key, doc, entry), body, columns, lines)


def told(key: str, heading: str, about: str, columns: int, lines: int) -> StyleAndTextTuples:
    """The same of a key that no broker documents: a quota, a client's config."""
    body = list(wrap(text(about), max(2, columns - 2)))
    return _drawn(key, heading, body, columns, lines)


def _drawn(
    key: str, heading: str, body: list[Text], columns: int, lines: int
) -> StyleAndTextTuples:
    room = max(2, columns - 2)
    kept = body[: lines - 1]
    if len(body) > len(kept) and kept:
        kept[-1] = cut(kept[-1] + " …" if kept[-1].width < room - 1 else kept[-1] + "……", room)
    pieces: StyleAndTextTuples = []
    head = cut(text(f"{key}  {heading}".rstrip()), room).plain
    name, rest = head[: len(key)], head[len(key) :]
    pieces += [(HEADING, f" {name}"), (STYLE, _filled(rest, columns - 1 - width(name)))]
    for number in range(lines - 1):
        line = kept[number].plain if number < len(kept) else ""
        pieces += [("", "\n"), (STYLE, _filled(f" {line}", columns))]
    return pieces


def whole(
    view: ClusterView, kind: ResourceType, resource: ConfigResource | None, key: str
) -> Callable[[int], Iterator[str]]:
    """All about a key: columns -> lines."""
    doc = view.docs(kind).get(key)
    entry = view.entries(resource).get(key) if resource else None

    def lines(columns: int) -> Iterator[str]:
        room = max(2, columns - 2)
        for line in wrap(text(f"{key}  {_heading(key, doc, entry)}".rstrip()), room):
            yield line.plain
        for body in _body(doc, room) if doc else ():
            yield f"  {body.plain}".rstrip()

    return lines


def note(words: str, columns: int) -> StyleAndTextTuples:
    """One line of the same look."""
    return [(STYLE, _filled(f" {cut(text(words), max(2, columns - 2)).plain}", columns))]


def _filled(line: str, columns: int) -> str:
    return line + " " * max(0, columns - width(line))


def _heading(key: str, doc: ConfigDoc | None, entry: ConfigEntry | None) -> str:
    """`long · now 7d (dynamic topic) · default 7d · read-only`."""
    told = entry or doc
    if told is None:
        return ""
    return " · ".join(filter(None, [
        told.type.name.lower() if told.type is not ConfigType.UNKNOWN else "",
        _now(entry) if entry else "",
        f"default {shown(key, doc.type, doc.default)}" if doc and doc.default is not None else "",
        "sensitive" if told.sensitive else "",
        "read-only" if told.read_only else "",
    ]))  # fmt: skip


def _now(entry: ConfigEntry) -> str:
    if entry.sensitive or entry.value is None:
        return ""
    value = f"now {shown(entry.name, entry.type, entry.value)}"
    return f"{value}, set here" if entry.overridden else f"{value} ({_whose(entry)})"


def _whose(entry: ConfigEntry) -> str:
    return entry.source.label.removesuffix(" config").lower()


def shown(key: str, kind: ConfigType, raw: str) -> str:
    """A value for people, and as the wire has it where that differs; the empty one as `""`."""
    if not raw:
        return '""'
    friendly = format_config_value(key, kind, raw)
    return raw if friendly == raw else f"{friendly} ({raw})"


def _body(doc: ConfigDoc, room: int) -> Iterator[Text]:
    if not doc.text:
        yield text("The broker says nothing about it.")
    for line in doc.text.splitlines():
        yield from wrap(text(line), room)
