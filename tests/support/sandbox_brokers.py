"""Stop and start single brokers of a sandbox."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.sandbox.cluster import _existing, _launch, _runtime, _stop
from kafka_shell.sandbox.config import require_free_ports
from kafka_shell.sandbox.jars import Report, no_report
from kafka_shell.sandbox.ready import wait_until_all_known
from kafka_shell.sandbox.state import Sandbox


def stop_broker(folder: Path, broker_id: int) -> Sandbox:
    """Stop one broker cleanly and return when the other brokers have noticed."""
    with _existing(folder) as sandbox:
        sandbox = _stop(sandbox, [sandbox.broker(broker_id)])
        if _has_quorum(sandbox):
            wait_until_all_known(sandbox)
        return sandbox


def start_broker(folder: Path, broker_id: int, report: Report = no_report) -> Sandbox:
    """Start one broker again on the same ports and return when it is ready."""
    with _existing(folder) as sandbox:
        broker = sandbox.broker(broker_id)
        if broker.pid is not None:
            return sandbox
        require_free_ports([broker])
        java, class_path = _runtime(sandbox.kafka_version, report)
        return _launch(sandbox, [broker], java, class_path, report)


def _has_quorum(sandbox: Sandbox) -> bool:
    """Return whether a majority of the controllers is running."""
    controllers = [b for b in sandbox.brokers if b.controller_port is not None]
    return 2 * sum(controller.pid is not None for controller in controllers) > len(controllers)
