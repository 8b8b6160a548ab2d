"""A script that fails says which lines were run, if any is left."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from kafka_shell.base.errors import Status
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.script import lines_run, run_stdin
from kafka_shell.settings import Settings
from tests.support.program import Program


@pytest.mark.parametrize(
    ("done", "last", "left", "told"),
    [
        (6, 7, (8, 9, 2), "6 of 9 lines run; line 7 failed; lines 8 and 9 not run"),
        (0, 3, (5, 5, 1), "0 of 2 lines run; line 3 failed; line 5 not run"),
        (6, 12, (15, 20, 3), "6 of 10 lines run; line 12 failed; lines 15 to 20 not run"),
        (1, 2, (4, 0, 1), "1 line run; line 2 failed; line 4 and the following lines not run"),
    ],
)
def test_lines_run_are_counted(done: int, last: int, left: tuple[int, int, int], told: str) -> None:
    assert lines_run(done, last, "failed", *left) == told


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("help\n\n# x\nsource nosuch\nhelp\n# y\nhelp\n",
         ["stdin: 1 of 4 lines run; line 4 failed; lines 5 and 7 not run"]),
        ("help\nsource nosuch\n# y\n\n", []),
        ("help\nexit 1\nhelp\n", []),
    ],
)  # fmt: skip
def test_only_a_script_with_lines_left_says_so(
    script: str, told: list[str], tmp_path: Path
) -> None:
    run = Program(tmp_path)(stdin=script)
    assert [line for line in run.stderr.splitlines() if " not run" in line] == told, str(run)


def test_a_pipe_that_stays_open_is_not_waited_for(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"source nosuch\nhelp\nhelp\n")
    err = io.StringIO()
    paths = Paths(tmp_path, tmp_path, tmp_path)
    context = Context(ClusterSession(Settings()), paths, io.StringIO(), err)
    with os.fdopen(reader, "rb") as stream:
        status = run_stdin(stream, context)
        assert os.get_blocking(reader)
    os.close(writer)
    assert status is Status.WRONG
    told = "stdin: 0 lines run; line 1 failed; line 2 and the following lines not run"
    assert err.getvalue().splitlines()[-1] == told
