"""Plans that alter configs incrementally (KIP-226, 339; API key 44)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from kafka_shell.admin.configs.alterations import change_of, changes_of
from kafka_shell.admin.configs.checks import Refusals, check, entry_of, refuse_twice
from kafka_shell.admin.configs.known import inherited, known_of, with_retention
from kafka_shell.admin.configs.losses import DataLoss, is_tiered, related
from kafka_shell.admin.configs.model import (
    DELETE_ALL,
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    ResourceType,
    own_source,
)
from kafka_shell.admin.configs.read import by_name, by_target, describe, target_of, why_not
from kafka_shell.admin.steps import BaseStep, confirmed, read_again
from kafka_shell.admin.wire.chunks import in_requests
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.propagation import wait_until_visible
from kafka_shell.plan.model import Change, Effect, Outcomes, Plan, Resource
from kafka_shell.plan.results import Results

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
        found: list[tuple[Change, DataLoss | None]] = []
        for resource, alterations in self.alterations:
            found += changes_of(resource, alterations, known.get(resource, {}))
        return found

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
            with confirmed(results):
                _wait_until_visible(cluster, done)
        return results

    def _request(self, validate_only: bool) -> Any:
        from kafka.protocol.admin import IncrementalAlterConfigsRequest

        kind = IncrementalAlterConfigsRequest.AlterConfigsResource
        return IncrementalAlterConfigsRequest(
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
    from kafka_shell.admin.configs.consequences import Altered, Consequences, find

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
    entries = {Resource(each.kind, each.name): of for each, of in known.values.items()}
    altered = [
        Altered(
            change,
            _value_after(change, entries[change.resource]),
            loss,
            tiered=is_tiered(entries[change.resource]),
        )
        for step in steps
        for change, loss in step.with_losses
    ]
    means = find(cluster, altered) if altered else Consequences()
    warnings |= dict.fromkeys(means.warnings)
    keys = list(dict.fromkeys(a.key for group in checked.values() for a in group))
    return Plan(
        Effect.DESTROY if means.unclean or any(each.loss for each in altered) else Effect.CHANGE,
        tuple(steps),
        confirm=means.fails_producers,
        touches=frozenset({"configs"}),
        warnings=tuple(warnings),
        notes=tuple(means.notes),
        refused=Results(
            {}, {Resource(r.kind, r.name): failure for r, failure in known.failures.items()}
        ),
        fresh=lambda later: describe(later, list(checked), keys),
        unchanged=unchanged,
        stakes=means.stakes,
        not_checked=tuple(means.not_checked),
    )


def _value_after(change: Change, entries: Mapping[str, ConfigEntry]) -> str | None:
    """The value that applies after a change: the inherited one after a deletion, if known."""
    if change.after is not None:
        return str(change.after)
    return inherited(entries[change.field]) if change.field in entries else None


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
    single = {each.key: each for each in alterations if each != DELETE_ALL}
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
    found = []
    for resource, wanted in alterations:
        altered = [alteration.key for alteration in wanted]
        keys = dict.fromkeys([*altered, *related(resource, altered)])
        entries = (entry_of(resource, known[resource], key) for key in keys)
        found.append((resource, tuple(entry for entry in entries if entry is not None)))
    return tuple(found)


# -- until it is visible ---------------------------------------------------------------------------


def _wait_until_visible(cluster: Cluster, done: Mapping[ConfigResource, Sequence[Change]]) -> None:
    """Wait a moment until a broker shows the changes, so that the next command sees them.

    The controller responds before the brokers have applied them; they are made in any case.
    """
    keys = list(dict.fromkeys(change.field for changes in done.values() for change in changes))

    def visible() -> bool:
        found = describe(cluster, list(done), keys)
        return all(
            _is_visible(change, resource, entries)
            for resource, entries in found.values.items()
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
