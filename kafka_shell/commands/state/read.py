"""Read the state of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from msgspec import Struct

from kafka_shell.admin.acls import read as acl_reads
from kafka_shell.admin.acls.model import AclOperation
from kafka_shell.admin.client_configs.model import ClientConfig
from kafka_shell.admin.cluster.decommission import CORDON
from kafka_shell.admin.cluster.registrations import registered
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.configs.read import in_parts, list_resources
from kafka_shell.admin.partitions.model import Reassignment
from kafka_shell.admin.partitions.progress import under_way
from kafka_shell.admin.partitions.throttles import RATE_OF, RATES
from kafka_shell.admin.quotas import read as quota_reads
from kafka_shell.admin.quotas.model import Quota
from kafka_shell.admin.topics.model import format_assignment
from kafka_shell.admin.topics.visibility import hidden
from kafka_shell.admin.users import scram
from kafka_shell.admin.users.model import ABSENT
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Change
from kafka_shell.base.results import Failure, as_failure
from kafka_shell.base.text import has_secret_name
from kafka_shell.base.units import ConfigType
from kafka_shell.base.waits import CONTROLLER_S
from kafka_shell.commands.state.model import (
    ASSIGNMENT,
    FACTOR,
    PARTITIONS,
    Fields,
    State,
    resource_of,
)
from kafka_shell.commands.state.render import name_changes
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.error_codes import UNKNOWN_TOPIC_OR_PARTITION
from kafka_shell.wire.failures import AUTHORIZATION, failure
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.requests import ANY

# Set for a reassignment or a decommission, and removed at its end: not the desired state.
TEMPORARY = frozenset((*RATES, *RATE_OF, CORDON))
_GROUP_CONFIGS_SINCE = (4, 0)


class StateRequest(Struct, frozen=True):
    """What to read: these kinds; of topics and brokers only these (None: all).

    `others` also lists other topics, without their configs, except those whose names begin with
    `__`: they contain the state of Kafka and of this program, and are never pruned. A topic in
    `topics` that does not exist is unread if it is `required`. `assignments` also reads the
    replicas of each partition, `temporary` the TEMPORARY configs.
    """

    kinds: Collection[str] = KINDS
    topics: Collection[str] | None = None
    others: bool = False
    required: bool = False
    brokers: Collection[str] | None = None
    internal: bool = True
    assignments: bool = False
    temporary: bool = True


def read_state(cluster: Cluster, request: StateRequest) -> State:
    """The state of a cluster. A kind or resource that cannot be read is in `unread`.

    Raises ShellError if the cluster cannot be reached.
    """
    state = State(sensitive={})
    for kind, read in _READERS.items():
        if kind not in request.kinds:
            continue
        try:
            failures = len(state.unread)
            part = read(cluster, request, state)
            if len(state.unread) == failures:
                state.complete.add(kind)
            if part or kind in state.complete:  # else nothing of it could be read
                state.parts[kind] = part
        except ShellError as error:
            if error.status is not Status.FAILED:
                raise
            missing = error.code in ABSENT and not _may_have(cluster, kind)
            (state.absent if missing else state.unread)[kind] = as_failure(error)
    if not request.temporary:
        _leave_out_temporary(state)
    return state


def _leave_out_temporary(state: State) -> None:
    """Leave out the TEMPORARY configs, with one note that names them."""
    left_out: list[Change] = []
    for kind in ("topics", "broker_configs"):
        part = state.parts.get(kind, {})
        for key, fields in list(part.items()):
            found = sorted(fields.keys() & TEMPORARY)
            left_out += (Change(resource_of(kind, key), "delete", name) for name in found)
            part[key] = {name: value for name, value in fields.items() if name not in found}
            if kind == "broker_configs" and not part[key]:
                del part[key]
    if left_out:
        state.notes.append(
            f"throttles and cordons are temporary and are excluded: {name_changes(left_out)}"
        )


def _may_have(cluster: Cluster, kind: str) -> bool:
    """Whether resources of a kind may exist although they cannot be listed (group configs of
    Kafka 4.0)."""
    if kind != "group_configs":
        return False
    return tuple(map(int, cluster.release(ANY).split(".")[:2])) >= _GROUP_CONFIGS_SINCE


def _topics(cluster: Cluster, request: StateRequest, state: State) -> dict[str, Fields]:
    every = request.topics is None or request.others
    wanted = None if every else sorted(request.topics or ())
    seen, targets = _targets_of_reassignments(cluster, wanted, state)
    summaries = {each.name: each for each in seen.summaries()}
    names = sorted(
        name
        for name, each in summaries.items()
        if (request.topics is not None and name in request.topics)
        or (not name.startswith("__") if request.others else request.internal or not each.internal)
    )
    errors = seen.errors
    if every:
        missing = sorted((request.topics or frozenset()) - summaries.keys())
        errors = errors | (scan(cluster, missing).errors if missing else {})
        state.unread |= hidden(cluster, summaries)
    for name, code in errors.items():
        if request.required or code != UNKNOWN_TOPIC_OR_PARTITION:
            state.unread[f"topic {name}"] = failure(code, about=f"topic {name}")
    resources = {name: ConfigResource(ResourceType.TOPIC, name) for name in names}
    described = [resources[n] for n in names if request.topics is None or n in request.topics]
    configs = _overrides(cluster, described, state)
    topics: dict[str, Fields] = {}
    for name in names:
        if name in targets:
            state.notes.append(f"topic {name} is being reassigned; its target replicas are used")
        summary = summaries[name]
        least, most = summary.replication_factor, summary.max_replication_factor
        moving = targets.get(name, {})
        if moving or request.assignments:
            partitions = seen.topic(name).partitions
            replicas = [moving.get(each.partition, each.replicas) for each in partitions]
            least, most = min(map(len, replicas)), max(map(len, replicas))
        factor = least if least == most else f"{least}-{most}"
        if least != most:
            state.notes.append(f"topic {name} has partitions with {factor} replicas")
        fields: Fields = {PARTITIONS: summary.partitions, FACTOR: factor}
        if request.assignments:
            fields[ASSIGNMENT] = format_assignment(replicas)
        if str(resources[name]) not in state.unread:
            topics[name] = fields | configs.get(resources[name], {})
    return topics


def _targets_of_reassignments(
    cluster: Cluster, topics: Sequence[str] | None, state: State
) -> tuple[MetadataScan, dict[str, dict[int, tuple[int, ...]]]]:
    """The metadata, and the target replicas of partitions that are being reassigned, by topic:
    until the end, the metadata lists the old replicas as well.

    Reassignments are listed before and after the metadata is read: one that begins or ends
    meanwhile is in one of the lists. If they cannot be listed, topics that may be affected are
    unread: replicas that are being added are not in sync.
    """

    def listed() -> list[Reassignment] | Failure:
        try:
            with cluster.within(CONTROLLER_S):
                return list(under_way(cluster, topics))
        except ShellError as error:
            return as_failure(error)

    before, seen = listed(), scan(cluster, topics)
    after = listed() if isinstance(before, list) else before
    targets: dict[str, dict[int, tuple[int, ...]]] = {}
    for found in (before, after):
        for each in found if isinstance(found, list) else ():
            targets.setdefault(each.topic, {})[each.partition] = each.after
    if isinstance(after, Failure) and after.code in AUTHORIZATION:
        state.notes.append(
            "topics that are being reassigned may have too many replicas here (requires DESCRIBE on"
            " the cluster)"
        )
    elif isinstance(after, Failure):
        affected = (each.name for each in seen.summaries() if each.under_replicated)
        state.unread |= dict.fromkeys((f"topic {name}" for name in affected), after)
    return seen, targets


def _overrides(
    cluster: Cluster, resources: Sequence[ConfigResource], state: State
) -> dict[ConfigResource, Fields]:
    """The configs set on each resource itself, by key. Secrets are left out."""
    found: dict[ConfigResource, Fields] = {}
    for part in in_parts(cluster, resources):
        for resource, why in part.failures.items():
            state.unread[str(resource)] = why
        for resource, entries in part.values.items():
            fields: Fields = {}
            for entry in sorted(entries, key=lambda entry: entry.name):
                hidden = entry.sensitive or has_secret_name(entry.name)
                if hidden and state.sensitive is not None:
                    state.sensitive[str(resource), entry.name] = entry.overridden
                if not entry.overridden:
                    continue
                if hidden or entry.value is None:
                    state.notes.append(f"{resource}: {entry.name} is sensitive and is excluded")
                    continue
                fields[entry.name] = entry.value
                if entry.type is ConfigType.LIST:
                    state.lists.add(entry.name)
                elif entry.type is ConfigType.STRING:
                    state.texts.add(entry.name)
            found[resource] = fields
    return found


def _acls(cluster: Cluster, request: StateRequest, state: State) -> dict[Any, Fields]:
    found = sorted(
        acl_reads.describe_each(cluster, [acl_reads.EVERYTHING])[0],
        key=lambda binding: binding.order,
    )
    unknown = [b for b in found if AclOperation.UNKNOWN in (b.operation, b.resource_type)]
    for binding in unknown:
        state.unread[str(binding)] = Failure(
            "unknown-code", f"ACL {binding} has an operation or resource type that this version of"
            " kafka.sh does not support",
        )  # fmt: skip
    nameless = [b for b in found if not all(b.principal.partition(":"))]
    for binding in nameless:
        message = f"ACL {binding} has a principal without a type or name"
        state.unread[str(binding)] = Failure("bad-principal", message)
    left_out = {*unknown, *nameless}
    return {binding: {} for binding in found if binding not in left_out}


def _quotas(cluster: Cluster, request: StateRequest, state: State) -> dict[Any, Fields]:
    return _by_entity(quota_reads.describe(cluster))


def _users(cluster: Cluster, request: StateRequest, state: State) -> dict[Any, Fields]:
    found = scram.describe(cluster)
    for user, why in found.failures.items():
        state.unread[f"user {user}"] = why
    return {
        user: {each.mechanism.label: each.iterations for each in credentials}
        for user, credentials in sorted(found.values.items())
    }


def _client_configs(cluster: Cluster, request: StateRequest, state: State) -> dict[Any, Fields]:
    from kafka_shell.admin.client_configs import read as client_config_reads

    found = client_config_reads.read_log(cluster)
    for about, why in found.unread.items():
        hint = "Upgrade kafka.sh." if "version" in why else ""
        state.unread[about] = Failure("unknown-format", why, hint=hint)
    return _by_entity(
        ClientConfig(entity, key, value) for (entity, key), value in found.values.items()
    )


def _by_entity(rows: Iterable[Quota | ClientConfig]) -> dict[Any, Fields]:
    found: dict[Any, Fields] = {}
    for row in sorted(rows, key=lambda row: (row.entity.order, row.key)):
        found.setdefault(row.entity, {})[row.key] = row.value
    return found


def _broker_configs(cluster: Cluster, request: StateRequest, state: State) -> dict[Any, Fields]:
    if request.brokers is None:  # a broker that is down is reported, not left out
        live = {broker.id for broker in cluster.brokers(refresh=True)}
        ids = sorted(live | (registered(cluster) or set()))
        names: Iterable[str] = ["", *map(str, ids)]
    else:
        names = request.brokers
    resources = [ConfigResource(ResourceType.BROKER, name) for name in names]
    return _set_only(_overrides(cluster, resources, state))


def _listed(kind: ResourceType) -> Callable[[Cluster, StateRequest, State], dict[Any, Fields]]:
    def read(cluster: Cluster, request: StateRequest, state: State) -> dict[Any, Fields]:
        names = list_resources(cluster, kind)
        return _set_only(_overrides(cluster, [ConfigResource(kind, name) for name in names], state))

    return read


def _set_only(found: dict[ConfigResource, Fields]) -> dict[Any, Fields]:
    return {resource: fields for resource, fields in found.items() if fields}


_READERS: dict[str, Callable[[Cluster, StateRequest, State], dict[Any, Fields]]] = {
    "topics": _topics,
    "acls": _acls,
    "quotas": _quotas,
    "users": _users,
    "client_configs": _client_configs,
    "broker_configs": _broker_configs,
    "client_metrics": _listed(ResourceType.CLIENT_METRICS),
    "group_configs": _listed(ResourceType.GROUP),
}
