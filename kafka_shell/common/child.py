"""Runs Python modules as processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_ROOT = str(Path(__file__).parent.parent.parent)


def start_module(name: str, *words: object, **options: Any) -> subprocess.Popen[bytes]:
    """Start `python -m NAME WORDS`. It imports from where this program does, in the same order, and
    never from the current directory. `options` are those of Popen; descriptors are inherited if
    they may be."""
    return subprocess.Popen(**_command(name, words), **options)


def run_module(name: str, *words: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run such a module to its end. `options` are those of subprocess.run."""
    return subprocess.run(**_command(name, words), **options, check=False)


def _command(name: str, words: tuple[object, ...]) -> dict[str, Any]:
    path = dict.fromkeys([*filter(None, sys.path), _ROOT])
    return {
        "args": [sys.executable, "-P", "-m", name, *map(str, words)],
        "stdin": subprocess.DEVNULL,
        "close_fds": False,
        "env": {**os.environ, "PYTHONPATH": os.pathsep.join(path)},
    }
