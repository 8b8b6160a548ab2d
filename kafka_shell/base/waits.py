"""How long the program waits, and waiting for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable

# Seconds, or milliseconds (_MS). Bounds that one module uses are defined there.
CHANGE_MS = 30_000  # a broker carries out one request
PROBE_S = 2.0  # a broker that may be down responds
CONTROLLER_S = 2.5  # the active controller responds, or there is none
PART_S = 10.0  # one of several reads ends, whatever hangs
REFRESH_S = 15.0  # everything that is shown again and again is read
SETTLE_S = 2.0  # brokers and voters catch up with an active controller
VISIBLE_S = 10.0  # a loaded broker shows what the controller has applied
LEADERS_S = 5.0  # leaders and coordinators move from a running broker
FAILOVER_S = 15.0  # leaders and coordinators move from a crashed broker
PROGRESS_S = 60.0  # longest time without progress, for example while brokers restart
START_S = 60.0  # a process of a sandbox starts
GRACE_S = 0.25  # an operation ends by itself after its deadline
REPORTED_S = 1.0  # longer waits are reported to the user
WAITING_S = 0.25  # between two reports of a wait

POLL_S = 0.5  # between two reads of a cluster
LOCAL_POLL_S = 0.05  # between two checks of a process, or of one broker


def until(condition: Callable[[], bool], seconds: float, pause: float = LOCAL_POLL_S) -> bool:
    """Whether the condition became true within the time. It is checked at pauses that grow to this
    one (seconds)."""
    end, next_pause = time.monotonic() + seconds, min(0.005, pause)
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(next_pause)
        next_pause = min(2 * next_pause, pause)
    return True
