"""Tests that decide everything from given facts: no broker, no network, no other process."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

_OUTSIDE = ("socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen",
            "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system")  # fmt: skip
_inside: list[str] = []


def _guard(event: str, arguments: tuple[object, ...]) -> None:
    if event in _OUTSIDE and _inside:
        raise RuntimeError(f"a pure test must not use {event} {arguments}: {_inside[-1]}")


sys.addaudithook(_guard)


@pytest.fixture(autouse=True)
def stays_inside(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that connects, listens or starts a process fails: it is in the wrong folder."""
    _inside.append(request.node.nodeid)
    yield
    _inside.pop()
