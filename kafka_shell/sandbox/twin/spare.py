"""A twin that is ready for the next rehearsal of an unchanged cluster.

When a rehearsal has ended, a process of its own (this module) starts another twin of the same
metadata. The next rehearsal reads the cluster, and takes this twin if nothing has changed. If it is
not taken within ten minutes, the process removes it. There is one spare twin at a time.

The process marks the folder as used for as long as it lives. A file in the folder says how far the
twin is; it is only ever renamed, so that each step is taken by one process.
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

from kafka_shell.common.child import start_module
from kafka_shell.common.private import open_private, write_private
from kafka_shell.sandbox import cluster as sandboxes
from kafka_shell.sandbox.jars import Report
from kafka_shell.sandbox.sharing import attach, others_attached
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin.build import fingerprint, leave_to_stand_ins, remove, write
from kafka_shell.sandbox.twin.model import Original

KEPT_S = 600.0
MOST_TOPICS = 10_000  # a larger twin takes more memory than may be in use unasked
_STARTS_S, _POLL_S = 60.0, 0.05
_HANDOVER_S = 10.0  # until who takes the twin has marked it as used
# The file of a folder. The process removes a twin that became unwanted while it was started.
_STARTING, _READY = "spare-starting", "spare-ready"
_TAKEN, _UNWANTED = "spare-taken", "spare-unwanted"


def prepare(root: Path, original: Original) -> None:
    """Begin to start a spare twin below `root`, in the background, unless it would be large. Raises
    ShellError or OSError if it cannot be written."""
    discard(root)
    if len(original.topics) > MOST_TOPICS:
        return
    folder = root / secrets.token_hex(8)
    with attach(folder) as attachment:
        write(folder, original)
        known = {
            "fingerprint": fingerprint(original),
            "running": [broker.id for broker in original.brokers],
        }
        write_private(folder / _STARTING, json.dumps(known))
        with open_private(folder / "spare.log", "a") as log:
            start_module(
                "kafka_shell.sandbox.twin.spare", folder, attachment.pass_on(),
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip


def take(root: Path, original: Original, report: Report) -> Sandbox | None:
    """The spare twin, if there is one of exactly this metadata. The caller removes it."""
    wanted = ""
    for folder in _spares(root):
        wanted = wanted or fingerprint(original)
        if _known(folder).get("fingerprint") != wanted:
            continue
        until = time.monotonic() + _STARTS_S
        while (folder / _STARTING).exists() and time.monotonic() < until:
            if not others_attached(folder):  # its process was killed
                _discard(folder)
                break
            report("Waiting for the twin that is being started", 0, None)
            time.sleep(_POLL_S)
        if _claim(folder):
            sandbox = sandboxes.status(folder)
            if sandbox is not None and sandbox.running:
                return sandbox
            remove(folder)
    return None


def discard(root: Path) -> None:
    """Remove spare twins. One that is being started is removed by its process as soon as it can,
    unless that was killed."""
    for folder in _spares(root):
        _discard(folder)


def _discard(folder: Path) -> None:
    if _claim(folder) or (_rename(folder, _STARTING, _UNWANTED) and not others_attached(folder)):
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
    return _rename(folder, _READY, _TAKEN)


def _rename(folder: Path, old: str, new: str) -> bool:
    """Whether this process has renamed the file."""
    with suppress(OSError):
        (folder / old).rename(folder / new)
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
        if _claim(folder) or not (folder / _TAKEN).exists():
            remove(folder)
        else:
            time.sleep(_HANDOVER_S)


def _start(folder: Path) -> None:
    known, sandbox = _known(folder), sandboxes.status(folder)
    if not known or sandbox is None:  # it is unwanted
        return
    sandbox = sandboxes.start(sandbox.options)
    leave_to_stand_ins(sandbox, known["running"])
    _rename(folder, _STARTING, _READY)


if __name__ == "__main__":
    os.chdir("/")  # no folder is kept busy
    os.set_inheritable(int(sys.argv[2]), False)  # the JVM must not mark the folder as used
    keep(Path(sys.argv[1]))
