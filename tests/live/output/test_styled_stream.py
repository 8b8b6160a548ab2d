from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

from kafka_shell.output.styled_stream import columns_of
from tests.support.places import ROOT


def test_a_terminal_of_unknown_width_has_80_columns() -> None:
    terminal, other = pty.openpty()  # reports 0 columns
    with open(terminal, "wb"), open(other, "w") as stream:  # noqa: PTH123 - descriptors
        assert columns_of(stream) == 80
        termios.tcsetwinsize(other, (24, 100))
        assert columns_of(stream) == 100
    assert columns_of(io.StringIO()) is None


def test_a_reader_that_stops_early_ends_nothing_badly(tmp_path: Path) -> None:
    program = tmp_path / "rows.py"
    program.write_text(
        "import sys\n"
        "from kafka_shell.output.styled_stream import PipeClosed\n"
        "from kafka_shell.output.writer import Writer\n"
        "try:\n"
        "    Writer(sys.stdout, sys.stderr).write(str(n) for n in range(10**6))\n"
        "except PipeClosed:\n"
        "    sys.exit(0)\n"
    )
    root = ROOT
    ended = subprocess.run(
        f"{sys.executable} {program} | head -n 2; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=True,
        timeout=60,
    )
    assert (ended.stdout, ended.stderr) == ("0\n1\n0\n", "")
