"""The history file of the prompt: mode 0600, without lines that contain secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property
from pathlib import Path

from prompt_toolkit.auto_suggest import AutoSuggest, Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.history import History

from kafka_shell.admin.configs.model import ResourceType
from kafka_shell.base.files import open_private, shipped_folder
from kafka_shell.base.text import SECRET_WORD, masked, without_quotes
from kafka_shell.history import read
from kafka_shell.view.view import ClusterView

LIMIT = 10_000  # entries loaded; the file is never truncated

# A value after one of these words is a secret, but not a path (`--password-file`) or a key without
# a value (`--delete-config ssl.key.password`).
_SECRET = re.compile(
    rf"""{SECRET_WORD}
        (?![\w.-]*file)[\w.-]*
        (?:\s*=\s*\S | (?<=-password)\s+[^\s-] | (?<=-secret)\s+[^\s-] | (?<=-hmac)\s+[^\s-])""",
    re.IGNORECASE | re.VERBOSE,
)


_SET = re.compile(r"([\w.-]+)\s*=\s*\S")
_OF_BROKERS = re.compile(r"--broker|\bbrokers\b")


def holds_secret(text: str, view: ClusterView | None = None) -> bool:
    """Return whether a line contains a secret. Configs that are sensitive in `view` are secrets,
    and so are unknown broker configs, which may belong to plugins.
    """
    unquoted = without_quotes(text)
    if _SECRET.search(text) or _SECRET.search(unquoted) or masked(text) != text:
        return True
    if view is None:
        return False
    keys = _SET.findall(unquoted)
    known = [part.value for part in view.documentation.values()]
    if any(docs[key].sensitive for key in keys for docs in known if key in docs):
        return True
    broker_docs = view.documentation.get(ResourceType.BROKER)
    if broker_docs is None or not broker_docs.value or not _OF_BROKERS.search(unquoted):
        return False
    return any("." in key and not any(key in docs for docs in known) for key in keys)


class PrivateHistory(History):
    """The history file, in the format of prompt_toolkit (see `kafka_shell.history`)."""

    def __init__(
        self,
        path: Path,
        say: Callable[[str], None] = lambda note: None,
        view: Callable[[], ClusterView | None] = lambda: None,
    ) -> None:
        super().__init__()
        self._view = view
        self._path = path
        self._say = say
        self._writable = True

    def load_history_strings(self) -> Iterable[str]:
        """Return the entries, newest first."""
        try:
            lines = read(self._path)
        except OSError:
            return []
        return [line.text for line in reversed(lines[-LIMIT:])]

    def append_string(self, string: str) -> None:
        """Add a line unless it starts with a space or contains a secret, because entries are shown
        again with Up and as suggestions."""
        if not string.startswith(" ") and not holds_secret(string, self._view()):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        """Write an entry to the file."""
        if not self._writable:
            return
        rows = "".join(f"+{row}\n" for row in string.split("\n"))
        try:
            with open_private(self._path, "a") as file:
                file.write(f"\n# {datetime.now().astimezone()}\n{rows}")
        except OSError as error:
            self._writable = False
            self._say(f"history is not saved: {self._path}: {error.strerror}")


# Suggestions (gray text after the cursor) from the history and from starter sessions.


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
        self._folder = folder or shipped_folder("history")
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
