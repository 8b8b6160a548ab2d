"""Store how far reassignments in batches are, in a file each, next to their move files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec

from kafka_shell.admin.partitions.batch_state import BatchState, Started
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.reassignment_files import MoveFile, MovePaths
from kafka_shell.commands.partitions.follow_up import resume_line
from kafka_shell.common.private import locked, write_private
from kafka_shell.common.units import to_path
from kafka_shell.errors import ShellError


class BatchFile(BatchState):
    """The state in a file, which is removed when all is moved."""

    def __init__(self, paths: MovePaths) -> None:
        self._paths = paths

    def read(self) -> Started | None:
        """The state; None if the reassignment has ended. Raises ShellError if it is damaged."""
        try:
            return msgspec.json.decode(self._paths.batches.read_bytes(), type=Started)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise ShellError(
                f"cannot read {self._paths.batches}: {error}", code="no-file"
            ) from None

    def update(self, change: Callable[[Started | None], Started | None]) -> None:
        """Replace the file, or remove it. The folder is locked meanwhile: the session that moves
        the batches, and one that cancels them or changes their throttle, write one after the other.
        Raises ShellError if it cannot be written."""
        file = self._paths.batches
        try:
            with locked(file.parent / "lock"):
                started = change(self.read())
                if started is None:
                    file.unlink(missing_ok=True)
                else:
                    write_private(file, msgspec.json.encode(started))
        except OSError as error:
            raise ShellError(
                f"cannot write {file}: {error.strerror}",
                hint="No further batch was started.",
                code="no-file",
            ) from None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Lock the move file, which is never replaced, until the end of the block or process."""
        with ExitStack() as held:
            try:
                held.enter_context(locked(self._paths.move, wait=False))
            except BlockingIOError:
                raise ShellError(
                    f"reassignment {self._paths.id} is being moved by another session",
                    hint=f"To change its throttle: {resume_line(self._paths.id)} --throttle RATE",
                    code="in-use",
                ) from None
            yield

    def check_free(self) -> None:
        """Raise ShellError (code `in-use`) if a session moves the batches now."""
        with self.running():
            pass

    @property
    def in_use(self) -> bool:
        """Whether a session moves the batches now."""
        try:
            self.check_free()
        except ShellError:
            return True
        return False


def not_started(path: str, file: MoveFile) -> frozenset[TopicPartition]:
    """The partitions of a reassignment in batches that are in a later batch."""
    paths = MovePaths.of_file(to_path(path))
    started = BatchFile(paths).read() if paths is not None else None
    later = file.batches[started.batches :] if started is not None else ()
    return frozenset(each for batch in later for each in batch)


def unfinished(folder: Path) -> Iterator[tuple[str, Started]]:
    """The reassignments in batches that have not ended, by ID."""
    for paths in MovePaths.unfinished(folder):
        with suppress(ShellError):  # a damaged file is reported by --resume
            started = BatchFile(paths).read()
            if started is not None:
                yield paths.id, started


def paused(folder: Path, cluster: str) -> list[str]:
    """The IDs of the reassignments in batches of a cluster that have not ended, and that no session
    moves now."""
    busy = {paths.id for paths in MovePaths.unfinished(folder) if BatchFile(paths).in_use}
    ours = (id for id, started in unfinished(folder) if started.cluster == cluster)
    return [id for id in ours if id not in busy]
