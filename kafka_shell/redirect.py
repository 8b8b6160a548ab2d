"""`> file` and `>> file`: the file is as it was until the command has answered.

A command that fails must not cost the file that an earlier one wrote. So the answer goes to a file
beside it, which takes its place at the end. Devices and pipes are written to directly.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from .characters import quoted
from .context import Context
from .errors import ShellError


@contextmanager
def redirected(path: Path, append: bool, context: Context) -> Iterator[TextIO]:
    """The stream for an answer. Raises ShellError, before anything is run, where it cannot be."""
    path = Path(os.path.realpath(path))  # a link stays a link
    now = _status(path)
    if now is not None and not stat.S_ISREG(now.st_mode):
        with _opened(path, os.O_WRONLY) as file:
            yield file
        return
    if now is not None and not append:
        _ask(path, context)
    if now is not None and not os.access(path, os.W_OK):
        raise _refused(path, "Permission denied")
    beside = path.with_name(f".{path.name[:200]}.{os.urandom(4).hex()}")
    file = _opened(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, shown=path)
    try:
        yield file
    except KeyboardInterrupt:  # how one leaves what follows a log: what was read is kept
        with file:
            written = file.tell()
        _take_place(beside, path, now, append) if written else beside.unlink()
        raise
    except BaseException:
        with suppress(OSError):
            file.close()
        beside.unlink(missing_ok=True)
        raise
    try:
        file.close()
        _take_place(beside, path, now, append)
    finally:
        beside.unlink(missing_ok=True)


def _ask(path: Path, context: Context) -> None:
    """Before a person's own file is overwritten; a script means what it says, as in any shell."""
    if context.shell is None or context.ask is None or context.script.files:
        return
    if context.ask(f"overwrite {quoted(str(path))}? [y/N] ").strip().lower() not in ("y", "yes"):
        raise ShellError(
            f"{path} exists and was not overwritten",
            hint="The command was not run. Use >> to append.",
            code="file-exists",
        )


def _take_place(beside: Path, path: Path, now: os.stat_result | None, append: bool) -> None:
    """The answer becomes the file: at once, or copied where the file itself must stay."""
    if now is None:
        beside.rename(path)
        return
    if not append and now.st_nlink == 1 and now.st_uid == os.geteuid():
        beside.chmod(stat.S_IMODE(now.st_mode))
        beside.replace(path)
        return
    from shutil import copyfileobj

    with beside.open("rb") as answer, path.open("ab" if append else "wb") as file:
        copyfileobj(answer, file)
    beside.unlink()


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(path, error.strerror) from None


def _opened(path: Path, flags: int, shown: Path | None = None) -> TextIO:
    try:
        return os.fdopen(os.open(path, flags, 0o666), "w", encoding="utf-8")
    except OSError as error:
        raise _refused(shown or path, error.strerror) from None


def _refused(path: Path, why: str | None) -> ShellError:
    return ShellError(f"cannot write to {path}: {why}", hint="The command was not run.")
