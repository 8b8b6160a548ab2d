"""The effective quota of a client: the levels that a broker checks, in order.

This is what Kafka's ClientQuotaManager does for each kind of limit (KIP-55), and ConnectionQuotas
for IP addresses (KIP-612). A broker can have a callback (client.quota.callback.class) instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import (
    CLIENT_QUOTAS,
    DEFAULT,
    IP_QUOTAS,
    Default,
    EffectiveQuotas,
    Quota,
    QuotaEntity,
    QuotaLevel,
    QuotaResolution,
    QuotaSource,
)
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import as_error

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
    found = quotas.describe_each(cluster, [*of_client, *of_ip])
    for failure in found.failures.values():
        raise as_error(failure)
    set_ = [quota for owned in found for quota in owned]
    return effective_quotas(set_, user, client_id, ip)


def effective_quotas(
    found: Iterable[Quota], user: str | None, client_id: str | None, ip: str | None = None
) -> EffectiveQuotas:
    """The same from quotas that were read before."""
    current = {(quota.entity, quota.key): quota.value for quota in found}
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
        return tuple(QuotaEntity(user=each) for each in users)
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
    from kafka_shell.admin.configs.known import of_some_broker

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
