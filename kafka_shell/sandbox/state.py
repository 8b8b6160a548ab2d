"""The state of a sandbox, and the file in its folder that stores it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field

from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.files import write_private, xdg_folder
from kafka_shell.base.structs import asdict, replace
from kafka_shell.sandbox.jars import locked_versions
from kafka_shell.wire.endpoint import Address, is_loopback

# The options of a sandbox.

DEFAULT_VERSION = "4.3.1"
DEFAULT_PORT = 9092
RACKS = ("rack-a", "rack-b", "rack-c")


def default_folder() -> Path:
    """Return the default sandbox folder in the XDG data folder."""
    return xdg_folder("data", os.environ) / "sandbox"


def folder_of(environ: Mapping[str, str]) -> Path:
    """Return the sandbox folder: in KAFKA_SH_HOME if set, otherwise in the XDG data folder."""
    home = environ.get("KAFKA_SH_HOME")
    return Path(home) / "sandbox" if home else default_folder()


class SandboxOptions(Struct, frozen=True):
    """The options of a sandbox.

    `port` is the first port of the first broker, followed by the other ports; 0 uses free ports.
    `kafka_version` may omit the patch version (`4.3`). A `secure` sandbox requires authentication.
    `topics` are created on `stand_in_brokers`, which have no process.
    """

    folder: Path = field(default_factory=default_folder)
    kafka_version: str = DEFAULT_VERSION
    brokers: int = 1
    port: int = DEFAULT_PORT
    secure: bool = False
    topics: int = 0
    stand_in_brokers: int = 0


def exact_version(requested: str) -> str:
    """Return the available Kafka version: the requested one, or its newest patch version."""
    versions = locked_versions()
    matches = [v for v in versions if v == requested or v.startswith(f"{requested}.")]
    if not matches:
        raise ShellError(
            f"Kafka {requested} is not available for the sandbox",
            hint=f"Use one of {', '.join(versions)}.",
            code="unknown-kafka-version",
        )
    return max(matches, key=lambda v: [int(part) for part in v.split(".")])


def stand_ins_for(topics: int) -> int:
    """Return the number of brokers that a cluster with this many topics typically has."""
    return max(3, topics // 100) if topics else 0


def check_options(options: SandboxOptions) -> None:
    """Raise UsageError or ShellError for invalid options."""
    if options.brokers < 1:
        raise UsageError(
            f"--brokers must be at least 1, got {options.brokers}", code="bad-sandbox-options"
        )
    if options.stand_in_brokers and (options.secure or options.brokers != 1):
        raise ShellError(
            "--stand-in-brokers cannot be used with --secure or --brokers",
            hint="Omit --secure and --brokers.",
            code="bad-sandbox-options",
        )
    if options.topics < 0 or options.stand_in_brokers < 0:
        raise ShellError("--topics and --stand-in-brokers must not be negative",
                         code="bad-sandbox-options")  # fmt: skip
    if options.topics and not options.stand_in_brokers:
        raise ShellError(
            f"{options.topics:,} topics require stand-in brokers",
            hint=f"Add --stand-in-brokers {stand_ins_for(options.topics)}.",
            code="bad-sandbox-options",
        )
    if not 0 <= options.port <= 65535:
        raise UsageError(
            f"--port must be between 0 and 65535, got {options.port}", code="bad-sandbox-options"
        )


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
            hint=f"Use one of: {', '.join(str(broker.id) for broker in self.brokers)}.",
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


def about(environ: Mapping[str, str], bootstrap: Iterable[Address]) -> str:
    """Return `sandbox, Kafka 4.3.1` if the sandbox runs at one of these addresses, else an empty
    string. A stopped one does not count: another cluster may use its ports."""
    local = {at.port for at in bootstrap if is_loopback(at.host)}
    try:
        sandbox = load(folder_of(environ).resolve())
        if sandbox is None:
            return ""
        for broker in sandbox.brokers:
            if local & {*broker.ports.values()}:
                from kafka_shell.sandbox.process import is_running  # requires psutil

                if is_running(broker.pid, broker.java_arguments):
                    return f"sandbox, Kafka {sandbox.kafka_version}"
    except (ShellError, OSError):
        pass
    return ""


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
