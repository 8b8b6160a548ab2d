"""A SOCKS proxy of the user's ssh."""

from __future__ import annotations

import atexit
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from typing import IO

from kafka_shell.base.text import quoted
from kafka_shell.base.waits import LOCAL_POLL_S
from kafka_shell.wire.endpoint import Address, Via
from kafka_shell.wire.failures import unreachable


class _Tunnel:
    """A process `ssh -D`, which ends with this program, unless that is killed by SIGKILL."""

    def __init__(self, via: Via) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = Address(*probe.getsockname())
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        options = {
            "LogLevel": "DEBUG1",  # says when it listens: another user may listen on the port
            "ExitOnForwardFailure": "yes",
            "ControlPath": "none",
            "ConnectTimeout": "10",
            "ServerAliveInterval": "15",
        }
        if threading.current_thread() is not threading.main_thread():
            options["BatchMode"] = "yes"  # the prompt reads the terminal
        words = ["ssh", "-N", "-D", str(self.address)]
        words += [word for pair in options.items() for word in ("-o", "=".join(pair))]
        words += ["-p", str(via.port)] if via.port else []
        words += ["-l", via.username] if via.username else []
        self._process = subprocess.Popen(
            [*words, "--", via.host],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._log,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # Ctrl-C is ours
        )  # fmt: skip
        atexit.register(self.end)

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def listens(self) -> bool:
        return f"listening on {self.address.host} port {self.address.port}." in self._text()

    def reason(self) -> str:
        """Return the last message of ssh."""
        lines = [line for line in self._text().splitlines() if not re.match(r"debug\d:", line)]
        messages = [line for line in lines if line.strip() and not line.startswith("OpenSSH_")]
        return messages[-1].strip() if messages else "ssh exited"

    def _text(self) -> str:
        # Without moving the offset, which ssh shares.
        return os.pread(self._log.fileno(), 1 << 20, 0).decode("utf-8", "replace")

    def end(self) -> None:
        """End ssh."""
        atexit.unregister(self.end)
        self._process.terminate()
        self._process.wait()


_TUNNELS: dict[Via, _Tunnel] = {}
_STARTING = threading.Lock()


def tunnel(via: Via, timeout: float) -> Address:
    """Return the address of the SOCKS proxy of ssh, which is started if it does not run. Raises
    ShellError if it does not connect within the timeout (seconds)."""
    with _STARTING:
        running = _TUNNELS.get(via)
        if running is not None and running.runs:
            return running.address
        try:
            started = _Tunnel(via)
        except OSError as error:
            raise unreachable(
                f"cannot run ssh: {error.strerror}", "Install the OpenSSH client.", "ssh"
            ) from None
        until = time.monotonic() + timeout
        try:
            while not started.listens():
                if not started.runs or time.monotonic() > until:
                    slow = f"no connection within {timeout:.0f} s"
                    why = slow if started.runs else quoted(started.reason())
                    hint = f"Check that ssh {via.host} works in this terminal."
                    raise unreachable(f"{via}: {why}", hint, "ssh")
                time.sleep(LOCAL_POLL_S)
        except BaseException:
            started.end()
            raise
        _TUNNELS[via] = started
        return started.address
