"""Format the log dirs of new nodes with Kafka's own StorageTool, a JVM per node, all at once."""

from __future__ import annotations

import base64
import subprocess
import uuid
from pathlib import Path

from kafka_shell.errors import ShellError

from .config import jvm_arguments, server_properties
from .process import write_arguments
from .ready import telling_line
from .security import scram_credentials
from .state import Broker, Sandbox

FORMAT_SECONDS = 60.0


def new_id() -> str:
    """A random id as Kafka writes them; like Kafka's, none starts with a dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def format_nodes(sandbox: Sandbox, java: Path, class_path: str) -> None:
    """Format every node of a new cluster; its configuration must be written."""
    voters = _initial_voters(sandbox)
    started: list[tuple[Broker, subprocess.Popen[str]]] = []
    try:
        for broker in sandbox.brokers:
            started.append((broker, _start_format(sandbox, broker, voters, java, class_path)))
        for broker, process in started:
            _finish_format(broker, process)
    finally:
        for _, process in started:
            process.kill()
            process.wait()


def _initial_voters(sandbox: Sandbox) -> str:
    """The controllers as StorageTool wants them: id@host:port:directory id."""
    return ",".join(
        f"{broker.id}@127.0.0.1:{broker.controller_port}:{new_id()}"
        for broker in sandbox.brokers
        if broker.controller_port is not None
    )


def _start_format(
    sandbox: Sandbox, broker: Broker, voters: str, java: Path, class_path: str
) -> subprocess.Popen[str]:
    if broker.controller_port is None:
        role = ["--no-initial-controllers"]
    else:
        role = ["--initial-controllers", voters]
    tool = ["kafka.tools.StorageTool", "format", "--cluster-id", sandbox.cluster_id]
    config = ["--config", str(server_properties(broker))]
    scram = [word for each in scram_credentials(sandbox) for word in ("--add-scram", each)]
    arguments = broker.folder / "format.args"
    write_arguments(
        arguments, [*jvm_arguments(sandbox, broker, class_path), *tool, *config, *role, *scram]
    )
    return subprocess.Popen(
        [java, f"@{arguments}"],
        stdin=subprocess.DEVNULL,
        # It prints what it formats with, SCRAM credentials included.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _finish_format(broker: Broker, process: subprocess.Popen[str]) -> None:
    try:
        _, errors = process.communicate(timeout=FORMAT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise ShellError(
            f"Formatting the storage of broker {broker.id} takes longer than "
            f"{FORMAT_SECONDS:.0f} s",
            code="format-failed",
        ) from error
    (broker.folder / "format.args").unlink()
    if process.returncode:
        raise ShellError(
            f"Cannot format the storage of broker {broker.id}: {telling_line(errors)}",
            hint=f"Its configuration is {server_properties(broker)}.",
            code="format-failed",
        )
