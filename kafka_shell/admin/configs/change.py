"""Plans that alter configs incrementally (KIP-226, 339; API key 44)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.configs.checks import (
    LIST_OPS,
    Refusals,
    check,
    entry_of,
    is_settable,
    refuse_twice,
)
from kafka_shell.admin.configs.losses import DataLoss, losses, related
from kafka_shell.admin.configs.model import (
    DELETE_ALL,
    HIDDEN,
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    ResourceType,
    own_source,
)
from kafka_shell.admin.configs.read import (
    by_name,
    by_target,
    describe,
    inherited,
    known_of,
    target_of,
    weaker,
    why_not,
    with_retention,
)
from kafka_shell.admin.steps import BaseStep, keeping_results, read_again, refused_of, row_failure
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Advice, Change, Effect, Outcomes, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import format_config_value, same_value
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.endpoint import Address
from kafka_shell.wire.error_codes import INVALID_REQUEST
from kafka_shell.wire.failures import as_error, failure
from kafka_shell.wire.rounds import in_requests

# What an alteration of configs changes: each value before and after it.


def changes_of(
    resource: ConfigResource,
    alterations: Sequence[ConfigAlteration],
    known: Mapping[str, ConfigEntry],
) -> list[tuple[Change, DataLoss | None]]:
    """The changes of one resource, each with what it deletes."""
    changes = [
        change_of(resource, alteration, known.get(alteration.key)) for alteration in alterations
    ]
    after = {
        change.field: inherited(known[change.field]) if change.after is None else str(change.after)
        for change in changes
        if change.field in known and change.before != change.after
    }
    lost = losses(resource, known, after)
    return [
        (replace(change, lost=lost[change.field].final), lost[change.field])
        if change.field in lost
        else (change, None)
        for change in changes
    ]


def change_of(
    resource: ConfigResource, alteration: ConfigAlteration, entry: ConfigEntry | None
) -> Change:
    """The change of one config. Without an entry, its value before is unknown."""
    is_own = entry is not None and entry.source is own_source(resource)
    value = entry.value if entry is not None else None
    before, effective = (value, None) if is_own else (None, value)
    after, note = _after(alteration, entry, is_own)
    reversible = True
    if entry is not None and entry.sensitive:
        before, effective = HIDDEN if is_own else None, None
        after = None if alteration.op is ConfigOp.DELETE else HIDDEN
        note = "sensitive: the value is not shown"
    elif entry is not None and before is not None and not is_settable(entry, before):
        note = "the previous value is invalid and cannot be restored"
        reversible = False
    return Change(
        Resource(resource.kind, resource.name),
        "alter",
        alteration.key,
        before,
        after,
        note=note,
        reversible=reversible and before is not HIDDEN,
        effective=effective,
        source="" if entry is None or entry.source is ConfigSource.UNKNOWN else entry.source.words,
    )


def _after(
    alteration: ConfigAlteration, entry: ConfigEntry | None, is_own: bool
) -> tuple[str | None, str]:
    """The new value at the resource's own level, and a note."""
    if alteration.op is ConfigOp.DELETE:
        return None, _inherited_note(entry) if is_own else "no change: not set"
    after, note = alteration.value, ""
    if alteration.op in LIST_OPS:
        start, note = _list_before(alteration, entry, is_own)
        after = _list_after(start, alteration)
    if is_own and entry is not None and same_value(entry.name, entry.value, after, entry.type):
        return entry.value, "no change: already set"
    return after, note


def _inherited_note(entry: ConfigEntry | None) -> str:
    """A note with the value that is inherited after the deletion, if synonyms are known."""
    below = entry and weaker(entry)
    if entry is None or below is None or (value := inherited(entry)) is None:
        return "inherits the default"
    key = "" if below.name == entry.name else f" from {below.name}={below.value}"
    value = format_config_value(entry.name, entry.type, value)
    return f"inherits {value}{key}, {below.source.words}"


def _list_before(
    alteration: ConfigAlteration, entry: ConfigEntry | None, is_own: bool
) -> tuple[str, str]:
    """The list that the broker alters: its own, else Kafka's default (not the inherited value)."""
    if entry is None or is_own:
        return (entry.value or "" if entry else ""), ""
    defaults = [s.value or "" for s in entry.synonyms if s.source is ConfigSource.DEFAULT]
    start = defaults[0] if defaults else ""
    if not defaults and entry.source is ConfigSource.DEFAULT:
        start = entry.value or ""
    if start == (entry.value or ""):
        return start, ""
    verb = "appended to" if alteration.op is ConfigOp.APPEND else "subtracted from"
    return start, f"{verb} Kafka's default {start or '(empty)'}, not the effective value"


def _list_after(current: str, alteration: ConfigAlteration) -> str:
    items = _items(current)
    given = _items(alteration.value or "")
    if alteration.op is ConfigOp.APPEND:
        return ",".join(dict.fromkeys(items + given))
    return ",".join(item for item in items if item not in given)


def _items(text: str) -> list[str]:
    return [item for item in map(str.strip, text.split(",")) if item]


Alterations = Mapping[ConfigResource, Sequence[ConfigAlteration]]


class AlterConfigs(Struct, BaseStep, frozen=True, dict=True):
    """One IncrementalAlterConfigs request (KIP-339, API key 44) to the broker that answers for it.

    The keys of a resource are altered all or none.

    `alterations` pairs each resource with its operations. `now` pairs it with the current entries
    of the altered keys and of the keys that decide whether records are deleted.
    """

    alterations: tuple[tuple[ConfigResource, tuple[ConfigAlteration, ...]], ...]
    now: tuple[tuple[ConfigResource, tuple[ConfigEntry, ...]], ...]
    validates = True

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        return tuple(change for change, _ in self.with_losses)

    @cached_property
    def with_losses(self) -> list[tuple[Change, DataLoss | None]]:
        """The changes, each with what it deletes."""
        known = {resource: by_name(entries) for resource, entries in self.now}
        pairs: list[tuple[Change, DataLoss | None]] = []
        for resource, alterations in self.alterations:
            pairs += changes_of(resource, alterations, known.get(resource, {}))
        return pairs

    def reread(self, cluster: Cluster) -> AlterConfigs:
        known = read_again(_known(cluster, dict(self.alterations)))
        return AlterConfigs(self.alterations, _now(self.alterations, known))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        target = target_of(self.alterations[0][0])
        response = cluster.send(self._request(validate_only), to=target)
        rows = {(row.resource_type, row.resource_name): row for row in response.responses}
        results: Outcomes = Results()
        changes = iter(self.changes)
        done: dict[ConfigResource, list[Change]] = {}
        for resource, alterations in self.alterations:
            row = rows.get((int(resource.type), resource.name))
            code, message = (row.error_code, row.error_message or "") if row else (None, "")
            failure = why_not(cluster, target, resource, code, message, "ALTER_CONFIGS")
            own = [next(changes) for _ in alterations]
            if failure is None:
                results.values.update(zip(own, own, strict=True))
                done[resource] = own
            else:
                results.failures.update(dict.fromkeys(own, failure))
        if done and not validate_only:
            with keeping_results(results):
                _wait_until_visible(cluster, done)
        return results

    def _request(self, validate_only: bool) -> Any:
        kind = messages.IncrementalAlterConfigsRequest.AlterConfigsResource
        return messages.IncrementalAlterConfigsRequest(
            resources=[
                kind(
                    resource_type=int(resource.type),
                    resource_name=resource.name,
                    configs=[
                        kind.AlterableConfig(
                            name=alteration.key,
                            config_operation=int(alteration.op),
                            value=alteration.value,
                        )
                        for alteration in alterations
                    ],
                )
                for resource, alterations in self.alterations
            ],
            validate_only=validate_only,
        )


def plan_alter(
    cluster: Cluster, alterations: Mapping[ConfigResource, Sequence[ConfigAlteration]]
) -> Plan:
    """Set, delete, append to and subtract from configs of several resources independently (API key
    44). Other configs stay.

    `DELETE_ALL` deletes every config that is set on the resource itself. Values are checked against
    the types that the broker reports, and units are converted (`7d` to 604800000). Raises
    ConfigRefused for invalid keys and values; a resource that cannot be read is refused alone.
    """
    for resource, given in alterations.items():
        refuse_twice((alteration.key for alteration in given), str(resource))
    known = _known(cluster, {each: given for each, given in alterations.items() if given})
    warnings: dict[str, None] = {}
    checked: dict[ConfigResource, list[ConfigAlteration]] = {}
    refusals = Refusals()
    for resource, keys in known.values.items():
        checked[resource] = []
        for each in _each(resource, keys, alterations[resource]):
            with refusals.of(resource):
                checked[resource].append(check(resource, keys, each, warnings))
    refusals.check()
    wanted, unchanged = _without_unchanged(checked, known.values)
    steps = []
    for group in by_target(wanted).values():
        for batch in in_requests(group, lambda resource: len(wanted[resource])):
            pairs = tuple((resource, wanted[resource]) for resource in batch)
            steps.append(AlterConfigs(pairs, _now(pairs, known.values)))
    keys = list(dict.fromkeys(a.key for group in checked.values() for a in group))
    return Plan(
        Effect.DESTROY
        if any(change.lost for step in steps for change in step.changes)
        else Effect.CHANGE,
        tuple(steps),
        refused=Results(
            {}, {Resource(r.kind, r.name): failure for r, failure in known.failures.items()}
        ),
        unchanged=unchanged,
        advice=Advice(warnings=tuple(warnings)),
    )


def _each(
    resource: ConfigResource,
    keys: Mapping[str, ConfigEntry],
    alterations: Sequence[ConfigAlteration],
) -> Sequence[ConfigAlteration]:
    """The alterations, and those of the other configs that `DELETE_ALL` deletes. Not for loggers,
    as brokers do not return whether a level is inherited, nor for the default of all brokers, which
    requires min.insync.replicas (KIP-966)."""
    many = resource.type is ResourceType.BROKER_LOGGER or not resource.name
    if DELETE_ALL not in alterations or many:
        return alterations
    single = {alteration.key: alteration for alteration in alterations if alteration != DELETE_ALL}
    own = (entry.name for entry in keys.values() if entry.overridden)
    # A broker refuses a key that is altered twice.
    deleted = (ConfigAlteration(name, ConfigOp.DELETE) for name in own if name not in single)
    return [*single.values(), *deleted]


def _known(cluster: Cluster, alterations: Alterations) -> Results[ConfigResource, Any]:
    """The keys of each resource, with inherited values where a topic's own value is removed."""
    known = known_of(cluster, alterations)
    removals = {ConfigAlteration("retention.ms", ConfigOp.DELETE), DELETE_ALL}
    removed = [
        resource
        for resource in known.values
        if resource.type is ResourceType.TOPIC and removals & {*alterations[resource]}
    ]
    return Results(with_retention(cluster, known.values, removed), known.failures)


def _without_unchanged(
    checked: Mapping[ConfigResource, Sequence[ConfigAlteration]],
    known: Mapping[ConfigResource, Any],
) -> tuple[dict[ConfigResource, tuple[ConfigAlteration, ...]], tuple[Change, ...]]:
    """The alterations that change something, and the unchanged configs of the others."""
    wanted: dict[ConfigResource, tuple[ConfigAlteration, ...]] = {}
    unchanged = []
    for resource, alterations in checked.items():
        changing = []
        for alteration in alterations:
            entry = entry_of(resource, known[resource], alteration.key)
            change = change_of(resource, alteration, entry)
            if _is_unchanged(alteration, entry, change):
                unchanged.append(change)
            else:
                changing.append(alteration)
        if changing:
            wanted[resource] = tuple(changing)
    return wanted, tuple(unchanged)


def _is_unchanged(alteration: ConfigAlteration, entry: ConfigEntry | None, change: Change) -> bool:
    """Whether nothing would change, as far as known.

    Brokers return neither sensitive values nor whether a logger's level is its own.
    """
    if entry is None or entry.source is ConfigSource.UNKNOWN or change.before != change.after:
        return False
    if entry.resource.type is ResourceType.BROKER_LOGGER:
        return False
    return alteration.op is ConfigOp.DELETE or not entry.sensitive


def _now(
    alterations: Sequence[tuple[ConfigResource, Sequence[ConfigAlteration]]],
    known: Mapping[ConfigResource, Any],
) -> tuple[tuple[ConfigResource, tuple[ConfigEntry, ...]], ...]:
    """The current entries of the altered keys and of the keys related to them."""
    current = []
    for resource, wanted in alterations:
        altered = [alteration.key for alteration in wanted]
        keys = dict.fromkeys([*altered, *related(resource, altered)])
        entries = (entry_of(resource, known[resource], key) for key in keys)
        current.append((resource, tuple(entry for entry in entries if entry is not None)))
    return tuple(current)


# -- until it is visible ---------------------------------------------------------------------------


def _wait_until_visible(cluster: Cluster, done: Mapping[ConfigResource, Sequence[Change]]) -> None:
    """Wait a moment until a broker shows the changes, so that the next command sees them.

    The controller responds before the brokers have applied them; they are made in any case.
    """
    keys = list(dict.fromkeys(change.field for changes in done.values() for change in changes))

    def visible() -> bool:
        configs = describe(cluster, list(done), keys)
        return all(
            _is_visible(change, resource, entries)
            for resource, entries in configs.values.items()
            for change in done[resource]
        )

    wait_until_visible(visible)


def _is_visible(change: Change, resource: ConfigResource, entries: Sequence[ConfigEntry]) -> bool:
    entry = by_name(entries).get(change.field)
    is_own = entry is not None and entry.source is own_source(resource)
    if change.after is None:
        return not is_own
    if entry is None or not is_own:
        return False
    # The broker may normalize a value: it is enough that it is not the previous one.
    return entry.sensitive or entry.value != change.before or change.before == change.after


# Dynamic configs of brokers that are not running. Unregistering a broker does not delete them.
#
# They cannot be listed, as only the broker itself returns its configs. The active controller
# deletes them in response to a direct request (IncrementalAlterConfigs, KIP-339 and 919).

_DELETE = 1  # the operation of IncrementalAlterConfigs
_TOO_LATE = (
    "Controllers delete the configs of a stopped broker only while it is registered. If they"
    " are not deleted, they apply to the next broker that starts with this ID."
)
_NOTE = "unknown value, as only the broker itself returns it"
_ALL = "dynamic configs"
_NOTE_OF_ALL = (
    "unknown values, as only the broker itself returns them; keys without a value count as deleted"
)


class DeleteLeftoverConfigs(Struct, BaseStep, frozen=True):
    """Dynamic configs of one broker, deleted by the active controller all or none. A key that
    is not set counts as deleted. `whole`: these are all that the broker can have."""

    broker: int
    keys: tuple[str, ...]
    whole: bool = False
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        resource = Resource("broker", str(self.broker))
        fields, note = ((_ALL,), _NOTE_OF_ALL) if self.whole else (self.keys, _NOTE)
        return tuple(Change(resource, "delete", f, note=note, reversible=False) for f in fields)

    def reread(self, cluster: Cluster) -> DeleteLeftoverConfigs:
        failure = _running_failure(cluster, self.broker)
        if failure is not None:
            raise as_error(failure)
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        # Controllers have no Metadata that tells the cluster ID: this cluster named the address.
        config = replace(cluster.config, bootstrap=(_controller(cluster),), cluster_id="")
        with Cluster(config) as controller:
            controller.join(cluster)
            response = controller.send(self._request(validate_only), check=False)
        (row,) = response.responses
        about = f"broker {self.broker}"
        failure = row_failure(row, about, requires="ALTER_CONFIGS on the cluster")
        if failure is not None and failure.name == "BROKER_ID_NOT_REGISTERED":
            failure = replace(failure, hint=_TOO_LATE)
        changes = self.changes
        return Results.of(changes, [failure] * len(changes))

    def _request(self, validate_only: bool) -> Any:
        kind = messages.IncrementalAlterConfigsRequest.AlterConfigsResource
        configs = [
            kind.AlterableConfig(name=key, config_operation=_DELETE, value=None)
            for key in self.keys
        ]
        resource = kind(
            resource_type=int(ResourceType.BROKER), resource_name=str(self.broker), configs=configs
        )
        return messages.IncrementalAlterConfigsRequest(
            resources=[resource], validate_only=validate_only
        )


def plan_delete(cluster: Cluster, brokers: Sequence[int], keys: Sequence[str]) -> Plan:
    """Delete these dynamic configs of brokers that are not running. A running broker is refused.
    Raises UsageError for `*`: they cannot be listed."""
    if DELETE_ALL.key in keys:
        raise UsageError(
            "'*' cannot be used with other configs of a stopped broker",
            hint="Use '*' alone to delete all of them.",
            code="bad-value",
        )
    refused = {broker: _running_failure(cluster, broker) for broker in brokers}
    return Plan(
        Effect.DESTROY,
        tuple(
            DeleteLeftoverConfigs(broker, tuple(keys))
            for broker in brokers
            if refused[broker] is None
        ),
        refused=refused_of("broker", refused),
    )


def _running_failure(cluster: Cluster, broker: int) -> Failure | None:
    if all(node.id != broker for node in cluster.brokers(refresh=True)):
        return None
    return failure(INVALID_REQUEST, text=f"broker {broker} is running")


def _controller(cluster: Cluster) -> Address:
    """The address of the active controller."""
    described = quorum.describe(cluster)
    for replica in described.voters:
        if replica.id == described.leader and replica.endpoints:
            return Address(replica.endpoints[0].host, replica.endpoints[0].port)
    raise ShellError(
        "the address of the active controller is unknown (it requires Kafka 3.9, and a metadata"
        " quorum with a leader)",
        code="no-controller",
        see=Resource("voter"),
    )
