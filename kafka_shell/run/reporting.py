"""Print errors and warnings of a run, and choose how its results are written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from kafka_shell.base.command_results import FORMATS
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.commands import render_module
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.output.data import ENCODERS
from kafka_shell.output.styled_stream import PipeClosed, StyledStream, columns_of
from kafka_shell.output.tables import Renderers
from kafka_shell.output.theme import Theme, load_or_default
from kafka_shell.output.writer import Writer
from kafka_shell.settings import Settings
from kafka_shell.wire.failures import MisreadError, NoBrokerError


def report_error(error: ShellError, context: Context, *, text: str = "") -> Status:
    """Print an error on stderr and return its exit status."""
    from kafka_shell.output.errors import draw_error

    if context.observer is not None:
        context.observer.failed(error)
    if isinstance(error, MisreadError):
        from kafka_shell.crash import write_details

        error.hint += f" The details are in {write_details(error, context.paths)}."
    if isinstance(error, NoBrokerError) and error.code == "refused":  # perhaps none is running
        error.hint += " To start a local cluster, run: kafka.sh --sandbox"
    stream = writer_for(context, None, context.out).err
    with suppress(OSError, PipeClosed):  # without stderr, the exit status still reports the failure
        draw_error(error, stream, line=text)
    return error.status


def warn(context: Context, message: str) -> None:
    """Print a warning on stderr, once per run."""
    if message not in context.script.warned:
        context.script.warned.add(message)
        _draw(context, [message])


def print_notes(context: Context) -> None:
    """Print the notes of the line that has ended, each one once."""
    notes = list(dict.fromkeys(context.script.notes))
    context.script.notes.clear()
    _draw(context, notes)


def _draw(context: Context, messages: Sequence[str]) -> None:
    if not messages:
        return
    from kafka_shell.output.errors import draw_note

    stream = StyledStream(context.err, width=columns_of(context.err))
    stream.may_close = True
    for message in messages:
        draw_note(message, stream)


def warn_of_settings(context: Context, settings: Settings) -> None:
    """Print the warnings of settings. Those about files are for a person who can change them: a
    terminal, not the log of every job."""
    for message in settings.warnings:
        warn(context, message)
    if context.err.isatty():
        for message in settings.file_warnings:
            warn(context, message)


def writer_for(context: Context, invocation: Invocation | None, out: TextIO) -> Writer:
    """Return the writer for --output, --no-color and the streams of this line."""
    values = invocation.values if invocation else {}
    plain = bool(
        values.get("no-color") or context.settings.no_color or context.environ.get("NO_COLOR")
    )
    # Writing to a file or pipe does not disturb a progress bar.
    clear = getattr(context.report, "clear", None)
    output = values.get("output")  # spark query also has names of directories
    color, color_err = (not plain and stream.isatty() for stream in (out, context.err))
    writer = Writer(
        out,
        context.err,
        output if output in {*FORMATS, *ENCODERS} else context.settings.output,
        _theme(context) if color or color_err else None,
        color,
        columns_of(out),
        color_err=color_err,
        before=clear if out.isatty() else None,
        before_err=clear,
        safe_csv=bool(values.get("safe-csv")),
        verbose=bool(values.get("verbose")),
        quiet=bool(values.get("quiet")),
        in_script=context.script.from_stdin or bool(context.script.files),
        renderers=Renderers(render_module),
    )
    writer.err.place = context.script.tell_place
    writer.err.may_close = True  # nobody reads the messages: the exit status still tells
    return writer


def _theme(context: Context) -> Theme:
    """Return the theme of the session, or the default theme if it is invalid."""
    theme, error = load_or_default(context.session.theme, user=context.paths.themes)
    if error is not None and context.shell is None:
        warn(context, f"{error.message}; using the default theme")
    return theme
