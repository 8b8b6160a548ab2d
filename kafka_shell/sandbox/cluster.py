"""Start, look at, stop and delete a sandbox: a real Kafka cluster on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kafka_shell.errors import ShellError

from . import jars
from .config import jvm_arguments, server_properties, write_configuration
from .jars import Report
from .java import find_java
from .layout import assign_ports, new_sandbox, require_free_ports, require_same
from .options import SandboxOptions, check_options, exact_version
from .process import TERM_SECONDS, find_all, is_running, spawn, terminate, write_arguments
from .ready import Launched, has_quorum, wait_until_acquainted, wait_until_started
from .security import make_secrets, write_client_properties
from .sharing import LOCK_FILES, Attachment, exclusively, others_attached
from .stand_ins import STOP_SECONDS
from .state import Broker, Sandbox, begin, load, save, state_file
from .storage import format_nodes

MADE_BY_US = ("node-*", "tls", "clients", "secrets.json", ".*.json.*", "sandbox.json")
ABORT_SECONDS = 5.0


def no_report(_task: str, _done: int, _total: int | None) -> None:
    """Progress nobody looks at."""


def start(options: SandboxOptions, report: Report = no_report) -> Sandbox:
    """Bring the sandbox up and return it when every broker serves; what is up already stays."""
    check_options(options)
    folder = options.folder.resolve()
    version = exact_version(options.kafka_version)
    with exclusively(folder, on_wait=lambda: report("Waiting for another shell", 0, None)):
        known = _current(folder)
        if known is None:
            _require_empty(folder)
            sandbox = new_sandbox(folder, options, version)
        else:
            require_same(known, options, version)
            sandbox = known
        sandbox = assign_ports(sandbox, options)
        down = [broker for broker in sandbox.brokers if broker.pid is None]
        if not down:
            return sandbox
        require_free_ports(down)
        java, class_path = _runtime(version, report)
        if known is None:
            _create(sandbox, java, class_path, report)
        return _launch(sandbox, down, java, class_path, report)


def status(folder: Path) -> Sandbox | None:
    """The sandbox in this folder, up or down; None if there is none."""
    return _current(folder.resolve())


def stop(folder: Path) -> Sandbox:
    """Stop every broker, cleanly if it can be had in time; the data stay."""
    folder = folder.resolve()
    _require(folder)
    with exclusively(folder):
        sandbox = _require(folder)
        return _stop(sandbox, sandbox.brokers)


def wipe(folder: Path) -> None:
    """Stop the sandbox and delete it with its data. Nothing else in its folder is touched."""
    folder = folder.resolve()
    if not state_file(folder).exists():
        return
    with exclusively(folder):
        _delete(folder)


def leave(attachment: Attachment) -> bool:
    """Use the sandbox no longer; stop it if nobody else does. Returns whether it was stopped."""
    folder = attachment.folder.resolve()
    with exclusively(folder):
        others = others_attached(folder, attachment)
        attachment.close()
        sandbox = _current(folder)
        if others or sandbox is None:
            return False
        _stop(sandbox, sandbox.brokers)
        return True


def stop_broker(folder: Path, broker_id: int) -> Sandbox:
    """Stop one broker cleanly; return when the others, which stay up, know it is gone."""
    folder = folder.resolve()
    _require(folder)
    with exclusively(folder):
        sandbox = _require(folder)
        sandbox = _stop(sandbox, [sandbox.broker(broker_id)])
        if has_quorum(sandbox) and not sandbox.secure:
            wait_until_acquainted(sandbox)
        return sandbox


def start_broker(folder: Path, broker_id: int, report: Report = no_report) -> Sandbox:
    """Bring one broker back on the ports it had, and return when it serves."""
    folder = folder.resolve()
    _require(folder)
    with exclusively(folder):
        sandbox = _require(folder)
        broker = sandbox.broker(broker_id)
        if broker.pid is not None:
            return sandbox
        require_free_ports([broker])
        java, class_path = _runtime(sandbox.kafka_version, report)
        return _launch(sandbox, [broker], java, class_path, report)


def _current(folder: Path) -> Sandbox | None:
    """The state file, but with the pids of living processes only."""
    sandbox = load(folder)
    if sandbox is None:
        return None
    brokers = (
        b if is_running(b.pid, b.java_arguments) else replace(b, pid=None) for b in sandbox.brokers
    )
    return replace(sandbox, brokers=tuple(brokers))


def _require(folder: Path) -> Sandbox:
    sandbox = _current(folder)
    if sandbox is None:
        raise ShellError(
            f"There is no sandbox in {folder}", hint="`sandbox start` makes one.", code="no-sandbox"
        )
    return sandbox


def _require_empty(folder: Path) -> None:
    strangers = sorted(path.name for path in folder.iterdir() if path.name not in LOCK_FILES)
    if strangers and not state_file(folder).exists():
        raise ShellError(
            f"{folder} is no sandbox and not empty: it holds {strangers[0]}",
            hint="Choose another folder, or empty this one.",
            code="folder-not-empty",
        )


def _runtime(version: str, report: Report) -> tuple[Path, str]:
    """A Java and the class path."""
    java = find_java()
    return java, jars.class_path(jars.fetch(jars.locked_jars(version), report))


def _create(sandbox: Sandbox, java: Path, class_path: str, report: Report) -> None:
    """Write and format a new sandbox, in place of one whose making was interrupted."""
    _delete(sandbox.folder)
    begin(sandbox.folder)
    try:
        if sandbox.secure:
            make_secrets(sandbox)
        for broker in sandbox.brokers:
            write_configuration(sandbox, broker)
        report("Formatting storage", 0, None)
        format_nodes(sandbox, java, class_path)
        save(sandbox)
    except BaseException:
        _delete(sandbox.folder)
        raise


def _launch(
    sandbox: Sandbox, brokers: Iterable[Broker], java: Path, class_path: str, report: Report
) -> Sandbox:
    """Start these brokers' JVMs and wait for all of them; if one fails, none of them stays."""
    task = f"Starting Kafka {sandbox.kafka_version}"
    launched: list[Launched] = []
    try:
        for broker in brokers:
            write_configuration(sandbox, broker)
            arguments = jvm_arguments(sandbox, broker, class_path)
            main = ["kafka.Kafka", str(server_properties(broker))]
            write_arguments(broker.java_arguments, [*arguments, *main])
            log_start = broker.log.stat().st_size if broker.log.exists() else 0
            broker = replace(broker, pid=spawn(java, broker.java_arguments, broker.log))
            launched.append(Launched(broker, log_start))
            sandbox = sandbox.with_broker(broker)
            save(sandbox)
        if sandbox.secure:
            write_client_properties(sandbox)
        total = len(launched)
        wait_until_started(launched, lambda done: report(task, done, total))
        if not sandbox.secure:
            wait_until_acquainted(sandbox)
    except BaseException:
        _stop(sandbox, [each.broker for each in launched], ABORT_SECONDS)
        raise
    return sandbox


def _stop(sandbox: Sandbox, brokers: Iterable[Broker], patience: float = TERM_SECONDS) -> Sandbox:
    """Stop these brokers at once and save that they are down."""
    if sandbox.stand_in_brokers:
        patience = min(patience, STOP_SECONDS)
    up = [(b.pid, b.java_arguments) for b in brokers if b.pid is not None]
    terminate(up, patience)
    for broker in brokers:
        sandbox = sandbox.with_broker(replace(broker, pid=None))
    save(sandbox)
    return sandbox


def _delete(folder: Path) -> None:
    """Delete a sandbox, in whatever state; the locks stay, someone may wait for them."""
    if not state_file(folder).exists():
        return
    terminate(find_all(folder), patience=0)
    made = [path for path in folder.iterdir() if any(map(path.match, MADE_BY_US))]
    for path in made:  # links, too, and those that lead nowhere
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
