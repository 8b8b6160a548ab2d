"""Scripts: the shell's own lines from standard input or a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from kafka_shell.context import Context
from kafka_shell.dispatch import report_error, run_text
from kafka_shell.errors import ShellError, Status, UsageError
from kafka_shell.language.tokens import logical_lines


def run_script(
    lines: Iterable[bytes], context: Context, *, name: str, keep_going: bool = False
) -> Status:
    """Run lines in order. The first failure stops the script, unless `keep_going`.

    Errors name `name` and the line's number. Under `keep_going` the highest status wins.
    """
    worst = Status.OK
    try:
        for number, text in logical_lines(_decoded(lines, name)):
            status = run_text(text, context, origin=f"{name}:{number}")
            worst = max(worst, status)
            if status and not keep_going:
                break
    except ShellError as error:
        return max(worst, report_error(error, context))
    return worst


def run_file(path: Path, context: Context, *, keep_going: bool = False) -> Status:
    """Run the lines of a file."""
    try:
        with path.open("rb") as file:
            return run_script(file, context, name=str(path), keep_going=keep_going)
    except OSError as error:
        raise ShellError(f"{path} cannot be read: {error.strerror}", code="file") from None


def run_stdin(stream: BinaryIO, context: Context, *, keep_going: bool = False) -> Status:
    """Run the lines of standard input."""
    return run_script(stream, context, name="stdin", keep_going=keep_going)


def _decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, raw in enumerate(lines, 1):
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{name}:{number}: byte {error.start + 1} of the line is not UTF-8",
                hint="Save the script as UTF-8. Nothing from this line on was run.",
                code="not-utf-8",
            ) from None
