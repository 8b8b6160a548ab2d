"""Every command this program has, in the order that help shows them."""

from __future__ import annotations

from kafka_shell.language.command import Command

from . import (
    acls,
    brokers,
    client_configs,
    cluster,
    config_command,
    configs,
    elections,
    group_offsets,
    groups,
    help,
    journal,
    log_dirs,
    quorum,
    quotas,
    reassignment_looks,
    reassignments,
    records,
    sandbox,
    shell,
    spark,
    tokens,
    topics,
    transactions,
    users,
)

REGISTRY: tuple[Command, ...] = (
    *topics.COMMANDS,
    *records.COMMANDS,
    *configs.COMMANDS,
    *config_command.COMMANDS,
    *quotas.COMMANDS,
    *client_configs.COMMANDS,
    *users.COMMANDS,
    *acls.COMMANDS,
    *tokens.COMMANDS,
    *reassignments.COMMANDS,
    *reassignment_looks.COMMANDS,
    *elections.COMMANDS,
    *log_dirs.COMMANDS,
    *groups.COMMANDS,
    *group_offsets.COMMANDS,
    *cluster.COMMANDS,
    *brokers.COMMANDS,
    *quorum.COMMANDS,
    *transactions.COMMANDS,
    *spark.COMMANDS,
    *shell.COMMANDS,
    *journal.COMMANDS,
    *sandbox.COMMANDS,
    *help.COMMANDS,
)
