"""Start, inspect, stop and delete a sandbox: a real Kafka cluster on this machine."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import locked
from kafka_shell.base.java import find_java, make_archive
from kafka_shell.base.structs import replace
from kafka_shell.sandbox import jars
from kafka_shell.sandbox.config import (
    assign_ports,
    class_archive,
    format_nodes,
    jvm_arguments,
    new_sandbox,
    require_free_ports,
    require_same,
    server_properties,
    write_configuration,
)
from kafka_shell.sandbox.jars import Report, no_report
from kafka_shell.sandbox.process import (
    TERM_SECONDS,
    find_all,
    is_running,
    spawn,
    terminate,
    write_arguments,
)
from kafka_shell.sandbox.ready import wait_until_all_known, wait_until_started
from kafka_shell.sandbox.security import make_secrets, write_client_properties
from kafka_shell.sandbox.stand_ins import STOP_SECONDS
from kafka_shell.sandbox.state import (
    Broker,
    Sandbox,
    SandboxOptions,
    begin,
    check_options,
    exact_version,
    load,
    save,
    state_file,
)

# File locks of a sandbox: one to start and stop it, one shared by its users.

LOCK_FILES = ("lock", "users")


def exclusive_lock(folder: Path, report: Report = no_report) -> AbstractContextManager[None]:
    """Hold the lock to start and stop the sandbox; `report` is told if another process holds it."""
    return locked(folder / "lock", on_wait=lambda: report("Waiting for another shell", 0, None))


class Attachment(Struct):
    """Marks a sandbox as used, until it is closed or the process ends."""

    folder: Path
    _file: int | None

    def close(self) -> None:
        """Release the sandbox."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def pass_on(self) -> int:
        """Let a process that is started now use the sandbox, too, from its first moment until it
        ends or closes this file descriptor."""
        assert self._file is not None
        os.set_inheritable(self._file, True)
        return self._file

    def __enter__(self) -> Attachment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def attach(folder: Path, report: Report = no_report) -> Attachment:
    """Mark the sandbox as used. Attach before `start`, so that no other shell stops it
    meanwhile."""
    with exclusive_lock(folder, report):
        users = os.open(folder / "users", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(users, fcntl.LOCK_SH)
        return Attachment(folder, users)


def in_use_by_others(folder: Path, own: Attachment | None = None) -> bool:
    """Return whether other shells use the sandbox; `own` is not counted."""
    if not folder.is_dir():
        return False
    with exclusive_lock(folder):
        return others_attached(folder, own)


def others_attached(folder: Path, own: Attachment | None = None) -> bool:
    """Return the same as `in_use_by_others`, for callers that hold the lock, or that ask again
    and again."""
    if own is None or own._file is None:
        try:
            with locked(folder / "users", wait=False):
                return False
        except BlockingIOError:
            return True
    # Converting the shared lock may lose it, but nobody can attach during the check.
    try:
        fcntl.flock(own._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        fcntl.flock(own._file, fcntl.LOCK_SH)


OUR_FILES = re.compile(r"node-\d+|tls|clients|secrets\.json|sandbox\.json|\..*\.json\..*")
ABORT_SECONDS = 5.0
CLASS_LIST = "classes.list"


def start(
    options: SandboxOptions,
    report: Report = no_report,
    fill: Callable[[Sandbox], None] = lambda sandbox: None,
) -> Sandbox:
    """Start the brokers that are not running and return when all brokers are ready.

    `fill` creates the data of a new sandbox. If it is interrupted, the next start creates the
    sandbox again.
    """
    check_options(options)
    folder = options.folder.resolve()
    version = exact_version(options.kafka_version)
    with exclusive_lock(folder, report):
        known = _current(folder)
        if known is None or not known.filled:
            _require_empty(folder)
            _delete(folder)  # its creation was interrupted
            known = None
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
        sandbox = _launch(sandbox, down, java, class_path, report)
        if known is None:
            try:
                fill(sandbox)
            except BaseException:  # or somebody would use what the next start deletes
                _stop(sandbox, sandbox.brokers, ABORT_SECONDS)
                raise
            sandbox = replace(sandbox, filled=True)
            save(sandbox)
        return sandbox


def status(folder: Path) -> Sandbox | None:
    """Return the sandbox in this folder, running or not; None if there is none."""
    return _current(folder.resolve())


def stop(folder: Path) -> Sandbox:
    """Stop all brokers, with a clean shutdown if it does not take too long. Keeps the data."""
    with _existing(folder) as sandbox:
        return _stop(sandbox, sandbox.brokers)


def wipe(folder: Path) -> None:
    """Stop the sandbox and delete it and its data, but no other files in its folder."""
    folder = folder.resolve()
    if not state_file(folder).exists():
        return
    with exclusive_lock(folder):
        _delete(folder)


def leave(attachment: Attachment) -> bool:
    """Detach from the sandbox; stop it unless others use it. Return whether it was stopped."""
    folder = attachment.folder.resolve()
    with exclusive_lock(folder):
        others = others_attached(folder, attachment)
        attachment.close()
        sandbox = _current(folder)
        if others or sandbox is None:
            return False
        _stop(sandbox, sandbox.brokers)
        return True


def _current(folder: Path) -> Sandbox | None:
    """Load the state file without the PIDs of processes that have ended."""
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
            f"no sandbox in {folder}", hint="Run sandbox start to create one.", code="no-sandbox"
        )
    return sandbox


@contextmanager
def _existing(folder: Path) -> Iterator[Sandbox]:
    """Lock a sandbox and yield it. Raises ShellError if it does not exist."""
    folder = folder.resolve()
    _require(folder)  # the lock would create the folder
    with exclusive_lock(folder):
        yield _require(folder)


def _require_empty(folder: Path) -> None:
    others = sorted(path.name for path in folder.iterdir() if path.name not in LOCK_FILES)
    if others and not state_file(folder).exists():
        raise ShellError(
            f"{folder} is not empty and not a sandbox: it contains {others[0]}",
            hint="Use another directory, or empty this one.",
            code="folder-not-empty",
        )


def _runtime(version: str, report: Report) -> tuple[Path, str]:
    """Return a Java executable and the class path of Kafka."""
    java = find_java()
    return java, jars.class_path(jars.fetch(jars.locked_jars(version), report))


def _create(sandbox: Sandbox, java: Path, class_path: str, report: Report) -> None:
    """Create and format a new sandbox."""
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


def _keep_previous_log(broker: Broker) -> None:
    """Rename the log of the previous run.

    If the new run appended to it, Kafka could roll it (at 10 MB) during the start, and the line
    that says that the broker has started would be lost.
    """
    with suppress(FileNotFoundError):
        broker.log.replace(broker.log.with_name("server.log.previous"))


def _launch(
    sandbox: Sandbox, brokers: Iterable[Broker], java: Path, class_path: str, report: Report
) -> Sandbox:
    """Start these brokers and wait until all are ready. If one fails, stop all of them."""
    task = f"Starting Kafka {sandbox.kafka_version}"
    launched: list[Broker] = []
    try:
        for broker in brokers:
            write_configuration(sandbox, broker)
            class_list = broker.folder / CLASS_LIST
            arguments = jvm_arguments(sandbox, broker, java, class_path, class_list)
            main = ["kafka.Kafka", str(server_properties(broker))]
            write_arguments(broker.java_arguments, [*arguments, *main])
            _keep_previous_log(broker)
            broker = replace(broker, pid=spawn(java, broker.java_arguments, broker.log))
            launched.append(broker)
            sandbox = sandbox.with_broker(broker)
            save(sandbox)
        if sandbox.secure:
            write_client_properties(sandbox)
        total = len(launched)
        wait_until_started(sandbox, launched, lambda done: report(task, done, total))
        wait_until_all_known(sandbox)
        _archive_classes(launched[0], java, class_path, report)
    except BaseException:
        _stop(sandbox, launched, ABORT_SECONDS)
        raise
    return sandbox


def _archive_classes(started: Broker, java: Path, class_path: str, report: Report) -> None:
    """Make the archive of Kafka's classes after the first start of a Kafka version."""
    archive = class_archive(java, class_path)
    class_list = started.folder / CLASS_LIST
    if class_list.exists() and archive.find() is None:
        report("Archiving the classes of Kafka for faster starts", 0, None)
        make_archive(archive, class_list, lambda options: [java, *options, "-cp", class_path])


def _stop(sandbox: Sandbox, brokers: Iterable[Broker], patience: float = TERM_SECONDS) -> Sandbox:
    """Stop these brokers in parallel and save the new state."""
    if sandbox.stand_in_brokers:
        patience = min(patience, STOP_SECONDS)
    running = [(b.pid, b.java_arguments) for b in brokers if b.pid is not None]
    terminate(running, patience)
    for broker in brokers:
        sandbox = sandbox.with_broker(replace(broker, pid=None))
    save(sandbox)
    return sandbox


def _delete(folder: Path) -> None:
    """Delete a sandbox in any state, but keep the lock files: other processes may wait for them."""
    if not state_file(folder).exists():
        return
    terminate(find_all(folder), patience=0)
    ours = [path for path in folder.iterdir() if OUR_FILES.fullmatch(path.name)]
    for path in ours:  # including dangling links
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
