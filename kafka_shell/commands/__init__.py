"""Every command this program has, in the order that help shows them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from kafka_shell.language.command import Command, Registry

# Family -> the names and short forms of its commands, in the order of its spec. A one-shot imports
# the spec of its own command's family only.
INDEX = {
    "topics": (
        "list-topics", "topics", "ls", "describe-topic", "topic", "create-topic", "alter-topic",
        "delete-topic",
    ),
    "records": (
        "list-offsets", "offsets", "delete-records", "read-records", "peek", "consume-records",
        "write-record", "produce", "copy-records",
    ),
    "configs": (
        "list-configs", "describe-configs", "configs", "config", "alter-configs",
        "config-command",
    ),
    "quotas": ("list-quotas", "describe-quotas", "quotas", "alter-quotas", "resolve-quota"),
    "client_configs": ("describe-client-configs", "alter-client-configs"),
    "users": ("scram-credentials", "users", "describe-user", "user"),
    "acls": ("list-acls", "acls", "alter-acls", "check-acl"),
    "tokens": ("describe-tokens", "tokens", "create-token", "renew-token", "expire-token"),
    "partitions": (
        "reassign-partitions", "rebalance", "verify-reassign-partitions", "list-reassignments",
        "preferred-replica-leader-election", "verify-preferred-replica-leader-election",
        "elect-leaders", "describe-log-dirs", "alter-log-dirs",
    ),
    "groups": (
        "list-groups", "groups", "describe-group", "group", "lag", "delete-group",
        "remove-members", "reset-offsets", "delete-offsets",
    ),
    "cluster": (
        "cluster-metadata", "brokers", "cluster", "health", "wait-until", "api-versions",
        "unregister-broker", "describe-broker", "broker", "check-restart", "decommission",
        "describe-quorum", "alter-quorum", "describe-features", "update-features",
    ),
    "activity": ("top",),
    "transactions": (
        "list-transactions", "transactions", "describe-transactions", "transaction",
        "describe-producers", "fence-producer", "find-hanging-transactions", "abort-transaction",
    ),
    "schemas": (
        "list-subjects", "subjects", "describe-schema", "register-schema", "alter-compatibility",
        "delete-schema",
    ),
    "state": ("export", "diff", "apply", "state-schema"),
    "rehearse": ("rehearse",),
    "spark": (
        "spark audit", "spark sql", "spark snapshot", "spark diff", "spark tables", "spark trend",
        "spark controls", "spark test-controls", "spark start", "spark stop", "spark status",
    ),
    "program": (
        "connect", "refresh", "watch", "source", "history", "theme", "set", "clear", "exit",
        "quit", "undo", "journal", "sandbox", "help",
    ),
}  # fmt: skip


def commands_of(family: str) -> tuple[Command, ...]:
    """The commands that a family declares."""
    declared: tuple[Command, ...] = import_module(f"{__name__}.{family}.spec").COMMANDS
    return declared


def by_name(name: str) -> Callable[..., Any]:
    """A function of this package, `topics.run:list_topics`. Its module is imported when it is first
    called."""
    return lambda *arguments: function(name)(*arguments)


def function(name: str) -> Callable[..., Any]:
    """The function of this name, whose module is imported."""
    module, _, of_module = name.partition(":")
    named: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), of_module)
    return named


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
