"""Real proxies on this machine: SOCKS5 and HTTP with a login, and an SSH server."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncssh

from kafka_shell.wire.diagnosis import connect
from kafka_shell.wire.endpoint import Address
from tests.support.waiting import wait_for

LOGIN = "user:pass:word"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def accepts(port: int) -> bool:
    try:
        connect(None, Address("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@contextmanager
def proxy() -> Iterator[int]:
    """The port of a proxy that speaks SOCKS5 and HTTP, and requires LOGIN."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "pproxy", "-l", f"http+socks5://127.0.0.1:{port}#{LOGIN}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for("the proxy listens", lambda: accepts(port))
        yield port
    finally:
        process.kill()
        process.wait()


class _Forwarding(asyncssh.SSHServer):
    def connection_requested(self, *_: object) -> bool:
        return True


@contextmanager
def ssh_server(folder: Path) -> Iterator[tuple[int, Path]]:
    """The port of an SSH server that forwards connections, and an ssh_config to log in with."""
    host, user = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    host.write_private_key(folder / "host")
    user.write_private_key(folder / "user")
    (folder / "user").chmod(0o600)
    user.write_public_key(folder / "user.pub")
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def listen() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1", 0, server_host_keys=[str(folder / "host")],
            authorized_client_keys=str(folder / "user.pub"), server_factory=_Forwarding,
        )  # fmt: skip

    server = asyncio.run_coroutine_threadsafe(listen(), loop).result(30)
    port = server.get_port()
    public = host.export_public_key().decode()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}")
    config = folder / "ssh_config"
    config.write_text(
        f"IdentityFile {folder}/user\nUserKnownHostsFile {folder}/known_hosts\n"
        "IdentitiesOnly yes\nStrictHostKeyChecking yes\nBatchMode yes\n"
    )
    try:
        yield port, config
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
