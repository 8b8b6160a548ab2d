"""`python -m tests.transcripts --write [NAME...]`: run the transcripts and write their output."""

from __future__ import annotations

import difflib
import sys
import tempfile
from pathlib import Path

from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import SandboxOptions
from tests.transcripts import play, read, transcripts, write


def main(words: list[str]) -> int:
    """Show how the transcripts differ from today; with --write, keep today. 1 if they differ."""
    names = [word for word in words if not word.startswith("-")]
    paths = [path for path in transcripts() if not names or path.stem in names]
    differ = False
    with tempfile.TemporaryDirectory() as folder:
        try:
            sandbox = start(SandboxOptions(Path(folder) / "sandbox", port=0))
            for path in paths:
                before = path.read_text()
                after = write(play(read(path), sandbox, Path(folder) / path.stem))
                differ |= before != after
                sys.stdout.writelines(
                    difflib.unified_diff(
                        before.splitlines(True), after.splitlines(True), path.name, "today"
                    )
                )
                if "--write" in words:
                    path.write_text(after)
        finally:
            wipe(Path(folder) / "sandbox")
    return int(differ and "--write" not in words)


sys.exit(main(sys.argv[1:]))
