"""File locks of a sandbox: one to start and stop it, one shared by its users."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from kafka_shell.common.private import private_folder

LOCK_FILES = ("lock", "users")


@contextmanager
def exclusive_lock(folder: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock to start and stop the sandbox; calls `on_wait` if another process holds it."""
    with _opened(folder / "lock") as lock:
        if not _try(lock, fcntl.LOCK_EX):
            on_wait()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Attachment(Struct):
    """Marks a sandbox as used, until it is closed or the process ends."""

    folder: Path
    _file: int | None

    def close(self) -> None:
        """Release the sandbox."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def pass_on(self) -> int:
        """Let a process that is started now use the sandbox, too, from its first moment until it
        ends or closes this file descriptor."""
        assert self._file is not None
        os.set_inheritable(self._file, True)
        return self._file

    def __enter__(self) -> Attachment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def attach(folder: Path) -> Attachment:
    """Mark the sandbox as used. Attach before `start`, so that no other shell stops it
    meanwhile."""
    with exclusive_lock(folder):
        users = _open(folder / "users")
        fcntl.flock(users, fcntl.LOCK_SH)
        return Attachment(folder, users)


def in_use_by_others(folder: Path, own: Attachment | None = None) -> bool:
    """Return whether other shells use the sandbox; `own` is not counted."""
    if not folder.is_dir():
        return False
    with exclusive_lock(folder):
        return others_attached(folder, own)


def others_attached(folder: Path, own: Attachment | None = None) -> bool:
    """Return the same as `in_use_by_others`, for callers that hold the lock, or that ask again
    and again."""
    if own is None or own._file is None:
        with _opened(folder / "users") as users:
            return not _try(users, fcntl.LOCK_EX)
    # Converting the shared lock may lose it, but nobody can attach during the check.
    alone = _try(own._file, fcntl.LOCK_EX)
    fcntl.flock(own._file, fcntl.LOCK_SH)
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
