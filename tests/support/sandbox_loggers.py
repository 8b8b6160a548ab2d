"""What a shared broker supports."""

from __future__ import annotations

from kafka_shell.sandbox.state import Sandbox
from tests.support.sandbox_clients import admin, loggers, set_logger


def check_loggers(sandbox: Sandbox) -> None:
    """Loggers are listed, one is altered and what it logs from then on is in the log file."""
    name = "kafka.request.logger"
    with admin(sandbox) as client:
        assert loggers(client)["root"] == "INFO"
        before = len(sandbox.brokers[0].log.read_text())
        set_logger(client, name, "DEBUG")
        try:
            assert loggers(client)[name] == "DEBUG"
        finally:
            set_logger(client, name, "INFO")
        assert loggers(client)[name] == "INFO"
    said = sandbox.brokers[0].log.read_text()[before:]
    assert any("] DEBUG " in line and f"({name})" in line for line in said.splitlines())
