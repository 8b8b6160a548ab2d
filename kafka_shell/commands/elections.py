"""Commands that elect leaders (KIP-183, 460)."""

from __future__ import annotations

from kafka_shell.language.command import Command

COMMANDS: tuple[Command, ...] = ()
