"""A pseudo-terminal and an emulation of its screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pyte

from tests.support.waiting import wait_for

PATIENCE = 30.0
KEYS = {
    "enter": "\r", "tab": "\t", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "f1": "\x1bOP",
    "f4": "\x1bOS", "escape": "\x1b", "c-c": "\x03", "c-d": "\x04", "c-r": "\x12", "c-u": "\x15",
}  # fmt: skip


class Terminal:
    """`kafka.sh` in a terminal of so many rows and columns. Its home is a folder of the test's."""

    def __init__(
        self, home: Path, *arguments: str, rows: int = 40, columns: int = 120, **environ: str
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=5000)
        self.screen.write_process_input = self._answer  # type: ignore[method-assign]
        self._stream = pyte.ByteStream(self.screen)
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "JAVA_HOME") if key in os.environ}
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "kafka_shell", *arguments],
            env={**kept, "TERM": "xterm-256color", "KAFKA_SH_HOME": str(home), "LANG": "C.UTF-8",
                 "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environ},
            dimensions=(rows, columns),
            timeout=PATIENCE,
        )  # fmt: skip

    def _answer(self, data: str) -> None:
        """What a terminal says when it is asked where its cursor is."""
        self.child.send(data)

    # -- doing -------------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Letters, as a person types them."""
        self.child.send(text)

    def press(self, *keys: str) -> None:
        """Keys by name."""
        for key in keys:
            self.child.send(KEYS[key])

    def paste(self, text: str) -> None:
        """A bracketed paste."""
        self.child.send(f"\x1b[200~{text}\x1b[201~")

    def run(self, line: str) -> None:
        """Type a line, see that it stands there, and press Enter."""
        self.type(line)
        self.until(lambda: line in self.line)
        self.press("enter")

    def resize(self, rows: int, columns: int) -> None:
        """Another size of the window."""
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def close(self) -> None:
        """Hang up."""
        self.child.close(force=True)

    # -- seeing ------------------------------------------------------------------------------------

    @property
    def rows(self) -> list[str]:
        """What stands on the screen."""
        return [row.rstrip() for row in self.screen.display]

    @property
    def text(self) -> str:
        """The screen as one text."""
        return "\n".join(self.rows)

    @property
    def everything(self) -> str:
        """What has scrolled away, and the screen."""
        gone = ["".join(row[column].data for column in range(self.screen.columns)).rstrip()
                for row in self.screen.history.top]  # fmt: skip
        return "\n".join([*gone, *self.rows])

    @property
    def line(self) -> str:
        """The row the cursor is in, and the one before: a long line is wrapped."""
        at = self.screen.cursor.y
        return "".join(self.rows[max(0, at - 1) : at + 1])

    def style_of(self, word: str) -> pyte.screens.Char:
        """How the first letter of a word on the screen is drawn."""
        for number, row in enumerate(self.screen.display):
            if word in row:
                return self.screen.buffer[number][row.index(word)]
        raise AssertionError(f"{word!r} is not on the screen:\n{self.text}")

    def until(self, condition: Callable[[], bool], what: str = "") -> None:
        """Read until the condition holds."""

        def holds() -> bool:
            if not condition():
                self._read()
            return condition()

        wait_for(lambda: f"it is {what or 'so'}; the screen is:\n{self.text}", holds, PATIENCE)

    def sees(self, *words: str) -> None:
        """Read until all the words are on the screen."""
        self.until(lambda: all(word in self.text for word in words), f"seen {words}")

    def misses(self, *words: str) -> None:
        """Read until none of the words is on the screen."""
        self.until(lambda: not any(word in self.text for word in words), f"without {words}")

    def at_prompt(self) -> None:
        """Read until an empty prompt waits, the view is there, or it is said why not."""
        self.until(lambda: self.rows[self.screen.cursor.y].rstrip().endswith(">"), "at the prompt")

    def ends(self) -> int:
        """Read until the program has ended; its exit status."""
        while True:
            try:
                self._stream.feed(self.child.read_nonblocking(4096, timeout=PATIENCE))
            except pexpect.EOF:
                break
        self.child.close()
        return int(self.child.exitstatus)

    def _read(self) -> None:
        try:
            self._stream.feed(self.child.read_nonblocking(65536, timeout=0.2))
        except pexpect.TIMEOUT:
            pass
        except pexpect.EOF:
            raise AssertionError(f"the program has ended; the screen is:\n{self.text}") from None


Open = Callable[..., Terminal]


def top(open_terminal: Open, bootstrap: str, *words: str, **how: object) -> Terminal:
    terminal = open_terminal("--broker", bootstrap, "top", "--interval", "300ms", *words, **how)
    terminal.sees("quit", "every 0.3 s")
    return terminal


def cell(terminal: Terminal, name: str, column: int) -> str:
    """A cell of the row of this name."""
    row = next((row for row in terminal.rows if row.startswith(name)), "")
    cells = row.split()
    return cells[column] if len(cells) > column else ""
