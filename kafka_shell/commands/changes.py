"""How changes are planned into steps, and shown as commands: one entry for each kind."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.base.inverse import inverse
from kafka_shell.base.plans import Advice, Change, Plan, Resource, merge_plans
from kafka_shell.base.text import literal, positional, with_option
from kafka_shell.base.units import format_number
from kafka_shell.output.resource_kinds import kind_of

if TYPE_CHECKING:
    from kafka_shell.context import Context

Changes = Sequence[Change]
_ACLS_PER_LINE = 8  # of any number that alter-acls accepts
UNKNOWN = "  # outcome unknown"
# Never deleted by undo: they may contain dynamic client configs of other administrators.
_KEPT = (CONFIGS_TOPIC, REGISTRATIONS_TOPIC)
_ON_BROKER = " on broker "
_SHARE = "share-group-offsets"
_NAMED = 5  # of which several are shown before the rest is counted


class ChangeKind(Struct, frozen=True):
    """How changes of a kind are made.

    `line` returns the command for one resource, or an empty string if there is none. `plan` returns
    the plan for many, with the options of its steps, such as `timeout_ms`. `gone` is the error of
    what is gone already.
    """

    line: Callable[[Resource, Changes], str]
    plan: Callable[[Context, Changes, dict[str, Any]], Plan]
    gone: str = ""


def undo_lines(changes: Iterable[Change]) -> tuple[str, ...]:
    """The commands that undo the changes, the last change first. One command per resource, except
    that ACLs are combined; irreversible changes have none."""
    return tuple(_lines(changes))


def unknown_undo_lines(changes: Iterable[Change]) -> tuple[str, ...]:
    """The commands that undo changes whose outcome is unknown. Each has a comment that says so, and
    delete-topic has --if-exists."""
    return tuple(
        f"{line}{' --if-exists' if line.startswith('delete-topic ') else ''}{UNKNOWN}"
        for line in _lines(changes)
    )


def plan_undo(changes: Iterable[Change], context: Context, timeout_ms: int | None = None) -> Plan:
    """One plan that undoes the changes, without what is gone already."""
    undoing = [change for change in inverse(changes) if _line([change])]
    return merge_plans(
        [
            _without_gone(plan, kind.gone) if kind.gone else plan
            for kind, plan in _plans(undoing, context, timeout_ms)
        ]
    )


def plan_changes(changes: Iterable[Change], context: Context) -> Plan:
    """One plan that makes these changes. Those of a kind are few requests, however many resources
    they are of; deleted credentials and topics are last."""
    return merge_plans([plan for _, plan in _plans(changes, context)])


def _plans(
    changes: Iterable[Change], context: Context, timeout_ms: int | None = None
) -> Iterator[tuple[ChangeKind, Plan]]:
    by_kind: dict[ChangeKind, list[Change]] = {}
    for change in changes:
        by_kind.setdefault(_KINDS[_key(change)], []).append(change)
    options = {} if timeout_ms is None else {"timeout_ms": timeout_ms}
    for kind in dict.fromkeys(_KINDS.values()):
        if kind in by_kind:
            yield kind, kind.plan(context, by_kind[kind], options)


def _without_gone(plan: Plan, error: str) -> Plan:
    already = [
        f"already undone: {resource} does not exist"
        for resource, failure in plan.refused.failures.items()
        if failure.name == error
    ]
    warnings = tuple(few(already, "resources"))
    return plan.without_refused(error).advised(Advice(warnings=warnings))


def few(lines: Sequence[str], what: str) -> list[str]:
    """The first lines, and the number of the others."""
    if len(lines) <= _NAMED + 1:
        return list(lines)
    return [*lines[:_NAMED], f"... and {len(lines) - _NAMED:,} more {what}"]


def _lines(changes: Iterable[Change]) -> list[str]:
    groups: dict[tuple[str, Resource | int], list[Change]] = {}
    acls = 0
    for change in inverse(changes):
        about: Resource | int = change.resource
        if change.resource.kind == "acl":
            about, acls = acls // _ACLS_PER_LINE, acls + 1
        groups.setdefault((_key(change), about), []).append(change)
    return [line for some in groups.values() if (line := _line(some))]


def _line(changes: Changes) -> str:
    """The command for changes of one kind to one resource, or an empty string."""
    kind = _KINDS.get(_key(changes[0]))
    return "" if kind is None else kind.line(changes[0].resource, changes)


def _key(change: Change) -> str:
    """What a change is about: a topic or its configs, the quotas or the credentials of a user."""
    if change.field.startswith("SCRAM-"):
        return "credential"
    is_config = bool(change.field and kind_of(change.resource).subject)
    return "config" if is_config else change.resource.kind


def _setting(change: Change) -> str:
    """The words that set a config to its new value, or delete it."""
    if change.after is None:
        return with_option("--delete-config", change.field)
    return positional("--add-config", f"{change.field}={change.after}")


# -- topics and configs ----------------------------------------------------------------------------


def _topic_line(resource: Resource, changes: Changes) -> str:
    if changes[0].verb != "delete" or resource.name in _KEPT:
        return ""
    return f"delete-topic {positional('--topic', resource.name)}"


def _delete_topics(context: Context, changes: Changes, options: dict[str, Any]) -> Plan:
    from kafka_shell.admin.topics.change import plan_delete

    return plan_delete(context.cluster, [change.resource.name for change in changes], **options)


def _config_line(resource: Resource, changes: Changes) -> str:
    words = [kind_of(resource).named(resource.name), *map(_setting, changes)]
    return " ".join(["alter-configs", *words])


def _alter_configs(context: Context, changes: Changes, _: dict[str, Any]) -> Plan:
    from kafka_shell.admin.configs import change as config_changes
    from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource

    wanted: dict[ConfigResource, list[ConfigAlteration]] = {}
    for change in changes:
        resource = ConfigResource.of(change.resource)
        value = None if change.after is None else str(change.after)
        how = ConfigOp.DELETE if value is None else ConfigOp.SET
        wanted.setdefault(resource, []).append(ConfigAlteration(change.field, how, value))
    brokers = [resource for resource in wanted if resource.kind == "broker"]
    running = {str(one.id) for one in context.cluster.brokers(refresh=True)} if brokers else set()
    plans = []
    for broker in brokers:
        deleted = [alteration.key for alteration in wanted[broker] if alteration.value is None]
        if broker.name not in running and len(deleted) == len(wanted[broker]):
            # That of a stopped broker is possible, others are refused.
            plans.append(config_changes.plan_delete(context.cluster, [int(broker.name)], deleted))
            del wanted[broker]
    plans += [config_changes.plan_alter(context.cluster, wanted)] if wanted else []
    return merge_plans(plans)


# -- users and other clients -----------------------------------------------------------------------


def _entity_options(resource: Resource) -> list[str]:
    """The options that name an entity, read from its text: `user alice client-id-default`."""
    return [
        f"--{kind}" if name is None else with_option(f"--{kind}", name)
        for kind, name in _parts(str(resource))
    ]


def _parts(entity: str) -> Iterator[tuple[str, str | None]]:
    words = iter(shlex.split(entity))
    return ((kind, None if kind.endswith("-default") else next(words)) for kind in words)


def _quota_line(resource: Resource, changes: Changes) -> str:
    words = [
        f"{change.field}={format_number(float(change.after))}"
        if isinstance(change.after, int | float)
        else with_option("--delete-config", change.field)
        for change in changes
    ]
    return " ".join(["alter-quotas", *_entity_options(resource), *words])


def _alter_quotas(context: Context, changes: Changes, _: dict[str, Any]) -> Plan:
    from kafka_shell.admin.quotas.change import plan_alter
    from kafka_shell.admin.quotas.model import DEFAULT, QuotaAlteration, QuotaEntity

    def entity(resource: Resource) -> QuotaEntity:
        parts = _parts(str(resource))
        named = {kind.removesuffix("-default").replace("-", "_"): name for kind, name in parts}
        return QuotaEntity(**{k: DEFAULT if name is None else name for k, name in named.items()})

    return plan_alter(
        context.cluster,
        [
            QuotaAlteration(
                entity(change.resource),
                change.field,
                None if change.after is None else float(change.after),
            )
            for change in changes
        ],
    )


def _credential_line(user: Resource, changes: Changes) -> str:
    new = [change.field for change in changes if change.after is None]
    if not new:
        return ""
    return f"scram-credentials --delete {','.join(new)} {with_option('--username', user.name)}"


def _delete_credentials(context: Context, changes: Changes, _: dict[str, Any]) -> Plan:
    from kafka_shell.admin.users.model import ScramMechanism
    from kafka_shell.admin.users.scram import plan_delete

    mechanisms = {mechanism.label: mechanism for mechanism in ScramMechanism}
    named = [(change.resource.name, mechanisms[change.field]) for change in changes]
    return plan_delete(context.cluster, named)


def _client_config_line(resource: Resource, changes: Changes) -> str:
    entity = [with_option(f"--{kind}", name or "") for kind, name in _parts(resource.name)]
    return " ".join(["alter-client-configs", *entity, *map(_setting, changes)])


def _alter_client_configs(context: Context, changes: Changes, _: dict[str, Any]) -> Plan:
    from kafka_shell.admin.client_configs.change import plan_alter
    from kafka_shell.admin.client_configs.model import ClientConfigAlteration, ClientEntity
    from kafka_shell.commands.client_configs.run import with_acl_commands

    alterations = []
    for change in changes:
        named = dict(_parts(change.resource.name))
        entity = ClientEntity(named["user"] or "", named.get("client-id"))
        value = None if change.after is None else str(change.after)
        alterations.append(ClientConfigAlteration(entity, change.field, value))
    return with_acl_commands(plan_alter(context.cluster, alterations))


def _acl_line(_: Resource, changes: Changes) -> str:
    rules = (
        with_option("--remove" if change.verb == "delete" else "--add", change.resource.name)
        for change in changes
    )
    return " ".join(["alter-acls", *rules])


def _alter_acls(context: Context, changes: Changes, _: dict[str, Any]) -> Plan:
    from kafka_shell.admin.acls.change import plan_alter
    from kafka_shell.admin.acls.model import AclFilter
    from kafka_shell.commands.acls.rules import parse_rule

    bindings = [(c.verb, b) for c in changes for b in parse_rule(c.resource.name).bindings(())]
    removed = [AclFilter.exactly(binding) for verb, binding in bindings if verb == "delete"]
    return plan_alter(context.cluster, removed, [b for verb, b in bindings if verb == "create"])


def _token_line(resource: Resource, changes: Changes) -> str:
    command = "expire-token" if changes[0].verb == "delete" else "renew-token"
    return f"{command} {positional('--', resource.name)}"


def _alter_tokens(context: Context, changes: Changes, _: dict[str, Any]) -> Plan:
    from kafka_shell.admin.tokens import change as token_changes

    new = [change.resource.name for change in changes if change.verb == "delete"]
    other = [change.resource.name for change in changes if change.verb != "delete"]
    now = int(context.clock() * 1000)
    steps = ((token_changes.plan_expire, new), (token_changes.plan_renew, other))
    return merge_plans([plan(context.cluster, ids, (), now, None) for plan, ids in steps if ids])


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
    types = ["--type share"] if resource.kind == _SHARE else []
    return " ".join(["reset-offsets", literal("--group", resource.name), *types, *offsets])


def _reset_offsets(context: Context, changes: Changes, _: dict[str, Any]) -> Plan:
    from kafka_shell.admin.groups.model import GroupType
    from kafka_shell.admin.groups.resets import plan_offsets
    from kafka_shell.admin.partitions.model import TopicPartition

    wanted: dict[GroupType, dict[str, dict[TopicPartition, int | None]]] = {}
    for change in changes:
        topic, _colon, partition = change.field.rpartition(":")
        offset = None if change.after is None else int(change.after)
        type = GroupType.SHARE if change.resource.kind == _SHARE else GroupType.UNKNOWN
        offsets = wanted.setdefault(type, {}).setdefault(change.resource.name, {})
        offsets[TopicPartition(topic, int(partition))] = offset
    return merge_plans(
        [plan_offsets(context.cluster, each, type, exact=True) for type, each in wanted.items()]
    )


def _replica_line(resource: Resource, changes: Changes) -> str:
    partitions = ",".join(change.resource.name.partition(_ON_BROKER)[0] for change in changes)
    broker = resource.name.rpartition(_ON_BROKER)[2]
    words = [positional("--topic", partitions), with_option("--broker-id", broker)]
    return " ".join(["alter-log-dirs", *words, with_option("--log-dir", str(changes[0].after))])


def _move_replicas(context: Context, changes: Changes, _: dict[str, Any]) -> Plan:
    from kafka_shell.admin.partitions.log_dir_moves import plan_move
    from kafka_shell.admin.partitions.model import TopicPartition

    by_dir: dict[tuple[int, str], list[Change]] = {}
    for change in changes:
        broker = int(change.resource.name.rpartition(_ON_BROKER)[2])
        by_dir.setdefault((broker, str(change.after)), []).append(change)
    plans = []
    for (broker, dir), some in by_dir.items():
        names = [change.resource.name.partition(_ON_BROKER)[0].rpartition(":") for change in some]
        places = [(broker, TopicPartition(topic, int(number))) for topic, _colon, number in names]
        plan = plan_move(context.cluster, places, dir)
        plans.append(plan.followed(resume=f"{_replica_line(some[0].resource, some)} --wait"))
    return merge_plans(plans)


def _reassignment_line(resource: Resource, changes: Changes) -> str:
    return f"reassign-partitions {with_option('--reassignment-json-file', resource.name)}"


def _reassign(context: Context, changes: Changes, _: dict[str, Any]) -> Plan:
    from kafka_shell.commands.partitions.reassignments import plan_rollback

    return merge_plans([plan_rollback(change.resource.name, context) for change in changes])


def _feature_line(resource: Resource, changes: Changes) -> str:
    return f"update-features {positional('--feature', f'{resource.name}={changes[0].after}')}"


def _update_features(context: Context, changes: Changes, options: dict[str, Any]) -> Plan:
    from kafka_shell.admin.cluster.features import plan_update

    levels = {change.resource.name: int(change.after or 0) for change in changes}
    return plan_update(context.cluster, levels, **options)


def _voter_line(resource: Resource, changes: Changes) -> str:
    change = changes[0]
    if change.verb == "delete":
        directory = str(change.before).rpartition(":")[2]
        return f"alter-quorum {with_option('--remove', f'{resource.name}:{directory}')}"
    return f"alter-quorum {with_option('--add', f'{resource.name}@{change.after}')}"


def _alter_quorum(context: Context, changes: Changes, options: dict[str, Any]) -> Plan:
    from kafka_shell.commands.cluster.quorum import plan_voters, voter_of

    add, remove = (
        [voter_of(f"{c.resource.name}@{c.after or c.before}") for c in changes if c.verb == verb]
        for verb in ("create", "delete")
    )
    return plan_voters(context.cluster, add, remove, **options)


# By what `_key` returns, in the order in which they are sent. Others have no inverse.
_QUOTA = ChangeKind(_quota_line, _alter_quotas)
_KINDS: dict[str, ChangeKind] = {
    "feature": ChangeKind(_feature_line, _update_features),
    "voter": ChangeKind(_voter_line, _alter_quorum, "VOTER_NOT_FOUND"),
    "config": ChangeKind(_config_line, _alter_configs),
    **dict.fromkeys(("user", "user-default", "client-id", "client-id-default"), _QUOTA),
    **dict.fromkeys(("ip", "ip-default"), _QUOTA),
    "acl": ChangeKind(_acl_line, _alter_acls, "RESOURCE_NOT_FOUND"),
    "client-config": ChangeKind(_client_config_line, _alter_client_configs),
    "token": ChangeKind(_token_line, _alter_tokens),
    **dict.fromkeys(("group-offsets", _SHARE), ChangeKind(_offsets_line, _reset_offsets)),
    "replica": ChangeKind(_replica_line, _move_replicas),
    "rollback-file": ChangeKind(_reassignment_line, _reassign),
    "credential": ChangeKind(_credential_line, _delete_credentials, "RESOURCE_NOT_FOUND"),
    "topic": ChangeKind(_topic_line, _delete_topics, "UNKNOWN_TOPIC_OR_PARTITION"),
}
