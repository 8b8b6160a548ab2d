"""Commands on the shell itself; none changes a cluster."""

from __future__ import annotations

import json
from typing import Any

from kafka_shell import connection_options, settings
from kafka_shell.base.errors import ShellError, Status, UsageError, did_you_mean
from kafka_shell.base.outcome import HistoryLine
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, to_path
from kafka_shell.commands.program.spec import SETTINGS
from kafka_shell.context import Context
from kafka_shell.history import read
from kafka_shell.identity import on_expected_cluster
from kafka_shell.language import kinds
from kafka_shell.language.command import LONGEST_WAIT_MS, Invocation
from kafka_shell.output import theme as themes
from kafka_shell.output.terminal import draw
from kafka_shell.run.watch import watch as run
from kafka_shell.wire.endpoint import Address


def connect(invocation: Invocation, context: Context) -> str:
    """Connect to another cluster, or show the current one."""
    flags = {
        name: invocation.get(name)
        for name in connection_options.FLAGS
        if invocation.get(name) not in (None, ())
    }
    where, environ = invocation["where"], context.environ
    if where == "sandbox" and where not in settings.profile_names(context.paths.config_file):
        from kafka_shell.sandbox import session  # of an extra

        flags |= session.reach(environ)
        environ = connection_options.without_connection(environ)
    elif where is not None:
        flags["broker" if ":" in where else "profile"] = where
    deadline = invocation["deadline"]
    answer_of = _address_map if invocation["discover"] else _described
    if not flags:
        return on_expected_cluster(context, lambda: answer_of(context, deadline))
    if settings.names_a_cluster(flags):
        loaded = settings.load(flags, environ, context.paths.config_file)
        loaded = settings.kept_from(context.settings, loaded)
    else:
        loaded = settings.load_for_line(
            context.settings, flags, context.environ, context.paths.config_file
        )
    other = context.with_settings(loaded)
    try:  # stay on the current cluster if the other cannot be reached
        answer = on_expected_cluster(other, lambda: answer_of(other, deadline))
    finally:
        other.close()
    if invocation["discover"]:
        return answer
    if context.shell is not None and context.session.cache is not None:  # the prompt's own session
        context.shell.connect(loaded)
    else:
        context.session.switch(loaded, other.session.expected_id)
    return answer


def _address_map(context: Context, deadline_ms: int | None) -> str:
    """The lines of a profile in config.toml. Any broker knows the addresses of all."""
    cluster, config = context.cluster, context.settings.connection
    with cluster.within(deadline_ms / 1000 if deadline_ms else None, given=True):
        brokers = cluster.brokers()
    lines = [f"bootstrap = {json.dumps(','.join(map(str, config.bootstrap)))}"]
    lines += [] if config.via is None else [f'via = "{config.via}"']
    lines.append("address-map = [")
    for broker in brokers:
        address = Address(broker.host, broker.port)
        target = config.reachable(address)
        reached = "HOST:PORT" if target == address else str(target)
        lines.append(f"  {json.dumps(f'{address}={reached}')},  # broker {broker.id}")
    return "\n".join([*lines, "]"])


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
    milliseconds = _EVERY_MS if invocation["seconds"] is None else invocation["seconds"]
    if not 0 < milliseconds <= LONGEST_WAIT_MS:
        raise UsageError(
            "SECONDS must be a number of seconds greater than 0, at most 24 days",
            span=invocation.span("seconds"),
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
    if context.out.isatty():
        draw(context.out, "\x1b[H\x1b[2J\x1b[3J")


def theme(invocation: Invocation, context: Context) -> Any:
    """Switch to another theme, or list all themes."""
    name = invocation["name"]
    if name is None:
        return themes.available(user=context.paths.themes)
    themes.load(name, user=context.paths.themes)
    if context.shell is not None:
        context.shell.set_theme(name)
        context.session.settings = replace(context.settings, theme=name)
        return f'To keep it: add theme = "{name}" at the top of {context.paths.config_file}'
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
            hint=did_you_mean(name, SETTINGS, f"Use one of: {', '.join(SETTINGS)}."),
            span=invocation.span("name"),
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


def leave(invocation: Invocation, context: Context) -> None:
    """End the session or the script."""
    context.script.left = True
    if context.shell is not None:
        context.shell.leave()


_EVERY_MS = 2_000  # as watch(1)
