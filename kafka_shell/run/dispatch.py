"""Parse and run a line of the prompt, a script or argv, and write its result."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from contextlib import ExitStack

from kafka_shell import connection_options, settings
from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.files import bad_file
from kafka_shell.base.plans import Effect, Plan, Runbook
from kafka_shell.base.structs import replace
from kafka_shell.base.units import to_path
from kafka_shell.commands import REGISTRY, function
from kafka_shell.context import Context, OtherClusterPlan
from kafka_shell.identity import on_expected_cluster
from kafka_shell.language import kinds
from kafka_shell.language.argv import PASTED, without_prefix
from kafka_shell.language.command import CHANGING, RUNNING, TIMEOUT, Invocation
from kafka_shell.language.parse import check_line, parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import Line, commands, words_of
from kafka_shell.output.styled_stream import PipeClosed, columns_of, discard
from kafka_shell.output.writer import Writer
from kafka_shell.run.reporting import print_notes, report_error, warn_of_settings, writer_for

_SHORT = 100  # characters of a line in an error about it
# Errors of writing the result. A broken pipe is not an error.
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


_Part = tuple[Line, Invocation | None]  # a command of the line; None for `!command`


def run_text(text: str, context: Context, *, origin: str = "", keep_going: bool = False) -> Status:
    """Run a line of the prompt or of a script, which may contain several commands.

    All commands are parsed before the first one runs. `&&` and `||` work as in a POSIX shell. `;`
    is a line break: at the prompt the next command always runs and the line has the status of the
    last one; in a script (`origin` is "file:line") a failure ends the line unless `keep_going`, in
    which case the highest status wins.
    """
    context.script.place = origin
    try:
        parts = _parts(text, context)
        status = worst = Status.OK
        for sequence in _split_at_semicolons(parts):
            status = _run_sequence(sequence, text, context)
            worst = max(worst, status)
            if stops(status, context) or (status and origin and not keep_going):
                break
        return worst if origin else status
    except ShellError as error:
        return report_error(error, context, text=text)


def check_text(text: str, context: Context, *, origin: str) -> Status:
    """Parse a line of a script without running it, except for `exit`, which ends the check."""
    noted = len(context.script.notes)
    context.script.place = origin
    try:
        for line, invocation in _parts(text, context):
            is_exit = invocation is not None and invocation.command.name == "exit"
            context.script.left |= is_exit and line.joint not in ("&&", "||")
    except ShellError as error:
        return report_error(error, context, text=text)
    finally:
        del context.script.notes[noted:]
    return Status.OK


def _parts(text: str, context: Context) -> list[_Part]:
    lines = [line for line in commands(text) if not line.empty]
    for line in lines:
        _check_allowed(line, context)
    return [
        (line, None if line.shell is not None else _parse(line, text, context)) for line in lines
    ]


def is_valid(text: str) -> bool:
    """Return whether every command of the line can be parsed."""
    try:
        for line in commands(text):
            if line.shell is None and not line.empty:
                parse(line, REGISTRY, text=text)
    except ShellError:
        return False
    return True


def _split_at_semicolons(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Return the sequences of commands that are joined by `&&` and `||`."""
    sequences: list[list[_Part]] = []
    for part in parts:
        if part[0].joint in ("&&", "||") and sequences:
            sequences[-1].append(part)
        else:
            sequences.append([part])
    return sequences


def _run_sequence(parts: Sequence[_Part], text: str, context: Context) -> Status:
    """Run `a && b || c` and return the status of the last command that ran."""
    status, last = Status.OK, parts[0][0]
    for line, invocation in parts:
        if line is not parts[0][0] and (line.joint == "&&") == bool(status):
            continue
        if stops(status, context):
            break
        last, context.script.told = line, False
        try:
            if invocation is None:
                from kafka_shell.run.pipe import run_program

                status = run_program(line.shell or "", context)
            else:
                status = _run(line, invocation, context)
        except ShellError as error:
            status = report_error(error, context, text=text)
    if status and context.script.place and not context.script.told:
        _report_status(status, last, context)
    return status


def _check_allowed(line: Line, context: Context) -> None:
    """Raise UsageError for pipes, redirects, `!` and `source` in generated scripts and dry runs."""
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
        f"{what} not allowed {where} (no command of this line was run)",
        code="generated" if context.script.generated else "dry-run",
        span=span,
        text=line.text,
    )


def stops(status: Status, context: Context) -> bool:
    """Return whether the rest of the line or script is skipped: after Ctrl-C or `exit`."""
    return status is Status.INTERRUPTED or context.script.left


def _report_status(status: Status, line: Line, context: Context) -> None:
    """Report the line of a script whose command failed without an error message."""
    short = " ".join(line.source.replace("\\\n", " ").split())
    short = short if len(short) <= _SHORT else short[:_SHORT] + "…"
    report_error(ShellError(f"command exited with status {int(status)}: {short}"), context)


def run_argv(argv: Sequence[str], context: Context) -> Status:
    """Run a command given as words of argv, which contain no pipes or redirects."""
    line = words_of(argv)
    try:
        return _run(line, _parse(line, line.text, context), context)
    except ShellError as error:
        return report_error(error, context, text=line.text)


# -- running ---------------------------------------------------------------------------------------


def _run(line: Line, invocation: Invocation, context: Context) -> Status:
    invocation = _with_defaults(invocation, context)
    own = _connected(context, invocation)
    try:
        return _run_connected(line, invocation, own)
    finally:
        if own is not context:
            own.close()


def _run_connected(line: Line, invocation: Invocation, context: Context) -> Status:
    line, invocation = _with_inner_pipe(line, invocation)
    pipe, file = None, None
    try:
        with ExitStack() as stack:
            out = context.out
            if line.redirect is not None:
                from kafka_shell.run.pipe import redirected

                path, append = to_path(line.redirect.path), line.redirect.append
                file = stack.enter_context(redirected(path, append, context))
                out = file.stream
            elif line.pipe is not None:
                from kafka_shell.run.pipe import open_pipe

                pipe = stack.enter_context(open_pipe(line.pipe, out))
                out = pipe.stdin
            try:
                status, complete = _execute(invocation, replace(context, out=out))
                if file is not None:
                    file.complete = complete
            except (BrokenPipeError, PipeClosed):
                status = Status.OK  # the reader has closed the pipe
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        raise _not_written(line, invocation, context, error) from None
    finally:
        print_notes(context)
    return status or (pipe.status if pipe else Status.OK)


def _with_inner_pipe(line: Line, invocation: Invocation) -> tuple[Line, Invocation]:
    """Make the pipe part of the argument of `watch`, so that it is repeated as well."""
    if not invocation.command.repeats or line.pipe is None:
        return line, invocation
    again = next(a.name for a in invocation.command.arguments if a.kind is kinds.LINE)
    piped = {again: f"{invocation.values[again]} | {line.pipe}"}
    return replace(line, pipe=None), replace(invocation, values={**invocation.values, **piped})


def _not_written(
    line: Line, invocation: Invocation, context: Context, error: OSError
) -> ShellError:
    where = line.redirect.path if line.redirect is not None else "standard output"
    if line.redirect is None:
        discard(context.out)
    read = invocation.command.effect is Effect.READ
    return ShellError(
        f"cannot write the result to {where}: {error.strerror}"
        + ("" if read else " (the command was executed)"),
        hint="" if read else "Run journal to see the changes.",
        code="not-written",
    )


def _with_defaults(invocation: Invocation, context: Context) -> Invocation:
    """Apply the options of the program that the line does not set. An option that a command
    declares for something else keeps its value."""
    command = invocation.command
    values = {
        name: value
        for name, value in context.defaults.items()
        if name in invocation.values
        and (invocation.values[name] is None or invocation.values[name] is False)
        and (command.option(f"--{name}") or None) in (None, TIMEOUT, *RUNNING, *CHANGING)
    }
    return replace(invocation, values={**invocation.values, **values}) if values else invocation


def _parse(line: Line, text: str, context: Context) -> Invocation:
    check_line(line, text)
    words = line.words
    if len(words) > 1 and words[0].text in ("$", "%"):
        words = words[1:]  # pasted with the prompt of another shell
    words = without_prefix(words)
    if words and PASTED.fullmatch(words[0].text):
        from kafka_shell.pasted.kafka_tools import suggest_equivalent

        suggest_equivalent(line, words, text, context)
    try:
        invocation = parse(line, REGISTRY, text=text)
    except UsageError:
        from kafka_shell.pasted.kafka_tools import suggest_reordered

        suggest_reordered(line, text, context)
        raise
    if len(words) > 1 and any(short.word == words[0].text for short in invocation.command.shorts):
        from kafka_shell.pasted.kafka_tools import note_reordered

        note_reordered(line, context)
    return invocation


def _connected(context: Context, invocation: Invocation) -> Context:
    """Return the context for the connection options of the line: this one, or a new one."""
    flags = connection_options.flags_of(invocation)
    if not flags or flags == context.settings.flags:
        return context
    loaded = settings.load_for_line(
        context.settings, flags, context.environ, context.paths.config_file,
        context.session.known_brokers,
    )  # fmt: skip
    warn_of_settings(context, loaded)
    return context.with_settings(loaded)


def _execute(invocation: Invocation, context: Context) -> tuple[Status, bool]:
    """The exit status, and whether the output is complete."""
    if invocation.get("help"):
        from kafka_shell.commands.program.help import page

        context.out.write(page(invocation.command, columns_of(context.out)))
        return Status.OK, True
    writer = writer_for(context, invocation, context.out)
    deadline = invocation.get("deadline")
    if not invocation.command.needs_cluster:
        return _run_and_write(invocation, context, writer)

    def work() -> tuple[Status, bool]:
        with context.cluster.within(deadline / 1000 if deadline else None, given=True):
            return _run_and_write(invocation, context, writer)

    return on_expected_cluster(context, work)


def _run_and_write(invocation: Invocation, context: Context, writer: Writer) -> tuple[Status, bool]:
    try:
        value = function(invocation.command.run)(invocation, context)
    except ShellError as error:
        if error.span is not None and isinstance(error, UsageError) and not error.text:
            error.text = invocation.text
        raise
    except OSError as error:
        if error.filename is None:
            raise
        raise bad_file(error.filename, str(error.strerror)) from None
    target = context
    if isinstance(value, OtherClusterPlan):
        target, value = value.context, value.plan
    yes = invocation.get("force") or invocation.get("yes")
    if isinstance(value, Runbook):
        from kafka_shell.run.execute import run

        status = run(
            value,
            context,
            writer,
            command=render(invocation),
            dry_run=bool(invocation.get("dry-run")),
            yes=yes,
        )
        return status, True
    if isinstance(value, Plan):
        from kafka_shell.run.execute import execute

        if context.observer is not None:
            context.observer.planned(value)
        try:
            value = execute(
                value,
                target,
                command=render(invocation),
                show=writer.draw_plan,
                reveal=writer.write,
                dry_run=bool(invocation.get("dry-run")),
                yes=yes,
            )
        finally:
            if target is not context:
                target.close()
    if isinstance(value, Status):
        return value, True
    writer.write(value)
    if context.observer is not None:
        context.observer.returned(value)
    complete = not (getattr(value, "failures", None) or getattr(value, "unread", None))
    exit_status = getattr(value, "exit_status", None)
    if exit_status is None:
        exit_status = Status.OK if getattr(value, "ok", True) else Status.FAILED
    return Status(exit_status), complete
