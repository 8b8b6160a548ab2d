"""The option --timeout."""

from __future__ import annotations

from kafka_shell.language.command import Invocation


def timeout_ms(invocation: Invocation, default: int) -> int:
    """The value of --timeout, or the default of the command."""
    timeout: int | None = invocation.get("timeout")
    return default if timeout is None else timeout
