"""Topics to look at and to lose, and servers that are not Kafka."""

from __future__ import annotations

import http.server
import socket
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from tests.support.faults import create, delete
from tests.support.program import Program


@pytest.fixture(scope="module")
def topic(cluster: Cluster) -> Iterator[str]:
    """A topic to look at."""
    name = f"fault.{uuid.uuid4().hex[:8]}"
    create(cluster, name)
    yield name
    delete(cluster, name)


@pytest.fixture
def victim(cluster: Cluster) -> Iterator[str]:
    """A topic that may be lost."""
    name = f"fault.victim.{uuid.uuid4().hex[:8]}"
    create(cluster, name)
    yield name
    delete(cluster, name)


@pytest.fixture
def web() -> Iterator[str]:
    class Quiet(http.server.BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *args: object) -> None:
            """A client that hangs up is no news."""

    server = Server(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def silent() -> Iterator[str]:
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", sandbox.bootstrap)
