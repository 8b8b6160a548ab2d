"""File locks of a sandbox: one to start and stop it, one shared by its users."""

from __future__ import annotations

import fcntl
import os
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct

from kafka_shell.common.private import locked
from kafka_shell.sandbox.jars import Report, no_report

LOCK_FILES = ("lock", "users")


def exclusive_lock(folder: Path, report: Report = no_report) -> AbstractContextManager[None]:
    """Hold the lock to start and stop the sandbox; `report` is told if another process holds it."""
    return locked(folder / "lock", on_wait=lambda: report("Waiting for another shell", 0, None))


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


def attach(folder: Path, report: Report = no_report) -> Attachment:
    """Mark the sandbox as used. Attach before `start`, so that no other shell stops it
    meanwhile."""
    with exclusive_lock(folder, report):
        users = os.open(folder / "users", os.O_RDWR | os.O_CREAT, 0o600)
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
        try:
            with locked(folder / "users", wait=False):
                return False
        except BlockingIOError:
            return True
    # Converting the shared lock may lose it, but nobody can attach during the check.
    try:
        fcntl.flock(own._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        fcntl.flock(own._file, fcntl.LOCK_SH)
