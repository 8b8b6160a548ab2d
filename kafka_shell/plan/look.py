"""The command that shows the state of a resource, or of what may have been changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kafka_shell.quoting import positional, quote, with_option

from .model import Change, Resource

_NAMED = 10  # topics that one command names

# The kind of a resource -> the command that shows all resources of this kind.
_ALL = {
    "topic": "list-topics",
    "broker": "cluster-metadata",
    "cluster": "health",
    "quota": "describe-quotas",
    "effective-quota": "resolve-quota --user USER",
    "client-config": "describe-client-configs",
    "acl": "list-acls",
    "principal": "list-acls --by principal",
    "token": "describe-tokens",
    "log-dirs": "describe-log-dirs",
    "reassignment": "list-reassignments",
    "throttle": "verify-reassign-partitions",
    "group": "list-groups",
    "feature": "describe-features",
    "voter": "describe-quorum",
    "transactional-id": "list-transactions",
    "hanging-transaction": "find-hanging-transactions",
}
# The kind of a resource -> command, option that names one, and further options.
_ONE = {
    "topic": ("describe-topic", "--topic", ""),
    "partition-offsets": ("list-offsets", "--topic", ""),
    "group": ("describe-group", "--group", ""),
    "group-members": ("describe-group", "--group", " --members"),
    "group-offsets": ("describe-group", "--group", " --offsets"),
    "user": ("describe-user", "--user", ""),
    "reassignment": ("list-reassignments", "--topic", ""),
}
_CONFIGS = {
    "broker": "--broker-id",
    "broker-default": "--broker-default",
    "logger": "--logger",
    "group": "--group",
    "client-metrics": "--client-metrics",
}
# The kind of a changed resource -> the kind to show, where that is another one.
_SHOWN = {
    "user": "quota",
    "user-default": "quota",
    "client-id": "quota",
    "client-id-default": "quota",
    "ip": "quota",
    "ip-default": "quota",
    "token for": "token",
    "replica": "log-dirs",
    "rollback-file": "reassignment",
    "group-member": "group",
    "transaction": "transactional-id",
}


def command_for(resource: Resource) -> str:
    """The command that shows this resource, or all of its kind; empty if there is none."""
    kind, name = resource.kind, resource.name
    if kind == "partition":
        return command_for(Resource("topic", name.rpartition(":")[0]))
    if kind == "log-dirs" and name:
        return "describe-log-dirs " + with_option("--broker-id", name)
    if kind == "topic-config":
        topic, _, key = name.partition(" ")
        return f"describe-configs {positional('--topic', topic)} {quote(key)}"
    if kind.endswith("-configs"):
        return _configs(Resource(kind.removesuffix("-configs"), name)) + " --all"
    if name and kind in _ONE:
        command, option, more = _ONE[kind]
        return f"{command} {positional(option, name)}{more}"
    return _ALL.get(kind, "")


class Explained(Protocol):
    """A failure or error: what to do now, and the resource whose state explains it."""

    @property
    def hint(self) -> str: ...
    @property
    def see(self) -> Resource | None: ...


def hint_of(failure: Explained) -> str:
    """The hint of a failure in one line, with the command that shows what it refers to."""
    return " ".join(filter(None, (failure.hint, see_line(failure))))


def see_line(failure: Explained) -> str:
    """`See: describe-topic orders`; empty if the failure refers to nothing."""
    command = command_for(failure.see) if failure.see is not None else ""
    return command and f"See: {command}"


def look_at(changes: Iterable[Change]) -> str:
    """The command that shows how these changes ended; empty if there are none."""
    every = list(changes)
    if not every:
        return ""
    first, resource = every[0], every[0].resource
    kind = resource.kind
    if kind == "topic":
        same = dict.fromkeys(each.resource.name for each in every if each.resource.kind == kind)
        return _topics(list(same), every)
    if kind == "partition":
        return command_for(resource)
    if kind in ("group-offsets", "share-group-offsets"):
        return command_for(Resource("group", resource.name))
    if kind == "user" and first.field.startswith("SCRAM-"):
        return command_for(resource)
    if kind in _CONFIGS and first.field:
        return _configs(resource)
    return command_for(Resource(_SHOWN.get(kind, kind)))


def _topics(names: list[str], changes: list[Change]) -> str:
    if len(names) > _NAMED:
        return "list-topics --long"
    configs = all(change.field and change.field != "partitions" for change in changes)
    return ("describe-configs " if configs else "describe-topic ") + positional(
        "--topic", ",".join(names)
    )


def _configs(resource: Resource) -> str:
    if resource.kind == "topic":
        return "describe-configs " + positional("--topic", resource.name)
    option = _CONFIGS[resource.kind]
    subject = with_option(option, resource.name) if resource.name else option
    return f"describe-configs {subject}"
