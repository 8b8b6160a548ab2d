"""The documentation of a config key below the menu: type, values, and the text of the broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prompt_toolkit.formatted_text import StyleAndTextTuples

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigType, ResourceType
from kafka_shell.common.config_units import format_config_value
from kafka_shell.output.text import Text, cut, text, width, wrap
from kafka_shell.view.view import ClusterView, ConfigDoc

STYLE = "class:documentation"
HEADING = "class:documentation class:key"
_LINES = ((24, 5), (16, 3), (10, 1))  # rows of the terminal -> lines of documentation


def lines_for(rows: int) -> int:
    """Return the number of documentation lines for a terminal height."""
    return next((lines for least, lines in _LINES if rows >= least), 0)


def documentation_pane(
    view: ClusterView,
    kind: ResourceType,
    resource: ConfigResource | None,
    key: str,
    columns: int,
    lines: int,
) -> StyleAndTextTuples:
    """Return exactly `lines` lines about a key, so that the height of the menu stays the same."""
    doc = view.docs(kind).get(key)
    entry = view.entries(resource).get(key) if resource else None
    body = list(_body(doc, max(2, columns - 2))) if doc else []
    return _drawn(key, _heading(key, doc, entry), body, columns, lines)


def described(key: str, heading: str, about: str, columns: int, lines: int) -> StyleAndTextTuples:
    """Return the same for a key without documentation of a broker: a quota or client config."""
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


def full_text(
    view: ClusterView, kind: ResourceType, resource: ConfigResource | None, key: str
) -> Callable[[int], Iterator[str]]:
    """Return a function from columns to the lines of the full documentation."""
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
    """Return a line in the same style."""
    return [(STYLE, _filled(f" {cut(text(words), max(2, columns - 2)).plain}", columns))]


def _filled(line: str, columns: int) -> str:
    return line + " " * max(0, columns - width(line))


def _heading(key: str, doc: ConfigDoc | None, entry: ConfigEntry | None) -> str:
    """`long · now 7d (dynamic topic) · default 7d · read-only`."""
    config = entry or doc
    if config is None:
        return ""
    return " · ".join(filter(None, [
        config.type.name.lower() if config.type is not ConfigType.UNKNOWN else "",
        _now(entry) if entry else "",
        f"default {value_with_units(key, doc.type, doc.default)}"
        if doc and doc.default is not None
        else "",
        "sensitive" if config.sensitive else "",
        "read-only" if config.read_only else "",
    ]))  # fmt: skip


def _now(entry: ConfigEntry) -> str:
    if entry.sensitive or entry.value is None:
        return ""
    value = f"now {value_with_units(entry.name, entry.type, entry.value)}"
    return f"{value}, set here" if entry.overridden else f"{value} ({_whose(entry)})"


def _whose(entry: ConfigEntry) -> str:
    return entry.source.label.removesuffix(" config").lower()


def value_with_units(key: str, kind: ConfigType, raw: str) -> str:
    """Return a value with units, and the raw value if different; `""` for the empty string."""
    if not raw:
        return '""'
    friendly = format_config_value(key, kind, raw)
    return raw if friendly == raw else f"{friendly} ({raw})"


def _body(doc: ConfigDoc, room: int) -> Iterator[Text]:
    if not doc.text:
        yield text("No documentation available.")
    for line in doc.text.splitlines():
        yield from wrap(text(line), room)
