"""A lock file that its holder removes does not let two in."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kafka_shell.base.files import locked


def test_who_waited_for_a_removed_lock_locks_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    waits, holds, done = threading.Event(), threading.Event(), threading.Event()

    def wait_for_it() -> None:
        with locked(path, on_wait=waits.set):
            holds.set()
            assert done.wait(30)

    other = threading.Thread(target=wait_for_it)
    with locked(path):
        other.start()
        assert waits.wait(30)
        path.unlink()
    assert holds.wait(30)
    try:
        with pytest.raises(BlockingIOError), locked(path, wait=False):
            pass
    finally:
        done.set()
        other.join()
    with locked(path, wait=False):
        assert path.exists()
