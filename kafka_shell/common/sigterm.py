"""End the program on SIGTERM like an exception, so that the terminal is restored."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def exiting_on_sigterm(leave: Callable[[int], object] = sys.exit) -> Iterator[None]:
    """On SIGTERM, call `leave` with the exit status. Only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: leave(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
