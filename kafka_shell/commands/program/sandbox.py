"""`sandbox`: a real Kafka on this machine."""

from __future__ import annotations

from kafka_shell import connection_options, settings
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.commands.program.render import SandboxReport
from kafka_shell.context import Context, confirmed
from kafka_shell.language.command import Invocation
from kafka_shell.sandbox import session
from kafka_shell.sandbox.cluster import in_use_by_others, status, stop, wipe
from kafka_shell.sandbox.state import Sandbox, folder_of, state_file


def sandbox(invocation: Invocation, context: Context) -> SandboxReport:
    """Start, stop, show or wipe the sandbox."""
    folder = folder_of(context.environ)
    action = invocation["action"]
    if action != "start":
        _refuse_ignored(invocation)
    if action != "status":
        context.refuse_dry_run(f"sandbox {action}")
    if action == "start":
        options = session.options_from(
            folder,
            kafka_version=invocation["kafka-version"],
            brokers=invocation["brokers"],
            port=invocation["port"],
            secure=invocation["secure"],
            topics=invocation["topics"],
            stand_in_brokers=invocation["stand-in-brokers"],
        )
        started = session.start_with_data(options, context.report, empty=invocation["empty"])
        _connect_if_unreachable(started, context)
        return _report(started)
    if action == "stop" and status(folder) is not None:
        return _report(stop(folder))
    if action == "wipe" and state_file(folder).exists():
        _confirm(invocation, context, in_use_by_others(folder, context.resources.sandbox))
        wipe(folder)
    running = status(folder)
    return SandboxReport("none", str(folder)) if running is None else _report(running)


def _refuse_ignored(invocation: Invocation) -> None:
    """Raise UsageError for an option that only `sandbox start` uses."""
    for option in invocation.command.options:
        name = option.name.removeprefix("--")
        if name != "yes" and invocation[name] not in (None, False):
            raise UsageError(f"{option.name} requires sandbox start", span=invocation.span(name))


def _connect_if_unreachable(started: Sandbox, context: Context) -> None:
    """At the prompt, switch to the sandbox if the current cluster cannot be reached."""
    if context.shell is None or context.cache is None:
        return

    if context.cache.state.failure is None:
        context.note("to use the sandbox, run: connect sandbox")
        return
    environ = connection_options.without_connection(context.environ)
    flags = session.client_flags(started)
    wanted = settings.load(flags, environ, context.paths.config_file)
    context.shell.connect(settings.kept_from(context.settings, wanted))
    context.note(f"now connected to the sandbox ({started.bootstrap})")


def _confirm(invocation: Invocation, context: Context, shared: bool) -> None:
    """Ask for confirmation. Raises UsageError without a terminal unless --yes is given."""
    if invocation["yes"]:
        return
    if context.ask is None:
        raise UsageError(
            "wiping the sandbox deletes its data, and standard input is not a terminal",
            hint="Use --yes to skip confirmation.",
            code="no-terminal",
        )
    others = "Another shell is using it. " if shared else ""
    question = f"{others}Delete the sandbox and all its data?"
    if not confirmed(context.ask, question):
        raise ShellError("not confirmed: nothing was deleted", code="declined")


def _report(running: Sandbox) -> SandboxReport:
    return SandboxReport(
        state=_state(running),
        folder=str(running.folder),
        bootstrap=running.bootstrap,
        kafka_version=running.kafka_version,
        brokers=len(running.brokers),
        stand_in_brokers=running.stand_in_brokers or None,
        topics=running.topics or None,
        secure=running.secure,
        logs=tuple(str(broker.log) for broker in running.brokers),
        clients=tuple(map(str, running.client_properties.values())),
    )


def _state(running: Sandbox) -> str:
    up = sum(broker.pid is not None for broker in running.brokers)
    if 0 < up < len(running.brokers):
        return f"{up} of {len(running.brokers)} brokers up"
    return "up" if up else "down"
