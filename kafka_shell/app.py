"""The entry point: starts the prompt, one command or a script, depending on argv and stdin."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from kafka_shell import __version__
from kafka_shell.base.errors import ShellError, Status, UsageError, pointing_at

if TYPE_CHECKING:
    from kafka_shell.base.plans import Report
    from kafka_shell.context import Ask, Context, FullScreen, Paths
    from kafka_shell.language.argv import Split


# The threshold of the garbage collector. With the default, 700, it runs dozens of times during the
# imports of a command, which takes a tenth of the time. One command leaves little to collect.
_GC_THRESHOLD = 300_000

_SHELLS = ("bash", "zsh", "fish")
_NO_TERMINAL = UsageError(
    "no command given, and standard output is not a terminal",
    hint="Add a command, for example: kafka.sh topics | head",
    code="no-terminal",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return the exit status."""
    gc.set_threshold(_GC_THRESHOLD)
    words = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    _protect_terminals()
    status = _guarded(words)
    gc.freeze()  # skips garbage collection at exit
    try:
        sys.stderr.flush()
    except OSError:  # a full disk would change the exit status
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    return status


def _guarded(words: list[str]) -> int:
    try:
        status = int(_main(words))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        return int(Status.INTERRUPTED)
    except BrokenPipeError:
        # The reader of stdout has exited; this prevents an error message at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return int(Status.OK)
    except ShellError as error:
        return int(_report_early(error, " ".join(words)))
    except Exception as error:
        from kafka_shell.context import Paths
        from kafka_shell.crash import report_crash

        return int(report_crash(error, Paths.of(os.environ), sys.stderr))


def _open_closed_streams() -> None:
    """Open closed standard streams (`>&-`), so that sockets do not get their descriptors.

    Writing to a closed standard output still fails.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _protect_terminals() -> None:
    """Remove control characters, which may come from a cluster, from the output to terminals."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name).isatty():
            from kafka_shell.output.terminal import standard

            setattr(sys, name, standard(getattr(sys, name)))


def _main(words: list[str]) -> Status:
    if os.environ.get("KAFKA_SH_COMPLETE"):
        return _complete(words)
    if words == ["--version"]:  # before the imports that it does not need
        return _version()
    if len(words) == 2 and words[0] == "--completion" and words[1] in _SHELLS:
        return _completion(words[1])
    from kafka_shell.commands import REGISTRY
    from kafka_shell.context import Paths
    from kafka_shell.language.argv import split
    from kafka_shell.wire import lazy_kafka

    lazy_kafka.defer()
    environ = os.environ
    try:
        _check_home(environ)
        paths = Paths.of(environ)
        line = split(_as_text(words), REGISTRY)
        line.check()
    except ShellError as error:
        return _report_early(error, " ".join(words))
    if line.program.get("version"):
        return _version()
    if line.program.get("help") and not line.command:
        from kafka_shell.commands.program.help import program_page
        from kafka_shell.output.styled_stream import columns_of

        sys.stdout.write(program_page(REGISTRY, columns_of(sys.stdout)))
        return Status.OK
    if line.program.get("completion"):
        return _completion(line.program["completion"])
    with ExitStack() as stack:
        try:
            context = _context(line, paths)
            if line.program.get("sandbox"):
                context = _on_sandbox(context, stack, line.program)
        except ShellError as error:
            return _report_early(error, " ".join(words))
        stack.callback(context.resources.close)
        stack.callback(context.close)
        return _run(line.command, line.program, context)


def _run(command: Sequence[str], program: dict[str, Any], context: Context) -> Status:
    if command:
        from kafka_shell.run.dispatch import run_argv

        status = run_argv(command, context)
        if context.resources.prompt is not None:
            _prompt(context.resources.prompt)
        return status
    if sys.stdin.isatty() and not sys.stdout.isatty():
        from kafka_shell.run.reporting import report_error

        return report_error(_NO_TERMINAL, context)
    if sys.stdin.isatty():
        return _prompt(context)
    from kafka_shell.run.script import run_stdin

    keep_going, check = bool(program.get("keep-going")), bool(program.get("check"))
    return run_stdin(sys.stdin.buffer, context, keep_going=keep_going, check=check)


def _prompt(context: Context) -> Status:
    from kafka_shell.shell.session import run
    from kafka_shell.wire.endpoint import is_loopback

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
    from kafka_shell import settings
    from kafka_shell.context import ClusterSession, Context
    from kafka_shell.run.dispatch import run_text
    from kafka_shell.run.reporting import warn_of_settings
    from kafka_shell.run.script import run_file

    environ = dict(os.environ)
    if "output" in line.program:
        environ["KAFKA_SH_OUTPUT"] = line.program["output"]
    if "no-color" in line.program:
        environ["NO_COLOR"] = "1"
    found = settings.load(line.connection, environ, paths.config_file)
    context = Context(
        ClusterSession(found, theme=found.theme),
        paths,
        environ=environ,
        ask=_asker(),
        report=_reporter(),
        run_line=lambda text, context: int(run_text(text, context)),
        run_file=run_file,
        full_screen=_full_screen(),
        defaults=_defaults(line.program),
    )
    warn_of_settings(context, found)
    return context


def _defaults(program: dict[str, Any]) -> dict[str, Any]:
    """Return the options that apply to every line: --deadline, --timeout, --dry-run, --yes."""
    from kafka_shell.language.command import CHANGING, RUNNING, TIMEOUT

    found = {}
    for option in (TIMEOUT, *RUNNING, *CHANGING):
        name = option.name.removeprefix("--")
        if name in program and name not in ("output", "no-color", "help"):
            value = program[name]
            with pointing_at(None):
                found[name] = option.kind.convert(option, value)
    return found


def _as_text(words: Sequence[str]) -> list[str]:
    """Decode argv as UTF-8, independent of the locale."""
    found = []
    for number, word in enumerate(words, 1):
        try:
            found.append(os.fsencode(word).decode() if not word.isascii() else word)
        except UnicodeError:
            shown = word.encode("ascii", "backslashreplace").decode()
            raise UsageError(
                f"argument {number} of the command line is not UTF-8: {shown[:80]}",
                hint="Use a terminal with UTF-8 encoding.",
                code="not-utf-8",
            ) from None
    return found


def _reporter() -> Report:
    from kafka_shell.output.progress import Progress
    from kafka_shell.output.terminal import is_dumb

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
    from signal import SIGHUP, SIGTERM

    from kafka_shell import connection_options, settings
    from kafka_shell.base.processes import exiting_on
    from kafka_shell.base.structs import replace
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
    found = settings.load(flags, environ, context.paths.config_file)
    return replace(context, environ=environ).with_settings(found)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _integer(program: dict[str, Any], name: str) -> int | None:
    from kafka_shell.language.command import SANDBOX

    value = program.get(name)
    if value is None:
        return None
    option = next(each for each in SANDBOX if each.name == f"--{name}")
    with pointing_at(None):
        return int(option.kind.convert(option, value))


def _report_early(error: ShellError, text: str) -> Status:
    """Print an error that occurred before the context was created."""
    from kafka_shell.output.errors import draw_error
    from kafka_shell.output.writer import Writer

    draw_error(error, Writer(sys.stdout, sys.stderr).err, line=text)
    return error.status


def _version() -> Status:
    sys.stdout.write(f"kafka.sh {__version__}\n")
    return Status.OK


def _completion(shell: str) -> Status:
    from kafka_shell.run.completion_scripts import SCRIPTS

    sys.stdout.write(SCRIPTS[shell])
    return Status.OK


def _complete(words: list[str]) -> Status:
    """Answer a completion script."""
    from kafka_shell.run.completion import candidate_lines

    sys.stdout.write(candidate_lines(words, os.environ))
    return Status.OK
