"""Child processes of this program, and its end on signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Runs Python modules as processes of their own.

_ROOT = str(Path(__file__).parent.parent.parent)


def start_module(name: str, *words: object, **options: Any) -> subprocess.Popen[bytes]:
    """Start `python -m NAME WORDS`. It imports from where this program does, in the same order, and
    never from the current directory. `options` are those of Popen; descriptors are inherited if
    they may be."""
    return subprocess.Popen(**_command(name, words), **options)


def run_module(name: str, *words: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run such a module to its end. `options` are those of subprocess.run."""
    return subprocess.run(**_command(name, words), **options, check=False)


def _command(name: str, words: tuple[object, ...]) -> dict[str, Any]:
    path = dict.fromkeys([*filter(None, sys.path), _ROOT])
    return {
        "args": [sys.executable, "-P", "-m", name, *map(str, words)],
        "stdin": subprocess.DEVNULL,
        "close_fds": False,
        "env": {**os.environ, "PYTHONPATH": os.pathsep.join(path)},
    }


# End the program on signals like an exception: the terminal is restored, and what the program
# started is stopped.


@contextmanager
def exiting_on(
    *numbers: signal.Signals, leave: Callable[[int], object] = sys.exit
) -> Iterator[None]:
    """On these signals, call `leave` with the exit status. Those that are ignored stay ignored:
    nohup ignores SIGHUP. Only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}
    changed = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    try:
        for number in changed:
            signal.signal(number, lambda number, frame: leave(128 + number))
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])
