"""The state of a sandbox, and the file in its folder that stores it."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct

from kafka_shell.common.private import write_private
from kafka_shell.common.structs import asdict, replace
from kafka_shell.errors import ShellError
from kafka_shell.sandbox.options import SandboxOptions

FORMAT = 1


class Broker(Struct, frozen=True):
    """A node. `ports` is by listener name; `pid` is None if the node is not running."""

    id: int
    rack: str
    ports: dict[str, int]
    controller_port: int | None
    folder: Path
    pid: int | None = None

    @property
    def log(self) -> Path:
        """The log file of the broker."""
        return self.folder / "server.log"

    @property
    def java_arguments(self) -> Path:
        """The argument file of the JVM, by which its process is recognized."""
        return self.folder / "java.args"


class Sandbox(Struct, frozen=True):
    """A Kafka cluster on this machine. `users` is empty without security.

    `topics` is the number of topics on `stand_in_brokers`. `overrides` are configs of all nodes
    that replace those of a sandbox; empty ones are left out. It is `filled` after its first start.
    `password` is that of the only user of a twin, without which both of its listeners are closed.
    """

    folder: Path
    kafka_version: str
    cluster_id: str
    secure: bool
    users: tuple[str, ...]
    brokers: tuple[Broker, ...]
    topics: int = 0
    stand_in_brokers: int = 0
    overrides: dict[str, str] = {}
    password: str = ""
    filled: bool = True

    @property
    def running(self) -> bool:
        """Whether all brokers are running."""
        return all(broker.pid is not None for broker in self.brokers)

    @property
    def options(self) -> SandboxOptions:
        """The options of this sandbox, with its current ports."""
        port = next(iter(self.brokers[0].ports.values()))
        return SandboxOptions(
            self.folder, self.kafka_version, len(self.brokers), port, self.secure, self.topics,
            self.stand_in_brokers,
        )  # fmt: skip

    @property
    def bootstraps(self) -> dict[str, str]:
        """The bootstrap servers by listener name."""
        return {
            name: ",".join(f"127.0.0.1:{broker.ports[name]}" for broker in self.brokers)
            for name in self.brokers[0].ports
        }

    @property
    def bootstrap(self) -> str:
        """The bootstrap servers of the first listener: PLAINTEXT, or SASL_SSL if secure."""
        return next(iter(self.bootstraps.values()))

    @property
    def client_properties(self) -> dict[str, Path]:
        """Java client properties files by name: `alice-sasl-ssl` ..."""
        return {path.stem: path for path in sorted(self.folder.glob("clients/*.properties"))}

    def broker(self, broker_id: int) -> Broker:
        """Return the broker with this ID. Raises ShellError if there is none."""
        for broker in self.brokers:
            if broker.id == broker_id:
                return broker
        raise ShellError(
            f"the sandbox in {self.folder} has no broker {broker_id}",
            hint=f"Brokers: {', '.join(str(broker.id) for broker in self.brokers)}.",
            code="no-such-broker",
        )

    def with_broker(self, changed: Broker) -> Sandbox:
        """Return the sandbox with one broker replaced."""
        brokers = (changed if broker.id == changed.id else broker for broker in self.brokers)
        return replace(self, brokers=tuple(brokers))


def state_file(folder: Path) -> Path:
    """Return the path of the state file of a sandbox folder."""
    return folder / "sandbox.json"


def load(folder: Path) -> Sandbox | None:
    """Load the state file; None if there is no sandbox. PIDs may be out of date."""
    try:
        state = json.loads(state_file(folder).read_text())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _unreadable(folder, f"is not JSON ({error})") from error
    try:
        if state.pop("format", None) != FORMAT:
            raise _unreadable(folder, "was written by another version of kafka.sh")
        if not state.pop("made"):
            return None
        brokers = (Broker(**b | {"folder": folder / f"node-{b['id']}"}) for b in state["brokers"])
        given = {"folder": folder, "users": tuple(state["users"]), "brokers": tuple(brokers)}
        return Sandbox(**state | given)
    except (AttributeError, KeyError, TypeError) as error:
        raise _unreadable(folder, "is damaged") from error


def save(sandbox: Sandbox) -> None:
    """Write the state file, without folders: a sandbox is where its state file is."""
    state = asdict(sandbox)
    del state["folder"]
    for broker in state["brokers"]:
        del broker["folder"]
    write_private(state_file(sandbox.folder), json.dumps({"format": FORMAT, "made": True, **state}))


def begin(folder: Path) -> None:
    """Mark the folder as a sandbox, so that its files may be deleted."""
    write_private(state_file(folder), json.dumps({"format": FORMAT, "made": False}))


def _unreadable(folder: Path, why: str) -> ShellError:
    return ShellError(
        f"the state file {state_file(folder)} {why}",
        hint="Run sandbox wipe to delete the sandbox and its data.",
        code="bad-sandbox-state",
    )
