"""The kinds of changes: how each is shown as a command, and planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.base.plans import Change, Resource, inverse
from kafka_shell.base.text import entity_parts, literal, positional, with_option
from kafka_shell.base.units import (
    ConfigType,
    format_config_value,
    format_number,
    numbers_in,
    ranges,
)
from kafka_shell.output.resource_kinds import kind_of

Changes = Sequence[Change]
_ACLS_PER_LINE = 8  # of any number that alter-acls accepts
UNKNOWN = "  # outcome unknown"
# Never deleted by undo: they may contain dynamic client configs of other administrators.
_KEPT = (CONFIGS_TOPIC, REGISTRATIONS_TOPIC)
ON_BROKER = " on broker "
AT_OFFSET = " at offset "
# Of changes that an audit proposes. A plan makes others of them: the replicas of each partition.
_VERBS = ("replicate", "move", "balance", "elect", "abort", "fence", "set-password")
SHARE_OFFSETS = "share-group-offsets"


class ChangeKind(Struct, frozen=True):
    """A kind of change. `line` is the command for changes of one resource.

    `plan` names the function of the commands that returns the plan for many, with the options of
    its steps: `timeout_ms`; empty if the command needs more than the changes. `gone` is the error
    of what is gone already.
    """

    line: Callable[[Resource, Changes], str]
    plan: str = ""
    gone: str = ""


def undo_lines(changes: Iterable[Change]) -> tuple[str, ...]:
    """The commands that undo the changes, the last change first. One command per resource, except
    that ACLs are combined; irreversible changes have none."""
    return tuple(lines(inverse(changes)))


def unknown_undo_lines(changes: Iterable[Change]) -> tuple[str, ...]:
    """The commands that undo changes whose outcome is unknown. Each has a comment that says so, and
    delete-topic has --if-exists."""
    return tuple(
        f"{line}{' --if-exists' if line.startswith('delete-topic ') else ''}{UNKNOWN}"
        for line in lines(inverse(changes))
    )


def lines(changes: Iterable[Change]) -> list[str]:
    """The commands that make the changes. One for each resource, except that ACLs are combined."""
    groups: dict[tuple[str, Resource | int], list[Change]] = {}
    acls = 0
    for change in changes:
        about: Resource | int = change.resource
        if change.resource.kind == "acl":
            about, acls = acls // _ACLS_PER_LINE, acls + 1
        groups.setdefault((key_of(change), about), []).append(change)
    return [line for some in groups.values() if (line := line_of(some))]


def line_of(changes: Changes) -> str:
    """The command for changes of one kind to one resource, or an empty string."""
    kind = KINDS.get(key_of(changes[0]))
    return "" if kind is None else kind.line(changes[0].resource, changes)


def key_of(change: Change) -> str:
    """What a change is about: a topic or its configs, the quotas or the credentials of a user."""
    if change.verb in _VERBS:
        return change.verb
    if change.field.startswith("SCRAM-"):
        return "credential"
    is_config = bool(change.field and kind_of(change.resource).subject)
    return "config" if is_config else change.resource.kind


def _setting(change: Change) -> str:
    """The words that set a config to its new value, or delete it."""
    if change.after is None:
        return with_option("--delete-config", change.field)
    value = str(change.after)
    if change.resource.kind == "topic":  # its keys are known to brokers, with their types
        value = format_config_value(change.field, ConfigType.UNKNOWN, value)
    return positional("--add-config", f"{change.field}={value}")


# -- topics and configs ----------------------------------------------------------------------------


def _topic_line(resource: Resource, changes: Changes) -> str:
    if changes[0].verb != "delete" or resource.name in _KEPT:
        return ""
    return f"delete-topic {positional('--topic', resource.name)}"


def _config_line(resource: Resource, changes: Changes) -> str:
    words = [kind_of(resource).named(resource.name), *map(_setting, changes)]
    return " ".join(["alter-configs", *words])


# -- users and other clients -----------------------------------------------------------------------


def _entity_options(resource: Resource) -> list[str]:
    """The options that name an entity, read from its text: `user alice client-id-default`."""
    return [
        f"--{kind}" if name is None else with_option(f"--{kind}", name)
        for kind, name in entity_parts(str(resource))
    ]


def _quota_line(resource: Resource, changes: Changes) -> str:
    words = [
        f"{change.field}={format_number(float(change.after))}"
        if isinstance(change.after, int | float)
        else with_option("--delete-config", change.field)
        for change in changes
    ]
    return " ".join(["alter-quotas", *_entity_options(resource), *words])


def _credential_line(user: Resource, changes: Changes) -> str:
    new = [change.field for change in changes if change.after is None]
    if not new:
        return ""
    return f"scram-credentials --delete {','.join(new)} {with_option('--username', user.name)}"


def _password_line(user: Resource, changes: Changes) -> str:
    add = f"--add {changes[0].field} --iterations {changes[0].after}"
    return f"scram-credentials {with_option('--username', user.name)} {add}"


def _client_config_line(resource: Resource, changes: Changes) -> str:
    entity = [with_option(f"--{kind}", name or "") for kind, name in entity_parts(resource.name)]
    return " ".join(["alter-client-configs", *entity, *map(_setting, changes)])


def _acl_line(_: Resource, changes: Changes) -> str:
    rules = (
        with_option("--remove" if change.verb == "delete" else "--add", change.resource.name)
        for change in changes
    )
    return " ".join(["alter-acls", *rules])


def _token_line(resource: Resource, changes: Changes) -> str:
    command = "expire-token" if changes[0].verb == "delete" else "renew-token"
    return f"{command} {positional('--', resource.name)}"


# -- replicas, leaders, transactions: what a remedy does -------------------------------------------


def _replicas_line(topic: Resource, changes: Changes) -> str:
    return (
        f"alter-topic {positional('--topic', topic.name)} --replication-factor {changes[0].after}"
    )


def _racks_line(topic: Resource, changes: Changes) -> str:
    return f"rebalance --racks {with_option('--topics', topic.name)}"


def _balance_line(measure: Resource, changes: Changes) -> str:
    return "rebalance --only-leaders" if measure.name == "leaders" else "rebalance"


def _election_line(partition: Resource, changes: Changes) -> str:
    place = positional("--topic", partition.name)
    if changes[0].before is None:
        return f"elect-leaders {place} --election-type unclean"
    return f"preferred-replica-leader-election {place}"


def _abort_line(transaction: Resource, changes: Changes) -> str:
    place, _, offset = transaction.name.partition(AT_OFFSET)
    return f"abort-transaction {positional('--topic', place)} --start-offset {offset}"


def _fence_line(transactional_id: Resource, changes: Changes) -> str:
    return f"fence-producer {with_option('--transactional-id', transactional_id.name)}"


def _group_line(group: Resource, changes: Changes) -> str:
    return f"delete-group {literal('--group', group.name)}" if changes[0].verb == "delete" else ""


# -- groups, replicas, the cluster -----------------------------------------------------------------


def _offsets_line(resource: Resource, changes: Changes) -> str:
    by_topic: dict[str, list[str]] = {}
    for change in changes:
        topic, _, partition = change.field.rpartition(":")
        after = "none" if change.after is None else change.after
        by_topic.setdefault(topic, []).append(f"{partition}={after}")
    offsets = [
        with_option("--offset", f"{topic}:{','.join(pairs)}") for topic, pairs in by_topic.items()
    ]
    types = ["--type share"] if resource.kind == SHARE_OFFSETS else []
    return " ".join(["reset-offsets", literal("--group", resource.name), *types, *offsets])


def replica_line(resource: Resource, changes: Changes) -> str:
    """The command that moves these replicas of a broker to the log directory of the first."""
    partitions = ",".join(change.resource.name.partition(ON_BROKER)[0] for change in changes)
    broker = resource.name.rpartition(ON_BROKER)[2]
    words = [positional("--topic", partitions), with_option("--broker-id", broker)]
    return " ".join(["alter-log-dirs", *words, with_option("--log-dir", str(changes[0].after))])


def _reassignment_line(resource: Resource, changes: Changes) -> str:
    return f"reassign-partitions {with_option('--reassignment-json-file', resource.name)}"


def _feature_line(resource: Resource, changes: Changes) -> str:
    return f"update-features {positional('--feature', f'{resource.name}={changes[0].after}')}"


def _voter_line(resource: Resource, changes: Changes) -> str:
    change = changes[0]
    if change.verb == "delete":
        directory = str(change.before).rpartition(":")[2]
        return f"alter-quorum {with_option('--remove', f'{resource.name}:{directory}')}"
    return f"alter-quorum {with_option('--add', f'{resource.name}@{change.after}')}"


def _subject_line(resource: Resource, changes: Changes) -> str:
    if resource.kind != "subject":
        return _level_line(resource, changes)
    if any(change.field and not change.field.startswith("version ") for change in changes):
        return ""  # of a state file
    gone = [change for change in changes if change.after is None]
    versions = [number for change in gone for number in numbers_in(change.field)]
    if gone:
        words = ["delete-schema", literal("--subject", resource.name)]
        return " ".join(words + [f"--version {ranges(versions)}"] * bool(versions))
    ids = [str(change.after).removeprefix("ID ") for change in changes]
    if not all(map(str.isdecimal, ids)):  # as above
        return ""
    return f"register-schema {positional('--subject', resource.name)} --id {','.join(ids)}"


def _level_line(resource: Resource, changes: Changes) -> str:
    words = [literal("--subject", resource.name)] if resource.name else ["--default"]
    level = changes[0].after
    return " ".join(["alter-compatibility", *words, "--inherit" if level is None else str(level)])


# By what `key_of` returns, in the order in which they are sent. Others have no inverse.
_QUOTAS = ChangeKind(_quota_line, "quotas.run:plan_changes")
_OFFSETS = ChangeKind(_offsets_line, "groups.changes:plan_changes")
_SUBJECTS = ChangeKind(_subject_line, "schemas.run:plan_changes", "no-subject")
KINDS: dict[str, ChangeKind] = {
    "feature": ChangeKind(_feature_line, "cluster.quorum:plan_levels"),
    "voter": ChangeKind(_voter_line, "cluster.quorum:plan_voter_changes", "VOTER_NOT_FOUND"),
    "config": ChangeKind(_config_line, "configs.run:plan_changes"),
    **dict.fromkeys(("user", "user-default", "client-id", "client-id-default"), _QUOTAS),
    **dict.fromkeys(("ip", "ip-default"), _QUOTAS),
    "acl": ChangeKind(_acl_line, "acls.changes:plan_changes", "RESOURCE_NOT_FOUND"),
    "client-config": ChangeKind(_client_config_line, "client_configs.run:plan_changes"),
    "token": ChangeKind(_token_line, "tokens.run:plan_changes"),
    **dict.fromkeys(("group-offsets", SHARE_OFFSETS), _OFFSETS),
    "replica": ChangeKind(replica_line, "partitions.run:plan_changes"),
    "rollback-file": ChangeKind(_reassignment_line, "partitions.reassignments:plan_rollbacks"),
    "replicate": ChangeKind(_replicas_line, "partitions.reassignments:plan_factors"),
    "move": ChangeKind(_racks_line, "partitions.reassignments:plan_racks"),
    "balance": ChangeKind(_balance_line),
    "elect": ChangeKind(_election_line, "partitions.run:plan_elections"),
    "abort": ChangeKind(_abort_line, "transactions.run:plan_aborts"),
    "fence": ChangeKind(_fence_line, "transactions.run:plan_fences"),
    "set-password": ChangeKind(_password_line),
    "group": ChangeKind(_group_line, "groups.changes:plan_deletions", "GROUP_ID_NOT_FOUND"),
    "credential": ChangeKind(_credential_line, "users.run:plan_deletions", "RESOURCE_NOT_FOUND"),
    "topic": ChangeKind(_topic_line, "topics.changes:plan_deletions", "UNKNOWN_TOPIC_OR_PARTITION"),
    **dict.fromkeys(("subject", "compatibility", "default-compatibility"), _SUBJECTS),
}
