"""Brokers, and servers of schemas and tokens, that are reached through a proxy or ssh only."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.request import Request

import psutil
import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import http
from kafka_shell.wire.endpoint import Address, Via, parse_via
from kafka_shell.wire.tunnel import tunnel
from kafka_shell.wire.via import connect
from tests.support.program import Process, Program
from tests.support.proxies import LOGIN, free_port, proxy, ssh_server

# Linux connects it to this machine, but it is not a loopback address.
HOST = "0.0.0.0"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with proxy() as found:
        yield found


def away(home: Path, sandbox: Sandbox, via: str, kind: type = Program) -> Program | Process:
    """The program, for a cluster whose brokers are not on this machine."""
    number = sandbox.bootstrap.rpartition(":")[2]
    mapped = f"127.0.0.1:*={HOST}:{{port}}"
    environ = {"KAFKA_SH_VIA": via, "KAFKA_SH_ADDRESS_MAP": mapped}
    return kind(home, f"{HOST}:{number}", environ)


@pytest.mark.parametrize("scheme", ["socks5", "http"])
def test_brokers_are_reached_through_a_proxy(
    scheme: str, port: int, sandbox: Sandbox, tmp_path: Path
) -> None:
    kafka = away(tmp_path, sandbox, f"{scheme}://{LOGIN}@127.0.0.1:{port}")
    assert kafka.ok("cluster-metadata").stdout
    assert "ok" in kafka("health").stdout.lower()


def test_name_is_resolved_by_the_proxy(port: int, sandbox: Sandbox, tmp_path: Path) -> None:
    run = Program(
        tmp_path, "broker.invalid:9092", {"KAFKA_SH_VIA": f"socks5://{LOGIN}@127.0.0.1:{port}"}
    )("topics")
    assert run.status == 3 and "broker.invalid:9092" in run.stderr, str(run)
    assert f"(through socks5://127.0.0.1:{port})" in run.stderr
    assert "resolve" not in run.stderr


@pytest.mark.parametrize("scheme", ["socks5", "http"])
def test_rejected_login_names_the_proxy(scheme: str, sandbox: Sandbox, tmp_path: Path) -> None:
    with proxy() as port:  # of its own: it remembers who logged in
        run = away(tmp_path, sandbox, f"{scheme}://user:secret@127.0.0.1:{port}")("topics")
    assert run.status == 3, str(run)
    assert f"(through {scheme}://127.0.0.1:{port})" in run.stderr
    assert "secret" not in run.stderr


def test_proxy_that_is_down_is_not_used_for_this_machine(sandbox: Sandbox, tmp_path: Path) -> None:
    via = f"socks5://127.0.0.1:{free_port()}"
    run = away(tmp_path, sandbox, via)("topics")
    assert run.status == 3 and f"(through {via})" in run.stderr, str(run)
    assert "[Errno" not in run.stderr
    for way in (via, "ssh://bastion.invalid"):
        Program(tmp_path, sandbox.bootstrap, {"KAFKA_SH_VIA": way}).ok("topics")


def test_tls_verifies_the_broker_behind_the_proxy(
    port: int, secure_sandbox: Sandbox, tmp_path: Path
) -> None:
    secure = next(b.ports["SSL"] for b in secure_sandbox.brokers)
    client = secure_sandbox.folder / "clients" / "admin-ssl.properties"
    via = f"socks5://127.0.0.1:{port}"
    environ = {"KAFKA_SH_VIA": via.replace("//", f"//{LOGIN}@")}
    options = "--command-config", str(client), "--address-map"
    found = Program(tmp_path, f"localhost:{secure}", environ)
    found.ok(*options, f"localhost:*={HOST}:{{port}}", "topics")
    other = Program(tmp_path, f"broker.invalid:{secure}", environ)
    run = other(*options, f"broker.invalid:*={HOST}:{{port}}", "topics")
    assert run.status == 3 and "certificate" in run.stderr, str(run)
    assert f"(through {via})" in run.stderr


def test_profile_names_the_proxy(port: int, sandbox: Sandbox, tmp_path: Path) -> None:
    number = sandbox.bootstrap.rpartition(":")[2]
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / "config.toml").write_text(
        f'[profiles.far]\nbootstrap = "{HOST}:{number}"\n'
        f'address-map = "127.0.0.1:*={HOST}:{{port}}"\n'
        f'via = "socks5://{LOGIN}@127.0.0.1:{port}"\n'
    )
    kafka = Program(tmp_path)
    kafka.ok("--profile", "far", "topics")
    shown = kafka("--profile", "far", "config")
    assert "pass:word" not in shown.stdout + shown.stderr


def test_proxy_that_is_down_is_waited_for(sandbox: Sandbox, tmp_path: Path) -> None:
    via = f"socks5://127.0.0.1:{free_port()}"
    run = away(tmp_path, sandbox, via)("wait-until", "healthy", "--deadline", "2s")
    assert run.status == 3 and "deadline exceeded" in run.stderr, str(run)


def test_password_is_rejected_on_the_command_line(tmp_path: Path) -> None:
    run = Program(tmp_path, "a:1")("--via", "socks5://user:secret@a:1", "topics")
    assert run.status == 2 and "secret" not in run.stderr, str(run)


def test_proxy_of_the_environment_is_not_used_behind_one(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://corp.invalid:3128")
    client = http.opener(via=parse_via(f"socks5://127.0.0.1:{free_port()}"))
    with pytest.raises(http.HttpFailure, match=r"\(through socks5://[^)]*\)$"):
        http.fetch(client, Request(f"http://{HOST}:1/"), 10, 100)


def test_http_goes_through_the_proxy(port: int) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"schema")

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        request = Request(f"http://{HOST}:{server.server_port}/")
        good = http.opener(via=parse_via(f"http://{LOGIN}@127.0.0.1:{port}"))
        assert http.fetch(good, request, 10, 100) == b"schema"
        down = http.opener(via=parse_via(f"socks5://127.0.0.1:{free_port()}"))
        with pytest.raises(http.HttpFailure, match=r"through socks5://127\.0\.0\.1"):
            http.fetch(down, request, 10, 100)
        server.shutdown()


@pytest.fixture
def bastion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an SSH server, which the user's ssh knows."""
    ssh = shutil.which("ssh")
    if ssh is None:
        pytest.skip("no ssh")
    with ssh_server(tmp_path) as (port, config):
        script = tmp_path / "bin" / "ssh"
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\nexec {ssh} -F {config} "$@"\n')
        script.chmod(0o700)
        monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
        yield f"ssh://tester@127.0.0.1:{port}"


def test_ssh_is_started_and_ended(bastion: str, sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = away(tmp_path, sandbox, bastion, Process)
    assert kafka.ok("cluster-metadata").stdout
    port = bastion.rpartition(":")[2]
    lines = [process.info["cmdline"] or () for process in psutil.process_iter(["cmdline"])]
    assert not [line for line in lines if "-N" in line and port in line], "it still runs"


def test_every_user_of_this_machine_can_use_the_tunnel(bastion: str, sandbox: Sandbox) -> None:
    port = int(sandbox.bootstrap.rpartition(":")[2])
    opened = tunnel(parse_via(bastion), 60)
    connect(Via("socks5", *opened), Address(HOST, port), 10).close()  # without a login


def test_ssh_that_cannot_log_in_says_why(bastion: str, sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "user").unlink()
    run = away(tmp_path, sandbox, bastion, Process)("topics")
    assert run.status == 3, str(run)
    assert "Permission denied" in run.stderr and bastion.replace("tester@", "") in run.stderr
