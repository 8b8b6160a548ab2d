"""Ports of this machine's loopback."""

from __future__ import annotations

import random
import socket
from collections.abc import Container
from itertools import islice

# Below those that systems give to outgoing connections: one of these could take the port of a
# broker while it is down.
CANDIDATES = range(20000, 30000)


def free_ports(count: int, besides: Container[int | None] = ()) -> list[int]:
    """Some ports nobody listens on."""
    # Not `random` itself: two programs that seeded it alike would reach for the same ports.
    shuffled = random.SystemRandom().sample(CANDIDATES, len(CANDIDATES))
    free = (port for port in shuffled if port not in besides and is_free(port))
    return list(islice(free, count))


def is_free(port: int) -> bool:
    """Whether a broker could listen on the port now."""
    with socket.socket() as probe:
        # As Java does: a port in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError:
            return False
    return True
