"""Client quotas: describe (KIP-546; API key 48; Kafka 2.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_shell.admin.configs.read import of_some_broker
from kafka_shell.admin.quotas.model import (
    CLIENT_QUOTAS,
    DEFAULT,
    IP_QUOTAS,
    AnyName,
    Default,
    EffectiveQuotas,
    Quota,
    QuotaEntity,
    QuotaFilter,
    QuotaHolder,
    QuotaLevel,
    QuotaResolution,
    QuotaSource,
)
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import as_error, requiring
from kafka_shell.wire.requests import Call
from kafka_shell.wire.rounds import MANY

_EXACT, _DEFAULT, _ANY_NAME = 0, 1, 2  # match types of a filter's component
_FIELDS = {"user": "user", "client-id": "client_id", "ip": "ip"}

_EVERYTHING = QuotaFilter()
_PERMISSION = "DESCRIBE_CONFIGS on the cluster"


def describe(cluster: Cluster, which: QuotaFilter = _EVERYTHING) -> tuple[Quota, ...]:
    """The quotas of the entities that match the filter; without a filter, all quotas (API key 48).

    Sorted by entity and key. Raises ShellError if the broker refuses the request.
    """
    return describe_many(cluster, [which])


def describe_many(cluster: Cluster, filters: Sequence[QuotaFilter]) -> tuple[Quota, ...]:
    """The quotas that match any of the filters, each once. All requests are sent at once.

    Raises ShellError if the broker refuses one.
    """
    quotas: dict[Quota, None] = {}
    for response in cluster.send_all([Call(_describe_request(which)) for which in filters]):
        if isinstance(response, Failure):
            raise as_error(requiring(response, _PERMISSION))
        quotas.update(dict.fromkeys(_quotas(response)))
    return tuple(sorted(quotas, key=lambda quota: (quota.entity.order, quota.key)))


def holders(quotas: Sequence[Quota], kind: str) -> tuple[QuotaHolder, ...]:
    """The entities of one type (`user`, `client_id`, `ip`) that have quotas or children with
    quotas."""
    own: dict[QuotaEntity, dict[str, None]] = {}
    below: dict[QuotaEntity, set[QuotaEntity]] = {}
    for quota in quotas:
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


def entities(quotas: Sequence[Quota]) -> tuple[QuotaHolder, ...]:
    """The keys of all entities that have quotas."""
    keys: dict[QuotaEntity, list[str]] = {}
    for quota in quotas:
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
    return Results.collect(
        (entity, requiring(row, _PERMISSION) if isinstance(row, Failure) else _quotas(row))
        for entity, row in zip(requested, cluster.send_all(calls), strict=True)
    )


def _describe_by_listing(
    cluster: Cluster, requested: Sequence[QuotaEntity]
) -> Results[QuotaEntity, tuple[Quota, ...]]:
    own: dict[QuotaEntity, list[Quota]] = {entity: [] for entity in requested}
    for quota in describe(cluster):
        if quota.entity in own:
            own[quota.entity].append(quota)
    return Results({entity: tuple(quotas) for entity, quotas in own.items()})


def _describe_request(which: QuotaFilter) -> Any:
    parts = (("user", which.user), ("client-id", which.client_id), ("ip", which.ip))
    return messages.DescribeClientQuotasRequest(
        components=[
            messages.DescribeClientQuotasRequest.ComponentData(
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
    quotas = [
        Quota(_entity(row.entity), value.key, value.value)
        for row in response.entries or ()
        for value in row.values
    ]
    return tuple(sorted(quotas, key=lambda quota: (quota.entity.order, quota.key)))


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


# The effective quota of a client: the levels that a broker checks, in order.
#
# This is what Kafka's ClientQuotaManager does for each kind of limit (KIP-55), and ConnectionQuotas
# for IP addresses (KIP-612). A broker can have a callback (client.quota.callback.class) instead.

_CALLBACK = "client.quota.callback.class"
_Name = str | Default | None
Entities = tuple[QuotaEntity, ...]


def resolve(
    cluster: Cluster,
    user: str | None = None,
    client_id: str | None = None,
    ip: str | None = None,
) -> EffectiveQuotas:
    """The effective quotas of this user, client ID and IP address; None is a name that no quota
    has.

    An IP address alone gives connection quotas only. Raises ShellError if quotas cannot be read.
    """
    of_client, of_ip = _requested(user, client_id, ip)
    quotas = describe_each(cluster, [*of_client, *of_ip])
    for failure in quotas.failures.values():
        raise as_error(failure)
    set_ = [quota for owned in quotas for quota in owned]
    return effective_quotas(set_, user, client_id, ip)


def effective_quotas(
    quotas: Iterable[Quota], user: str | None, client_id: str | None, ip: str | None = None
) -> EffectiveQuotas:
    """The same from quotas that were read before."""
    current = {(quota.entity, quota.key): quota.value for quota in quotas}
    of_client, of_ip = _requested(user, client_id, ip)
    resolutions = [_resolved(key, of_client, current) for key in CLIENT_QUOTAS if of_client]
    resolutions += [_resolved(key, of_ip, current) for key in IP_QUOTAS if of_ip]
    return EffectiveQuotas(user, client_id, ip, tuple(resolutions))


def _requested(
    user: str | None, client_id: str | None, ip: str | None
) -> tuple[Entities, Entities]:
    """The levels of the client (none if only an IP address is given), and those of the address."""
    only_ip = ip is not None and user is None and client_id is None
    of_client = () if only_ip else levels(user, client_id)
    return of_client, ip_levels(ip) if ip is not None else ()


def levels(user: str | None, client_id: str | None) -> tuple[QuotaEntity, ...]:
    """The entities whose quotas can apply to this user and client ID, by precedence.

    Only quotas of users apply to an empty client ID.
    """
    users: tuple[_Name, ...] = (DEFAULT,) if user is None else (user, DEFAULT)
    clients: tuple[_Name, ...] = (DEFAULT,) if client_id is None else (client_id, DEFAULT)
    if client_id == "":
        return tuple(QuotaEntity(user=name) for name in users)
    of_users = [
        QuotaEntity(user=owner, client_id=client) for owner in users for client in (*clients, None)
    ]
    return (*of_users, *(QuotaEntity(client_id=client) for client in clients))


def ip_levels(ip: str) -> tuple[QuotaEntity, ...]:
    """The entities whose quotas can apply to this address."""
    return QuotaEntity(ip=ip), QuotaEntity(ip=DEFAULT)


def callback(cluster: Cluster) -> str:
    """The callback class that replaces Kafka's own, on one broker; "" if there is none.

    Raises ShellError if the broker's configs cannot be read.
    """
    entry = of_some_broker(cluster).get(_CALLBACK)
    return (entry.value or "") if entry is not None else ""


def _resolved(
    key: str, entities: Sequence[QuotaEntity], current: Mapping[tuple[QuotaEntity, str], float]
) -> QuotaResolution:
    checked = tuple(
        QuotaLevel(QuotaSource.of(entity), entity, current.get((entity, key)))
        for entity in entities
    )
    effective = next((level for level in checked if level.value is not None), None)
    if effective is None:
        return QuotaResolution(key, None, None, None, checked)
    return QuotaResolution(key, effective.value, effective.source, effective.entity, checked)
