"""Commands that move replicas (KIP-455)."""

from __future__ import annotations

from kafka_shell.language.command import Command

COMMANDS: tuple[Command, ...] = ()
