"""Configs: describe and list (KIP-133, 226, 569; API keys 32, 74)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

from kafka_shell.admin.configs.losses import POLICY, policies
from kafka_shell.admin.configs.model import (
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ConfigSynonym,
    ResourceType,
)
from kafka_shell.admin.steps import not_mentioned
from kafka_shell.admin.topics.similar import with_near_misses
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.units import ConfigType, convert_unit
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import BROKER_NOT_AVAILABLE, INVALID_REQUEST, UNSUPPORTED_VERSION
from kafka_shell.wire.failures import as_error, failure
from kafka_shell.wire.frames import Reader, count, string
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.requests import ANY, Call, Node, RawRequest, Target
from kafka_shell.wire.rounds import in_slices

# DescribeConfigs (API key 32, KIP-133, 226, 569), v1 to v4, by hand.
#
# Describing topics reads configs; with this codec a one-shot command does not import kafka-python,
# which takes longer than all its requests.

API_KEY = 32
VERSIONS = (1, 4)
DOCUMENTED_SINCE = 3  # types and documentation: Kafka 2.6
FLEXIBLE_SINCE = 4
_REMEMBERED = 4  # entries per position: the default, and values that some topics set

_Fields = tuple[
    str, str | None, ConfigSource, bool, bool, ConfigType, str, tuple[ConfigSynonym, ...]
]
Answer = tuple[ConfigResource, int, str, tuple[ConfigEntry, ...]]


def encode_request(
    version: int,
    resources: Sequence[ConfigResource],
    keys: Sequence[str] | None,
    *,
    synonyms: bool,
    documentation: bool,
) -> bytes:
    """The body of a request; keys None requests all keys."""
    flexible = version >= FLEXIBLE_SINCE
    out = bytearray(count(len(resources), flexible))
    for resource in resources:
        out += struct.pack(">b", resource.type) + string(resource.name, flexible)
        out += count(None if keys is None else len(keys), flexible)
        for key in keys or ():
            out += string(key, flexible)
        out += b"\0" * flexible
    out.append(synonyms)
    if version >= DOCUMENTED_SINCE:
        out.append(documentation)
    return bytes(out + b"\0" * flexible)


def read_response(version: int, body: bytes) -> list[Answer]:
    """(resource, error code, error message, entries) of each requested resource."""
    reader, flexible = Reader(body), version >= FLEXIBLE_SINCE
    reader.int32()  # throttle time
    entry = _Entries(reader, version, body)
    responses: list[Answer] = []
    for _ in range(reader.count(flexible)):
        error, message = reader.int16(), reader.string(flexible) or ""
        resource = ConfigResource(ResourceType(reader.int8()), reader.string(flexible) or "")
        entries = [entry.next(resource, place) for place in range(reader.count(flexible))]
        _end(reader, flexible)
        entries.sort(key=lambda entry: entry.name)
        responses.append((resource, error, message, tuple(entries)))
    return responses


class _Entries:
    """Decodes the entries of one response. Most topics have the same configs in the same order:
    bytes seen at the same position before are not decoded again, which saves most of the work for
    a hundred thousand topics."""

    def __init__(self, reader: Reader, version: int, body: bytes) -> None:
        self._reader = reader
        self._version = version
        self._body = body
        self._met: dict[int, list[tuple[bytes, _Fields]]] = {}

    def next(self, resource: ConfigResource, place: int) -> ConfigEntry:
        """The entry at the reader's position, for this resource."""
        reader, start = self._reader, self._reader.position
        met = self._met.setdefault(place, [])
        for raw, fields in met:
            if self._body.startswith(raw, start):
                reader.skip(len(raw))
                return ConfigEntry(resource, *fields)
        fields = _fields(reader, self._version)
        met.insert(0, (self._body[start : reader.position], fields))
        del met[_REMEMBERED:]
        return ConfigEntry(resource, *fields)


def _fields(reader: Reader, version: int) -> _Fields:
    """The fields of a ConfigEntry after its resource, in order."""
    flexible = version >= FLEXIBLE_SINCE
    name, value = reader.string(flexible) or "", reader.string(flexible)
    read_only = bool(reader.int8())
    source = ConfigSource(reader.int8())
    sensitive = bool(reader.int8())
    synonyms = tuple(_synonym(reader, flexible, sensitive) for _ in range(reader.count(flexible)))
    kind, documentation = ConfigType.UNKNOWN, ""
    if version >= DOCUMENTED_SINCE:
        kind = ConfigType(reader.int8())
        documentation = reader.string(flexible) or ""
    _end(reader, flexible)
    shown = None if sensitive else value
    return name, shown, source, read_only, sensitive, kind, documentation, synonyms


def _synonym(reader: Reader, flexible: bool, sensitive: bool) -> ConfigSynonym:
    name, value = reader.string(flexible) or "", reader.string(flexible)
    source = ConfigSource(reader.int8())
    _end(reader, flexible)
    return ConfigSynonym(name, None if sensitive else value, source)


def _end(reader: Reader, flexible: bool) -> None:
    if flexible:
        reader.skip_tags()


Entries = Results[ConfigResource, tuple[ConfigEntry, ...]]

_AT_ONCE = 1_000  # topics in one request: a response of about 4 MiB
_AHEAD = 2  # requests in flight to a broker before its first response is read
_AHEAD_IN_ALL = 16
_MISSING: tuple[None, str, tuple[ConfigEntry, ...]] = (None, "", ())  # not in the response

# Older brokers call a request for these types malformed.
_SINCE = {
    ResourceType.BROKER_LOGGER: ("loggers", (2, 4)),
    ResourceType.CLIENT_METRICS: ("client metrics", (3, 7)),
    ResourceType.GROUP: ("groups", (4, 0)),
}


def describe(
    cluster: Cluster,
    resources: Iterable[ConfigResource],
    keys: Sequence[str] | None = None,
    *,
    synonyms: bool = False,
    documentation: bool = False,
) -> Entries:
    """The configs of each resource (API key 32); `keys` restricts them.

    One request for every thousand topics; but one per broker for configs that only that broker
    returns (its own and its loggers'). Documentation is about ten times the size of the rest:
    request it once, not for each topic.
    """
    requested = list(dict.fromkeys(resources))
    entries: Entries = Results()
    for part in in_parts(cluster, requested, keys, synonyms=synonyms, documentation=documentation):
        entries.values.update(part.values)
        entries.failures.update(part.failures)
    return Results(
        {r: entries.values[r] for r in requested if r in entries.values}, entries.failures
    )


def in_parts(
    cluster: Cluster,
    resources: Iterable[ConfigResource],
    keys: Sequence[str] | None = None,
    *,
    synonyms: bool = False,
    documentation: bool = False,
) -> Iterator[Entries]:
    """The same one response at a time. All brokers are asked at once, and no more responses are
    kept in memory than requests are in flight."""
    wrong: Entries = Results()
    requested = [r for r in dict.fromkeys(resources) if not _no_broker(r, wrong)]
    if wrong.failures:
        yield wrong
    whole = by_target(requested)
    groups = _spread(cluster, whole)
    lowest = DOCUMENTED_SINCE if documentation else None
    calls = [
        Call(_request(group, keys, synonyms, documentation), to=target, lowest=lowest)
        for target, group in groups
    ]
    brokers = len({call.to for call in calls})
    # Only these are limited: requests to brokers about themselves are all in flight at once.
    ahead = max(len(whole), min(_AHEAD * brokers, _AHEAD_IN_ALL))
    responses = cluster.send_each(calls, ahead)
    for (target, group), call, response in zip(groups, calls, responses, strict=True):
        if isinstance(response, Failure) and target != target_of(group[0]):
            response = cluster.send_all([replace(call, to=ANY)])[0]  # that broker is down
        yield _read(cluster, target, group, response)


def _spread(
    cluster: Cluster, groups: Mapping[Target, list[ConfigResource]]
) -> list[tuple[Target, list[ConfigResource]]]:
    """Split long lists that any broker can answer for, and spread them over the brokers."""
    spread: list[tuple[Target, list[ConfigResource]]] = []
    for target, group in groups.items():
        if target is not ANY or len(group) <= _AT_ONCE:
            spread.append((target, group))
            continue
        brokers = cluster.brokers()
        if not brokers:  # all are fenced
            spread += ((target, list(part)) for part in in_slices(group, _AT_ONCE))
            continue
        nodes = cycle(brokers)
        spread += ((Node(next(nodes).id), list(part)) for part in in_slices(group, _AT_ONCE))
    return spread


def _read(
    cluster: Cluster, target: Target, group: Sequence[ConfigResource], response: Any
) -> Entries:
    """The resources of one response."""
    if isinstance(response, Failure):
        return Results({}, dict.fromkeys(group, response))
    rows = {resource: row for resource, *row in response}

    def outcome(resource: ConfigResource) -> Any:
        code, message, entries = rows.get(resource, _MISSING)
        return why_not(cluster, target, resource, code, message) or entries

    configs: Entries = Results.collect((resource, outcome(resource)) for resource in group)
    return Results(configs.values, with_near_misses(cluster, configs.failures, _topic_name))


def _topic_name(resource: ConfigResource) -> str:
    return resource.name if resource.type is ResourceType.TOPIC else ""


def by_target(resources: Iterable[ConfigResource]) -> dict[Target, list[ConfigResource]]:
    """The resources by the broker to ask about them."""
    groups: dict[Target, list[ConfigResource]] = {}
    for resource in resources:
        groups.setdefault(target_of(resource), []).append(resource)
    return groups


def target_of(resource: ConfigResource) -> Target:
    """The broker itself for its configs and loggers; any broker for the rest."""
    if _of_one_broker(resource):
        return Node(int(resource.name))
    return ANY


def why_not(
    cluster: Cluster,
    target: Target,
    resource: ConfigResource,
    code: int | None,
    message: str,
    operation: str = "DESCRIBE_CONFIGS",
) -> Failure | None:
    """Why a request failed for a resource; None if it did not.

    `operation` is what an ACL must allow.
    """
    if code is None:
        return not_mentioned(resource)
    if code == 0:
        return None
    if code == INVALID_REQUEST and resource.type in _SINCE:
        what, since = _SINCE[resource.type]
        release = cluster.release(target)
        if tuple(map(int, release.split("."))) < since:
            first = ".".join(map(str, since))
            return failure(
                UNSUPPORTED_VERSION,
                text=f"{resource}: Kafka {release} has no configs of {what}, which exist since"
                f" Kafka {first}",
                hint="Upgrade the brokers.",
            )
    own = resource.type in (ResourceType.TOPIC, ResourceType.GROUP)
    requires = f"{operation} on {resource if own else 'the cluster'}"
    return failure(code, message, about=str(resource), requires=requires)


def _of_one_broker(resource: ConfigResource) -> bool:
    kinds = (ResourceType.BROKER, ResourceType.BROKER_LOGGER)
    return resource.type in kinds and bool(resource.name)


def _no_broker(resource: ConfigResource, entries: Entries) -> bool:
    """Whether the name is not a broker ID; adds the failure to `entries`."""
    if not _of_one_broker(resource) or (resource.name.isascii() and resource.name.isdigit()):
        return False
    entries.failures[resource] = failure(
        INVALID_REQUEST, text=f"{resource}: a broker ID must be a number", see=Resource("broker")
    )
    return True


def _request(
    resources: Sequence[ConfigResource],
    keys: Sequence[str] | None,
    synonyms: bool,
    documentation: bool,
) -> RawRequest:
    def body(version: int) -> bytes:
        return encode_request(
            version, resources, keys, synonyms=synonyms, documentation=documentation
        )

    return RawRequest(
        API_KEY,
        VERSIONS,
        body,
        FLEXIBLE_SINCE,
        read_response,
    )


def list_resources(cluster: Cluster, kind: ResourceType) -> list[str]:
    """The names of the resources of this type that have configs.

    These are client-metrics subscriptions and groups with configs of their own (KIP-1142, API key
    74: subscriptions since Kafka 3.7, groups since 4.1).
    """
    if kind is ResourceType.TOPIC:
        return sorted(scan(cluster).names)
    if kind is not ResourceType.CLIENT_METRICS and kind is not ResourceType.GROUP:
        return [str(broker.id) for broker in cluster.brokers(refresh=True)]
    requires = "DESCRIBE_CONFIGS on the cluster"
    if kind is ResourceType.CLIENT_METRICS and not cluster.supports(
        messages.ListConfigResourcesRequest, 1
    ):
        response = cluster.send(messages.ListConfigResourcesRequest(), highest=0, requires=requires)
    else:
        response = cluster.send(
            messages.ListConfigResourcesRequest(resource_types=[int(kind)]),
            lowest=1,
            requires=requires,
        )
    return sorted(row.resource_name for row in response.config_resources)


def topic_types(cluster: Cluster) -> dict[str, ConfigEntry]:
    """The configs that topics can have, read from any topic; empty if there is none."""
    names = scan(cluster).names
    if not names:
        return {}
    resource = ConfigResource(ResourceType.TOPIC, names[0])
    entries = describe(cluster, [resource])
    return by_name(entries.values.get(resource, ()))


def by_name(entries: Iterable[ConfigEntry]) -> dict[str, ConfigEntry]:
    """The entries of one resource by key."""
    return {entry.name: entry for entry in entries}


def own_values(
    cluster: Cluster, keys: Sequence[str]
) -> tuple[list[tuple[str, ConfigEntry]], dict[str, Failure]]:
    """(broker ID, entry) of each broker that sets one of these keys itself; and failures by broker
    id."""
    brokers = [ConfigResource(ResourceType.BROKER, str(broker.id)) for broker in cluster.brokers()]
    configs = describe(cluster, brokers, keys)
    own = [
        (resource.name, entry)
        for resource, entries in configs.values.items()
        for entry in entries
        if entry.overridden
    ]
    return own, {resource.name: reason for resource, reason in configs.failures.items()}


# The config keys that a resource can have, and the values it inherits.

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
    configs = describe(cluster, resources, synonyms=True)
    known: Results[ConfigResource, Known] = Results({}, configs.failures)
    for resource, entries in configs.values.items():
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
    reason = failure(BROKER_NOT_AVAILABLE, text="no broker is running")
    for broker in sorted(cluster.brokers(refresh=True), key=lambda each: not each.version):
        resource = ConfigResource(ResourceType.BROKER, str(broker.id))
        entries = describe(cluster, [resource], keys, synonyms=synonyms)
        if entries.ok:
            return by_name(entries[resource])
        reason = entries.failures[resource]
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


def weaker(entry: ConfigEntry) -> ConfigSynonym | None:
    """The synonym that is effective without the resource's own value; None if unknown."""
    return next((s for s in entry.synonyms if s.source is not entry.source), None)


def inherited(entry: ConfigEntry) -> str | None:
    """The value without the resource's own one, in the key's unit; None if unknown (without
    synonyms)."""
    below = weaker(entry)
    if below is None or below.value is None:
        return None
    return convert_unit(below.value, below.name, entry.name)


def with_retention(
    cluster: Cluster, entries: Mapping[ConfigResource, Known], removed: Iterable[ConfigResource]
) -> dict[ConfigResource, Known]:
    """The same with the inherited retention.ms of the `removed` topics: brokers leave it out of the
    synonyms if log.retention.hours or log.retention.minutes sets it, so it is read from a
    broker."""
    topics = [
        resource
        for resource in removed
        if (entry := entries[resource].get("retention.ms")) and inherited(entry) is None
    ]
    if not topics:
        return dict(entries)
    weaker = broker_retention(cluster)
    return dict(entries) | {
        resource: {
            **entries[resource],
            "retention.ms": _with_synonyms(entries[resource]["retention.ms"], weaker),
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


def cleanup_policies(cluster: Cluster, topics: Iterable[str]) -> Results[str, frozenset[str]]:
    """The items of cleanup.policy of each topic."""
    configs = describe(
        cluster, [ConfigResource(ResourceType.TOPIC, topic) for topic in topics], [POLICY]
    )
    values = {
        resource.name: frozenset(policies(entry.value or ""))
        for resource, entries in configs.values.items()
        for entry in entries
    }
    return Results(values, {resource.name: why for resource, why in configs.failures.items()})
