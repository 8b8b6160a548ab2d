"""The configuration of each node: server.properties, log4j.properties and JVM arguments."""

from __future__ import annotations

import random
import socket
import subprocess
import uuid
from collections.abc import Container, Iterable, Iterator
from itertools import islice
from pathlib import Path

from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import escape, private_folder, to_properties, write_private
from kafka_shell.base.java import Archive, archive_folder, archive_of, jvm_options
from kafka_shell.base.structs import replace
from kafka_shell.base.waits import START_S, until
from kafka_shell.sandbox import stand_ins
from kafka_shell.sandbox.process import write_arguments
from kafka_shell.sandbox.ready import cause_in
from kafka_shell.sandbox.security import (
    SECURE_LISTENERS,
    USERS,
    scram_credentials,
    server_settings,
    twin_settings,
)
from kafka_shell.sandbox.state import RACKS, Broker, Sandbox, SandboxOptions
from kafka_shell.wire.endpoint import STAND_INS
from kafka_shell.wire.frames import format_uuid

# Two, so that replicas can be moved between log directories.
LOG_DIRS = ("data-a", "data-b")

JVM = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
)

# This class logs every token it accepts, including the secret scope.
TOKENS = (
    "org.apache.kafka.common.security.oauthbearer.internals.unsecured"
    ".OAuthBearerUnsecuredValidatorCallbackHandler"
)

LOG4J1 = """\
log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.RollingFileAppender
log4j.appender.file.File={log}
log4j.appender.file.MaxFileSize=10MB
log4j.appender.file.MaxBackupIndex=2
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.{tokens}=WARN
"""

LOG4J2 = """\
status = error
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {log}
appender.file.filePattern = {log}.%i
appender.file.filePermissions = rw-------
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = [%d] %p %m (%c)%n
appender.file.policies.type = SizeBasedTriggeringPolicy
appender.file.policies.size = 10MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 2
logger.tokens.name = {tokens}
logger.tokens.level = warn
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""


def server_properties(broker: Broker) -> Path:
    """Return the path of the server.properties of a node."""
    return broker.folder / "server.properties"


def write_configuration(sandbox: Sandbox, broker: Broker) -> None:
    """Write the configuration of a node before every start, because ports can change."""
    private_folder(broker.folder)
    settings = node_settings(sandbox, broker)
    if sandbox.secure:
        settings |= server_settings(sandbox)
    if sandbox.password:
        settings |= twin_settings(sandbox)
    if sandbox.stand_in_brokers:
        settings |= stand_ins.settings()
    settings = {k: value for k, value in (settings | sandbox.overrides).items() if value}
    write_private(server_properties(broker), to_properties(settings))
    broker.log.touch(mode=0o600)
    template = LOG4J1 if _before_4(sandbox) else LOG4J2
    write_private(
        _logger_properties(broker), template.format(log=escape(str(broker.log)), tokens=TOKENS)
    )


def jvm_arguments(
    sandbox: Sandbox, broker: Broker, java: Path, class_path: str, class_list: Path | None = None
) -> list[str]:
    """Return the JVM arguments before the main class. `class_list` is where a JVM that has no
    archive of Kafka's classes writes which ones it loads."""
    logger = _logger_properties(broker)
    if _before_4(sandbox):
        logging = f"-Dlog4j.configuration={logger.as_uri()}"
    else:
        logging = f"-Dlog4j2.configurationFile={logger.as_uri()}"
    heap = f"-Xmx{stand_ins.heap_mebibytes(sandbox.topics)}m"
    sharing = jvm_options(class_archive(java, class_path), broker.folder, class_list)
    return [*JVM, *sharing, heap, logging, "-cp", class_path]


def class_archive(java: Path, class_path: str) -> Archive:
    """The archive of the classes of this Kafka."""
    return archive_of(archive_folder(), "kafka", java, class_path)


def node_settings(sandbox: Sandbox, broker: Broker) -> dict[str, str]:
    """Return the server.properties of a node, with values suitable for a laptop."""
    controllers = [b for b in sandbox.brokers if b.controller_port is not None]
    listeners = {name: f"{name}://127.0.0.1:{port}" for name, port in broker.ports.items()}
    if broker.controller_port is not None:
        listeners["CONTROLLER"] = f"CONTROLLER://127.0.0.1:{broker.controller_port}"
    protocols = {name: name for name in broker.ports}
    protocols["CONTROLLER"] = "SASL_PLAINTEXT" if sandbox.secure else "PLAINTEXT"
    old = {"group.coordinator.rebalance.protocols": "classic,consumer"}
    factor = str(min(3, len(sandbox.brokers)))
    return {
        "node.id": str(broker.id),
        "process.roles": "broker,controller" if broker.controller_port else "broker",
        "broker.rack": broker.rack,
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": ",".join(
            f"127.0.0.1:{controller.controller_port}" for controller in controllers
        ),
        "listeners": ",".join(listeners.values()),
        "advertised.listeners": ",".join(listeners.values()),
        "listener.security.protocol.map": ",".join(f"{k}:{v}" for k, v in protocols.items()),
        "inter.broker.listener.name": "SASL_PLAINTEXT" if sandbox.secure else "PLAINTEXT",
        "log.dirs": ",".join(str(broker.folder / name) for name in LOG_DIRS),
        # Unauthenticated clients are super users, so ACLs can be tried without logging in.
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "8",
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.num.partitions": "8",
        "transaction.state.log.replication.factor": factor,
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "8",
        "share.coordinator.state.topic.replication.factor": factor,
        "share.coordinator.state.topic.min.isr": "1",
        # Failures are detected, and a controller elected, within seconds.
        "broker.heartbeat.interval.ms": "500",
        "broker.session.timeout.ms": "3000",
        "controller.quorum.election.timeout.ms": "300",
        # Without changes, the controller would write a record every 0.5 s, which each broker reads.
        "metadata.max.idle.interval.ms": "10000",
        # How long a broker waits for the controller it has forwarded a change to, before it
        # looks for another one. Kafka's default is 30 s.
        "controller.socket.timeout.ms": "10000",
        # On a busy machine, several brokers take long to start.
        "initial.broker.registration.timeout.ms": "180000",
        "num.network.threads": "2",
        "num.io.threads": "4",
        "log.cleaner.dedupe.buffer.size": "8388608",
    } | (old if _before_4(sandbox) else {})


def _logger_properties(broker: Broker) -> Path:
    return broker.folder / "log4j.properties"


def _before_4(sandbox: Sandbox) -> bool:
    return sandbox.kafka_version.startswith("3.")


# Format the log directories of new nodes with the StorageTool of Kafka, in parallel.


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
        _, errors = process.communicate(timeout=START_S)
    except subprocess.TimeoutExpired as error:
        raise ShellError(
            f"formatting the storage of broker {broker.id} timed out after {START_S:.0f} s",
            code="format-failed",
        ) from error
    (broker.folder / "format.args").unlink()
    if process.returncode:
        raise ShellError(
            f"cannot format the storage of broker {broker.id}: {cause_in(errors)}",
            hint=f"See its configuration {server_properties(broker)}.",
            code="format-failed",
        )


# Free ports on the loopback interface.

# Below the ephemeral ports: an outgoing connection could take the port of a stopped broker.
CANDIDATES = range(20000, 30000)
# The kernel may close the sockets of a process a moment after it has ended.
CLOSING_SECONDS = 1.0


def free_ports(count: int, besides: Container[int | None] = ()) -> list[int]:
    """Return free ports."""
    # Not `random` itself: two programs with the same seed would choose the same ports.
    shuffled = random.SystemRandom().sample(CANDIDATES, len(CANDIDATES))
    free = (port for port in shuffled if port not in besides and is_free(port))
    return list(islice(free, count))


def is_free(port: int) -> bool:
    """Return whether a broker could listen on the port now."""
    with socket.socket() as probe:
        # As in Java, a port in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError:
            return False
    return True


def becomes_free(port: int) -> bool:
    """Return whether a broker can listen on the port, now or within CLOSING_SECONDS."""
    return until(lambda: is_free(port), CLOSING_SECONDS)


# The layout of a sandbox: controllers, racks and ports.

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
            hint="Run sandbox wipe to delete it and its data, or set KAFKA_SH_HOME to use another.",
            code="other-sandbox",
        )
    first_port = next(iter(sandbox.brokers[0].ports.values()))
    if _any_running(sandbox) and options.port not in (0, first_port):
        raise ShellError(
            f"the sandbox in {sandbox.folder} is running on port {first_port}, not {options.port}",
            hint="Run sandbox stop first, or set KAFKA_SH_HOME to use another.",
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
                hint="Run kafka.sh sandbox start --port 0 to use any free port.",
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
