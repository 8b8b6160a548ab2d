"""Recorded sessions: the input, the output of each stream, and the exit status.

The lines `$ kafka.sh ...` of a transcript are run in order, with one home directory and on one
cluster, with the `< ` lines as standard input. The lines after it up to `[status N]` are its
output, those of stderr with `! `. `python -m tests.transcripts --write` writes the current output.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program

FOLDER = Path(__file__).parent
COMMAND = "$ kafka.sh"

# What differs from run to run, and what stands for it; widths stay, so that columns do.
VOLATILE: Sequence[tuple[str, str]] = (
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?", "2026-01-31T10:00:00.000"),
    (r'("time": |^  time: |- time: )\d{9,}\.?\d*', r"\g<1>1769853600.0"),
    (r"\b1[0-9]{9}\.[0-9]+,", "1769853600.0,"),
    (r'((?:"id": "|\bid: ))[0-9a-f]{8}\b', r"\g<1>0123abcd"),
    (r"^[0-9a-f]{8},(?=1769853600)", "0123abcd,"),
    (r"^[0-9a-f]{8}(?=  2026-01-31T)", "0123abcd"),
    (r"\b[0-9a-f]{8}(?= of 2026-01-31T)", "0123abcd"),
    (r"(?<=undo: undo )[0-9a-f]{8}$", "0123abcd"),
    (r'^( +)"[0-9a-f]{8}"(?=,?$)', r'\g<1>"0123abcd"'),  # undoes
    (r',"[0-9a-f]{8},[0-9a-f]{8}"(?=,)', ',"0123abcd,0123abcd"'),
    (r'(?<="session": ")[0-9a-f]{8}', "0123abcd"),
    (r",[0-9a-f]{8}(?=,(true|false)$)", ",0123abcd"),
    (
        r"(?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[A-Za-z0-9_-]{22}(?![\w-])",
        "A-Topic-Id-Of-22-Chars",
    ),
    (r"after \d+\.\d+ s", "after 1.0 s"),
)


@dataclass(frozen=True)
class Step:
    """One run: `words` as typed after the program's name, its input, and what came of it."""

    title: tuple[str, ...]
    words: str
    stdin: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()

    def __str__(self) -> str:
        typed = f"{COMMAND} {self.words}".rstrip()
        fed = (f"< {line}".rstrip() for line in self.stdin)
        return "\n".join([*self.title, typed, *fed, *self.answer])


def transcripts() -> list[Path]:
    """Every golden file."""
    return sorted(FOLDER.glob("*.txt"))


def read(path: Path) -> list[Step]:
    """The steps of a transcript. Comments and blank lines before a step are its title."""
    steps: list[Step] = []
    title: list[str] = []
    lines = iter(path.read_text().splitlines())
    for line in lines:
        if line.startswith(COMMAND):
            steps.append(_step(tuple(title), line, lines))
            title = []
        elif line.startswith("#") or not line:
            title.append(line)
        else:
            raise ValueError(f"{path.name}: {line!r} stands outside of a step")
    return steps


def _step(title: tuple[str, ...], first: str, lines: Iterator[str]) -> Step:
    stdin: list[str] = []
    answer: list[str] = []
    for line in lines:
        if (line.startswith("< ") and not answer) or line == "<":
            stdin.append(line[2:])
            continue
        answer.append(line)
        if re.fullmatch(r"\[status \d+\]", line):
            break
    return Step(title, first.removeprefix(COMMAND).strip(), tuple(stdin), tuple(answer))


def play(steps: Sequence[Step], sandbox: Sandbox, home: Path) -> list[Step]:
    """The same steps with what comes of them now."""
    home.mkdir(parents=True, exist_ok=True)
    program = Program(home, sandbox.bootstrap)
    return [replace(step, answer=tuple(_answer(step, program, sandbox))) for step in steps]


def write(steps: Sequence[Step]) -> str:
    """The text of a transcript."""
    return "\n".join(map(str, steps)) + "\n"


def _answer(step: Step, program: Program, sandbox: Sandbox) -> Iterator[str]:
    words = shlex.split(step.words)
    to = replace(program, broker="") if "--broker" in words else program
    with chdir(program.home):
        done = to(*words, stdin="".join(f"{line}\n" for line in step.stdin))
    yield from _normal(done.stdout, program, sandbox).splitlines()
    for line in _normal(done.stderr, program, sandbox).splitlines():
        yield f"! {line}".rstrip()
    yield f"[status {done.status}]"


def _normal(text: str, program: Program, sandbox: Sandbox) -> str:
    text = text.replace(str(program.home), "HOME").replace(
        sandbox.cluster_id, "The-Id-Of-This-Cluster"
    )
    for broker in sandbox.brokers:
        for port in broker.ports.values():
            text = re.sub(rf"(?<!\d){port}(?!\d)", "9".rjust(len(str(port)), "9"), text)
    for pattern, stand_in in VOLATILE:
        text = re.sub(pattern, stand_in, text, flags=re.MULTILINE)
    return text
