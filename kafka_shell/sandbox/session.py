"""Use a sandbox: start it if it is not running, and stop it if this run started it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.cluster import Attachment, attach, leave, start, status
from kafka_shell.sandbox.demo import make_demo
from kafka_shell.sandbox.jars import Report, no_report
from kafka_shell.sandbox.stand_ins import add
from kafka_shell.sandbox.state import (
    Sandbox,
    SandboxOptions,
    folder_of,
    stand_ins_for,
)
from kafka_shell.wire.client_properties import read_located, to_connection
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses


@contextmanager
def open_sandbox(
    wanted: SandboxOptions,
    *,
    keep: bool,
    empty: bool = False,
    report: Report = no_report,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[tuple[Sandbox, Attachment]]:
    """Start the sandbox if needed. Stop it at the end if this run started it and nobody else uses
    it; `say` gets a message about that."""
    with attach(wanted.folder, report) as attachment:
        before = status(wanted.folder)  # from now on, no other shell stops it at its end
        was_running = before is not None and before.running
        try:
            yield start_with_data(wanted, report, empty=empty), attachment
        finally:
            if not was_running and not keep and status(wanted.folder) is not None:
                stopped = leave(attachment)
                say(
                    "sandbox stopped" if stopped else "sandbox still running: another shell uses it"
                )


def start_with_data(options: SandboxOptions, report: Report, *, empty: bool = False) -> Sandbox:
    """Start the sandbox. Create the demo data in a new one unless it is to be `empty`."""

    def fill(sandbox: Sandbox) -> None:
        if not empty:
            make_demo(connection_to(sandbox), report)
        if sandbox.stand_in_brokers:
            add(sandbox, report)

    return start(options, report, fill)


def connection_to(sandbox: Sandbox) -> ConnectionConfig:
    """Return the connection config of the administrator of the sandbox."""
    if not sandbox.secure:
        return ConnectionConfig(parse_addresses(sandbox.bootstrap))
    return to_connection(read_located(sandbox.client_properties["admin-sasl-ssl"]))


def options_from(
    folder: Path,
    *,
    kafka_version: str | None = None,
    brokers: int | None = None,
    port: int | None = None,
    secure: bool = False,
    topics: int | None = None,
    stand_in_brokers: int | None = None,
) -> SandboxOptions:
    """Return the options, with defaults of the existing sandbox, if any."""
    existing = status(folder)
    known = SandboxOptions(folder=folder)
    if existing is not None:
        known = existing.options
    if topics is not None and stand_in_brokers is None:
        stand_in_brokers = stand_ins_for(topics)
    return replace(
        known,
        kafka_version=kafka_version or known.kafka_version,
        brokers=known.brokers if brokers is None else brokers,
        port=known.port if port is None else port,
        secure=secure or known.secure,
        topics=known.topics if topics is None else topics,
        stand_in_brokers=known.stand_in_brokers if stand_in_brokers is None else stand_in_brokers,
    )


def reach(environ: Mapping[str, str]) -> dict[str, object]:
    """Return the connection options of the sandbox. Raises ShellError if it is not running."""
    running = status(folder_of(environ))
    if running is None or not (running.running and running.filled):
        what = "there is no sandbox" if running is None else "the sandbox is not running"
        raise ShellError(what, hint="Run sandbox start.", code="no-sandbox")
    return client_flags(running)


def client_flags(sandbox: Sandbox) -> dict[str, object]:
    """Return the connection options of the sandbox, as its administrator if it is secure."""
    flags: dict[str, object] = {"broker": sandbox.bootstrap}
    if sandbox.secure:
        flags["command-config"] = str(sandbox.client_properties["admin-sasl-ssl"])
    return flags
