"""The program as its users run it: a process of its own, with a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """How one run of the program ended."""

    argv: tuple[str, ...]
    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Standard output, read as JSON."""
        return json.loads(self.stdout)

    @property
    def lines(self) -> list[str]:
        """The lines of standard output."""
        return self.stdout.splitlines()

    def __str__(self) -> str:
        return (
            f"kafka.sh {' '.join(self.argv)}\n-> {self.status}\n"
            f"stdout:\n{self.stdout}\nstderr:\n{self.stderr}"
        )


@dataclass(frozen=True)
class Program:
    """Runs kafka.sh against `broker` (empty: none is named) with all its files below `home`."""

    home: Path
    broker: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)

    def __call__(
        self,
        *argv: str,
        stdin: str | bytes = "",
        timeout: float = 60,
        environ: Mapping[str, str] | None = None,
    ) -> Run:
        """One run. `stdin` is no terminal, so nothing can be asked."""
        words = (*(("--broker", self.broker) if self.broker else ()), *argv)
        done = subprocess.run(
            [sys.executable, "-m", "kafka_shell", *words],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=timeout,
            env=self.environment() | dict(environ or {}),
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err, f"a traceback reached the user:\n{err}"
        return Run(words, done.returncode, out, err)

    def ok(self, *argv: str, stdin: str | bytes = "") -> Run:
        """A run that must end well."""
        run = self(*argv, stdin=stdin)
        assert run.status == 0, str(run)
        return run

    def environment(self) -> dict[str, str]:
        """What the process sees: nothing of this machine's user but the path."""
        kept = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "JAVA_HOME", "TMPDIR", "SSL_CERT_FILE")
        return (
            {name: os.environ[name] for name in kept if name in os.environ}
            | {"KAFKA_SH_HOME": str(self.home), "HOME": str(self.home), "TERM": "xterm-256color"}
            | {"LANG": "C.UTF-8", "TZ": "UTC"}
            | dict(self.environ)
        )
