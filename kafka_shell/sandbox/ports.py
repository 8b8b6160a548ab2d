"""Free ports on the loopback interface."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Container
from itertools import islice

# Below the ephemeral ports: an outgoing connection could take the port of a stopped broker.
CANDIDATES = range(20000, 30000)
# The kernel may close the sockets of a process a moment after it has ended.
CLOSING_SECONDS = 1.0
_POLL_SECONDS = 0.02


def free_ports(count: int, besides: Container[int | None] = ()) -> list[int]:
    """Return free ports."""
    # Not `random` itself: two programs with the same seed would choose the same ports.
    shuffled = random.SystemRandom().sample(CANDIDATES, len(CANDIDATES))
    free = (port for port in shuffled if port not in besides and is_free(port))
    return list(islice(free, count))


def is_free(port: int) -> bool:
    """Return whether a broker could listen on the port now."""
    with socket.socket() as probe:
        # As in Java, a port in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError:
            return False
    return True


def becomes_free(port: int) -> bool:
    """Return whether a broker can listen on the port, now or within CLOSING_SECONDS."""
    deadline = time.monotonic() + CLOSING_SECONDS
    while not is_free(port):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
