"""Every command this program has, in the order that help shows them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

from kafka_shell.language.command import Command, Registry

# Module -> the names and short forms of the commands that it declares, in its order. A one-shot
# imports the module of its own command only.
INDEX = {
    "topics.commands": ("list-topics", "topics", "ls", "describe-topic", "topic"),
    "topics.changes": ("create-topic", "alter-topic", "delete-topic"),
    "records.commands": ("list-offsets", "offsets", "delete-records"),
    "records.read_records": ("read-records", "peek"),
    "records.write": ("write-record", "produce"),
    "records.copy": ("copy-records",),
    "configs.commands": ("list-configs", "describe-configs", "configs", "config", "alter-configs"),
    "configs.config_command": ("config-command",),
    "quotas.commands": (
        "list-quotas",
        "describe-quotas",
        "quotas",
        "alter-quotas",
        "resolve-quota",
    ),
    "client_configs.commands": ("describe-client-configs", "alter-client-configs"),
    "users.commands": ("scram-credentials", "users", "describe-user", "user"),
    "acls.commands": ("list-acls", "acls", "alter-acls", "check-acl"),
    "tokens.commands": ("describe-tokens", "tokens", "create-token", "renew-token", "expire-token"),
    "partitions.reassignments": ("reassign-partitions",),
    "partitions.rebalance": ("rebalance",),
    "partitions.list_reassignments": ("verify-reassign-partitions", "list-reassignments"),
    "partitions.elections": (
        "preferred-replica-leader-election",
        "verify-preferred-replica-leader-election",
        "elect-leaders",
    ),
    "partitions.log_dirs": ("describe-log-dirs", "alter-log-dirs"),
    "groups.commands": (
        "list-groups",
        "groups",
        "describe-group",
        "group",
        "lag",
        "delete-group",
        "remove-members",
    ),
    "groups.offsets": ("reset-offsets", "delete-offsets"),
    "cluster.commands": (
        "cluster-metadata",
        "brokers",
        "cluster",
        "health",
        "api-versions",
        "unregister-broker",
    ),
    "cluster.brokers": ("describe-broker", "broker"),
    "cluster.restart": ("check-restart",),
    "cluster.decommission": ("decommission",),
    "cluster.quorum": ("describe-quorum", "alter-quorum", "describe-features", "update-features"),
    "activity.commands": ("top",),
    "transactions.commands": (
        "list-transactions",
        "transactions",
        "describe-transactions",
        "transaction",
        "describe-producers",
        "fence-producer",
    ),
    "transactions.hanging": ("find-hanging-transactions", "abort-transaction"),
    "state.commands": ("export", "diff", "apply", "state-schema"),
    "rehearse.commands": ("rehearse",),
    "spark.audit": ("spark audit",),
    "spark.commands": ("spark sql", "spark snapshot", "spark diff", "spark tables"),
    "spark.trend": ("spark trend",),
    "spark.controls": ("spark controls", "spark test-controls"),
    "spark.server": ("spark start", "spark stop", "spark status"),
    "program.commands": (
        "connect",
        "refresh",
        "watch",
        "source",
        "history",
        "theme",
        "set",
        "clear",
        "exit",
        "quit",
    ),
    "program.undo": ("undo",),
    "program.journal": ("journal",),
    "program.sandbox": ("sandbox",),
    "program.help": ("help",),
}


def commands_of(module: str) -> tuple[Command, ...]:
    """The commands that a module of this package declares."""
    declared: tuple[Command, ...] = import_module(f"{__name__}.{module}").COMMANDS
    return declared


# Package of a model, or its path -> the family that renders it, for those outside of the families.
_RENDERED_BY = {
    "audit": "spark", "base": "program", "output": "program", "wire": "topics",
    "wire.model.Broker": "cluster",
}  # fmt: skip


@cache
def render_module(model: type) -> ModuleType | None:
    """The module with the tables and pages of a type of model; None if it is not of this program.
    It is imported when first needed."""
    program, _, path = model.__module__.partition(".")
    package, _, rest = path.partition(".")
    family = _RENDERED_BY.get(f"{path}.{model.__name__}") or _RENDERED_BY.get(package)
    if package in ("admin", "commands"):
        family = rest.partition(".")[0]
    if program != __name__.partition(".")[0] or not family:
        return None
    return import_module(f"{__name__}.{family}.render")


REGISTRY = Registry(INDEX, commands_of)
