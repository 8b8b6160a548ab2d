"""Wait until brokers are ready, and report why a broker is not."""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence

from kafka_shell.base.errors import ShellError
from kafka_shell.base.waits import LOCAL_POLL_S
from kafka_shell.sandbox.process import is_running
from kafka_shell.sandbox.security import ADMINISTRATOR, passwords
from kafka_shell.sandbox.stand_ins import is_leading, unregister_last_run
from kafka_shell.sandbox.state import Broker, Sandbox

START_SECONDS = 200.0  # a broker that cannot register exits by itself after three minutes

# Logged when the node is registered and unfenced, and all its ports are open.
STARTED = b"Kafka Server started"
# With stand-in brokers sessions never expire, so a killed broker still counts as alive.
# Logged by the controller before it handles the next request.
STILL_REGISTERED = b"DuplicateBrokerRegistrationException"

_EXCEPTION = re.compile(
    r'^(?:Caused by: |Exception in thread ".*?" )?((?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b.*)'
)
_ERROR = re.compile(r"^\[[^]]*\] (?:ERROR|FATAL) (.*)|^(Error:? .*)")
_AT_MOST = 300


def wait_until_started(
    sandbox: Sandbox, launched: Sequence[Broker], on_progress: Callable[[int], None]
) -> None:
    """Wait until these brokers are ready. Raises ShellError if one exits, or after too long.

    Logs are read from the beginning, so they must not contain an earlier start.
    """
    waiting = list(launched)
    missed: set[int] = set()
    refused: dict[int, int] = {}  # how often each broker was refused as a duplicate
    for _ in _ticks(waiting):
        running = [is_running(broker.pid, broker.java_arguments) for broker in waiting]
        logs = [broker.log.read_bytes() for broker in waiting]
        for broker, alive, log in zip(waiting, running, logs, strict=True):
            if not alive and broker.id in missed:
                raise _died(broker, log)
            if not alive:  # or the process is just starting and has no command line yet
                missed.add(broker.id)
            refusals = log.count(STILL_REGISTERED)
            # Of several brokers, each tries again until the others have fenced its last run.
            if len(sandbox.brokers) == 1 and refusals > refused.get(broker.id, 0):
                unregister_last_run(sandbox)
                # All refusals until now were due to the last run. After that, the broker registers,
                # and a second request would unregister this run.
                refused[broker.id] = broker.log.read_bytes().count(STILL_REGISTERED)
        waiting = [w for w, log in zip(waiting, logs, strict=True) if STARTED not in log]
        on_progress(len(launched) - len(waiting))
        if not waiting:
            return


def wait_until_all_known(sandbox: Sandbox) -> None:
    """Wait until every running broker of a sandbox knows all the others.

    With stand-in brokers, wait until the real one leads Kafka's own topics again.
    """
    if sandbox.stand_in_brokers:
        for _ in _ticks(sandbox.brokers):
            if is_leading(sandbox):
                return
    running = [broker for broker in sandbox.brokers if broker.pid is not None]
    password = passwords(sandbox)[ADMINISTRATOR] if sandbox.secure else ""
    for _ in _ticks(running):
        # All in one round: while one starts, another may be fenced on a busy machine.
        if all(_known_brokers(broker, password) == len(running) for broker in running):
            return


def cause_in(log: str) -> str:
    """Return the line of a log that best explains a failure: exception, error or last line."""
    lines = [line.rstrip() for line in log.splitlines() if line[:1].strip()]
    exceptions = [match[1] for line in lines if (match := _EXCEPTION.match(line))]
    errors = [match[1] or match[2] for line in lines if (match := _ERROR.match(line))]
    return (exceptions or errors or lines or ["no output"])[-1][:_AT_MOST]


def _ticks(waiting: Sequence[Broker]) -> Iterator[None]:
    """Yield at intervals; raise ShellError after START_SECONDS."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        yield
        time.sleep(LOCAL_POLL_S)
    broker = waiting[0]
    raise ShellError(
        f"broker {broker.id} is not ready after {START_SECONDS:.0f} s",
        hint=f"See its log {broker.log}.",
        code="broker-not-ready",
    )


def _died(broker: Broker, log: bytes) -> ShellError:
    return ShellError(
        f"broker {broker.id} exited while starting: {cause_in(log.decode(errors='replace'))}",
        hint=f"See its log {broker.log}.",
        code="broker-died",
    )


def _known_brokers(broker: Broker, password: str) -> int:
    """Return how many brokers this one knows (Metadata, API key 3, version 1)."""
    port = broker.ports["SASL_PLAINTEXT" if password else "PLAINTEXT"]
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            if password:
                _log_in(connection, password)
            answer = _exchange(connection, 3, 1, struct.pack(">i", 0))
            (brokers,) = struct.unpack_from(">i", answer)
    except (OSError, struct.error):
        return 0
    return int(brokers)


def _log_in(connection: socket.socket, password: str) -> None:
    """Authenticate the administrator with SASL PLAIN (SaslHandshake and SaslAuthenticate)."""
    mechanism = b"PLAIN"
    _exchange(connection, 17, 1, struct.pack(">h", len(mechanism)) + mechanism)
    token = f"\0{ADMINISTRATOR}\0{password}".encode()
    _exchange(connection, 36, 0, struct.pack(">i", len(token)) + token)


def _exchange(connection: socket.socket, key: int, version: int, body: bytes) -> bytes:
    """Send one request of an API key and version, and return the body of its response."""
    request = struct.pack(">hhih", key, version, 0, -1) + body
    connection.sendall(struct.pack(">i", len(request)) + request)
    with connection.makefile("rb") as stream:
        size, _correlation = struct.unpack(">ii", stream.read(8))
        return stream.read(size - 4)
