"""Clients of the local Spark server give its token to the process that it was made for."""

from __future__ import annotations

import os
import select
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kafka_shell.audit.server_process import listens
from kafka_shell.audit.session import channel


@pytest.fixture
def both() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Listeners on one port of 127.0.0.1 and of ::1."""
    with ExitStack() as stack:
        four = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        address = ("::1", four.getsockname()[1])
        try:
            six = stack.enter_context(socket.create_server(address, family=socket.AF_INET6))
        except OSError as error:
            pytest.skip(f"no IPv6 loopback: {error}")
        yield four, six


def test_token_is_not_sent_to_other_address_of_localhost(
    both: tuple[socket.socket, socket.socket],
) -> None:
    four, _ = both
    url = f"sc://localhost:{four.getsockname()[1]}/;token=secret"
    with channel(url).toChannel() as opened:
        opened.subscribe(lambda state: None, try_to_connect=True)
        first, _, _ = select.select(both, [], [], 30)
    assert first == [four]


def test_port_belongs_to_the_process_that_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as ours, subprocess.Popen(["cat"], stdin=-1) as cat:
        port = ours.getsockname()[1]
        assert listens(os.getpid(), port)
        assert not listens(cat.pid, port), "another process listens there"
        cat.kill()
    assert not listens(os.getpid(), port) and not listens(cat.pid, port)
