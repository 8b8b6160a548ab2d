"""A twin that is ready for the next rehearsal of an unchanged cluster.

When a rehearsal has ended, a process of its own (this module) starts another twin of the same
metadata. The next rehearsal reads the cluster, and takes this twin if nothing has changed. If it is
not taken within ten minutes, the process removes it. There is one spare twin at a time.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from kafka_shell.common.private import write_private
from kafka_shell.sandbox import cluster as sandboxes
from kafka_shell.sandbox.jars import Report
from kafka_shell.sandbox.process import detach
from kafka_shell.sandbox.sharing import attach
from kafka_shell.sandbox.state import Sandbox

from .build import fingerprint, leave_to_stand_ins, remove, write
from .model import Original

KEPT_S = 600.0
MOST_TOPICS = 10_000  # a larger twin takes more memory than may be in use unasked
_STARTS_S, _POLL_S = 60.0, 0.05
_HANDOVER_S = 10.0  # until who takes the twin has marked it as used
_STARTING, _READY, _TAKEN = "spare-starting", "spare-ready", "spare-taken"  # files of a folder


def prepare(root: Path, original: Original) -> None:
    """Begin to start a spare twin below `root`, in the background, unless it would be large. Raises
    ShellError or OSError if it cannot be written."""
    discard(root)
    if len(original.topics) > MOST_TOPICS:
        return
    folder = root / secrets.token_hex(8)
    write(folder, original)
    known = {
        "fingerprint": fingerprint(original),
        "running": [broker.id for broker in original.brokers],
    }
    write_private(folder / _STARTING, json.dumps(known))
    detach([sys.executable, "-m", __name__, str(folder)], folder / "spare.log")


def take(root: Path, original: Original, report: Report) -> Sandbox | None:
    """The spare twin, if there is one of exactly this metadata. The caller removes it."""
    wanted = ""
    for folder in _spares(root):
        wanted = wanted or fingerprint(original)
        if _known(folder).get("fingerprint") != wanted:
            continue
        until = time.monotonic() + _STARTS_S
        while (folder / _STARTING).exists() and time.monotonic() < until:
            report("Waiting for the twin that is being started", 0, None)
            time.sleep(_POLL_S)
        if _claim(folder):
            sandbox = sandboxes.status(folder)
            if sandbox is not None and sandbox.running:
                return sandbox
            remove(folder)
    return None


def discard(root: Path) -> None:
    """Remove spare twins that are ready."""
    for folder in _spares(root):
        if _claim(folder):
            remove(folder)


def _spares(root: Path) -> Iterator[Path]:
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        if (folder / _STARTING).exists() or (folder / _READY).exists():
            yield folder


def _known(folder: Path) -> dict[str, Any]:
    for name in (_READY, _STARTING, _READY):  # it may be renamed in between
        with suppress(OSError, ValueError):
            known: dict[str, Any] = json.loads((folder / name).read_text())
            return known
    return {}


def _claim(folder: Path) -> bool:
    """Take a twin that is ready. Only one process can."""
    with suppress(OSError):
        (folder / _READY).rename(folder / _TAKEN)
        return True
    return False


# -- the process -----------------------------------------------------------------------------------


def keep(folder: Path, seconds: float = KEPT_S) -> None:
    """Start the twin in this folder, and remove it if it is not used in time."""
    with attach(folder):
        try:
            _start(folder)
            until = time.monotonic() + seconds
            while time.monotonic() < until and (folder / _READY).exists():
                time.sleep(1)
        except BaseException:
            remove(folder)
            raise
        if _claim(folder):
            remove(folder)
        else:
            time.sleep(_HANDOVER_S)


def _start(folder: Path) -> None:
    sandbox = sandboxes.status(folder)
    assert sandbox is not None
    sandbox = sandboxes.start(sandbox.options)
    leave_to_stand_ins(sandbox, _known(folder)["running"])
    (folder / _STARTING).rename(folder / _READY)


if __name__ == "__main__":
    os.chdir("/")  # no folder is kept busy
    keep(Path(sys.argv[1]))
