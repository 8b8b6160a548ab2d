"""The folders of twins: each is used by one rehearsal, and removed when it ends."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGHUP, SIGTERM
from typing import TYPE_CHECKING

from kafka_shell.common.signals import exiting_on
from kafka_shell.sandbox.sharing import attach, in_use_by_others
from kafka_shell.sandbox.twin.build import build, remove
from kafka_shell.sandbox.twin.spare import take

if TYPE_CHECKING:
    from kafka_shell.plan.model import Report
    from kafka_shell.sandbox.state import Sandbox
    from kafka_shell.sandbox.twin.model import Original

_NEW_S = 60.0  # a folder that is younger may not be in use yet


@contextmanager
def running_twin(root: Path, original: Original, report: Report) -> Iterator[Sandbox]:
    """A twin below `root`: the spare one if there is one of this metadata, or a new one. It is
    removed at the end, however it ends."""
    remove_abandoned(root)
    with exiting_on(SIGTERM, SIGHUP):
        ready = take(root, original, report)
        folder = ready.folder if ready is not None else root / secrets.token_hex(8)
        with attach(folder):
            try:
                yield ready or build(folder, original, report)
            finally:
                remove(folder)


def remove_abandoned(root: Path) -> None:
    """Remove the twins of rehearsals that were killed."""
    for folder in root.iterdir() if root.is_dir() else ():
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _NEW_S and not in_use_by_others(folder):
                remove(folder)
