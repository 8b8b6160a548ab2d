"""Commands on offsets and records of partitions."""

from __future__ import annotations

from kafka_shell.language.command import Command

COMMANDS: tuple[Command, ...] = ()
