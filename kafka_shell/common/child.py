"""Starts modules of this program as processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_ROOT = str(Path(__file__).parent.parent.parent)


def start_module(name: str, *words: object, **options: Any) -> subprocess.Popen[bytes]:
    """Run `python -m NAME WORDS`. It imports from where this program does, and never from the
    current directory. `options` are those of Popen; descriptors are inherited if they may be."""
    path = [each for each in sys.path if each and each != _ROOT]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", name, *map(str, words)],
        stdin=subprocess.DEVNULL,
        close_fds=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*path, _ROOT])},
        **options,
    )
