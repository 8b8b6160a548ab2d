"""The configuration of each node: server.properties, log4j.properties and JVM arguments."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.common.class_data import Archive, archive_folder, archive_of, jvm_options
from kafka_shell.common.java_properties import escape, to_properties
from kafka_shell.common.private import private_folder, write_private
from kafka_shell.sandbox import stand_ins
from kafka_shell.sandbox.security import server_settings, twin_settings
from kafka_shell.sandbox.state import Broker, Sandbox

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
