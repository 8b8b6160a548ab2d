"""Starts the prompt, one command or a script, depending on argv and stdin."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from signal import SIGHUP, SIGTERM
from typing import Any

from kafka_shell import __version__, connection_options, settings
from kafka_shell.base.errors import ShellError, Status, UsageError, pointing_at
from kafka_shell.base.plans import Report
from kafka_shell.base.structs import replace
from kafka_shell.commands import REGISTRY
from kafka_shell.context import Ask, ClusterSession, Context, FullScreen, Paths
from kafka_shell.language.argv import Split, split
from kafka_shell.language.command import CHANGING, RUNNING, SANDBOX, TIMEOUT
from kafka_shell.output.progress import Progress
from kafka_shell.output.styled_stream import columns_of
from kafka_shell.output.terminal import is_dumb, standard
from kafka_shell.output.writer import Writer
from kafka_shell.run.dispatch import run_argv, run_text
from kafka_shell.run.reporting import report_error, warn_of_settings
from kafka_shell.run.script import run_file, run_stdin
from kafka_shell.wire import lazy_kafka
from kafka_shell.wire.endpoint import is_loopback

_NO_TERMINAL = UsageError(
    "no command given, and standard output is not a terminal",
    hint="Add a command, for example: kafka.sh topics | head",
    code="no-terminal",
)


def _protect_terminals() -> None:
    """Remove control characters, which may come from a cluster, from the output to terminals."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name).isatty():
            setattr(sys, name, standard(getattr(sys, name)))


def start(words: list[str]) -> Status:
    """Start the prompt, one command or a script, depending on the words and stdin."""
    _protect_terminals()
    lazy_kafka.defer()
    try:
        _check_home(os.environ)
        paths = Paths.of(os.environ)
        line = split(_as_text(words), REGISTRY)
        line.check()
    except ShellError as error:
        return report_early(error, " ".join(words))
    if line.program.get("version"):
        sys.stdout.write(f"kafka.sh {__version__}\n")
        return Status.OK
    if line.program.get("help") and not line.command:
        from kafka_shell.commands.program.help import program_page

        sys.stdout.write(program_page(REGISTRY, columns_of(sys.stdout)))
        return Status.OK
    if line.program.get("completion"):
        from kafka_shell.run.completion_scripts import SCRIPTS

        sys.stdout.write(SCRIPTS[line.program["completion"]])
        return Status.OK
    with ExitStack() as stack:
        try:
            context = _context(line, paths)
            if line.program.get("sandbox"):
                context = _on_sandbox(context, stack, line.program)
        except ShellError as error:
            return report_early(error, " ".join(words))
        stack.callback(context.resources.close)
        stack.callback(context.close)
        return _run(line.command, line.program, context)


def _run(command: Sequence[str], program: dict[str, Any], context: Context) -> Status:
    if command:
        status = run_argv(command, context)
        if context.resources.prompt is not None:
            _prompt(context.resources.prompt)
        return status
    if sys.stdin.isatty() and not sys.stdout.isatty():
        return report_error(_NO_TERMINAL, context)
    if sys.stdin.isatty():
        return _prompt(context)
    keep_going, check = bool(program.get("keep-going")), bool(program.get("check"))
    return run_stdin(sys.stdin.buffer, context, keep_going=keep_going, check=check)


def _prompt(context: Context) -> Status:
    from kafka_shell.shell.session import run

    told, bootstrap = "", context.settings.connection.bootstrap
    if any(is_loopback(address.host) for address in bootstrap):
        from kafka_shell.sandbox.state import about

        told = about(context.environ, bootstrap)
    return Status(run(context, told))


def _check_home(environ: Mapping[str, str]) -> None:
    """Raise UsageError if KAFKA_SH_HOME is empty, for example because of an unset variable."""
    if environ.get("KAFKA_SH_HOME") == "":
        raise UsageError(
            "the environment variable KAFKA_SH_HOME is set but empty",
            hint="Set KAFKA_SH_HOME to a directory, or unset it.",
            code="empty",
        )


def _context(line: Split, paths: Paths) -> Context:
    environ = dict(os.environ)
    if "output" in line.program:
        environ["KAFKA_SH_OUTPUT"] = line.program["output"]
    if "no-color" in line.program:
        environ["NO_COLOR"] = "1"
    loaded = settings.load(line.connection, environ, paths.config_file)
    context = Context(
        ClusterSession(loaded, theme=loaded.theme),
        paths,
        environ=environ,
        ask=_asker(),
        report=_reporter(),
        run_line=lambda text, context: int(run_text(text, context)),
        run_file=run_file,
        full_screen=_full_screen(),
        defaults=_defaults(line.program),
    )
    warn_of_settings(context, loaded)
    return context


def _defaults(program: dict[str, Any]) -> dict[str, Any]:
    """Return the options that apply to every line: --deadline, --timeout, --dry-run, --yes."""
    defaults = {}
    for option in (TIMEOUT, *RUNNING, *CHANGING):
        name = option.name.removeprefix("--")
        if name in program and name not in ("output", "no-color", "help"):
            value = program[name]
            with pointing_at(None):
                defaults[name] = option.kind.convert(option, value)
    return defaults


def _as_text(words: Sequence[str]) -> list[str]:
    """Decode argv as UTF-8, independent of the locale."""
    texts = []
    for number, word in enumerate(words, 1):
        try:
            texts.append(os.fsencode(word).decode() if not word.isascii() else word)
        except UnicodeError:
            shown = word.encode("ascii", "backslashreplace").decode()
            raise UsageError(
                f"argument {number} of the command line is not UTF-8: {shown[:80]}",
                hint="Use a terminal with UTF-8 encoding.",
                code="not-utf-8",
            ) from None
    return texts


def _reporter() -> Report:
    return Progress(sys.stderr, terminal=sys.stderr.isatty() and not is_dumb(os.environ))


def _asker() -> Ask | None:
    """Return a function that asks on the terminal; None if stdin or stderr is not a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def ask(question: str, *, secret: bool = False) -> str:
        if secret:
            from getpass import getpass

            return getpass(question, sys.stderr)
        try:
            sys.stderr.write(question)
            sys.stderr.flush()
            return sys.stdin.readline()
        except KeyboardInterrupt:
            sys.stderr.write("\nno changes made")
            raise

    return ask


def _full_screen() -> FullScreen | None:
    """Return the function that shows a live view; None if stdin or stdout is not a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None

    def show(view: str, context: Context, *, interval: float, idle: float, plain: bool) -> Status:
        from kafka_shell.shell.top.session import run

        return run(view, context, interval=interval, idle=idle, plain=plain)

    return show


def _on_sandbox(context: Context, stack: ExitStack, program: dict[str, Any]) -> Context:
    from kafka_shell.base.processes import exiting_on
    from kafka_shell.sandbox import session, state

    options = session.options_from(
        state.folder_of(context.environ),
        kafka_version=program.get("kafka-version"),
        brokers=_integer(program, "brokers"),
        port=_integer(program, "port"),
        secure=bool(program.get("secure")),
    )
    stack.enter_context(exiting_on(SIGTERM, SIGHUP))
    sandbox, context.resources.sandbox = stack.enter_context(
        session.open_sandbox(
            options,
            keep=bool(program.get("keep")),
            empty=bool(program.get("empty")),
            report=context.report,
            say=_say,
        )
    )
    flags = session.client_flags(sandbox)
    environ = connection_options.without_connection(context.environ)
    loaded = settings.load(flags, environ, context.paths.config_file)
    return replace(context, environ=environ).with_settings(loaded)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _integer(program: dict[str, Any], name: str) -> int | None:
    value = program.get(name)
    if value is None:
        return None
    option = next(each for each in SANDBOX if each.name == f"--{name}")
    with pointing_at(None):
        return int(option.kind.convert(option, value))


def report_early(error: ShellError, text: str) -> Status:
    """Print an error that occurred before the context was created."""
    from kafka_shell.output.errors import draw_error

    draw_error(error, Writer(sys.stdout, sys.stderr).err, line=text)
    return error.status
