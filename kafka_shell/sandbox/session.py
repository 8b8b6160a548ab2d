"""One run of the program on the sandbox: started if it is not up, stopped by who started it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.errors import ShellError

from .cluster import leave, no_report, start, status
from .jars import Report
from .options import SandboxOptions, default_folder, stand_ins_for
from .sharing import Attachment, attach
from .state import Sandbox

if TYPE_CHECKING:
    from kafka_shell.admin.wire.endpoint import ConnectionConfig


ATTACHMENT = "sandbox attachment"  # where a context holds this run's use of the sandbox


def folder_of(environ: Mapping[str, str]) -> Path:
    """The sandbox's folder: below KAFKA_SH_HOME where that is set, else the XDG data folder."""
    home = environ.get("KAFKA_SH_HOME")
    return Path(home) / "sandbox" if home else default_folder()


@contextmanager
def open_sandbox(
    wanted: SandboxOptions,
    *,
    keep: bool,
    empty: bool = False,
    report: Report = no_report,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[tuple[Sandbox, Attachment]]:
    """The sandbox, up, and this run's use of it. At the end it is stopped if this run started it
    and nobody else uses it; `say` hears which."""
    before = status(wanted.folder)
    was_up = before is not None and before.running
    with attach(wanted.folder) as attachment:
        try:
            yield bring_up(wanted, report, empty=empty), attachment
        finally:
            if not was_up and not keep and status(wanted.folder) is not None:
                stopped = leave(attachment)
                say("sandbox stopped" if stopped else "sandbox left running: it is in use")


def bring_up(options: SandboxOptions, report: Report, *, empty: bool = False) -> Sandbox:
    """Start the sandbox; a new one gets the demo data, unless it is to be empty."""
    new = status(options.folder) is None
    sandbox = start(options, report)
    if new and not empty:
        from .demo import make_demo

        make_demo(connection_to(sandbox), report)
    if new and sandbox.stand_in_brokers:
        from .stand_ins import add

        add(sandbox, report)
    return sandbox


def connection_to(sandbox: Sandbox) -> ConnectionConfig:
    """How its administrator reaches the sandbox."""
    from kafka_shell.admin.wire.client_properties import to_connection
    from kafka_shell.admin.wire.endpoint import ConnectionConfig, parse_addresses
    from kafka_shell.admin.wire.properties import read_located

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
    """What is asked for; what is not said is as the sandbox that is there, else the default."""
    there = status(folder)
    known = SandboxOptions(folder=folder)
    if there is not None:
        known = there.options
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
    """The connection options that reach the sandbox of this user. Raises ShellError if it is not
    up."""
    found = status(folder_of(environ))
    if found is None or not found.running:
        what = "there is no sandbox" if found is None else "the sandbox is not running"
        raise ShellError(what, hint="Start it: sandbox start", code="no-sandbox")
    return client_flags(found)


def client_flags(sandbox: Sandbox) -> dict[str, object]:
    """The connection options that reach the sandbox, as its administrator where it is secure."""
    flags: dict[str, object] = {"broker": sandbox.bootstrap}
    if sandbox.secure:
        flags["command-config"] = str(sandbox.client_properties["admin-sasl-ssl"])
    return flags
