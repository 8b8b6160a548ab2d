"""The cache on disk."""

from __future__ import annotations

import subprocess
import sys


def test_names_are_read_without_kafka() -> None:
    code = (
        "import sys, kafka_shell.view.disk\n"
        "print([m for m in ('kafka', 'prompt_toolkit', 'socket') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
