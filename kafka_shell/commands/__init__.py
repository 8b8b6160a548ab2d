"""Every command this program has, in the order that help shows them."""

from __future__ import annotations

from kafka_shell.commands.acls import commands as acls
from kafka_shell.commands.client_configs import commands as client_configs
from kafka_shell.commands.cluster import brokers, quorum
from kafka_shell.commands.cluster import commands as cluster
from kafka_shell.commands.configs import commands as configs
from kafka_shell.commands.configs import config_command
from kafka_shell.commands.groups import commands as groups
from kafka_shell.commands.groups import offsets as group_offsets
from kafka_shell.commands.partitions import (
    elections,
    log_dirs,
    reassignments,
)
from kafka_shell.commands.partitions import (
    list_reassignments as reassignment_looks,
)
from kafka_shell.commands.program import commands as shell
from kafka_shell.commands.program import help, journal, sandbox
from kafka_shell.commands.quotas import commands as quotas
from kafka_shell.commands.records import commands as records
from kafka_shell.commands.spark import commands as spark
from kafka_shell.commands.tokens import commands as tokens
from kafka_shell.commands.topics import changes as topic_changes
from kafka_shell.commands.topics import commands as topics
from kafka_shell.commands.transactions import commands as transactions
from kafka_shell.commands.users import commands as users
from kafka_shell.language.command import Command

REGISTRY: tuple[Command, ...] = (
    *topics.COMMANDS,
    *topic_changes.COMMANDS,
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
