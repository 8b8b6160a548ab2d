"""Commands on quotas (KIP-248, 546, 612)."""

from __future__ import annotations

from kafka_shell.language.command import Command

COMMANDS: tuple[Command, ...] = ()
