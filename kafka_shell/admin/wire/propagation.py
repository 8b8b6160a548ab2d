"""KRaft answers a change before every broker has heard of it: wait until it can be seen.

Without this, a description right after an alteration would show what held before. Nothing fails
where it takes longer: the change was acknowledged.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from kafka_shell.errors import ShellError

_LONGEST_S, _LOOK_S = 2.0, 0.005


def settle(visible: Callable[[], bool]) -> None:
    """Until `visible()` holds, or cannot be told, or two seconds have passed."""
    until = time.monotonic() + _LONGEST_S
    with suppress(ShellError):
        while not visible() and time.monotonic() < until:
            time.sleep(_LOOK_S)
