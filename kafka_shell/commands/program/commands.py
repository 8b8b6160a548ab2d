"""Commands on the shell itself; none changes a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from kafka_shell.base.command_results import FORMATS
from kafka_shell.base.errors import ShellError, Status, UsageError, did_you_mean
from kafka_shell.base.outcome import HistoryLine
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, to_path
from kafka_shell.identity import on_expected_cluster
from kafka_shell.language import kinds
from kafka_shell.language.command import (
    DEADLINE,
    LONGEST_WAIT_MS,
    Argument,
    Command,
    Example,
    Invocation,
    Option,
    Short,
)
from kafka_shell.language.kinds import CandidateSource, Kind

if TYPE_CHECKING:
    from pathlib import Path

    from kafka_shell.context import Context
    from kafka_shell.language.cursor import CompletionRequest
    from kafka_shell.view.candidates import Candidates, Catalog


def connect(invocation: Invocation, context: Context) -> str:
    """Connect to another cluster, or show the current one."""
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
        environ = connection_options.without_connection(environ)
    elif where is not None:
        flags["broker" if ":" in where else "profile"] = where
    deadline = invocation["deadline"]
    if not flags:
        return on_expected_cluster(context, lambda: _described(context, deadline))
    if settings.names_a_cluster(flags):
        found = settings.load(flags, environ, context.paths.config_file)
        found = settings.kept_from(context.settings, found)
    else:
        found = settings.load_for_line(
            context.settings, flags, context.environ, context.paths.config_file
        )
    other = context.with_settings(found)
    try:  # stay on the current cluster if the other cannot be reached
        answer = on_expected_cluster(other, lambda: _described(other, deadline))
    finally:
        other.close()
    if context.shell is not None and context.session.cache is not None:  # the prompt's own session
        context.shell.connect(found)
    else:
        context.session.switch(found, other.session.expected_id)
    return answer


def _described(context: Context, deadline_ms: int | None) -> str:
    cluster = context.cluster
    with cluster.within(deadline_ms / 1000 if deadline_ms else None, given=True):
        count = counted(len(cluster.brokers()), "broker")
        return f"{context.settings.cluster_name}: cluster {cluster.cluster_id}, {count}"


def refresh(invocation: Invocation, context: Context) -> None:
    """Reload the metadata cache."""
    if context.shell is not None:
        context.shell.refresh(frozenset())


def watch(invocation: Invocation, context: Context) -> Status:
    """Run a command repeatedly."""
    from kafka_shell.run.watch import watch as run

    milliseconds = _EVERY_MS if invocation["seconds"] is None else invocation["seconds"]
    if not 0 < milliseconds <= LONGEST_WAIT_MS:
        raise UsageError(
            "SECONDS must be a number of seconds greater than 0, at most 24 days",
            span=invocation.span("seconds"),
            text=invocation.text,
        )
    if context.run_line is None:
        raise ShellError("watch cannot run commands here", code="no-shell")
    status = run(context, milliseconds / 1000, invocation["line"])
    if context.shell is None and status != Status.WRONG and not context.script.left:
        raise KeyboardInterrupt  # it was ended with Ctrl-C
    return Status(status)


def source(invocation: Invocation, context: Context) -> Status:
    """Run the commands in a file."""
    if context.run_file is None:
        raise UsageError(
            "source is only available at the prompt, in scripts and as a one-shot command"
        )
    return context.run_file(
        to_path(invocation["file"]),
        context,
        keep_going=invocation["keep-going"],
        generated=invocation["generated"],
        check=invocation["check"],
    )


def history(invocation: Invocation, context: Context) -> tuple[HistoryLine, ...]:
    """Commands typed earlier, newest last."""
    from kafka_shell.history import read

    try:
        lines = read(context.paths.history)
    except OSError as error:
        raise ShellError(
            f"cannot read the history {context.paths.history}: {error.strerror}"
        ) from None
    if invocation["text"]:
        lines = [line for line in lines if invocation["text"] in line.text]
    count = invocation["last"]
    return tuple(lines[-count:] if count else lines)


def clear(invocation: Invocation, context: Context) -> None:
    """Clear the terminal."""
    from kafka_shell.output.terminal import draw

    if context.out.isatty():
        draw(context.out, "\x1b[H\x1b[2J\x1b[3J")


def theme(invocation: Invocation, context: Context) -> Any:
    """Switch to another theme, or list all themes."""
    from kafka_shell.output import theme as themes

    name = invocation["name"]
    if name is None:
        return themes.available(user=context.paths.themes)
    themes.load(name, user=context.paths.themes)
    if context.shell is not None:
        context.shell.set_theme(name)
        context.session.settings = replace(context.settings, theme=name)
        file = context.paths.config_file
        context.note(f'to make it the default, add theme = "{name}" at the top of {file}')
    return None


def set_option(invocation: Invocation, context: Context) -> str | tuple[Any, ...]:
    """Change a setting for this session, or show all settings with their sources."""
    name, value = invocation["name"], invocation["value"]
    if name is None:
        return context.settings.describe()
    setting = SETTINGS.get(name)
    if setting is None:
        raise UsageError(
            f"unknown setting '{name}'",
            hint=did_you_mean(name, SETTINGS, f"Settings: {', '.join(SETTINGS)}."),
            span=invocation.span("name"),
            text=invocation.text,
        )
    if value is None:
        return tuple(row for row in context.settings.describe() if row.name == name)
    try:
        if value not in setting.choices:
            setting.kind.convert(setting, value)
    except UsageError as error:
        error.span = invocation.span("value")
        if setting.kind is not kinds.CHOICE:
            error.hint = error.hint or f"For example: {', '.join(setting.choices)}."
        raise
    context.session.settings = replace(context.settings, **{name.replace("-", "_"): value})
    return f"{name} is {value}"


SETTINGS = {
    setting.name: setting
    for setting in (
        Option("output", kinds.CHOICE, "", choices=FORMATS),
        Option("editing-mode", kinds.CHOICE, "", choices=("emacs", "vi")),
        Option("pager", kinds.INTEGER, "", choices=("off", "1", "2"), least=1),
        Option("refresh", kinds.DURATION, "", choices=("off", "10s", "1m"), least=1_000),
    )
}


def leave(invocation: Invocation, context: Context) -> None:
    """End the session or the script."""
    context.script.left = True
    if context.shell is not None:
        context.shell.leave()


@cache
def _themes(folder: Path) -> Mapping[str, str]:
    from kafka_shell.output.theme import available, pygments_themes

    files = {info.name: info.description for info in available(user=folder)}
    return {**files, **dict.fromkeys(pygments_themes(), "a style of Pygments")}


def _offer_themes(found: CompletionRequest, known: Catalog) -> Candidates:
    from kafka_shell.view.candidates import pick

    themes = _themes(known.config / "themes")
    return pick(themes, found.prefix)


def _offer_values(found: CompletionRequest, known: Catalog) -> Candidates:
    from kafka_shell.view.candidates import pick

    name = next(iter(found.words.get("name", ())), "")
    return pick(getattr(SETTINGS.get(name), "choices", ()), found.prefix)


_THEME, _VALUE = (
    Kind("theme", CandidateSource(_offer_themes)),
    Kind("text", CandidateSource(_offer_values)),
)
_EVERY_MS = 2_000  # as watch(1)
_LAST = Option("--last", kinds.INTEGER, "Only the newest N.", least=1)

COMMANDS = (
    Command(
        name="connect",
        summary="Connect to another cluster, or show the current one.",
        family="shell",
        run=connect,
        needs_cluster=False,
        arguments=(
            Argument("where", kinds.PROFILE, "A profile's name, host:port, or sandbox.",
                     required=False),
        ),
        options=(DEADLINE,),
        examples=(Example("connect", "show the current cluster"),),
    ),
    Command(
        name="refresh",
        summary="Reload the metadata cache.",
        family="shell",
        run=refresh,
        needs_cluster=False,
    ),
    Command(
        name="watch",
        summary="Run a command repeatedly.",
        family="shell",
        run=watch,
        needs_cluster=False,
        arguments=(
            Argument("seconds", kinds.INTERVAL, "The interval: 5 (seconds), 500ms, 1m (default:"
                     " 2s).", required=False),
            Argument("line", kinds.LINE, "The command to run."),
        ),
        repeats=True,
        search=("repeat", "every"),
        description="Ctrl-C ends it. For example: watch 5 health\n"
        "A pipe is part of the command and runs each time: watch 2 list-topics | wc -l. A redirect"
        " collects the output of all runs.",
    ),
    Command(
        name="source",
        summary="Run the commands in a file.",
        family="shell",
        run=source,
        needs_cluster=False,
        arguments=(Argument("file", kinds.FILE, "A file of shell commands."),),
        options=(
            Option("--keep-going", kinds.FLAG, "Continue after a command fails."),
            Option("--generated", kinds.FLAG,
                   "Accept plain commands only: refuse !, pipes, redirects and source."),
            Option("--check", kinds.FLAG, "Check the syntax and run nothing."),
        ),
        search=("script", "run"),
    ),
    Command(
        name="history",
        summary="Show commands typed earlier.",
        family="shell",
        run=history,
        needs_cluster=False,
        arguments=(Argument("text", kinds.TEXT, "Only commands with this text.", required=False),),
        options=(_LAST,),
        examples=(Example("history --last 5", "show the last five commands"),),
    ),
    Command(
        name="theme",
        summary="Switch to another theme, or list all themes.",
        family="shell",
        run=theme,
        needs_cluster=False,
        arguments=(Argument("name", _THEME, "The name of a theme, or pygments:STYLE.",
                            required=False),),
        search=("colour", "color", "dark", "light"),
        examples=(Example("theme", "list all themes"),
                  Example("theme mono", "switch to a theme without color"),
                  Example("theme pygments:monokai", "switch to a style of Pygments")),
    ),
    Command(
        name="set",
        summary="Change a setting for this session, or show all settings.",
        family="shell",
        run=set_option,
        needs_cluster=False,
        arguments=(
            Argument("name", kinds.CHOICE, "The setting.", required=False, choices=tuple(SETTINGS)),
            Argument("value", _VALUE, "Its new value.", required=False),
        ),
        description="pager is off, or the number of screens above which output is paged (default:"
        " 2).\nrefresh is off, or how often an idle prompt reads the cluster, for example 10s.",
        examples=(Example("set", "show all settings and their sources"),),
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
        summary="End the session or the script.",
        family="shell",
        run=leave,
        needs_cluster=False,
        shorts=(Short("quit", "exit"),),
        search=("bye", "leave"),
    ),
)  # fmt: skip
