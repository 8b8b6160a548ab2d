"""Waiting until an acknowledged change is visible: in KRaft, brokers apply it a moment later.

Without this, describing a resource right after changing it could show the old state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from kafka_shell.errors import ShellError

MAX_WAIT_S = 10.0  # a loaded broker may be seconds behind the controller
_FIRST_POLL_S, _LAST_POLL_S = 0.005, 0.1


def wait_until_visible(visible: Callable[[], bool], seconds: float = MAX_WAIT_S) -> None:
    """Wait until `visible()` returns true, but not longer. Its ShellErrors end the wait."""
    until = time.monotonic() + seconds
    pause = _FIRST_POLL_S
    with suppress(ShellError):
        while not visible() and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, _LAST_POLL_S)
