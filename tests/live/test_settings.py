"""Settings: the precedence of their sources, and errors in their files."""

from __future__ import annotations

import subprocess
import sys


def test_settings_are_cheap() -> None:
    """A one-shot without profiles reads no TOML parser, and never kafka-python."""
    code = (
        "import sys; from pathlib import Path; from kafka_shell.settings import load;"
        "load({}, {}, Path('/nowhere'));"
        "print([m for m in ('kafka', 'ssl', 'tomllib', 'difflib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
