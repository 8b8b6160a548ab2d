"""The layout of the rows below the prompt: menu, documentation and toolbar."""

from __future__ import annotations

import time

from msgspec import Struct
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.styles import BaseStyle, Style
from prompt_toolkit.styles.style import parse_color
from prompt_toolkit.utils import get_cwidth
from pygments.token import STANDARD_TYPES

from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import escape, printable
from kafka_shell.base.units import counted
from kafka_shell.context import Context
from kafka_shell.identity import known_guard
from kafka_shell.output.resource_kinds import hint_of
from kafka_shell.output.text import Text, cut
from kafka_shell.output.theme import Theme
from kafka_shell.settings import Settings
from kafka_shell.shell.completer import (
    Offer,
    ShellCompleter,
    described,
    documentation_pane,
    lines_for,
    note,
)
from kafka_shell.shell.lexer import TOKENS
from kafka_shell.view.cache import Cache, CacheState
from kafka_shell.view.view import ClusterView, TopicIndex

# The toolbar: cluster, size, health, and age of the cached view.

PLAIN = "class:toolbar"
WARNING = "class:toolbar-warning"
GAP = "  "
HINTS = ("F1 help", "^R search", "F4 vi", "^D exit")
NEEDED = ("F1 help", "^D exit")  # without a connection these are shown instead of old data
_OLD = 5  # rank from which on segments are old data without a connection
_SPARE = 10  # rank of what is shown only beside all hints


class Segment(Struct, frozen=True):
    """A part of the toolbar. Segments with a high `rank` are dropped first on a narrow terminal."""

    text: str
    rank: int
    style: str = PLAIN


def toolbar(
    view: ClusterView,
    state: CacheState,
    columns: int,
    *,
    guard: str = "",
    vi: str = "",
    progress: str = "",
) -> StyleAndTextTuples:
    """Return the toolbar in at most `columns` cells. `vi` is the vi mode, or empty with emacs keys;
    `progress` is that of background tasks."""
    every = [*_segments(view, state, guard, vi), Segment(progress, 4)]
    segments = [replace(part, text=escape(part.text)) for part in every if part.text]
    room = columns - 2
    needed = NEEDED if state.failure is not None else ()
    while len(segments) > 1:
        last = max(segments, key=lambda segment: segment.rank)
        beside = HINTS if last.rank == _SPARE else needed if last.rank >= _OLD else ()
        if _width(segments) + (len(GAP.join(("", "", *beside))) if beside else 0) <= room:
            break
        segments.remove(last)
    pieces: StyleAndTextTuples = [(PLAIN, " ")]
    used = 0
    for number, segment in enumerate(segments):
        gap = GAP if number else ""
        text = _cut(segment.text, room - used - len(gap))
        pieces += [(PLAIN, gap), (segment.style, text)]
        used += len(gap) + get_cwidth(text)
    hints = _hints(room - used - 2 * len(GAP), vi)
    pieces.append((PLAIN, " " * max(0, room - used - get_cwidth(hints)) + hints))
    return pieces


def _segments(view: ClusterView, state: CacheState, guard: str, vi: str) -> list[Segment]:
    topics = view.topics.value
    known = bool(view.read_at)
    failing = "unreachable" if state.unreachable else "not refreshed"
    return [
        Segment(view.name, 0),
        Segment(f"{failing} since {_clock(state.since)}" if state.failure else "", 1, WARNING),
        Segment(state.failure.message if state.failure else "", 4, WARNING),
        Segment(f"{topics.offline:,} offline" if topics.offline else "", 2, WARNING),
        Segment(_under_replicated(topics), 3, WARNING),
        Segment(_guard(guard), 2, WARNING),
        Segment(counted(len(view.brokers.value), "broker") if known else "", 6),
        Segment(counted(len(topics), "topic") if len(topics) or known else "", 5),
        Segment(_age(view), 7),
        Segment(_reading(view, state), 8),
        Segment(vi, 9),
        Segment(f"Kafka {view.version}" if known and view.version else "", _SPARE),
    ]


def _under_replicated(topics: TopicIndex) -> str:
    if not topics.under_replicated:
        return ""
    what = "not in sync or being reassigned" if topics.reassignments_unread else "under-replicated"
    return f"{topics.under_replicated:,} {what}"


def _guard(guard: str) -> str:
    return {"confirm": "guard: confirm", "typed": "guard: typed", "read-only": "read-only"}.get(
        guard, guard
    )


def _age(view: ClusterView) -> str:
    """Return the time of the view. An age in seconds would be wrong without redraws."""
    if view.read_at:
        return f"as of {_clock(view.read_at)}"
    return "from the last session" if len(view.topics.value) else ""


def _reading(view: ClusterView, state: CacheState) -> str:
    if not state.reading:
        return ""
    if not view.read_at:
        return "connecting…"
    return f"loading {state.reading[0]}…"


def _hints(room: int, vi: str) -> str:
    hints = [hint for hint in HINTS if not (vi and hint == "F4 vi")]
    while hints and len(GAP.join(hints)) > room:
        spare = [hint for hint in hints if hint not in NEEDED]
        hints.remove((spare or hints)[-1])
    return GAP.join(hints)


def _clock(when: float) -> str:
    """The time with the day: what is drawn may be read on the next day."""
    return time.strftime("%a %H:%M", time.localtime(when))


def _width(segments: list[Segment]) -> int:
    return sum(get_cwidth(segment.text) for segment in segments) + len(GAP) * (len(segments) - 1)


def _cut(text: str, room: int) -> str:
    return cut(Text((("", text),)), room).plain if room > 0 else ""


MENU_ROWS = 8
MOST_MENU_ROWS = 24


def menu_rows(rows: int, candidates: int = 0) -> int:
    """Return the number of rows for the menu, depending on the candidates and the terminal."""
    wanted = min(max(MENU_ROWS, candidates), MOST_MENU_ROWS)
    return max(0, min(wanted, rows - lines_for(rows) - 3))


def bottom(
    cache: Cache,
    settings: Settings,
    completer: ShellCompleter,
    buffer: Buffer,
    *,
    rows: int,
    columns: int,
    guard: str = "",
    progress: str = "",
) -> StyleAndTextTuples:
    """Return the toolbar; above it what could not be read, and the documentation of the current
    key."""
    line = toolbar(
        cache.view,
        cache.state,
        columns,
        guard=guard,
        vi=settings.editing_mode if settings.editing_mode == "vi" else "",
        progress=progress,
    )
    lines = lines_for(rows)
    if not lines:
        return line
    if unread := completer.unread(buffer.document):
        line = [*note(unread, columns), ("", "\n"), *line]
        lines -= 1
    if about := _about(cache, completer, buffer, columns, lines):
        line = [*about, ("", "\n"), *line]
    return line


def _about(
    cache: Cache, completer: ShellCompleter, buffer: Buffer, columns: int, lines: int
) -> StyleAndTextTuples:
    """Return the documentation of the current key, or the topics that match a glob."""
    if not lines:
        return []
    highlighted = _highlighted(buffer)
    subject = completer.subject(buffer.document, highlighted)
    if subject is not None:
        return documentation_pane(cache.view, *subject, columns, lines)
    known = completer.known(buffer.document, highlighted)
    if known is not None:
        return described(*known, columns, lines)
    selected = completer.preview(buffer.document)
    return note(selected, columns) if selected else []


def _highlighted(buffer: Buffer) -> str:
    """Return the highlighted candidate, or the first one."""
    state = buffer.complete_state
    if state is None or not state.completions:
        return ""
    chosen = state.current_completion or state.completions[0]
    return chosen.name if isinstance(chosen, Offer) else ""


def continuation(width: int, line: int, wrapped: int) -> str:
    """Return the prompt of the second and later lines; wrapped lines have none."""
    return "" if wrapped else "· ".rjust(width)


# The texts around the prompt: the banner, the prompt itself, and help if no broker answers.

TRY = ("health", "topics", "help")
HINT = "   Tab: complete, F1: help, Ctrl-D: exit"
SANDBOX = "kafka.sh --sandbox"


def lines(settings: Settings, columns: int, about: str = "") -> StyleAndTextTuples:
    """Return the banner: the cluster, what is known `about` it, and three commands to try."""
    where = ",".join(map(str, settings.connection.bootstrap))
    name = ", ".join(filter(None, (settings.label or settings.profile, about)))
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


# Convert a theme to a prompt_toolkit style.

# prompt_toolkit class -> role of the theme
_CLASSES = {
    "completion-menu": "menu",
    "completion-menu.completion": "menu",
    "completion-menu.completion.current": "menu-current",
    "completion-menu.meta.completion": "menu-meta",
    "completion-menu.meta.completion.current": "menu-meta-current",
    "completion-menu.multi-column-meta": "menu-meta",
    "scrollbar.background": "menu-meta",
    "auto-suggestion": "suggestion",
    "bottom-toolbar": "toolbar",
    "search": "prompt-read-only",
}


# Output roles that mark a candidate in the menu. The highlighted row has its own style.
_MARKS = ("override", "warning", "bad", "dim", "key", "hint")


def style_of(theme: Theme, *, color: bool = True) -> BaseStyle:
    """Return the style of the prompt; without color only bold, underline and reverse are used."""
    styles = {**{role: theme.output.get(role, "") for role in _MARKS}, **theme.prompt}
    styles |= {name: theme.prompt.get(role, "") for name, role in _CLASSES.items()}
    for token in (*sorted(STANDARD_TYPES), *TOKENS.values()):
        if token[:1] not in ((), ("Text",)):  # else it would color what has no token, too
            name = ".".join(("pygments", *token)).lower()  # as PygmentsLexer names it
            styles[name] = f"nobold noitalic nounderline {theme.token_style(token)}"
    styles["auto-suggestion"] = styles["auto-suggestion"] or "dim"
    if not color:
        styles = {name: _without_color(style) for name, style in styles.items()}
        styles |= {"auto-suggestion": "dim", "bottom-toolbar": "reverse"}
        styles["completion-menu.completion.current"] = "reverse"
    rules = {name: f"noreverse {style}" for name, style in styles.items() if style}
    if "menu-meta" in rules:  # unobtrusive, because it is also drawn next to short menus
        rules["scrollbar.button"] = f"{styles['menu-meta']} reverse"
    current = "completion-menu.meta.completion.current"
    for role in _MARKS:  # more specific rules come last
        rules[f"{current} {role}"] = f"{rules.get(current, '')} bold"
    return Style.from_dict({"bottom-toolbar": "noreverse", **rules})


def style_of_output(theme: Theme, *, color: bool = True) -> BaseStyle:
    """Return the style of the theme's output roles, for tables on a full screen."""
    styles = {role: style for role, style in theme.output.items() if style}
    if not color:
        styles = {role: _without_color(style) for role, style in styles.items()}
    return Style.from_dict({**styles, "selected": "reverse"})


def cleaned(fragments: StyleAndTextTuples) -> StyleAndTextTuples:
    """Remove control characters; prompt_toolkit does not remove all of them."""
    return [(style, printable(text)) for style, text, *_ in fragments]


def _without_color(style: str) -> str:
    kept = {"bold", "underline", "italic", "reverse"}
    return " ".join(word for word in style.split() if word in kept)
