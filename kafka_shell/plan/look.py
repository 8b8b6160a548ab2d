"""The command that shows the state of what may have been changed."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_shell.quoting import positional, with_option

from .model import Change, Resource

_NAMED = 10  # topics that are named in one line

# The kind of a resource -> the command that shows every resource of this kind.
_COMMANDS = {
    "broker": "cluster-metadata",
    "user": "describe-quotas",
    "user-default": "describe-quotas",
    "client-id": "describe-quotas",
    "client-id-default": "describe-quotas",
    "ip": "describe-quotas",
    "ip-default": "describe-quotas",
    "client-config": "describe-client-configs",
    "acl": "list-acls",
    "token": "describe-tokens",
    "token for": "describe-tokens",
    "replica": "describe-log-dirs",
    "rollback-file": "list-reassignments",
    "group": "list-groups",
    "group-member": "list-groups",
    "feature": "describe-features",
    "voter": "describe-quorum",
    "transactional-id": "list-transactions",
    "transaction": "list-transactions",
}
_CONFIGS = {
    "broker": "--broker-id",
    "broker-default": "--broker-default",
    "logger": "--logger",
    "group": "--group",
    "client-metrics": "--client-metrics",
}


def look_at(changes: Iterable[Change]) -> str:
    """The command that shows how these changes ended; empty where nothing was changed."""
    every = list(changes)
    if not every:
        return ""
    kind, about = every[0].resource.kind, every[0].resource
    same = dict.fromkeys(change.resource for change in every if change.resource.kind == kind)
    if kind == "topic":
        return _topics([resource.name for resource in same], every)
    if kind == "partition":
        return "describe-topic " + positional("--topic", about.name.rpartition(":")[0])
    if kind in ("group-offsets", "share-group-offsets"):
        return "describe-group " + positional("--group", about.name)
    if kind == "user" and every[0].field.startswith("SCRAM-"):
        return "describe-user " + positional("--user", about.name)
    if kind in _CONFIGS and every[0].field:
        return _configs(about)
    return _COMMANDS.get(kind, "")


def _topics(names: list[str], changes: list[Change]) -> str:
    if len(names) > _NAMED:
        return "list-topics --long"
    configs = all(change.field and change.field != "partitions" for change in changes)
    return ("describe-configs " if configs else "describe-topic ") + positional(
        "--topic", ",".join(names)
    )


def _configs(resource: Resource) -> str:
    option = _CONFIGS[resource.kind]
    subject = with_option(option, resource.name) if resource.name else option
    return f"describe-configs {subject}"
