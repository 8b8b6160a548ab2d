"""Commands on groups: consumer, share, streams."""

from __future__ import annotations

from kafka_shell.language.command import Command

COMMANDS: tuple[Command, ...] = ()
