"""Processes that run a module of this program import nothing from the current directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.base.processes import start_module

STARTED = ("audit.server_process", "sandbox.twin.build")


@pytest.mark.parametrize("name", STARTED)
def test_modules_of_current_directory_are_not_imported(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = "open('PWNED', 'w').close()\nraise SystemExit(9)\n"
    (tmp_path / "kafka_shell").mkdir()
    for file in ("kafka_shell/__init__.py", "secrets.py", "msgspec.py", "psutil.py", "json.py"):
        (tmp_path / file).write_text(trap)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with (tmp_path / "errors").open("wb") as errors:  # words are missing, so it ends at once
        assert start_module(f"kafka_shell.{name}", stderr=errors).wait(60) == 1
    assert "IndexError" in (tmp_path / "errors").read_text()
    assert not (tmp_path / "PWNED").exists()
