"""Run scripts: lines from standard input or a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.units import counted
from kafka_shell.context import Context
from kafka_shell.language.tokens import logical_lines
from kafka_shell.run.dispatch import check_text, run_text, stops
from kafka_shell.run.reporting import report_error

MAX_LINE_BYTES = 1 << 20
MAX_DEPTH = 20  # nested files


def run_script(
    stream: BinaryIO,
    context: Context,
    *,
    name: str,
    keep_going: bool = False,
    check: bool = False,
) -> Status:
    """Run lines in order and return the status of the failed line, if any.

    All lines of a file, though not of a pipe, are parsed before the first one runs; with `check`
    none runs. The first failure stops the script, unless `keep_going`: then wrong lines fail like
    others, and the highest status is returned. Errors contain `name` and the line number. `exit`
    ends the script and those that run it.
    """
    if check:
        return _check(stream, context, name)
    if stream.seekable() and not keep_going:
        begin = stream.tell()
        if status := _check(stream, context, name):
            context.err.write(f"no line of {name} was run\n")
            return status
        stream.seek(begin)
    worst, failed, ran = Status.OK, 0, 0
    try:
        lines = logical_lines(_decoded(stream, name, context))
        for number, text in lines:
            place = f"{name}:{number}"
            status = run_text(text, context, origin=place, keep_going=keep_going)
            worst = max(worst, status)
            ran += _has_command(text)
            failed += bool(status)
            if stops(status, context) or (status and not keep_going):
                how = "interrupted" if status is Status.INTERRUPTED else "failed"
                if not context.script.left and (left := _lines_left(lines, stream))[-1]:
                    context.err.write(f"{name}: {lines_run(ran - 1, number, how, *left)}\n")
                break
    except ShellError as error:  # a line cannot be decoded
        error.message += " (this line and the following ones were not run)"
        return max(worst, report_error(error, context))
    if keep_going and failed:
        context.err.write(f"{failed:,} of {counted(ran, 'line')} of {name} failed\n")
    return worst


def _has_command(text: str) -> bool:
    return bool(text.strip() and not text.lstrip().startswith("#"))


def _lines_left(lines: Iterator[tuple[int, str]], stream: BinaryIO) -> tuple[int, int, int]:
    """The numbers of the first and the last line that follow, and how many there are (0: none).
    Of a pipe, whose writer may never end, only the first line that was written already."""
    pipe = None if stream.seekable() else stream.fileno()
    first = last = count = 0
    following = (number for number, text in lines if _has_command(text))
    if pipe is not None:
        os.set_blocking(pipe, False)
    try:
        for last in islice(following, None if pipe is None else 1):
            first, count = first or last, count + 1
    except ShellError:  # a line cannot be decoded
        pass
    finally:
        if pipe is not None:
            os.set_blocking(pipe, True)
    return first, last if pipe is None else 0, count


def lines_run(done: int, failed: int, how: str, first: int, last: int, count: int) -> str:
    """`6 of 9 lines run; line 7 failed; lines 8 and 9 not run`. Without a `last` line, the number
    of lines is unknown."""
    ran, which = f"{done:,} of {counted(done + 1 + count, 'line')}", f"line {first}"
    if not last:
        ran, which = counted(done, "line"), f"{which} and the following lines"
    elif count > 1:
        which = f"lines {first} {'and' if count == 2 else 'to'} {last}"
    return f"{ran} run; line {failed} {how}; {which} not run"


def _check(stream: BinaryIO, context: Context, name: str) -> Status:
    """Parse all lines, up to an `exit`."""
    status = Status.OK
    try:
        for number, text in logical_lines(_decoded(stream, name, context)):
            status = max(status, check_text(text, context, origin=f"{name}:{number}"))
            if context.script.left:
                break
    except ShellError as error:  # a line cannot be decoded
        return max(status, report_error(error, context))
    finally:
        context.script.left = False
    return status


def run_file(
    path: Path,
    context: Context,
    *,
    keep_going: bool = False,
    generated: bool = False,
    check: bool = False,
) -> Status:
    """Run the lines of a file. Raises ShellError if the file is already running.

    The lines of a `generated` file must not contain `!`, pipes, redirects or `source`.
    """
    files = context.script.files
    try:
        real = path.resolve()
        file = path.open("rb")
    except (OSError, RuntimeError) as error:  # RuntimeError: circular links
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read: {why}", code="file") from None
    with file:
        if real in files or len(files) == MAX_DEPTH:
            chain = " -> ".join(script.name for script in [*files, real])
            what = "is already running" if real in files else f"exceeds {MAX_DEPTH} nested scripts"
            raise ShellError(f"{path} {what}: {chain} (no line of it was run)", code="file")
        files.append(real)
        generated_before, place = context.script.generated, context.script.place
        context.script.generated = generated_before or generated
        try:
            return run_script(file, context, name=str(path), keep_going=keep_going, check=check)
        finally:
            context.script.generated, context.script.place = generated_before, place
            files.pop()


def run_stdin(
    stream: BinaryIO, context: Context, *, keep_going: bool = False, check: bool = False
) -> Status:
    """Run the lines of standard input."""
    context.script.from_stdin = True
    return run_script(stream, context, name="stdin", keep_going=keep_going, check=check)


def _decoded(stream: BinaryIO, name: str, context: Context) -> Iterator[str]:
    number = 0
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        context.script.place = f"{name}:{number}"
        if len(raw) > MAX_LINE_BYTES:
            raise UsageError(
                f"line is longer than {MAX_LINE_BYTES >> 20} MiB",
                code="long-line",
            )
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"line is not UTF-8: invalid byte {error.start + 1}",
                hint="Save the script as UTF-8.",
                code="not-utf-8",
            ) from None
