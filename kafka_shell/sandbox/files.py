"""Files that only their owner may read."""

from __future__ import annotations

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file whole or not at all, readable by its owner only."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.unlink(missing_ok=True)
    scratch.touch(mode=0o600, exist_ok=False)
    scratch.write_text(text)
    scratch.replace(path)
