"""Suggestions (gray text after the cursor) from the history and from starter sessions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from prompt_toolkit.auto_suggest import AutoSuggest, Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document


def starter_folder() -> Path:
    """Return the folder of the starter sessions: in the wheel or in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "data" / "history"
    return inside if inside.is_dir() else package.parent / "history"


def starter_lines(folder: Path) -> list[str]:
    """Return the lines of all sessions without comments, in the order of file names."""
    lines: dict[str, None] = {}
    for path in sorted(folder.glob("*.kafka")) if folder.is_dir() else ():
        for row in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if row.strip() and not row.startswith("#"):
                lines[row.strip()] = None
    return list(lines)


class Suggest(AutoSuggest):
    """Suggests the newest matching line of the history, or else the first starter line.

    Lines of the history that are not `usable` (they are invalid) are ignored.
    """

    def __init__(
        self, folder: Path | None = None, usable: Callable[[str], bool] = lambda line: True
    ) -> None:
        self._folder = folder or starter_folder()
        self._usable = usable

    @cached_property
    def _starters(self) -> list[str]:
        return starter_lines(self._folder)

    def get_suggestion(self, buffer: Buffer, document: Document) -> Suggestion | None:
        """Return the rest of the suggested line, or None."""
        text = document.text
        if not text.strip() or "\n" in text:
            return None
        for line in reversed(buffer.history.get_strings()):
            if line.startswith(text) and "\n" not in line and self._usable(line):
                return Suggestion(line[len(text) :])
        for line in self._starters:
            if line.startswith(text):
                return Suggestion(line[len(text) :])
        return None
