"""What other users of this machine can connect to, or read, of a Spark that runs on it."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafka_shell.audit.engine import Engine
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


def test_files_and_ports_of_local_spark_are_private(engine: Engine) -> None:
    context = engine.session.sparkContext
    assert context.parallelize(range(100), 4).map(lambda n: (n, n)).groupByKey().count() == 100
    assert context.getConf().get("spark.authenticate") == "true", "anybody could send it objects"
    folder = context.parallelize([1], 1).map(lambda n: os.environ["SPARK_LOCAL_DIRS"]).first()
    files = [Path(folder), *Path(folder).rglob("*")]
    assert any(path.name.startswith("shuffle_") for path in files)
    assert not [path for path in files if path.stat().st_mode & 0o077]
    assert context.getConf().get("spark.local.dir").startswith(str(engine._folder))
