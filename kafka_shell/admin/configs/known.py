"""The config keys that a resource can have, and the values it inherits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_shell.admin.configs.model import (
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    ResourceType,
)
from kafka_shell.admin.configs.read import by_name, describe
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import as_error
from kafka_shell.common.config_units import convert_unit
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure, Results

Known = Mapping[str, ConfigEntry]

# The keys of a client-metrics subscription (KIP-714). Brokers before 4.0 list only keys that are
# set, without types.
_SUBSCRIPTION = {
    "interval.ms": ConfigType.INT,
    "match": ConfigType.LIST,
    "metrics": ConfigType.LIST,
}
# The configs of a broker for the retention time of its topics: the first that is set wins.
_AGES = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
_FIXED = (ConfigSource.STATIC_BROKER, ConfigSource.DEFAULT)


def known_of(cluster: Cluster, resources: Iterable[ConfigResource]) -> Results[ConfigResource, Any]:
    """All keys that each resource can have, with their types and effective values."""
    found = describe(cluster, resources, synonyms=True)
    known: Results[ConfigResource, Known] = Results({}, found.failures)
    for resource, entries in found.values.items():
        if resource.kind == "broker-default":
            known.values[resource] = _of_default(cluster, resource, entries)
        elif resource.type is ResourceType.CLIENT_METRICS:
            known.values[resource] = _of_subscription(resource, entries)
        else:
            known.values[resource] = by_name(entries)
    return known


def _of_default(
    cluster: Cluster, default: ConfigResource, own: Iterable[ConfigEntry]
) -> dict[str, ConfigEntry]:
    """A cluster-wide default lists only keys that are set: the rest is read from a broker."""
    known: dict[str, ConfigEntry] = {}
    try:
        theirs = of_some_broker(cluster, synonyms=True)
    except ShellError:  # the types stay unknown
        theirs = {}
    for entry in theirs.values():
        fixed = tuple(synonym for synonym in entry.synonyms if synonym.source in _FIXED)
        holds, source = entry.value, entry.source
        if source not in _FIXED:
            holds = fixed[0].value if fixed else None
            source = fixed[0].source if fixed else ConfigSource.DEFAULT
        known[entry.name] = replace(
            entry, resource=default, value=holds, source=source, synonyms=fixed
        )
    for entry in own:
        below = known.get(entry.name)
        weaker = below.synonyms if below else ()
        known[entry.name] = replace(entry, synonyms=(*entry.synonyms, *weaker))
    return known


def of_some_broker(
    cluster: Cluster, keys: Sequence[str] | None = None, *, synonyms: bool = False
) -> dict[str, ConfigEntry]:
    """The configs of one broker by key: of the first that returns them, connected brokers first.
    Raises ShellError if none does."""
    if cluster.config.broker_configs is not None:
        theirs = cluster.config.broker_configs(cluster)
        return {key: each for key, each in theirs.items() if keys is None or key in keys}
    reason = Failure("BROKER_NOT_AVAILABLE", "no broker is running", 8)
    for broker in sorted(cluster.brokers(refresh=True), key=lambda each: not each.version):
        resource = ConfigResource(ResourceType.BROKER, str(broker.id))
        found = describe(cluster, [resource], keys, synonyms=synonyms)
        if found.ok:
            return by_name(found[resource])
        reason = found.failures[resource]
    raise as_error(reason)


def _of_subscription(
    resource: ConfigResource, entries: Iterable[ConfigEntry]
) -> dict[str, ConfigEntry]:
    known = {
        key: ConfigEntry(resource, key, None, ConfigSource.DEFAULT, type=kind)
        for key, kind in _SUBSCRIPTION.items()
    }
    for entry in entries:
        if entry.type is ConfigType.UNKNOWN:
            entry = replace(entry, type=_SUBSCRIPTION.get(entry.name, entry.type))
        known[entry.name] = entry
    return known


def inherited(entry: ConfigEntry) -> str | None:
    """The value without the resource's own one, in the key's unit; None if unknown (without
    synonyms)."""
    weaker = next((s for s in entry.synonyms if s.source is not entry.source), None)
    if weaker is None or weaker.value is None:
        return None
    return convert_unit(weaker.value, weaker.name, entry.name)


def with_retention(
    cluster: Cluster, found: Mapping[ConfigResource, Known], removed: Iterable[ConfigResource]
) -> dict[ConfigResource, Known]:
    """The same with the inherited retention.ms of the `removed` topics: brokers leave it out of the
    synonyms if log.retention.hours or log.retention.minutes sets it, so it is read from a
    broker."""
    topics = [
        resource
        for resource in removed
        if (entry := found[resource].get("retention.ms")) and inherited(entry) is None
    ]
    if not topics:
        return dict(found)
    weaker = broker_retention(cluster)
    return dict(found) | {
        resource: {
            **found[resource],
            "retention.ms": _with_synonyms(found[resource]["retention.ms"], weaker),
        }
        for resource in topics
    }


def broker_retention(cluster: Cluster) -> tuple[ConfigSynonym, ...]:
    """The broker config that sets the inherited retention.ms of topics; none if it is unknown."""
    try:
        broker = of_some_broker(cluster, _AGES)
    except ShellError:
        return ()
    ages = [broker[key] for key in _AGES if key in broker and broker[key].value is not None]
    return tuple(ConfigSynonym(entry.name, entry.value, entry.source) for entry in ages[:1])


def _with_synonyms(entry: ConfigEntry, weaker: tuple[ConfigSynonym, ...]) -> ConfigEntry:
    own = tuple(synonym for synonym in entry.synonyms if synonym.source is entry.source)
    return replace(entry, synonyms=(*own, *weaker))
