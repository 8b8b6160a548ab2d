"""The kinds of resources: their terms, and the commands that show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct

from kafka_shell.base.plans import Change
from kafka_shell.base.structs import Resource
from kafka_shell.base.text import literal, named, positional, quote, with_option

_NAMED = 10  # topics that one command names


class ResourceKind(Struct, frozen=True):
    """A kind of resource: its term, and the command that shows `all` of the kind.

    `one` is the command that shows the resource of a name, and the option that names it, or a
    function of the name. `subject` is the option that names it in describe-configs and
    alter-configs. `title` stands before the name of a resource in plans and reports. `touches` are
    the parts of the cached view to reload after a change.
    """

    name: str
    term: str = ""  # if it is not the name
    all: str = ""
    one: str | Callable[[str], str] = ""
    subject: str = ""
    title: str = ""  # if it is not the name
    touches: str = ""

    def named(self, name: str) -> str:
        """The words that name the resource in describe-configs and alter-configs."""
        if self.name == "topic":
            return positional(self.subject, name)
        return with_option(self.subject, name) if name else self.subject

    def showing(self, name: str) -> str:
        """The command that shows the resource of this name, or all of the kind."""
        if not self.one or not name:
            return self.all
        if callable(self.one):
            return self.one(name)
        command, option, *more = self.one.split()
        return " ".join([command, literal(option, name), *more])


def _topic_of_partition(name: str) -> str:
    return f"describe-topic {positional('--topic', name.rpartition(':')[0])}"


def _topic_config(name: str) -> str:
    topic, _, key = name.partition(" ")
    return f"describe-configs {positional('--topic', topic)} {quote(key)}"


def _log_dirs(broker: str) -> str:
    return f"describe-log-dirs {with_option('--broker-id', broker)}"


_GROUP_OFFSETS = "describe-group --group --offsets"
_QUOTAS = "describe-quotas"
_ENTITIES = "quotas users client_ids principals"  # parts of the view

_KINDS = (
    ResourceKind("topic", "", "list-topics", "describe-topic --topic", "--topic", touches="topics"),
    ResourceKind("broker", "", "cluster-metadata", subject="--broker-id", touches="brokers"),
    ResourceKind("broker-default", "cluster-wide broker default", subject="--broker-default"),
    ResourceKind("logger", "broker", subject="--logger", title="loggers of broker"),
    ResourceKind(
        "client-metrics",
        "client metrics subscription",
        "list-configs client-metrics",
        subject="--client-metrics",
        title="client metrics subscription",
        touches="client_metrics",
    ),
    ResourceKind("group", "", "list-groups", "describe-group --group", "--group", touches="groups"),
    ResourceKind(
        "group-offsets", "group", one=_GROUP_OFFSETS, title="offsets of group", touches="groups"
    ),
    ResourceKind(
        "share-group-offsets",
        "group",
        one=_GROUP_OFFSETS,
        title="offsets of share group",
        touches="groups",
    ),
    ResourceKind(
        "share-group",
        "group",
        "list-groups",
        "describe-group --group",
        title="share group",
        touches="groups",
    ),
    ResourceKind("group-member", "group member", "list-groups", title="member", touches="groups"),
    ResourceKind("group-members", "group", one="describe-group --group --members"),
    ResourceKind("topic-config", "topic config", one=_topic_config),
    ResourceKind("partition", one=_topic_of_partition, touches="topics"),
    ResourceKind("partition-offsets", "partition", one="list-offsets --topic"),
    ResourceKind("lag", "", "list-offsets"),  # of a group, in partitions whose leader fails
    ResourceKind("replica", "", "describe-log-dirs"),
    ResourceKind("log-dirs", "broker", "describe-log-dirs", one=_log_dirs),
    ResourceKind("reassignment", "", "list-reassignments", one="list-reassignments --topic"),
    ResourceKind("rollback-file", "rollback file", "list-reassignments", title="rollback file"),
    ResourceKind("throttle", "replication throttle", "verify-reassign-partitions"),
    ResourceKind("user", "", _QUOTAS, "describe-user --user", touches=_ENTITIES),
    ResourceKind("user-default", "default user", _QUOTAS, touches=_ENTITIES),
    ResourceKind("client-id", "client ID", _QUOTAS, touches=_ENTITIES),
    ResourceKind("client-id-default", "default client ID", _QUOTAS, touches=_ENTITIES),
    ResourceKind("ip", "IP address", _QUOTAS, touches=_ENTITIES),
    ResourceKind("ip-default", "default IP address", _QUOTAS, touches=_ENTITIES),
    ResourceKind("quota", "", _QUOTAS),
    ResourceKind("effective-quota", "effective quota", "resolve-quota --user USER"),
    ResourceKind(
        "client-config",
        "client entity",
        "describe-client-configs",
        touches="users client_ids",
    ),
    ResourceKind("acl", "ACL", "list-acls", title="ACL", touches="principals users"),
    ResourceKind("principal", "", "list-acls --by principal"),
    ResourceKind(
        "token", "delegation token", "describe-tokens", title="delegation token", touches="tokens"
    ),
    ResourceKind("token for", "delegation token", "describe-tokens", title="delegation token for"),
    ResourceKind("cluster", "", "health"),
    ResourceKind("subject", "", "list-subjects", "describe-schema --subject", touches="subjects"),
    ResourceKind(
        "compatibility",
        "compatibility level",
        "list-subjects --long",
        "describe-schema --subject",
        title="compatibility of subject",
    ),
    ResourceKind(
        "default-compatibility",
        "default compatibility level",
        "list-subjects --long",
        title="default compatibility",
    ),
    ResourceKind("feature", "", "describe-features", touches="features brokers"),
    ResourceKind("voter", "", "describe-quorum", touches="brokers"),
    ResourceKind("transaction", "", "list-transactions"),
    ResourceKind(
        "transactional-id", "transactional ID", "list-transactions", touches="transactional_ids"
    ),
    ResourceKind("hanging-transaction", "hanging transaction", "find-hanging-transactions"),
)
KINDS = {kind.name: kind for kind in _KINDS}


def kind_of(resource: Resource) -> ResourceKind:
    """The kind of a resource; one without commands if it is unknown."""
    return KINDS.get(resource.kind) or ResourceKind(resource.kind)


def title_of(resource: Resource) -> str:
    """The resource in a plan or report: `topic orders`, `offsets of group billing`."""
    kind = kind_of(resource)
    name = named(resource.name) if "group" in (kind.name, kind.term) else resource.name
    return " ".join(filter(None, (kind.title or resource.kind, name)))


def command_for(resource: Resource) -> str:
    """The command that shows this resource, or all of its kind; empty if there is none.

    The kind `topic-configs` is the configs of a topic, and so on for other kinds with configs.
    """
    configs = KINDS.get(resource.kind.removesuffix("-configs"))
    if resource.kind.endswith("-configs") and configs and configs.subject:
        return f"describe-configs {configs.named(resource.name)} --all"
    return kind_of(resource).showing(resource.name)


def touched(changes: Iterable[Change]) -> frozenset[str]:
    """The parts of the cached view to reload after these changes."""
    parts: set[str] = set()
    for change in changes:
        kind = kind_of(change.resource)
        parts.update(kind.touches.split())
        if kind.subject and change.field:
            parts.add("configs")
    return frozenset(parts)


def command_after(changes: Iterable[Change]) -> str:
    """The command that shows how these changes ended; empty if there are none."""
    every = list(changes)
    if not every:
        return ""
    first, resource = every[0], every[0].resource
    kind = kind_of(resource)
    if first.of_records:
        topic = resource.name if kind.name == "topic" else resource.name.rpartition(":")[0]
        return f"list-offsets {positional('--topic', topic)}"
    if kind.name == "topic":
        return _topics([change for change in every if change.resource.kind == "topic"], every)
    if kind.subject and first.field:
        return f"describe-configs {kind.named(resource.name)}"
    is_quota = kind.name == "user" and not first.field.startswith("SCRAM-")
    return kind.all if kind.all and (is_quota or not first.field) else command_for(resource)


def _topics(of_topics: list[Change], every: list[Change]) -> str:
    names = list(dict.fromkeys(change.resource.name for change in of_topics))
    if len(names) > _NAMED:
        return "list-topics --long"
    configs = all(change.field and change.field != "partitions" for change in every)
    return f"describe-{'configs' if configs else 'topic'} {positional('--topic', ','.join(names))}"


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
