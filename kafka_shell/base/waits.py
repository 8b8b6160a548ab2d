"""Wait for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], bool], seconds: float, pause: float) -> bool:
    """Whether the condition became true within the time. It is checked at pauses that grow to this
    one (seconds)."""
    end, next_pause = time.monotonic() + seconds, min(0.005, pause)
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(next_pause)
        next_pause = min(2 * next_pause, pause)
    return True
