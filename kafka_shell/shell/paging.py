"""Page output that is longer than the screen. Output of slow commands is not paged."""

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

from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead

from kafka_shell.base.plans import Report
from kafka_shell.output.styled_stream import PipeClosed
from kafka_shell.output.terminal import SanitizedStream, draw

PATIENCE_S = 0.25  # how long output is buffered before it is shown without a pager
# Rows around the output: the command line, the next prompt, the toolbar, and a note.
PROMPT_ROWS = 4

# No colon, question mark, dot or percent sign: less gives them a meaning in a prompt.
LESS_PROMPT = "q to quit, space for the next page"
# K: Ctrl-C quits. No F: paged output may fit the screen, but not together with the next prompt. All
# three prompt lengths are set because $LESS can select one of them.
_LESS = ["-RXK", "-+F", *(f"-P{length}{LESS_PROMPT}" for length in "smM")]
# The pager must not run programs or write files.
_SECURE = {"LESSSECURE": "1"}


class PagedOutput(SanitizedStream):
    """The standard output of a prompt. `during()` is the run of one command.

    Output is buffered until it fills the screen, which starts a pager, or until the command ends,
    asks a question, fails or is slow, in which case it is written directly.
    """

    def __init__(
        self,
        stream: TextIO,
        environ: Mapping[str, str],
        most_rows: Callable[[], int],
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(stream)
        self._environ = environ
        self._most_rows = most_rows
        self._wanted = wanted
        self._at_end = False
        self._lock = threading.RLock()
        self._buffer: list[str] | None = None  # None: not buffered
        self._rows = 0
        self._pager: subprocess.Popen[str] | None = None
        self._timer: threading.Timer | None = None
        self._after: list[tuple[TextIO, str]] = []

    @contextmanager
    def during(self, *, at_end: bool = False) -> Iterator[None]:
        """Run one command, with long output paged; `at_end` shows its last page first."""
        self._buffer, self._rows, self._at_end = [], 0, at_end
        try:
            yield
        finally:
            self.direct()
            self._leave_pager()

    def before_question(self) -> None:
        """Wait until the pager is left, and write what was to follow it: the plan that the question
        is about. The rest of the output is not paged."""
        self.direct()
        self._leave_pager()

    def direct(self) -> None:
        """Write the rest of the output of this command directly to the terminal."""
        with self._lock:
            buffer, self._buffer = self._buffer, None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if buffer and self._pager is None:
                draw(self._stream, "".join(buffer))
            self._stream.flush()

    def write_after(self, stream: TextIO, text: str) -> None:
        """Write to another stream of the terminal, after buffered output or the pager."""
        with self._lock:
            if self._pager is not None:
                self._after.append((stream, text))
                return
            if self._buffer:
                self.direct()
            draw(stream, text)

    @property
    def paging(self) -> bool:
        """Whether the pager has the screen."""
        return self._pager is not None

    # -- a stream ----------------------------------------------------------------------------------

    def flush(self) -> None:
        """Flush the stream unless output is buffered."""
        if self._buffer is None and self._pager is None:
            self._stream.flush()

    def draw(self, characters: str) -> None:
        """Buffer, write, or send to the pager. Raises PipeClosed if the pager has ended."""
        with self._lock:
            if self._pager is not None:
                self._feed(characters)
            elif self._buffer is None:
                draw(self._stream, characters)
            else:
                self._hold(characters)

    def _hold(self, text: str) -> None:
        assert self._buffer is not None
        self._buffer.append(text)
        self._rows += text.count("\n")
        if self._rows > max(1, self._most_rows()):
            self._page()
        elif self._timer is None:
            self._timer = threading.Timer(PATIENCE_S, self.direct)
            self._timer.daemon = True
            self._timer.start()

    # -- the pager ---------------------------------------------------------------------------------

    def _page(self) -> None:
        command = pager_command(self._environ, at_end=self._at_end)
        if command is None or not self._wanted():
            self.direct()
            return
        text = "".join(self._buffer or ())
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
        self._buffer = None
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
            with suppress(BrokenPipeError), _ignoring_interrupts():
                pager.stdin.close()
            with _ignoring_interrupts():
                pager.wait()
        after, self._after = self._after, []
        for stream, text in after:
            draw(stream, text)


class StderrStream(SanitizedStream):
    """The standard error of a prompt, in order with its standard output."""

    def __init__(self, stream: TextIO, paged: PagedOutput) -> None:
        super().__init__(stream)
        self._paged = paged

    def draw(self, characters: str) -> None:
        """Write after buffered output."""
        self._paged.write_after(self._stream, characters)


class UnpagedReport:
    """The progress of a prompt, which is not drawn over the pager."""

    def __init__(self, report: Report, paged: PagedOutput) -> None:
        self._report = report
        self._paged = paged

    def __call__(self, task: str, done: int, total: int | None) -> None:
        """Report progress."""
        if not self._paged.paging:
            self._report(task, done, total)

    def __getattr__(self, name: str) -> Callable[..., None]:
        """`waiting` and `clear`, if the report has them."""
        method = getattr(self._report, name)
        return lambda *values: None if self._paged.paging else method(*values)


def pager_command(environ: Mapping[str, str], *, at_end: bool = False) -> list[str] | None:
    """Return the command of $PAGER, less, or the built-in pager; None for no pager. Only less opens
    `at_end`: without a pager, the end is what remains on the screen."""
    less = [*_LESS, "+G"] if at_end else _LESS
    chosen = environ.get("PAGER")
    if chosen is not None:
        try:
            words = shlex.split(chosen)
        except ValueError:  # an unbalanced quote
            return None
        if words and os.path.basename(words[0]) == "less":  # noqa: PTH119
            return [words[0], *less, *words[1:]]
        return None if at_end or not words or words == ["cat"] else words
    if shutil.which("less", path=environ.get("PATH")):
        return ["less", *less]
    # -I: do not import from the current directory
    return None if at_end else [sys.executable, "-I", "-c", _OWN]


# The built-in pager, for systems without less. It is a separate process, so that Ctrl-C and closed
# pipes work as with other pagers.
_OWN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
rows = max(2, (os.get_terminal_size(1).lines or 24) - 1)
keys = open("/dev/tty")
for number, line in enumerate(sys.stdin, 1):
    sys.stdout.write(line)
    if number % rows == 0:
        sys.stdout.write("-- more: Enter, or q to quit -- ")
        sys.stdout.flush()
        if keys.readline().strip().lower().startswith("q"):
            break
"""


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C while the pager runs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def discard_typed_ahead(keyboard: Input) -> None:
    """Discard input that was typed before now."""
    clear_typeahead(keyboard)
    with suppress(OSError, ValueError, termios.error):  # not a terminal
        termios.tcflush(keyboard.fileno(), termios.TCIFLUSH)


def typed_ahead(descriptor: int) -> bool:
    """Return whether unread input is waiting, even an incomplete line."""
    try:
        before = termios.tcgetattr(descriptor)
        unbuffered = [*before]
        unbuffered[3] &= ~termios.ICANON  # otherwise incomplete lines are not reported
        termios.tcsetattr(descriptor, termios.TCSANOW, unbuffered)
        try:
            return bool(select.select([descriptor], [], [], 0)[0])
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
    except (OSError, ValueError, termios.error):
        return False
