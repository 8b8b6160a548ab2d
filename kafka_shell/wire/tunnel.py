"""A SOCKS proxy of the user's ssh, which ends with this program."""

from __future__ import annotations

import atexit
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

_SSH_S = 120.0  # also for who types a passphrase


class _Tunnel:
    """A process `ssh -D`, which ends with this program."""

    def __init__(self, via: Via) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = Address(*probe.getsockname())
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        port = ["-p", str(via.port)] if via.port else []
        user = ["-l", via.username] if via.username else []
        self._process = subprocess.Popen(
            ["ssh", "-N", "-D", str(self.address), *port, *user,
             # Its debug output says when it listens: another user may listen on the port.
             "-o", "LogLevel=DEBUG1", "-o", "ExitOnForwardFailure=yes",
             "-o", "ControlPath=none", "-o", "ServerAliveInterval=15", "--", via.host],
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
        """What ssh said last."""
        lines = [line for line in self._text().splitlines() if not re.match(r"debug\d:", line)]
        said = [line for line in lines if line.strip() and not line.startswith("OpenSSH_")]
        return said[-1].strip() if said else "it ended"

    def _text(self) -> str:
        self._log.seek(0)
        return self._log.read().decode("utf-8", "replace")

    def end(self) -> None:
        """End ssh."""
        atexit.unregister(self.end)
        self._process.terminate()
        self._process.wait()


_TUNNELS: dict[Via, _Tunnel] = {}
_STARTING = threading.Lock()


def tunnel(via: Via) -> Address:
    """Return the address of the SOCKS proxy of ssh, which is started if it does not run. Raises
    ShellError if it does not connect."""
    with _STARTING:
        found = _TUNNELS.get(via)
        if found is not None and found.runs:
            return found.address
        try:
            started = _Tunnel(via)
        except OSError as error:
            raise unreachable(
                f"cannot run ssh: {error.strerror}", "Install the OpenSSH client.", "ssh"
            ) from None
        until = time.monotonic() + _SSH_S
        try:
            while not started.listens():
                if not started.runs or time.monotonic() > until:
                    why = started.reason() if not started.runs else "it does not connect"
                    hint = f"Check that ssh {via.host} works in this terminal."
                    raise unreachable(f"{via}: {quoted(why)}", hint, "ssh")
                time.sleep(LOCAL_POLL_S)
        except BaseException:
            started.end()
            raise
        _TUNNELS[via] = started
        return started.address
