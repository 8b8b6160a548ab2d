"""Waiting until an acknowledged change is visible: in KRaft, brokers apply it a moment later.

Without this, describing a resource right after changing it could show the old state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from kafka_shell.errors import ShellError

_MAX_WAIT_S, _POLL_S = 2.0, 0.005


def wait_until_visible(visible: Callable[[], bool]) -> None:
    """Wait until `visible()` returns true, at most two seconds. Its ShellErrors end the wait."""
    until = time.monotonic() + _MAX_WAIT_S
    with suppress(ShellError):
        while not visible() and time.monotonic() < until:
            time.sleep(_POLL_S)
