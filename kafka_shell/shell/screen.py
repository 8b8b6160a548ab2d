"""The layout of the rows below the prompt: menu, documentation and toolbar."""

from __future__ import annotations

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples

from kafka_shell.settings import Settings
from kafka_shell.shell.completer import Offer, ShellCompleter
from kafka_shell.shell.documentation import described, documentation_pane, lines_for, note
from kafka_shell.shell.toolbar import toolbar
from kafka_shell.view.cache import Cache

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
