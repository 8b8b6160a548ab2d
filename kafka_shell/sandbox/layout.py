"""The layout of a sandbox: controllers, racks and ports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kafka_shell.admin.wire.endpoint import STAND_INS
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.sandbox.options import RACKS, SandboxOptions
from kafka_shell.sandbox.ports import becomes_free, free_ports
from kafka_shell.sandbox.security import SECURE_LISTENERS, USERS
from kafka_shell.sandbox.state import Broker, Sandbox
from kafka_shell.sandbox.storage import new_id

PLAIN_LISTENERS = ("PLAINTEXT",)
# A quorum of two tolerates no failure, so two brokers have a single controller.
CONTROLLERS = 3


def new_sandbox(folder: Path, options: SandboxOptions, version: str) -> Sandbox:
    """Return a sandbox to create, with controller ports but without broker ports."""
    controllers = CONTROLLERS if options.brokers >= CONTROLLERS else 1
    listeners = SECURE_LISTENERS if options.secure else PLAIN_LISTENERS
    requested = range(options.port, options.port + options.brokers * len(listeners))
    quorum = iter(free_ports(controllers, besides=requested))
    brokers = tuple(
        Broker(
            id=number,
            rack=RACKS[(number - 1) % len(RACKS)],
            ports=dict.fromkeys(listeners, 0),
            controller_port=next(quorum, None),
            folder=folder / f"node-{number}",
        )
        for number in range(1, options.brokers + 1)
    )
    users = USERS if options.secure else ()
    cluster_id = new_id(STAND_INS if options.stand_in_brokers else "")
    return Sandbox(
        folder, version, cluster_id, options.secure, users, brokers, options.topics,
        options.stand_in_brokers, filled=False,
    )  # fmt: skip


def require_same(sandbox: Sandbox, options: SandboxOptions, version: str) -> None:
    """Raise ShellError if the options differ from those of an existing sandbox."""
    brokers = len(sandbox.brokers)
    differences = [
        f"{word} {had}, not {wanted}"
        for word, had, wanted in (
            ("Kafka", sandbox.kafka_version, version),
            ("brokers:", brokers, options.brokers),
            ("secure:", _yes(sandbox.secure), _yes(options.secure)),
            ("stand-in brokers:", sandbox.stand_in_brokers, options.stand_in_brokers),
            ("topics on them:", sandbox.topics, options.topics),
        )
        if had != wanted
    ]
    if differences:
        raise ShellError(
            f"the sandbox in {sandbox.folder} was created with {', '.join(differences)}",
            hint="Run sandbox wipe to delete it and its data, or use another folder.",
            code="other-sandbox",
        )
    first_port = next(iter(sandbox.brokers[0].ports.values()))
    if _any_running(sandbox) and options.port not in (0, first_port):
        raise ShellError(
            f"the sandbox in {sandbox.folder} is running on port {first_port}, not {options.port}",
            hint="Run sandbox stop first, or use another folder.",
            code="other-sandbox",
        )


def assign_ports(sandbox: Sandbox, options: SandboxOptions) -> Sandbox:
    """Assign the requested ports to the brokers, unless they are running."""
    if _any_running(sandbox):
        return sandbox
    names = list(sandbox.brokers[0].ports)
    ports = iter(_choose(sandbox, options.port, len(names) * len(sandbox.brokers)))
    brokers = (replace(b, ports={name: next(ports) for name in names}) for b in sandbox.brokers)
    return replace(sandbox, brokers=tuple(brokers))


def require_free_ports(brokers: Iterable[Broker]) -> None:
    """Raise ShellError if another program uses a port of these brokers."""
    for port in _ports(brokers):
        if not becomes_free(port):
            raise ShellError(
                f"port {port} is in use by another program",
                hint="Choose another port with --port, or any free port with --port 0.",
                code="port-in-use",
            )
    for broker in brokers:
        if broker.controller_port is not None and not becomes_free(broker.controller_port):
            raise ShellError(
                f"port {broker.controller_port} of the controller of broker {broker.id} is in use"
                " by another program",
                hint="Stop that program, or run sandbox wipe to start over without the data.",
                code="port-in-use",
            )


def _choose(sandbox: Sandbox, first: int, count: int) -> list[int]:
    if first:
        if first + count - 1 > 65535:
            raise ShellError(
                f"{count} ports starting at {first} exceed 65535", code="bad-sandbox-options"
            )
        return list(range(first, first + count))
    before = list(_ports(sandbox.brokers))
    if all(port and becomes_free(port) for port in before):
        return before
    return free_ports(count, besides={broker.controller_port for broker in sandbox.brokers})


def _ports(brokers: Iterable[Broker]) -> Iterator[int]:
    for broker in brokers:
        yield from broker.ports.values()


def _any_running(sandbox: Sandbox) -> bool:
    return any(broker.pid is not None for broker in sandbox.brokers)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
