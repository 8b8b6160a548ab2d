"""Commands on SCRAM credentials (KIP-554), and all about one user."""

from __future__ import annotations

from kafka_shell.language.command import Command

COMMANDS: tuple[Command, ...] = ()
