"""Configs: describe and list (KIP-133, 226, 569; API keys 32, 74)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

from kafka_shell.admin.configs import wire as config_wire
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ResourceType
from kafka_shell.admin.steps import not_mentioned
from kafka_shell.admin.topics.similar import with_near_misses
from kafka_shell.admin.wire.chunks import in_slices
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.error_codes import INVALID_REQUEST, UNSUPPORTED_VERSION
from kafka_shell.admin.wire.failures import BrokerError, failure, requires
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.admin.wire.requests import ANY, Call, Node, RawRequest, Target
from kafka_shell.common.resource import Resource
from kafka_shell.common.structs import replace
from kafka_shell.plan.results import Failure, Results

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
    found: Entries = Results()
    for part in in_parts(cluster, requested, keys, synonyms=synonyms, documentation=documentation):
        found.values.update(part.values)
        found.failures.update(part.failures)
    return Results({r: found.values[r] for r in requested if r in found.values}, found.failures)


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
    lowest = config_wire.DOCUMENTED_SINCE if documentation else None
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
    found: Entries = Results()
    if isinstance(response, Failure):
        found.failures.update(dict.fromkeys(group, response))
        return found
    rows = {resource: row for resource, *row in response}
    for resource in group:
        code, message, entries = rows.get(resource, _MISSING)
        reason = why_not(cluster, target, resource, code, message)
        if reason is None:
            found.values[resource] = entries
        else:
            found.failures[resource] = reason
    return Results(found.values, with_near_misses(cluster, found.failures, _topic_name))


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
            return Failure(
                "UNSUPPORTED_VERSION",
                f"{resource}: Kafka {release} has no configs of {what}, which exist since Kafka"
                f" {first}",
                UNSUPPORTED_VERSION,
                hint="Upgrade the brokers.",
            )
    own = resource.type in (ResourceType.TOPIC, ResourceType.GROUP)
    hint = requires(code, f"{operation} on {resource if own else 'the cluster'}")
    return failure(code, message, about=str(resource), hint=hint)


def _of_one_broker(resource: ConfigResource) -> bool:
    kinds = (ResourceType.BROKER, ResourceType.BROKER_LOGGER)
    return resource.type in kinds and bool(resource.name)


def _no_broker(resource: ConfigResource, found: Entries) -> bool:
    """Whether the name is not a broker ID; adds the failure to `found`."""
    if not _of_one_broker(resource) or (resource.name.isascii() and resource.name.isdigit()):
        return False
    found.failures[resource] = Failure(
        "INVALID_REQUEST",
        f"{resource}: a broker ID must be a number",
        INVALID_REQUEST,
        see=Resource("broker"),
    )
    return True


def _request(
    resources: Sequence[ConfigResource],
    keys: Sequence[str] | None,
    synonyms: bool,
    documentation: bool,
) -> RawRequest:
    def body(version: int) -> bytes:
        return config_wire.encode_request(
            version, resources, keys, synonyms=synonyms, documentation=documentation
        )

    return RawRequest(
        config_wire.API_KEY,
        config_wire.VERSIONS,
        body,
        config_wire.FLEXIBLE_SINCE,
        config_wire.read_response,
    )


def list_resources(cluster: Cluster, kind: ResourceType) -> list[str]:
    """The names of the resources of this type that have configs.

    Client-metrics subscriptions and groups are those with configs of their own (KIP-1142, API key
    74: subscriptions since Kafka 3.7, groups since 4.1).
    """
    if kind is ResourceType.TOPIC:
        return sorted(scan(cluster).names)
    if kind is not ResourceType.CLIENT_METRICS and kind is not ResourceType.GROUP:
        return [str(broker.id) for broker in cluster.brokers(refresh=True)]
    from kafka.protocol.admin import ListConfigResourcesRequest as Request

    try:
        if kind is ResourceType.CLIENT_METRICS and not cluster.supports(Request, 1):
            response = cluster.send(Request(), highest=0)
        else:
            response = cluster.send(Request(resource_types=[int(kind)]), lowest=1)
    except BrokerError as error:
        error.hint = error.hint or requires(
            error.kafka_code or 0, "DESCRIBE_CONFIGS on the cluster"
        )
        raise
    return sorted(row.resource_name for row in response.config_resources)


def topic_types(cluster: Cluster) -> dict[str, ConfigEntry]:
    """The configs that topics can have, read from any topic; empty if there is none."""
    names = scan(cluster).names
    if not names:
        return {}
    resource = ConfigResource(ResourceType.TOPIC, names[0])
    found = describe(cluster, [resource])
    return by_name(found.values.get(resource, ()))


def by_name(entries: Iterable[ConfigEntry]) -> dict[str, ConfigEntry]:
    """The entries of one resource by key."""
    return {entry.name: entry for entry in entries}


def own_values(
    cluster: Cluster, keys: Sequence[str]
) -> tuple[list[tuple[str, ConfigEntry]], dict[str, Failure]]:
    """(broker ID, entry) of each broker that sets one of these keys itself; and failures by broker
    id."""
    brokers = [ConfigResource(ResourceType.BROKER, str(broker.id)) for broker in cluster.brokers()]
    found = describe(cluster, brokers, keys)
    own = [
        (resource.name, entry)
        for resource, entries in found.values.items()
        for entry in entries
        if entry.overridden
    ]
    return own, {resource.name: reason for resource, reason in found.failures.items()}
