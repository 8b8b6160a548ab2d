"""Files and folders that only their owner may read or write, whatever the umask."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TextIO


def private_folder(folder: Path) -> Path:
    """The folder. It and its parents are made 0700 where they are not there yet."""
    # `mkdir(parents=True, mode=...)` gives the parents whatever the umask leaves.
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)  # raises where a file is in the way
    return folder


def open_private(path: Path, mode: str) -> TextIO:
    """Open a file of this program for writing ("w" or "a"): 0600, in a 0700 folder."""
    private_folder(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if "a" in mode else os.O_TRUNC)
    file = os.open(path, flags, 0o600)
    if os.fstat(file).st_mode & 0o077:  # it was there already
        os.fchmod(file, 0o600)
    return os.fdopen(file, mode, encoding="utf-8")  # type: ignore[return-value]


def write_private(path: Path, content: str | bytes) -> None:
    """Write the file whole or not at all: 0600, in a 0700 folder."""
    import tempfile

    private_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600 from the start
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
