"""The layout of the rows below the prompt: menu, documentation and toolbar."""

from __future__ import annotations

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples

from kafka_shell.settings import Settings
from kafka_shell.view.cache import Cache

from .banner import guard_of
from .completer import Offer, ShellCompleter
from .documentation import described, lines_for, note, pane
from .toolbar import toolbar

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
    progress: str = "",
) -> StyleAndTextTuples:
    """Return the toolbar, with the documentation of the current key above it."""
    line = toolbar(
        cache.view,
        cache.state,
        columns,
        guard=guard_of(settings),
        vi=settings.editing_mode if settings.editing_mode == "vi" else "",
        progress=progress,
    )
    highlighted = _highlighted(buffer)
    subject = completer.subject(buffer.document, highlighted)
    lines = lines_for(rows)
    known = completer.known(buffer.document, highlighted) if lines and subject is None else None
    if known is not None:
        return [*described(*known, columns, lines), ("", "\n"), *line]
    if subject is None or not lines:
        selected = completer.preview(buffer.document) if lines else ""
        return [*note(selected, columns), ("", "\n"), *line] if selected else line
    kind, resource, key = subject
    return [*pane(cache.view, kind, resource, key, columns, lines), ("", "\n"), *line]


def _highlighted(buffer: Buffer) -> str:
    """Return the highlighted candidate, or the first one."""
    state = buffer.complete_state
    if state is None or not state.completions:
        return ""
    chosen = state.current_completion or state.completions[0]
    return chosen.name if isinstance(chosen, Offer) else ""
