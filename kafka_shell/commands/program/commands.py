"""Commands that concern the shell itself and change no cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafka_shell import units
from kafka_shell.errors import ShellError, Status, UsageError, did_you_mean
from kafka_shell.identity import on_the_right_cluster
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option, Short
from kafka_shell.language.common import LONGEST_WAIT_MS
from kafka_shell.plan.outcome import HistoryLine
from kafka_shell.units import to_path

if TYPE_CHECKING:
    from kafka_shell.context import Context


def connect(invocation: Invocation, context: Context) -> str:
    """Work on another cluster, or say which one this is."""
    from kafka_shell import connection_options, settings

    flags = {
        name: invocation.get(name)
        for name in connection_options.FLAGS
        if invocation.get(name) not in (None, ())
    }
    where, environ = invocation["where"], context.environ
    if where == "sandbox" and where not in settings.profile_names(context.paths.config_file):
        from kafka_shell.sandbox import session

        flags |= session.reach(environ)
        environ = settings.without_connection(environ)
    elif where is not None:
        flags["broker" if ":" in where else "profile"] = where
    if not flags:
        return on_the_right_cluster(context, lambda: _described(context))
    if settings.names_a_cluster(flags):
        found = settings.load(flags, environ, context.paths.config_file)
    else:
        found = settings.load_over(
            context.settings, flags, context.environ, context.paths.config_file
        )
    there = context.elsewhere(found)
    try:  # an unreachable cluster is refused before anything is left
        answer = on_the_right_cluster(there, lambda: _described(there))
    finally:
        there.close()
    if context.shell is not None:
        context.shell.connect(found)
    return answer


def _described(context: Context) -> str:
    brokers = context.cluster.brokers()
    count = f"{len(brokers)} broker{'' if len(brokers) == 1 else 's'}"
    return f"{context.settings.cluster_name}: cluster {context.cluster.cluster_id}, {count}"


def refresh(invocation: Invocation, context: Context) -> None:
    """Read the whole view again."""
    if context.shell is not None:
        context.shell.refresh(frozenset())


def watch(invocation: Invocation, context: Context) -> Status:
    """Run a line again and again."""
    from kafka_shell.watch import watch as run

    seconds = _seconds(invocation)
    if context.run_line is None:
        raise ShellError("there is nothing to run the line", code="no-shell")
    status = run(context, seconds, invocation["line"])
    if context.shell is None and status != Status.WRONG:
        raise KeyboardInterrupt  # nothing else ends it, and here nothing goes on after it
    return Status(status)


def _seconds(invocation: Invocation) -> float:
    """A bare number is seconds here, as it is to `watch` elsewhere."""
    text = invocation["seconds"]
    try:
        seconds = units.parse_duration(text if text[-1:].isalpha() else f"{text}s") / 1000
    except ShellError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_WAIT_MS / 1000:
        raise UsageError(
            f"SECONDS wants a number of seconds, or a duration such as 500ms; got {text!r}",
            span=invocation.span("seconds"),
            text=invocation.text,
        )
    return seconds


def source(invocation: Invocation, context: Context) -> Status:
    """Run the lines of a file."""
    if context.run_file is None:
        raise UsageError("source runs at the prompt, in scripts and as a command only")
    return context.run_file(
        to_path(invocation["file"]),
        context,
        keep_going=invocation["keep-going"],
        generated=invocation["generated"],
    )


def history(invocation: Invocation, context: Context) -> tuple[HistoryLine, ...]:
    """Lines typed before, the newest last."""
    from kafka_shell.history import read

    try:
        lines = read(context.paths.history)
    except OSError as error:
        raise ShellError(
            f"the history {context.paths.history} cannot be read: {error.strerror}"
        ) from None
    if invocation["text"]:
        lines = [line for line in lines if invocation["text"] in line.text]
    count = invocation["last"]
    return tuple(lines[-count:] if count else lines)


def clear(invocation: Invocation, context: Context) -> None:
    """Clear the terminal, if there is one."""
    from kafka_shell.output.terminal import draw

    if context.out.isatty():
        draw(context.out, "\x1b[H\x1b[2J\x1b[3J")


def theme(invocation: Invocation, context: Context) -> Any:
    """Draw with another theme, or show what there is."""
    from kafka_shell.output import theme as themes

    name = invocation["name"]
    if name is None:
        return themes.available(user=context.paths.themes)
    chosen = themes.load(name, user=context.paths.themes)
    if context.shell is not None:
        context.shell.set_theme(name)
        context.settings = replace(context.settings, theme=name)
        file = context.paths.config_file
        context.note(f'to keep it, write theme = "{name}" at the top of {file}')
    return chosen


def set_option(invocation: Invocation, context: Context) -> str | tuple[Any, ...]:
    """Change a setting of this session, or show them with where each came from."""
    name, value = invocation["name"], invocation["value"]
    if name is None:
        return context.settings.describe()
    choices = SETTINGS.get(name)
    if choices is None:
        raise UsageError(
            f"there is no setting {name}",
            hint=did_you_mean(name, SETTINGS, f"There are: {', '.join(SETTINGS)}"),
            span=invocation.span("name"),
            text=invocation.text,
        )
    if value not in choices:
        raise UsageError(
            f"{name} is one of {', '.join(choices)}, not {value}",
            span=invocation.span("value") or invocation.span("name"),
            text=invocation.text,
        )
    context.settings = replace(context.settings, **{name.replace("-", "_"): value})
    return f"{name} is {value}"


SETTINGS: dict[str, Sequence[str]] = {
    "output": ("table", "json", "yaml", "csv"),
    "editing-mode": ("emacs", "vi"),
    "pager": ("on", "off"),
}


def leave(invocation: Invocation, context: Context) -> None:
    """End the session, or the script."""
    context.script.left = True
    if context.shell is not None:
        context.shell.leave()


_LAST = Option("--last", Kind.INTEGER, "Only so many, the newest.", metavar="N", least=1)

COMMANDS = (
    Command(
        name="connect",
        summary="Work on another cluster, or say which one this is.",
        family="shell",
        run=connect,
        needs_cluster=False,
        arguments=(
            Argument("where", Kind.PROFILE, "A profile's name, host:port, or sandbox.",
                     required=False),
        ),
        examples=(Example("connect", "which cluster this is"),),
    ),
    Command(
        name="refresh",
        summary="Read the whole view again.",
        family="shell",
        run=refresh,
        needs_cluster=False,
    ),
    Command(
        name="watch",
        summary="Run a line every so many seconds.",
        family="shell",
        run=watch,
        needs_cluster=False,
        arguments=(
            Argument("seconds", Kind.TEXT, "Seconds between two runs: 5, or 500ms, 1m."),
            Argument("line", Kind.LINE, "The line to run."),
        ),
        search=("repeat", "every"),
        description="Ctrl-C ends it. For example: watch 5 health\n"
        "A pipe is a part of the line, and runs with it each time: watch 2 list-topics | wc -l. A"
        " file takes all answers.",
    ),
    Command(
        name="source",
        summary="Run the lines of a file.",
        family="shell",
        run=source,
        needs_cluster=False,
        arguments=(Argument("file", Kind.FILE, "A file of the shell's lines."),),
        options=(
            Option("--keep-going", Kind.FLAG, "A failing line does not stop the file."),
            Option("--generated", Kind.FLAG,
                   "Run plain commands only: refuse !, pipes, redirects and source."),
        ),
        search=("script", "run"),
        description=(
            "A file that begins with the header of journal --undo is run as with --generated, and"
            " only on the cluster that the header names."
        ),
    ),
    Command(
        name="history",
        summary="Lines typed before.",
        family="shell",
        run=history,
        needs_cluster=False,
        arguments=(Argument("text", Kind.TEXT, "Only lines that hold this.", required=False),),
        options=(_LAST,),
        examples=(Example("history --last 5", "the five newest"),),
    ),
    Command(
        name="theme",
        summary="Draw with another theme; without a name, show them.",
        family="shell",
        run=theme,
        needs_cluster=False,
        arguments=(Argument("name", Kind.THEME, "A theme.", required=False),),
        search=("colour", "color", "dark", "light"),
        examples=(Example("theme", "what there is"), Example("theme mono", "without colour")),
    ),
    Command(
        name="set",
        summary="Change a setting of this session; without a name, show them.",
        family="shell",
        run=set_option,
        needs_cluster=False,
        arguments=(
            Argument("name", Kind.CHOICE, "The setting.", required=False,
                     choices=tuple(SETTINGS)),
            Argument("value", Kind.TEXT, "Its new value.", required=False),
        ),
        examples=(Example("set", "every setting, and where it came from"),),
    ),
    Command(
        name="clear",
        summary="Clear the screen, as Ctrl-L does.",
        family="shell",
        run=clear,
        needs_cluster=False,
        search=("cls",),
    ),
    Command(
        name="exit",
        summary="End the session, or the script.",
        family="shell",
        run=leave,
        needs_cluster=False,
        shorts=(Short("quit", "exit"),),
        search=("bye", "leave"),
    ),
)  # fmt: skip
