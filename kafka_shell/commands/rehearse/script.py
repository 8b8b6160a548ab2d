"""The lines to rehearse: of a file, of standard input, or one line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.base.errors import ShellError, UsageError, did_you_mean
from kafka_shell.base.structs import replace
from kafka_shell.base.units import to_path
from kafka_shell.commands import REGISTRY
from kafka_shell.language.parse import corrections, parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import commands, logical_lines, tokenize

if TYPE_CHECKING:
    from kafka_shell.context import Context

MOST_BYTES = 16 << 20


def lines_of(text: str, context: Context) -> tuple[str, ...]:
    """The lines that the argument of `rehearse` stands for: the text itself if it begins with a
    command, else those of the file of that name; `-` is standard input.

    Empty lines and comments are left out.
    """
    line = tokenize(text)
    if len(line.words) == 1 and " " in line.words[0].text and line.shell is None:
        text = line.words[0].text  # the whole line in quotes
        line = tokenize(text)
    first = line.words[0].text if line.words else ""
    if first == "-" and len(line.words) == 1:
        return _read_stdin(context)
    if line.shell is not None or first.startswith("--") or REGISTRY.has_first(first):
        _refuse_output(text)
        return (text,)
    path = to_path(first)
    if path.exists():
        if len(line.words) == 1:
            return lines_of_file(path)
        raise UsageError(
            f"unexpected word '{line.words[1].text}' after the file",
            hint=f"Put options of rehearse first: rehearse {line.words[1].text} {first}",
        )
    raise UsageError(
        f"'{first}' is neither a command nor a file",
        hint=did_you_mean(
            first,
            corrections(first, REGISTRY),
            "Use rehearse FILE, rehearse LINE, or rehearse - for standard input.",
        ),
        code="bad-value",
    )


def _refuse_output(text: str) -> None:
    """Raise UsageError for --output at the end of one command: the user expects the report so."""
    lines = list(commands(text))
    try:
        invocation = parse(lines[0], REGISTRY, text=text) if len(lines) == 1 else None
    except ShellError:
        return  # it is reported when it runs
    if invocation is not None and invocation.get("output"):
        raise UsageError(
            "--output applies to the rehearsed command, not to the report",
            hint=f"Put options of rehearse first: rehearse --output {invocation['output']} ...",
        )


def without_throttle(text: str) -> str:
    """The line of one command without its --throttle, which consists of configs of brokers."""
    lines = list(commands(text))
    try:
        invocation = parse(lines[0], REGISTRY, text=text) if len(lines) == 1 else None
    except ShellError:
        return text  # it is reported when it runs
    if invocation is None or not invocation.get("throttle"):
        return text
    return render(replace(invocation, values={**invocation.values, "throttle": None}))


def lines_of_file(path: Path) -> tuple[str, ...]:
    """The lines of a script."""
    return tuple(_content(_read(path), str(path)))


def _read_stdin(context: Context) -> tuple[str, ...]:
    if context.script.from_stdin or context.shell is not None or sys.stdin.isatty():
        raise UsageError(
            "the script cannot be read from standard input here",
            hint="Use rehearse FILE, or in a shell: kafka.sh rehearse - < FILE",
            code="bad-value",
        )
    return tuple(_content(sys.stdin.buffer.read(MOST_BYTES + 1), "standard input"))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", code="file") from None


def _content(raw: bytes, name: str) -> Iterator[str]:
    if len(raw) > MOST_BYTES:
        raise UsageError(f"{name} is larger than {MOST_BYTES >> 20} MiB", code="file")
    try:
        decoded = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8", code="not-utf-8") from None
    return _without_comments(text for _, text in logical_lines(decoded.splitlines(keepends=True)))


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    for text in lines:
        if not all(line.empty for line in commands(text)):
            yield text.strip()
