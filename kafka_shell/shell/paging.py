"""Output longer than the screen goes through a pager; a command that is slow is not held back."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TextIO

from kafka_shell.output.pane import PipeClosed
from kafka_shell.output.terminal import Cleaned, draw

PATIENCE_S = 0.25  # output waits so long for more of it before it is shown without a pager
# Rows around an answer: the line that was typed, the next prompt, its toolbar, and a note (a count,
# a warning).
PROMPT_ROWS = 4
Size = Callable[[], tuple[int, int]]

LESS_PROMPT = "q leaves, space goes on"
# K: Ctrl-C leaves. No F: what is paged fits the screen perhaps, but not with the next prompt below
# it. The prompt is set for each of less's three lengths: $LESS may choose one.
_LESS = ["-RXK", "-+F", *(f"-P{length}{LESS_PROMPT}" for length in "smM")]
# What is typed into a pager must neither run programs nor write files, whoever chose the pager.
_SECURE = {"LESSSECURE": "1"}


class Paged(Cleaned):
    """Standard output of one session. `during()` is one command.

    What a command writes at once is held until it fills the screen (then a pager takes it all) or
    the command ends, asks, fails or is slow (then it is written as it is).
    """

    def __init__(
        self,
        stream: TextIO,
        environ: Mapping[str, str],
        size: Size,
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(stream)
        self._environ = environ
        self._size = size
        self._wanted = wanted
        self._lock = threading.RLock()
        self._held: list[str] | None = None  # None: written as it comes
        self._rows = 0
        self._pager: subprocess.Popen[str] | None = None
        self._timer: threading.Timer | None = None
        self._after: list[tuple[TextIO, str]] = []

    @contextmanager
    def during(self) -> Iterator[None]:
        """One command: its output is paged where it is long."""
        self._held, self._rows = [], 0
        try:
            yield
        finally:
            self.direct()
            self._leave_pager()

    def direct(self) -> None:
        """From here on this command writes straight to the terminal."""
        with self._lock:
            held, self._held = self._held, None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if held and self._pager is None:
                draw(self._stream, "".join(held))
            self._stream.flush()

    def aside(self, stream: TextIO, text: str) -> None:
        """Write to another stream of the terminal, in order: after what is held, or the pager."""
        with self._lock:
            if self._pager is not None:
                self._after.append((stream, text))
                return
            if self._held:
                self.direct()
            draw(stream, text)

    # -- a stream ----------------------------------------------------------------------------------

    def flush(self) -> None:
        """What is held stays held."""
        if self._held is None and self._pager is None:
            self._stream.flush()

    def draw(self, characters: str) -> None:
        """Hold, show or hand on. PipeClosed when the pager was left."""
        with self._lock:
            if self._pager is not None:
                self._feed(characters)
            elif self._held is None:
                draw(self._stream, characters)
            else:
                self._hold(characters)

    def _hold(self, text: str) -> None:
        assert self._held is not None
        self._held.append(text)
        self._rows += text.count("\n")
        if self._rows > max(1, self._size()[0] - PROMPT_ROWS):
            self._page()
        elif self._timer is None:
            self._timer = threading.Timer(PATIENCE_S, self.direct)
            self._timer.daemon = True
            self._timer.start()

    # -- the pager ---------------------------------------------------------------------------------

    def _page(self) -> None:
        command = pager_command(self._environ)
        if command is None or not self._wanted():
            self.direct()
            return
        text = "".join(self._held or ())
        try:
            self._pager = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env={"LV": "-c", **self._environ, **_SECURE},
            )
        except OSError:
            self.direct()
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._held = None
        self._feed(text)

    def _feed(self, text: str) -> None:
        assert self._pager is not None and self._pager.stdin is not None
        try:
            self._pager.stdin.write(text)
            self._pager.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise PipeClosed from None

    def _leave_pager(self) -> None:
        pager, self._pager = self._pager, None
        if pager is not None and pager.stdin is not None:
            with suppress(BrokenPipeError), _deaf_to_interrupts():
                pager.stdin.close()
            with _deaf_to_interrupts():
                pager.wait()
        after, self._after = self._after, []
        for stream, text in after:
            draw(stream, text)


class Beside(Cleaned):
    """Standard error of one session: never overtakes what was written before it on the other."""

    def __init__(self, stream: TextIO, paged: Paged) -> None:
        super().__init__(stream)
        self._paged = paged

    def draw(self, characters: str) -> None:
        """Write after what came before."""
        self._paged.aside(self._stream, characters)


def pager_command(environ: Mapping[str, str]) -> list[str] | None:
    """$PAGER, else less, else our own; None where the user wants none."""
    chosen = environ.get("PAGER")
    if chosen is not None:
        words = shlex.split(chosen)
        if words and os.path.basename(words[0]) == "less":  # noqa: PTH119
            return [words[0], *_LESS, *words[1:]]
        return None if not words or words == ["cat"] else words
    if shutil.which("less", path=environ.get("PATH")):
        return ["less", *_LESS]
    return [sys.executable, "-I", "-c", _OWN]  # -I: no module of the current directory


# Where there is no less: a screen, a key, the next screen. Its own process, so that Ctrl-C, a
# closed pipe and the end of the text mean what they mean to any pager.
_OWN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
rows = max(2, os.get_terminal_size(1).lines - 1)
keys = open("/dev/tty")
for number, line in enumerate(sys.stdin, 1):
    sys.stdout.write(line)
    if number % rows == 0:
        sys.stdout.write("-- more: Enter, or q to leave -- ")
        sys.stdout.flush()
        if keys.readline().strip().lower().startswith("q"):
            break
"""


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ctrl-C belongs to the pager while it is up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def typed_ahead(descriptor: int) -> bool:
    """Whether something waits to be read from a terminal, be it only the begin of a line."""
    try:
        before = termios.tcgetattr(descriptor)
        each_letter = [*before]
        each_letter[3] &= ~termios.ICANON  # else a line without its end does not count
        termios.tcsetattr(descriptor, termios.TCSANOW, each_letter)
        try:
            return bool(select.select([descriptor], [], [], 0)[0])
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
    except (OSError, ValueError, termios.error):
        return False


def terminal_size(stream: TextIO) -> tuple[int, int]:
    """(rows, columns) of the terminal behind a stream."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 24, 80
    return size.lines or 24, size.columns or 80
