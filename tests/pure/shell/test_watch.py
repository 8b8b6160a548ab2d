"""`watch`: blocks in a file, updates in place on a terminal."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pyte
import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.output.terminal import draw
from kafka_shell.run.watch import watch


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError("no descriptor")


@dataclass
class Rig:
    out: io.StringIO
    answers: list[str]
    statuses: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        folder = Path("/nowhere")
        self.context = Context(
            ClusterSession(cast(Any, None)),
            Paths(folder, folder, folder),
            out=self.out,
            err=io.StringIO(),
            environ={"TERM": "xterm"},
            clock=lambda: 1e9,
            ask=lambda question, *, secret=False: "y",
            run_line=self._run,
        )

    def _run(self, line: str, context: Context) -> int:
        assert context.session is self.context.session
        assert context.ask is None
        answer = self.answers.pop(0)
        if answer == "^C":
            raise KeyboardInterrupt
        draw(context.out, answer)  # as a writer does it: with colours
        return self.statuses.pop(0) if self.statuses else 0

    def watch(self, rounds: int | None = None) -> int:
        return watch(self.context, 5, "health", sleep=lambda seconds: None, rounds=rounds)


def test_blocks_in_a_file() -> None:
    rig = Rig(io.StringIO(), ["one\n", "two\n", "^C"], [0, 1])
    assert rig.watch() == 1
    blocks = rig.out.getvalue().split("\n\n")
    assert [block.split("\n")[1] for block in blocks[:2]] == ["one", "two"]
    assert all(block.startswith("# 20") and "health" in block for block in blocks[:2])
    assert "\x1b" not in rig.out.getvalue()


def test_in_place_on_a_terminal_and_the_last_answer_stays() -> None:
    rig = Rig(Terminal(), ["a 1\nb 2\n", "a 1\nb \x1b[31m3\x1b[0m\n", "^C"])
    rig.watch()
    drawn = rig.out.getvalue()
    assert drawn.endswith("\x1b[?1049la 1\nb \x1b[31m3\x1b[0m\n")
    screen = pyte.Screen(80, 24)
    pyte.Stream(screen).feed(drawn[: drawn.index("\x1b[?7h")])
    assert screen.display[0].startswith("every 5 s: health")
    assert " now " in screen.display[0]
    assert "changed " in screen.display[0]
    assert [row.rstrip() for row in screen.display[2:5]] == ["a 1", "b 3", ""]
    assert screen.buffer[3][2].reverse and not screen.buffer[3][0].reverse


def test_more_lines_than_rows_are_counted() -> None:
    rig = Rig(Terminal(), ["".join(f"{number}\n" for number in range(100))])
    rig.watch(rounds=1)
    screen = pyte.Screen(80, 24)
    drawn = rig.out.getvalue()
    pyte.Stream(screen).feed(drawn[: drawn.index("\x1b[?7h")])
    assert screen.display[23].startswith("… 79 more lines")
    assert screen.display[0].startswith("every")


def test_streams_and_questions_are_back_afterwards() -> None:
    rig = Rig(io.StringIO(), ["^C"])
    out, err = rig.context.out, rig.context.err
    rig.watch()
    assert rig.context.out is out and rig.context.err is err and rig.context.ask is not None


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_an_invalid_line_is_run_once(stream: type[io.StringIO]) -> None:
    rig = Rig(stream(), ["error: unknown command 'topc'\n"], [2])
    assert rig.watch() == 2
    assert rig.out.getvalue() == ""
    assert cast(io.StringIO, rig.context.err).getvalue() == "error: unknown command 'topc'\n"


def test_errors_of_the_cluster_do_not_end_watch() -> None:
    rig = Rig(io.StringIO(), ["no\n", "no\n", "^C"], [3, 1])
    assert rig.watch() == 1
    assert rig.out.getvalue().count("no\n") == 2


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
@pytest.mark.parametrize("statuses", [[130], [0, 130]])
def test_a_command_that_was_interrupted_is_not_run_again(
    stream: type[io.StringIO], statuses: list[int]
) -> None:
    rig = Rig(stream(), ["ran\n" for _ in statuses], [*statuses])
    assert rig.watch() == 130
    assert rig.answers == []


def test_exit_ends_watch() -> None:
    rig = Rig(io.StringIO(), ["bye\n"])
    rig.context.script.left = True
    assert rig.watch() == 0
    assert rig.answers == []


def test_not_at_once_again() -> None:
    with pytest.raises(UsageError):
        watch(Rig(io.StringIO(), []).context, 0, "health")
