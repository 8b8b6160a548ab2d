"""Files and directories that only their owner may access, whatever the umask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, TextIO, overload

from kafka_shell.common.quoting import quote
from kafka_shell.errors import ShellError, Status

_FLAGS = {"w": os.O_TRUNC, "a": os.O_APPEND, "x": os.O_EXCL}


def private_folder(folder: Path) -> Path:
    """Create the directory and its parents with mode 0700 if they do not exist. Returns it."""
    # `mkdir(parents=True, mode=...)` creates the parents with the mode of the umask.
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)  # raises if it is a file
    return folder


def require_own(path: Path) -> None:
    """Raise ShellError (status 2) if another user owns the file or directory, or can write to it.
    As ssh, this follows a symbolic link, and trusts root. What does not exist is fine."""
    try:
        found = path.stat()
    except OSError:  # who uses it reports that
        return
    if found.st_uid not in (0, os.geteuid()):
        what, hint = "belongs to another user", "Remove it, or change its owner."
    elif found.st_mode & 0o022:
        what, hint = "can be changed by other users", f"Run: chmod go-w {quote(str(path))}"
    else:
        return
    raise ShellError(f"{path} {what}", hint=hint, code="not-private", status=Status.WRONG)


@overload
def open_private(path: Path, mode: Literal["w", "a", "x"]) -> TextIO: ...
@overload
def open_private(path: Path, mode: Literal["xb"]) -> BinaryIO: ...
def open_private(path: Path, mode: str) -> TextIO | BinaryIO:
    """Open a file for writing with mode 0600, in a directory that is created with mode 0700. `mode`
    is "w", "a", or "x" for a file that must not exist. Raises OSError for a symbolic link."""
    private_folder(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | _FLAGS[mode[0]]
    file = os.open(path, flags, 0o600)
    if os.fstat(file).st_mode & 0o077:  # it existed
        try:
            os.fchmod(file, 0o600)
        except OSError:  # it belongs to another user
            os.close(file)
            raise
    encoding = None if "b" in mode else "utf-8"
    return os.fdopen(file, mode, encoding=encoding)  # type: ignore[return-value]


@contextmanager
def locked(
    path: Path, *, wait: bool = True, on_wait: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold the exclusive lock of a file, which is created, until the end of the block or process.
    If another process holds it, calls `on_wait`, or raises BlockingIOError if not `wait`. Only who
    holds it may remove the file: who waited for it locks the new one."""
    import fcntl

    while True:
        with open_private(path, "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not wait:
                    raise
                on_wait()
                fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(path, file):
                yield
                return


def _is_at(path: Path, file: TextIO) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def write_private(path: Path, content: str | bytes) -> None:
    """Write the file atomically with mode 0600, in a directory with mode 0700."""
    import tempfile

    private_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
