"""One line of the shell, a script or argv: parsed, run, and its answer drawn, filed or piped."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from io import TextIOWrapper
from threading import Thread
from typing import IO, TYPE_CHECKING, TextIO, cast

from kafka_shell.language.argv import PASTED
from kafka_shell.language.command import Invocation, Kind
from kafka_shell.language.parse import check_line, parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import Line, commands, words_of
from kafka_shell.output.errors import draw_error, draw_note
from kafka_shell.output.pane import Pane, PipeClosed, columns_of
from kafka_shell.output.theme import Theme, load_or_default
from kafka_shell.output.writer import Writer
from kafka_shell.plan.model import Plan

from .commands import REGISTRY
from .context import Context
from .errors import ShellError, Status, UsageError
from .identity import on_the_right_cluster
from .units import to_path

if TYPE_CHECKING:
    from subprocess import Popen

_SHORT = 100  # characters of a line that say which one it is
# What ends a stream that is written to; a broken pipe is no error.
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


_Part = tuple[Line, Invocation | None]  # a command of the line; no invocation is `!cmd`


def run_text(text: str, context: Context, *, origin: str = "", keep_going: bool = False) -> Status:
    """Run a line as typed at the prompt or read from a script: one command, or several.

    All are parsed before the first runs. `&&` and `||` are the POSIX shell's. `;` is a line break:
    at the prompt the next command runs in any case, and the last one's status is the line's; in a
    script (`origin` is "file:line") a failure ends it, unless `keep_going`: the highest status
    wins.
    """
    try:
        lines = [line for line in commands(text) if not line.empty]
        for line in lines:
            _check_plain(line, context)
        parts = [
            (line, None if line.shell is not None else _parse(line, text, context))
            for line in lines
        ]
    except ShellError as error:
        return report_error(error, context, text=text, origin=origin)
    status = worst = Status.OK
    for joined in _between_semicolons(parts):
        status = _run_joined(joined, text, context, origin)
        worst = max(worst, status)
        if _stops(status, context) or (status and origin and not keep_going):
            break
    return worst if origin else status


def can_be_read(text: str) -> bool:
    """Whether each command of the line is one, with the options that it has."""
    try:
        for line in commands(text):
            if line.shell is None and not line.empty:
                parse(line, REGISTRY, text=text)
    except ShellError:
        return False
    return True


def _between_semicolons(parts: Sequence[_Part]) -> list[list[_Part]]:
    """The commands that `&&` and `||` join, apart from those behind a `;`."""
    found: list[list[_Part]] = []
    for part in parts:
        if part[0].joint in ("&&", "||") and found:
            found[-1].append(part)
        else:
            found.append([part])
    return found


def _run_joined(parts: Sequence[_Part], text: str, context: Context, origin: str) -> Status:
    """Run `a && b || c`; the status of the last command that ran."""
    status, last, reported = Status.OK, parts[0][0], False
    for line, invocation in parts:
        if line is not parts[0][0] and (line.joint == "&&") == bool(status):
            continue
        if _stops(status, context):
            break
        last, reported = line, False
        try:
            status = (
                _shell_escape(line.shell or "", context)
                if invocation is None
                else _run(line, invocation, context)
            )
        except ShellError as error:
            status, reported = report_error(error, context, text=text, origin=origin), True
    if status and origin and not reported:
        _tell(status, last, context, origin)
    return status


def _check_plain(line: Line, context: Context) -> None:
    """Raise UsageError for what generated commands and dry runs may not do: a value of the cluster
    that was written as a line, or a script that is only tried out, runs no other program."""
    if context.script.generated:
        where = "in a generated script"
    elif context.defaults.get("dry-run"):
        where = "under --dry-run"
    else:
        return
    if line.shell is not None:
        what = "! is"
    elif line.pipe is not None:
        what = "pipes are"
    elif line.redirect is not None:
        what = "redirects are"
    elif line.words and line.words[0].text == "source":
        what = "source is"
    else:
        return
    span = line.operators[0] if line.operators else line.words[0].span
    raise UsageError(
        f"{what} not allowed {where}",
        hint="Nothing of this line was run.",
        code="generated" if context.script.generated else "dry-run",
        span=span,
        text=line.text,
    )


def _stops(status: Status, context: Context) -> bool:
    """Whether nothing more of the line runs, whatever joins it: Ctrl-C, or `exit`."""
    return status is Status.INTERRUPTED or context.script.left


def _tell(status: Status, line: Line, context: Context, origin: str) -> None:
    """In a script, what ended a line without an error of its own is told with its place."""
    short = " ".join(line.source.replace("\\\n", " ").split())
    short = short if len(short) <= _SHORT else short[:_SHORT] + "…"
    ended = ShellError(f"the line ended with status {int(status)}: {short}")
    report_error(ended, context, origin=origin)


def run_argv(argv: Sequence[str], context: Context) -> Status:
    """Run one command given as words of argv: they are never pipes."""
    line = words_of(argv)
    try:
        return _run(line, _parse(line, line.text, context), context)
    except ShellError as error:
        return report_error(error, context, text=line.text)


def report_error(
    error: ShellError, context: Context, *, text: str = "", origin: str = ""
) -> Status:
    """Draw an error on stderr and give its exit status."""
    if error.code == "malformed-answer" and error.__cause__ is not None:
        from .crash import write_details

        error.hint = error.hint.replace("crash.log", write_details(error, context.paths))
    pane = writer_for(context, None, context.out).err
    with suppress(OSError, PipeClosed):  # where stderr is full, the status must still tell
        draw_error(error, pane, place=origin, line=text)
    return error.status


def warn(context: Context, message: str) -> None:
    """A warning on stderr, once a run."""
    if message not in context.script.warned:
        context.script.warned.add(message)
        draw_note(message, Pane(context.err))


def writer_for(context: Context, invocation: Invocation | None, out: TextIO) -> Writer:
    """The writer that this line's --output and --no-color ask for."""
    values = invocation.values if invocation else {}
    plain = bool(
        values.get("no-color") or context.settings.no_color or context.environ.get("NO_COLOR")
    )
    colour, colour_err = (not plain and stream.isatty() for stream in (out, context.err))
    return Writer(
        out,
        context.err,
        values.get("output") or context.settings.output,
        _theme(context) if colour or colour_err else None,
        colour,
        columns_of(out),
        colour_err=colour_err,
        before=getattr(context.report, "clear", None),
        safe_csv=bool(values.get("safe-csv")),
    )


def _theme(context: Context) -> Theme:
    """The theme asked for; the default where it is malformed, which the prompt says itself."""
    theme, error = load_or_default(context.theme, user=context.paths.themes)
    if error is not None and context.shell is None:
        warn(context, f"{error.message}: the default theme is used")
    return theme


# -- running ---------------------------------------------------------------------------------------


def _run(line: Line, invocation: Invocation, context: Context) -> Status:
    invocation = _with_defaults(invocation, context)
    here = _somewhere(context, invocation)
    try:
        return _run_there(line, invocation, here)
    finally:
        if here is not context:
            here.close()


def _run_there(line: Line, invocation: Invocation, context: Context) -> Status:
    line, invocation = _with_its_pipe(line, invocation)
    try:
        with _destination(line, context) as ended:
            try:
                status = _answer(invocation, context)
            except (BrokenPipeError, PipeClosed):
                status = Status.OK  # whoever reads has read enough
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        raise _not_written(line, context, error) from None
    finally:
        while context.script.notes:
            warn(context, context.script.notes.pop(0))
    return status or ended()


def _with_its_pipe(line: Line, invocation: Invocation) -> tuple[Line, Invocation]:
    """What runs a line again and again (`watch`) runs the pipe behind it each time, too."""
    again = next((a.name for a in invocation.command.arguments if a.kind is Kind.LINE), None)
    if again is None or line.pipe is None:
        return line, invocation
    piped = {again: f"{invocation.values[again]} | {line.pipe}"}
    return replace(line, pipe=None), replace(invocation, values={**invocation.values, **piped})


def _not_written(line: Line, context: Context, error: OSError) -> ShellError:
    where = line.redirect.path if line.redirect is not None else "standard output"
    if line.redirect is None:
        with suppress(OSError, ValueError):  # what is left in the buffer would fail again at exit
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, context.out.fileno())
            os.close(null)
    return ShellError(
        f"the answer could not be written to {where}: {error.strerror}",
        hint="The command itself has run: journal tells what was changed.",
        code="not-written",
    )


def _with_defaults(invocation: Invocation, context: Context) -> Invocation:
    """The options of the whole program hold where the line has none."""
    values = {
        name: value
        for name, value in context.defaults.items()
        if name in invocation.values
        and invocation.values[name] in (None, False)
        and invocation.command.option(f"--{name}") is None
    }
    return replace(invocation, values={**invocation.values, **values}) if values else invocation


def _parse(line: Line, text: str, context: Context) -> Invocation:
    check_line(line, text)
    words = line.words
    if len(words) > 1 and words[0].text in ("$", "%"):
        words = words[1:]  # pasted with its prompt
    if words and PASTED.fullmatch(words[0].text):
        from .pasted_line import answer_pasted

        answer_pasted(line, words, text, context)
    try:
        invocation = parse(line, REGISTRY, text=text)
    except UsageError:
        from .pasted_line import answer_reordered

        answer_reordered(line, text, context)
        raise
    if len(words) > 1 and any(short.word == words[0].text for short in invocation.command.shorts):
        from .pasted_line import note_reordered

        note_reordered(line, context)
    return invocation


def _somewhere(context: Context, invocation: Invocation) -> Context:
    """The context that this line's connection options ask for: here, or another cluster."""
    from . import connection_options, settings

    own = {option.name for option in invocation.command.options}
    flags = {
        name: value
        for name in connection_options.FLAGS
        # `config-command --broker 1` is a broker's id: the connection is --bootstrap-server there.
        if (value := invocation.get("bootstrap-server" if f"--{name}" in own else name))
        not in (None, ())
    }
    if not flags or flags == context.settings.flags:
        return context
    found = settings.load_over(context.settings, flags, context.environ, context.paths.config_file)
    there = context.elsewhere(found)
    for message in there.settings.warnings:
        warn(context, message)
    return there


def _answer(invocation: Invocation, context: Context) -> Status:
    if invocation.get("help"):
        from kafka_shell.commands.program.help import page

        context.out.write(page(invocation.command, columns_of(context.out)))
        return Status.OK
    writer = writer_for(context, invocation, context.out)
    deadline = invocation.get("deadline")
    if not invocation.command.needs_cluster:
        return _run_and_write(invocation, context, writer)

    def answer() -> Status:
        with context.cluster.within(deadline / 1000 if deadline else None):
            return _run_and_write(invocation, context, writer)

    return on_the_right_cluster(context, answer)


def _run_and_write(invocation: Invocation, context: Context, writer: Writer) -> Status:
    try:
        value = invocation.command.run(invocation, context)
    except ShellError as error:
        if error.span is not None and isinstance(error, UsageError) and not error.text:
            error.text = invocation.text
        raise
    if isinstance(value, Plan):
        from kafka_shell.output.plans import draw_plan
        from kafka_shell.plan.execute import carry_out

        value = carry_out(
            value,
            context,
            command=render(invocation),
            show=lambda plan, undo: draw_plan(plan, undo, writer),
            dry_run=bool(invocation.get("dry-run")),
            yes=invocation.get("yes"),
        )
    if isinstance(value, Status):
        return value
    writer.write(value)
    ended = getattr(value, "exit_status", None)
    if ended is not None:
        return Status(ended)
    return Status.OK if getattr(value, "ok", True) else Status.FAILED


# -- where the answer goes -------------------------------------------------------------------------


class _Ended:
    """How the other end of the pipe ended, once it has."""

    status = Status.OK

    def __call__(self) -> Status:
        return self.status


@contextmanager
def _destination(line: Line, context: Context) -> Iterator[_Ended]:
    """While it lasts, the context's stdout is where the line sends it: a file (`>`), or another
    program (`|`). What the line runs itself (`watch`, `source`) writes there too."""
    ended, out = _Ended(), context.out
    with ExitStack() as stack:
        if line.redirect is not None:
            from .redirect import redirected

            path, append = to_path(line.redirect.path), line.redirect.append
            context.out = stack.enter_context(redirected(path, append, context))
        elif line.pipe is not None:
            context.out = stack.enter_context(_through(line.pipe, context, ended))
        try:
            yield ended
        finally:
            context.out = out


@contextmanager
def _through(command: str, context: Context, ended: _Ended) -> Iterator[TextIO]:
    import subprocess

    with _program(command, context.out, subprocess.PIPE) as process:
        stdin = TextIOWrapper(cast(IO[bytes], process.stdin), encoding="utf-8")
        try:
            yield stdin
        finally:
            with suppress(BrokenPipeError):
                stdin.close()
            ended.status = Status.FAILED if process.wait() else Status.OK


def _shell_escape(command: str, context: Context) -> Status:
    import subprocess

    stdin = subprocess.DEVNULL if context.script.from_stdin else None
    with _program(command, context.out, stdin) as process:
        code = process.wait()
    return Status.FAILED if code else Status.OK


@contextmanager
def _program(command: str, out: TextIO, stdin: int | None) -> Iterator[Popen[bytes]]:
    """/bin/sh with a command of the user's. What it writes goes to `out`: through this process
    where `out` is no file that another one could write to."""
    import subprocess

    real = _is_real(out)
    stdout = out if real else subprocess.PIPE
    with subprocess.Popen(["/bin/sh", "-c", command], stdin=stdin, stdout=stdout) as process:
        copier = None if real else Thread(target=_copy, args=(process.stdout, out), daemon=True)
        if copier is not None:
            copier.start()
        yield process
        if copier is not None:
            copier.join()


def _copy(source: IO[bytes], out: TextIO) -> None:
    for row in TextIOWrapper(source, encoding="utf-8", errors="replace"):
        out.write(row)


def _is_real(stream: TextIO) -> bool:
    """Whether another process can write to the stream."""
    try:
        stream.flush()
        stream.fileno()
    except (OSError, ValueError):
        return False
    return True
