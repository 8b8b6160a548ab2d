"""Scripts: the shell's own lines from standard input or a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from kafka_shell.language.logical_lines import logical_lines

from . import journal
from .context import Context
from .dispatch import report_error, run_text
from .errors import ShellError, Status, UsageError

LONGEST = 1 << 20  # bytes of one line: a hundred times what anybody types
DEEPEST = 20  # files that run one another


class _Unreadable(UsageError):
    """A line that is no text. `place` is its file and number."""

    def __init__(self, message: str, *, hint: str, code: str, place: str) -> None:
        super().__init__(message, hint=hint, code=code)
        self.place = place


def run_script(
    stream: BinaryIO, context: Context, *, name: str, keep_going: bool = False
) -> Status:
    """Run lines in order. The first failure stops the script, unless `keep_going`.

    Errors name `name` and the line's number. Under `keep_going` the highest status wins. `exit`
    ends the script and those that run it. A script that begins with the header of `journal --undo`
    is generated: it runs on the cluster it is meant for, and marks what it undid.
    """
    worst, failed, ran = Status.OK, 0, 0
    undoes: tuple[str, ...] = ()
    state = context.script
    outside = state.generated, state.undoes
    try:
        for number, text in logical_lines(_decoded(stream, name)):
            place = f"{name}:{number}"
            if number == 1 and (found := journal.read_header(text)):
                state.generated, (cluster, undoes) = True, found
                state.undoes = undoes
                journal.check_header(context, cluster)
            status = run_text(text, context, origin=place, keep_going=keep_going)
            worst = max(worst, status)
            ran += bool(text.strip() and not text.lstrip().startswith("#"))
            failed += bool(status)
            if state.left or (status and not keep_going):
                break
    except _Unreadable as error:
        return max(worst, report_error(error, context, origin=error.place))
    except ShellError as error:
        return report_error(error, context, origin=f"{name}:1")
    finally:
        state.generated, state.undoes = outside
    if undoes and worst is Status.OK and not context.defaults.get("dry-run"):
        journal.mark_undone(context, undoes)
    if keep_going and failed:
        context.err.write(f"{failed:,} of {ran:,} line{'' if ran == 1 else 's'} of {name} failed\n")
    return worst


def run_file(
    path: Path, context: Context, *, keep_going: bool = False, generated: bool = False
) -> Status:
    """Run the lines of a file. A file that would run itself, however indirectly, is refused.

    The lines of a `generated` file are plain commands: no `!`, pipe, redirect or `source`.
    """
    files = context.script.files
    try:
        real = path.resolve()
        file = path.open("rb")
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read: {why}", code="file") from None
    with file:
        if real in files or len(files) == DEEPEST:
            way = " -> ".join(each.name for each in [*files, real])
            what = "is running already" if real in files else "is one file too deep"
            raise ShellError(f"{path} {what}: {way}", hint="Nothing of it was run.", code="file")
        files.append(real)
        outside = context.script.generated
        context.script.generated = outside or generated
        try:
            return run_script(file, context, name=str(path), keep_going=keep_going)
        finally:
            context.script.generated = outside
            files.pop()


def run_stdin(stream: BinaryIO, context: Context, *, keep_going: bool = False) -> Status:
    """Run the lines of standard input."""
    context.script.from_stdin = True
    return run_script(stream, context, name="stdin", keep_going=keep_going)


def _decoded(stream: BinaryIO, name: str) -> Iterator[str]:
    number = 0
    while raw := stream.readline(LONGEST + 1):
        number += 1
        if len(raw) > LONGEST:
            raise _Unreadable(
                f"the line is longer than {LONGEST >> 20} MiB",
                hint="Nothing from this line on was run. Is this a script?",
                code="long-line",
                place=f"{name}:{number}",
            )
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise _Unreadable(
                f"byte {error.start + 1} of the line is not UTF-8",
                hint="Save the script as UTF-8. Nothing from this line on was run.",
                code="not-utf-8",
                place=f"{name}:{number}",
            ) from None
