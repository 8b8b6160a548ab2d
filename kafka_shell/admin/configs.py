"""Configs: describe and incrementally alter (KIP-133, 226, 339, 569; API keys 32, 44)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_shell import values
from kafka_shell.errors import ShellError, near_miss
from kafka_shell.nouns import (
    Change,
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    Effect,
    Failure,
    Plan,
    Resource,
    ResourceType,
    Results,
    own_source,
)

from .connection import ANY, Call, Cluster, Node, failure

Entries = Results[ConfigResource, tuple[ConfigEntry, ...]]
Alterations = Mapping[ConfigResource, Sequence[ConfigAlteration]]

# Kinds whose broker refuses a key it does not know. Brokers take keys of plugins and prefixes.
_CLOSED = {ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLIENT_METRICS}
# IncrementalAlterConfigs takes LIST values apart for these operations only.
_LIST_OPS = {ConfigOp.APPEND, ConfigOp.SUBTRACT}


class ConfigRefused(ShellError):
    """A key or value that this side refuses before anything is sent. `key` is the config's name."""

    def __init__(self, key: str, message: str, *, hint: str = "", code: str) -> None:
        super().__init__(message, hint=hint, code=code)
        self.key = key


# -- describe --------------------------------------------------------------------------------------


def describe(
    cluster: Cluster,
    resources: Iterable[ConfigResource],
    keys: Sequence[str] | None = None,
    *,
    synonyms: bool = False,
    documentation: bool = False,
) -> Entries:
    """The configs of each resource, by name; `keys` restricts them.

    One request for all, but one a broker for what only that broker knows (itself, its loggers).
    Documentation is some ten times the size of the rest: ask for it once, not for each topic.
    """
    asked = list(dict.fromkeys(resources))
    groups: dict[Any, list[ConfigResource]] = {}
    for resource in asked:
        groups.setdefault(_answerer(resource), []).append(resource)
    calls = [
        Call(_describe_request(group, keys, synonyms, documentation), to=target)
        for target, group in groups.items()
    ]
    found: Entries = Results()
    for group, answer in zip(groups.values(), cluster.send_all(calls), strict=True):
        if isinstance(answer, Failure):
            found.failures.update(dict.fromkeys(group, answer))
        else:
            _read(group, answer, found)
    return Results({r: found.values[r] for r in asked if r in found.values}, found.failures)


def _answerer(resource: ConfigResource) -> Any:
    if resource.type in (ResourceType.BROKER, ResourceType.BROKER_LOGGER) and resource.name:
        return Node(int(resource.name))
    return ANY


def _describe_request(
    resources: Sequence[ConfigResource],
    keys: Sequence[str] | None,
    synonyms: bool,
    documentation: bool,
) -> Any:
    from kafka.protocol.admin import DescribeConfigsRequest

    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=int(resource.type),
                resource_name=resource.name,
                configuration_keys=None if keys is None else list(keys),
            )
            for resource in resources
        ],
        include_synonyms=synonyms,
        include_documentation=documentation,
    )


def _read(group: Sequence[ConfigResource], answer: Any, found: Entries) -> None:
    rows = {(row.resource_type, row.resource_name): row for row in answer.results}
    for resource in group:
        row = rows.get((int(resource.type), resource.name))
        if row is None:
            found.failures[resource] = Failure(
                "UNKNOWN", f"the broker's answer does not mention {resource}"
            )
        elif row.error_code:
            found.failures[resource] = failure(
                row.error_code, row.error_message, about=str(resource)
            )
        else:
            entries = (_entry(resource, config) for config in row.configs)
            found.values[resource] = tuple(sorted(entries, key=lambda entry: entry.name))


def _entry(resource: ConfigResource, config: Any) -> ConfigEntry:
    return ConfigEntry(
        resource=resource,
        name=config.name,
        value=None if config.is_sensitive else config.value,
        source=ConfigSource(config.config_source),
        read_only=config.read_only,
        sensitive=config.is_sensitive,
        type=ConfigType(config.config_type),
        documentation=config.documentation or "",
        synonyms=tuple(
            ConfigSynonym(
                synonym.name,
                None if config.is_sensitive else synonym.value,
                ConfigSource(synonym.source),
            )
            for synonym in config.synonyms or ()
        ),
    )


# -- alter -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AlterConfigs:
    """One IncrementalAlterConfigs request (KIP-339, API key 44) to the broker that answers for it.

    `alterations` and `now` pair each resource with its operations and with its configs as read.
    """

    alterations: tuple[tuple[ConfigResource, tuple[ConfigAlteration, ...]], ...]
    now: tuple[tuple[ConfigResource, tuple[ConfigEntry, ...]], ...]
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change a key of a resource, in the order given."""
        entries = {
            (resource, entry.name): entry for resource, known in self.now for entry in known
        }
        return tuple(
            _change(resource, alteration, entries.get((resource, alteration.key)))
            for resource, alterations in self.alterations
            for alteration in alterations
        )

    def again(self, cluster: Cluster) -> AlterConfigs:
        """The same operations over the configs as they are now."""
        found = describe(cluster, [resource for resource, _ in self.alterations], synonyms=True)
        for resource, why in found.failures.items():
            raise ShellError(
                f"{resource} could not be read again before the change: {why}",
                hint="Nothing was sent.",
                code=why.name,
            )
        return AlterConfigs(self.alterations, tuple(found.values.items()))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Alter, or only validate. A resource's keys are altered all or none."""
        from kafka.protocol.admin import IncrementalAlterConfigsRequest

        kind = IncrementalAlterConfigsRequest.AlterConfigsResource
        request = IncrementalAlterConfigsRequest(
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
        response = cluster.send(request, to=_answerer(self.alterations[0][0]))
        rows = {(row.resource_type, row.resource_name): row for row in response.responses}
        results: Results[Change, Change] = Results()
        changes = iter(self.changes)
        for resource, alterations in self.alterations:
            row = rows.get((int(resource.type), resource.name))
            why = _why(resource, row)
            for change in (next(changes) for _ in alterations):
                if why is None:
                    results.values[change] = change
                else:
                    results.failures[change] = why
        return results


def plan_alter(cluster: Cluster, alterations: Alterations) -> Plan:
    """Alter configs of several resources, each on its own.

    Every value is checked against the broker's type first and its units turned into what the broker
    wants (`7d` to 604800000). Raises ConfigRefused for a key or value that is wrong for every
    resource; a resource that cannot be read is refused alone.
    """
    found = describe(cluster, alterations, synonyms=True)
    refused: Results[Resource, Any] = Results(
        {}, {Resource(r.kind, r.name): why for r, why in found.failures.items()}
    )
    warnings: dict[str, None] = {}
    checked: dict[ConfigResource, tuple[ConfigAlteration, ...]] = {}
    for resource, entries in found.values.items():
        by_name = {entry.name: entry for entry in entries}
        checked[resource] = tuple(
            _checked(resource, by_name, alteration, warnings)
            for alteration in alterations[resource]
        )
    steps = tuple(
        AlterConfigs(
            tuple((resource, checked[resource]) for resource in group),
            tuple((resource, found.values[resource]) for resource in group),
        )
        for group in _by_answerer(checked)
    )
    keys = list(dict.fromkeys(a.key for group in alterations.values() for a in group))
    return Plan(
        Effect.CHANGE,
        steps,
        touches=frozenset({"configs"}),
        warnings=tuple(warnings),
        refused=refused,
        fresh=lambda later: describe(later, list(checked), keys),
    )


def _by_answerer(resources: Iterable[ConfigResource]) -> list[list[ConfigResource]]:
    groups: dict[Any, list[ConfigResource]] = {}
    for resource in resources:
        groups.setdefault(_answerer(resource), []).append(resource)
    return list(groups.values())


def _checked(
    resource: ConfigResource,
    known: Mapping[str, ConfigEntry],
    alteration: ConfigAlteration,
    warnings: dict[str, None],
) -> ConfigAlteration:
    """The alteration as the broker wants it, or ConfigRefused."""
    key, entry = alteration.key, known.get(alteration.key)
    if entry is None:
        _unknown(resource, known, key, warnings)
        return alteration
    if entry.read_only:
        raise ConfigRefused(
            key,
            f"{key} of {resource} is read-only: it is set in the broker's own file and needs a"
            " restart",
            code="read-only",
        )
    if alteration.op in _LIST_OPS and entry.type not in (ConfigType.LIST, ConfigType.UNKNOWN):
        raise ConfigRefused(
            key,
            f"{key} is {_a(entry.type)}, not a list: it cannot be appended to or subtracted from",
            hint=f"Set it: {key}=VALUE",
            code="not-a-list",
        )
    if alteration.value is None or alteration.op is ConfigOp.DELETE:
        return alteration
    try:
        raw = values.to_raw(key, entry.type, alteration.value)
    except ShellError as error:
        raise ConfigRefused(key, error.message, hint=error.hint, code="wrong-type") from None
    return ConfigAlteration(key, alteration.op, raw)


def _unknown(
    resource: ConfigResource,
    known: Mapping[str, ConfigEntry],
    key: str,
    warnings: dict[str, None],
) -> None:
    """A key the broker does not list: refused where its list is closed, else a warning."""
    near = near_miss(key, known)
    hint = f"Did you mean {near}?" if near else f"Look: describe-configs {resource} --all"
    if resource.type in _CLOSED and known:
        raise ConfigRefused(
            key, f"{resource.kind} configs have no key {key}", hint=hint, code="unknown-key"
        )
    warnings[f"the broker does not list {key}; it is sent as it is. {hint if near else ''}"] = None


def _a(kind: ConfigType) -> str:
    word = kind.name.lower()
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _change(
    resource: ConfigResource, alteration: ConfigAlteration, entry: ConfigEntry | None
) -> Change:
    before, effective, source = _before(resource, entry)
    after: str | None = alteration.value
    note = ""
    current = before if before is not None else effective
    if alteration.op is ConfigOp.DELETE:
        after, note = None, _falls_back(entry)
    elif alteration.op in _LIST_OPS and (entry is None or not entry.sensitive):
        after = _list_after(str(current or ""), alteration)
    if entry is not None and entry.sensitive:
        before, effective, after = None, None, None
        note = "sensitive: its value is not shown"
    return Change(
        Resource(resource.kind, resource.name),
        "alter",
        alteration.key,
        before,
        after,
        note=note,
        reversible=entry is None or not entry.sensitive,
        effective=effective,
        source=source,
    )


def _before(
    resource: ConfigResource, entry: ConfigEntry | None
) -> tuple[str | None, str | None, str]:
    """(value at this very level, value that holds where this level has none, whose it is)."""
    if entry is None:
        return None, None, ""
    if entry.source is own_source(resource):
        return entry.value, None, entry.source.label
    return None, entry.value, entry.source.label


def _falls_back(entry: ConfigEntry | None) -> str:
    """What will hold once the own value is gone, where the broker told its synonyms."""
    weaker = [s for s in entry.synonyms if s.source is not entry.source] if entry else []
    if not weaker:
        return ""
    return f"falls back to {weaker[0].value} ({weaker[0].source.label})"


def _list_after(current: str, alteration: ConfigAlteration) -> str:
    items = [item for item in current.split(",") if item]
    given = [item for item in (alteration.value or "").split(",") if item]
    if alteration.op is ConfigOp.APPEND:
        return ",".join(items + [item for item in given if item not in items])
    return ",".join(item for item in items if item not in given)


def _why(resource: ConfigResource, row: Any) -> Failure | None:
    if row is None:
        return Failure("UNKNOWN", f"the broker's answer does not mention {resource}")
    if row.error_code == 0:
        return None
    return failure(row.error_code, row.error_message, about=str(resource))


# -- what else is asked of configs -----------------------------------------------------------------


def list_resources(cluster: Cluster, kind: ResourceType) -> list[str]:
    """Names of the resources of this kind that have configs (KIP-1142, API key 74; Kafka 4.1).

    Client-metrics subscriptions are listed by every broker that has them (3.7).
    """
    from kafka.protocol.admin import ListConfigResourcesRequest

    lowest = 0 if kind is ResourceType.CLIENT_METRICS else 1
    response = cluster.send(ListConfigResourcesRequest(resource_types=[int(kind)]), lowest=lowest)
    return sorted(row.resource_name for row in response.config_resources)


def topic_types(cluster: Cluster) -> dict[str, ConfigEntry]:
    """What the brokers know of topic configs, read off some topic; empty where there is none."""
    from . import topics

    names = topics.scan(cluster).names
    if not names:
        return {}
    resource = ConfigResource(ResourceType.TOPIC, names[0])
    found = describe(cluster, [resource])
    return {entry.name: entry for entry in found.values.get(resource, ())}


def checked_for_create(
    key_values: Iterable[tuple[str, str]], known: Mapping[str, ConfigEntry]
) -> tuple[tuple[str, str], ...]:
    """Configs of a topic to be created, checked against `known` and their units turned.

    Raises ConfigRefused. Without `known` (a cluster with no topic) the broker alone checks.
    """
    resource = ConfigResource(ResourceType.TOPIC, "")
    checked = []
    for key, value in key_values:
        alteration = ConfigAlteration(key, ConfigOp.SET, value)
        if known:
            alteration = _checked(resource, known, alteration, {})
        checked.append((key, alteration.value or ""))
    return tuple(checked)
