"""Python files of the current directory are never imported, by this program or its children."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shell.audit import session
from kafka_shell.shell.paging import pager_command
from tests.support.places import ROOT


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder of modules that tell when they are imported."""
    for name in ("signal", "yaml", "json", "socket", "shlex"):
        (tmp_path / f"{name}.py").write_text("open('PWNED', 'w').close()\nraise SystemExit(9)\n")
    return tmp_path


def _run(command: list[str], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        env={"PATH": "/nowhere", "KAFKA_SH_HOME": str(folder / "home"), **environ},
    )  # fmt: skip


def test_the_pager_of_our_own(trap: Path) -> None:
    command = pager_command({"PATH": "/nowhere"})
    assert command is not None
    _run(command, trap)
    assert not (trap / "PWNED").exists()


def test_the_program_itself(trap: Path) -> None:
    run = _run(
        [sys.executable, "-m", "kafka_shell", "set", "--output", "yaml"],
        trap,
        PYTHONPATH=str(ROOT),
    )
    assert run.returncode == 0, run.stderr
    assert not (trap / "PWNED").exists()


def test_workers_of_spark(trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark starts `python -m pyspark.daemon` with what its JVM was started with."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with session._environment({}):
        _run([sys.executable, "-m", "json.tool"], trap, **os.environ)
    assert not (trap / "PWNED").exists()
    assert "PYTHONSAFEPATH" not in os.environ
