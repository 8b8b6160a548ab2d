"""Every command this program has, in the order that help shows them."""

from __future__ import annotations

from kafka_shell.language.command import Command

from . import cluster, config_command, configs, help, sandbox, shell, topics

REGISTRY: tuple[Command, ...] = (
    *topics.COMMANDS,
    *configs.COMMANDS,
    *config_command.COMMANDS,
    *cluster.COMMANDS,
    *shell.COMMANDS,
    *sandbox.COMMANDS,
    *help.COMMANDS,
)
