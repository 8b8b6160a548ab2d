"""End the program on signals like an exception: the terminal is restored, and what the program
started is stopped."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
