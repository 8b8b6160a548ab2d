"""Recorded sessions on a separate sandbox: the exact output of both streams, and exit statuses.

After an intended change, run `python -m tests.transcripts --write` and read the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from tests.transcripts import play, read, transcripts, write


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A cluster that no other test writes to: counts and lists are part of what is compared."""
    folder = tmp_path_factory.mktemp("transcripts")
    try:
        yield start(SandboxOptions(folder, port=0))
    finally:
        wipe(folder)


@pytest.mark.parametrize("path", transcripts(), ids=lambda path: path.stem)
def test_transcript(path: Path, untouched: Sandbox, tmp_path: Path) -> None:
    steps = read(path)
    now = play(steps, untouched, tmp_path / "home")
    for before, after in zip(steps, now, strict=True):
        assert str(after) == str(before), "python -m tests.transcripts --write"


def test_a_transcript_reads_back_as_it_is_written() -> None:
    assert len(transcripts()) >= 8
    for path in transcripts():
        assert write(read(path)) == path.read_text()
