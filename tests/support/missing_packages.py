"""Python processes in which packages cannot be found, as without an extra of the program."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

_HIDDEN = """
import sys
from importlib.machinery import PathFinder

class Hidden(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[:] = [Hidden if each is PathFinder else each for each in sys.meta_path]
"""
_PROGRAM = "from kafka_shell.app import main; sys.exit(main())"


def run(
    home: Path,
    hidden: Collection[str],
    *words: str,
    code: str = _PROGRAM,
    path: str = "/usr/bin:/bin",
) -> subprocess.CompletedProcess[str]:
    """Run code, by default the program, with these words and without these packages."""
    return subprocess.run(
        [sys.executable, "-c", _HIDDEN.format(hidden=set(hidden)) + code,
         "--broker", "localhost:1", *words],
        capture_output=True, text=True, timeout=60, check=False,
        env={"KAFKA_SH_HOME": str(home), "PATH": path},
    )  # fmt: skip
