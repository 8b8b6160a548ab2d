"""Format the log directories of new nodes with the StorageTool of Kafka, in parallel."""

from __future__ import annotations

import subprocess
import uuid
from pathlib import Path

from kafka_shell.admin.wire.uuids import format_uuid
from kafka_shell.errors import ShellError
from kafka_shell.sandbox.config import LOG_DIRS, jvm_arguments, server_properties
from kafka_shell.sandbox.process import write_arguments
from kafka_shell.sandbox.ready import cause_in
from kafka_shell.sandbox.security import scram_credentials
from kafka_shell.sandbox.state import Broker, Sandbox

FORMAT_SECONDS = 60.0


def new_id(start: str = "") -> str:
    """Return a random ID in the format of Kafka that starts so, but not with a dash."""
    while True:
        text = start + format_uuid(uuid.uuid4().bytes)[len(start) :]
        if not text.startswith("-"):
            return text


def format_nodes(sandbox: Sandbox, java: Path, class_path: str) -> None:
    """Format all nodes of a new cluster. Requires their configuration files."""
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
    _give_voters(sandbox)


def _give_voters(sandbox: Sandbox) -> None:
    """Let brokers know the voters before they read them from the metadata log.

    The first controller may lose its leadership while a broker starts. Kafka 4.3 then forgets the
    voters it has read, and never connects to a controller again after it lost the connection: the
    broker stays fenced.
    """
    first = next(broker for broker in sandbox.brokers if broker.controller_port is not None)
    for broker in sandbox.brokers:
        if broker.controller_port is None:
            copy = _voters_file(broker)
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(_voters_file(first).read_bytes())


def _voters_file(broker: Broker) -> Path:
    metadata = broker.folder / LOG_DIRS[0] / "__cluster_metadata-0"
    return metadata / "00000000000000000000-0000000000.checkpoint"


def _initial_voters(sandbox: Sandbox) -> str:
    """Return the controllers in the format of StorageTool: id@host:port:directory-id."""
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
        arguments,
        [*jvm_arguments(sandbox, broker, java, class_path), *tool, *config, *role, *scram],
    )
    return subprocess.Popen(
        [java, f"@{arguments}"],
        stdin=subprocess.DEVNULL,
        # It prints its arguments, including SCRAM credentials.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _finish_format(broker: Broker, process: subprocess.Popen[str]) -> None:
    try:
        _, errors = process.communicate(timeout=FORMAT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise ShellError(
            f"formatting the storage of broker {broker.id} timed out after {FORMAT_SECONDS:.0f} s",
            code="format-failed",
        ) from error
    (broker.folder / "format.args").unlink()
    if process.returncode:
        raise ShellError(
            f"cannot format the storage of broker {broker.id}: {cause_in(errors)}",
            hint=f"See its configuration {server_properties(broker)}.",
            code="format-failed",
        )
