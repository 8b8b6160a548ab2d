"""Client quotas: describe (KIP-546; API key 48; Kafka 2.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_shell.admin.quotas.model import (
    DEFAULT,
    AnyName,
    Default,
    Quota,
    QuotaEntity,
    QuotaFilter,
    QuotaHolder,
)
from kafka_shell.admin.wire.chunks import MANY
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import as_error, requires
from kafka_shell.admin.wire.requests import Call
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure, Results

_EXACT, _DEFAULT, _ANY_NAME = 0, 1, 2  # match types of a filter's component
_FIELDS = {"user": "user", "client-id": "client_id", "ip": "ip"}

_EVERYTHING = QuotaFilter()


def describe(cluster: Cluster, which: QuotaFilter = _EVERYTHING) -> tuple[Quota, ...]:
    """The quotas of the entities that match the filter; without a filter, all quotas (API key 48).

    Sorted by entity and key. Raises ShellError if the broker refuses the request.
    """
    return describe_many(cluster, [which])


def describe_many(cluster: Cluster, filters: Sequence[QuotaFilter]) -> tuple[Quota, ...]:
    """The quotas that match any of the filters, each once. All requests are sent at once.

    Raises ShellError if the broker refuses one.
    """
    found: dict[Quota, None] = {}
    for response in cluster.send_all([Call(_describe_request(which)) for which in filters]):
        if isinstance(response, Failure):
            raise as_error(_refused(response))
        found.update(dict.fromkeys(_quotas(response)))
    return tuple(sorted(found, key=lambda quota: (quota.entity.order, quota.key)))


def holders(found: Sequence[Quota], kind: str) -> tuple[QuotaHolder, ...]:
    """The entities of one type (`user`, `client_id`, `ip`) that have quotas or children with
    quotas."""
    own: dict[QuotaEntity, dict[str, None]] = {}
    below: dict[QuotaEntity, set[QuotaEntity]] = {}
    for quota in found:
        name = getattr(quota.entity, kind)
        if name is None:
            continue
        holder = QuotaEntity(**{kind: name})
        keys = own.setdefault(holder, {})
        if quota.entity == holder:
            keys[quota.key] = None
        else:
            below.setdefault(holder, set()).add(quota.entity)
    return tuple(
        QuotaHolder(holder, tuple(keys), len(below.get(holder, ())))
        for holder, keys in sorted(own.items(), key=lambda pair: pair[0].order)
    )


def entities(found: Sequence[Quota]) -> tuple[QuotaHolder, ...]:
    """The keys of all entities that have quotas."""
    keys: dict[QuotaEntity, list[str]] = {}
    for quota in found:
        keys.setdefault(quota.entity, []).append(quota.key)
    return tuple(QuotaHolder(entity, tuple(own)) for entity, own in keys.items())


def describe_each(
    cluster: Cluster, entities: Sequence[QuotaEntity]
) -> Results[QuotaEntity, tuple[Quota, ...]]:
    """The quotas of exactly these entities. No quota is not a failure."""
    requested = list(dict.fromkeys(entities))
    if len(requested) > MANY:
        return _describe_by_listing(cluster, requested)
    calls = [Call(_describe_request(QuotaFilter.exactly(entity))) for entity in requested]
    results: Results[QuotaEntity, tuple[Quota, ...]] = Results()
    for entity, response in zip(requested, cluster.send_all(calls), strict=True):
        if isinstance(response, Failure):
            results.failures[entity] = _refused(response)
        else:
            results.values[entity] = _quotas(response)
    return results


def _describe_by_listing(
    cluster: Cluster, requested: Sequence[QuotaEntity]
) -> Results[QuotaEntity, tuple[Quota, ...]]:
    own: dict[QuotaEntity, list[Quota]] = {entity: [] for entity in requested}
    for quota in describe(cluster):
        if quota.entity in own:
            own[quota.entity].append(quota)
    return Results({entity: tuple(found) for entity, found in own.items()})


def _refused(failure: Failure) -> Failure:
    missing = requires(failure.code or 0, "DESCRIBE_CONFIGS on the cluster")
    return replace(failure, hint=missing or failure.hint)


def _describe_request(which: QuotaFilter) -> Any:
    from kafka.protocol.admin import DescribeClientQuotasRequest

    parts = (("user", which.user), ("client-id", which.client_id), ("ip", which.ip))
    return DescribeClientQuotasRequest(
        components=[
            DescribeClientQuotasRequest.ComponentData(
                entity_type=kind,
                match_type=_match(name),
                match=name if isinstance(name, str) else None,
            )
            for kind, name in parts
            if name is not None
        ],
        strict=which.strict,
    )


def _match(name: str | Default | AnyName) -> int:
    if isinstance(name, str):
        return _EXACT
    return _DEFAULT if isinstance(name, Default) else _ANY_NAME


def _quotas(response: Any) -> tuple[Quota, ...]:
    found = [
        Quota(_entity(row.entity), value.key, value.value)
        for row in response.entries or ()
        for value in row.values
    ]
    return tuple(sorted(found, key=lambda quota: (quota.entity.order, quota.key)))


def _entity(parts: Any) -> QuotaEntity:
    """Raises ShellError for an unknown (newer) entity type: without it the quota would be shown for
    another entity."""
    names: dict[str, str | Default] = {}
    for part in parts:
        field = _FIELDS.get(part.entity_type)
        if field is None:
            raise ShellError(
                f"a quota is set for the unknown entity type {part.entity_type}",
                hint="Upgrade kafka.sh.",
                code="unknown-entity-type",
            )
        names[field] = DEFAULT if part.entity_name is None else part.entity_name
    return QuotaEntity(**names)
