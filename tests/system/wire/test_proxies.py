"""HTTP and gRPC where the environment sets a proxy, which does not respond here."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request

import grpc
import pytest

from kafka_shell.audit import session
from kafka_shell.wire import http
from kafka_shell.wire.endpoint import is_loopback

PROXY = "127.0.0.1:1"


@pytest.fixture(autouse=True)
def proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://user:s3cret@{PROXY}/")
    for name in ("no_proxy", "NO_PROXY", "no_grpc_proxy"):
        monkeypatch.delenv(name, raising=False)


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"found by {self.headers['Host']}".encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "localhost."])
def test_loopback_is_reached_without_proxy(server: int, host: str) -> None:
    request = Request(f"http://{host}:{server}/")
    found = http.fetch(http.opener(), request, 10.0, 100).decode()
    assert found == f"found by {host.rstrip('.').lower()}:{server}"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_error_names_proxy(scheme: str) -> None:
    with pytest.raises(http.HttpFailure) as caught:
        http.fetch(http.opener(), Request(f"{scheme}://registry.invalid/"), 10.0, 100)
    assert str(caught.value).endswith(f"through the proxy {PROXY}")
    assert "s3cret" not in str(caught.value)


def test_host_excluded_from_proxy_is_not_blamed_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "registry.invalid")
    with pytest.raises(http.HttpFailure) as caught:
        http.fetch(http.opener(), Request("http://registry.invalid/"), 10.0, 100)
    assert "proxy" not in str(caught.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_grpc_reaches_loopback_without_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "example.com")
    with monkeypatch.context() as patch:
        patch.setenv("no_grpc_proxy", "")
        session._no_proxy_for_this_machine()
        server = grpc.server(ThreadPoolExecutor(1))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        with grpc.insecure_channel(f"{host}:{port}") as channel:
            grpc.channel_ready_future(channel).result(timeout=10)
        server.stop(0).wait()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True), ("127.0.0.1", True), ("127.8.9.10", True), ("::1", True),
        ("localhost.example.com", False), ("127.example.com", False), ("10.0.0.1", False),
    ],
)  # fmt: skip
def test_only_this_machine_is_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
