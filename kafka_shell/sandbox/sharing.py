"""Who may start and stop a sandbox, and who is using it: two file locks in its folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka_shell.private import private_folder

LOCK_FILES = ("lock", "users")


@contextmanager
def exclusively(folder: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Start and stop one at a time: hold the folder's lock, waiting for another process's turn."""
    with _opened(folder / "lock") as lock:
        if not _try(lock, fcntl.LOCK_EX):
            on_wait()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@dataclass
class Attachment:
    """One shell's use of a sandbox, until it is closed or the process ends."""

    folder: Path
    _file: int | None

    def close(self) -> None:
        """Use it no longer."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Attachment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def attach(folder: Path) -> Attachment:
    """Say that the sandbox is in use. Attach before `start`, so that nobody stops it in between."""
    with exclusively(folder):
        users = _open(folder / "users")
        fcntl.flock(users, fcntl.LOCK_SH)
        return Attachment(folder, users)


def in_use_by_others(folder: Path, mine: Attachment | None = None) -> bool:
    """Whether anyone attached to the sandbox; `mine` is not counted."""
    if not folder.is_dir():
        return False
    with exclusively(folder):
        return others_attached(folder, mine)


def others_attached(folder: Path, mine: Attachment | None = None) -> bool:
    """The same, for who holds the folder's lock already."""
    if mine is None or mine._file is None:
        with _opened(folder / "users") as users:
            return not _try(users, fcntl.LOCK_EX)
    # Turning our shared lock into an exclusive one may lose it; nobody attaches while we look.
    alone = _try(mine._file, fcntl.LOCK_EX)
    fcntl.flock(mine._file, fcntl.LOCK_SH)
    return not alone


def _try(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(path: Path) -> int:
    private_folder(path.parent)
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = _open(path)
    try:
        yield file
    finally:
        os.close(file)
