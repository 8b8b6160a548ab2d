"""Commands on ACLs (KIP-11, 290), and what they come to."""

from __future__ import annotations

from kafka_shell.language.command import Command

COMMANDS: tuple[Command, ...] = ()
