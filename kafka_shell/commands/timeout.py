"""The option --timeout."""

from __future__ import annotations

from kafka_shell.base.waits import CHANGE_MS
from kafka_shell.language.command import Invocation


def timeout_ms(invocation: Invocation) -> int:
    """The value of --timeout, or its default."""
    timeout: int | None = invocation.get("timeout")
    return CHANGE_MS if timeout is None else timeout
