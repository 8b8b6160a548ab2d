"""One's own lines, kept in a file of one's own: 0600, and never a secret in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from prompt_toolkit.history import History

from kafka_shell.context import open_private
from kafka_shell.history import read
from kafka_shell.nouns.masking import masked

LIMIT = 10_000  # lines that are offered again; the file itself is left to its owner

# A value that follows one of these words is a secret. A path (`--password-file`) is none, and
# neither is a key that is only named (`--delete-config ssl.key.password`).
_SECRET = re.compile(
    r"""(?:password|passphrase|passwd|secret|jaas|hmac|\btoken|keystore\.key)
        (?![\w.-]*file)[\w.-]*
        (?:\s*=\s*\S | (?<=-password)\s+[^\s-] | (?<=-secret)\s+[^\s-] | (?<=-hmac)\s+[^\s-])""",
    re.IGNORECASE | re.VERBOSE,
)


def holds_secret(text: str) -> bool:
    """Whether a line holds what must not be written down."""
    return _SECRET.search(text) is not None or masked(text) != text


class PrivateHistory(History):
    """The history file, in prompt_toolkit's own format (see `kafka_shell.history`)."""

    def __init__(self, path: Path, say: Callable[[str], None] = lambda note: None) -> None:
        super().__init__()
        self._path = path
        self._say = say
        self._writable = True
        self._set_aside_if_broken()

    def load_history_strings(self) -> Iterable[str]:
        """The lines, the newest first."""
        try:
            lines = read(self._path)
        except OSError:
            return []
        return [line.text for line in reversed(lines[-LIMIT:])]

    def append_string(self, string: str) -> None:
        """A line was typed. One that begins with a space is not kept at all."""
        if not string.startswith(" "):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        """Write it down, unless it holds a secret: then it is kept for this session only."""
        if holds_secret(string) or not self._writable:
            return
        rows = "".join(f"+{row}\n" for row in string.split("\n"))
        try:
            with open_private(self._path, "a") as file:
                file.write(f"\n# {datetime.now()}\n{rows}")
        except OSError as error:
            self._writable = False
            self._say(f"history is not kept: {self._path}: {error.strerror}")

    def _set_aside_if_broken(self) -> None:
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            self._writable = False
            self._say(f"history is not kept: {self._path}: {error.strerror}")
            return
        if _whole(content):
            return
        aside = self._path.with_name(self._path.name + ".broken")
        self._path.replace(aside)
        self._say(f"the history file was broken; it is now {aside}, and a new one is begun")


def _whole(content: bytes) -> bool:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    return "\0" not in text and all(row[:1] in ("", "#", "+") for row in text.split("\n"))
