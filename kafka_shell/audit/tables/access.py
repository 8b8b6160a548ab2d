"""ACLs, SCRAM credentials, quotas and dynamic client configs."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from kafka_shell.admin.client_configs.model import ClientEntity, resolve
from kafka_shell.admin.quotas.model import Default, Quota
from kafka_shell.admin.quotas.read import describe, effective_quotas
from kafka_shell.audit.table import Names, ReadFailure, Rows, read_failure, readable, table
from kafka_shell.base.errors import ShellError

if TYPE_CHECKING:
    from kafka_shell.admin.acls.model import AclBinding
    from kafka_shell.wire.cluster import Cluster


@table(
    "acls",
    "One row per ACL binding.",
    """
    resource_type  string  topic, group, cluster ...
    resource_name  string  The resource's name, or * for any.
    pattern_type   string  literal or prefixed.
    principal      string  User:alice.
    host           string  An address, or * for any.
    operation      string  Read, Write ...
    permission     string  allow or deny.
    acl            string  The binding as an alter-acls rule.
    """,
)
def read_acls(cluster: Cluster, names: Names) -> Rows:
    """DescribeAcls, API key 29."""
    from kafka_shell.admin.acls import read as acls

    yield from map(acl_row, acls.describe(cluster))


def acl_row(found: AclBinding) -> tuple[Any, ...]:
    """The row of an ACL."""
    return (
        found.resource_type.kind, found.name, found.pattern_type.name.lower(),
        found.principal, found.host, found.operation.label, found.permission.name.lower(),
        str(found),
    )  # fmt: skip


@table(
    "scram_users",
    "One row per SCRAM credential.",
    """
    user        string  The user.
    mechanism   string  SCRAM-SHA-256 or SCRAM-SHA-512.
    iterations  int     Number of hash iterations.
    """,
)
def read_scram_users(cluster: Cluster, names: Names) -> Rows:
    """DescribeUserScramCredentials, API key 50."""
    from kafka_shell.admin.users import scram

    found = yield from readable(scram.describe(cluster), "user")
    for credentials in found.values():
        for each in credentials:
            yield each.user, each.mechanism.label, each.iterations


# -- Quotas and dynamic client configs -------------------------------------------------------------

_MOST_PAIRS = 50_000


@table(
    "quotas",
    "One row per quota of an entity.",
    """
    user               string?  The user, if named.
    client_id          string?  The client ID, if named.
    ip                 string?  The IP address, if named.
    user_default       boolean  Whether the quota is for the default user.
    client_id_default  boolean  Whether the quota is for the default client ID.
    ip_default         boolean  Whether the quota is for the default IP address.
    key                string   producer_byte_rate ...
    value              double   The limit.
    entity             string   The entity: user alice client-id reports.
    """,
)
def read_quotas(cluster: Cluster, names: Names) -> Rows:
    """DescribeClientQuotas, API key 48."""
    yield from map(quota_row, describe(cluster))


def quota_row(quota: Quota) -> tuple[Any, ...]:
    """The row of a quota."""
    of = quota.entity
    parts = (of.user, of.client_id, of.ip)
    return (
        *(name if isinstance(name, str) else None for name in parts),
        *(isinstance(name, Default) for name in parts),
        quota.key,
        quota.value,
        str(of),
    )


@table(
    "effective_quotas",
    "One row per effective quota of a client; null is a user or client ID without a name.",
    """
    user       string?  The user.
    client_id  string?  The client ID.
    key        string   producer_byte_rate ...
    value      double   The limit per broker.
    source     string   The level that applies: User, Default user ...
    """,
)
def read_effective_quotas(cluster: Cluster, names: Names) -> Rows:
    """As resolve-quota computes them: for every user named by a quota or credential and an
    unnamed user, each with every client ID named by a quota and an unnamed client ID."""
    found = describe(cluster)
    yield from effective_rows(found, (yield from _scram_users(cluster)))


def effective_rows(found: Sequence[Quota], users: set[str]) -> Rows:
    """The effective quotas of these users, and of those with quotas."""
    users = users | {quota.entity.user for quota in found if isinstance(quota.entity.user, str)}
    ids = {quota.entity.client_id for quota in found if isinstance(quota.entity.client_id, str)}
    pairs = (len(users) + 1) * (len(ids) + 1)
    if pairs > _MOST_PAIRS:
        many = f"{pairs:,} pairs of user and client ID are too many"
        yield ReadFailure("", "too-many", f"{many}; run resolve-quota for one of them")
        return
    for user in (None, *sorted(users)):
        for client_id in (None, *sorted(ids)):
            for limit in effective_quotas(found, user, client_id).resolutions:
                if limit.value is not None and limit.source is not None:
                    yield user, client_id, limit.key, limit.value, limit.source.value


def _scram_users(cluster: Cluster) -> Generator[ReadFailure, None, set[str]]:
    from kafka_shell.admin.users import scram

    try:
        return {*(yield from readable(scram.describe(cluster), "user"))}
    except ShellError as error:  # quotas of the other users are still read
        yield read_failure("", error)
        return set()


@table(
    "client_configs",
    "One row per dynamic client config.",
    """
    user       string   The user.
    client_id  string?  The client ID; null for all clients of the user.
    key        string   acks ...
    value      string   The value as text.
    entity     string   The entity: user alice client-id app.
    """,
)
def read_client_configs(cluster: Cluster, names: Names) -> Rows:
    """KIP-649."""
    from kafka_shell.admin.client_configs import read as client_configs

    found = client_configs.describe(cluster)
    for config in found:
        of = config.entity
        yield of.user, of.client_id, config.key, config.value, str(of)
    for about, why in found.failures.items():
        yield ReadFailure(about, "unknown-format", why.message)


@table(
    "effective_client_configs",
    "One row per effective dynamic config of a client.",
    """
    user       string   The user.
    client_id  string?  The client ID; null for clients that no config names.
    key        string   acks ...
    value      string   The value as text.
    level      string   The level that sets it: client-id or user.
    entity     string   The level as an entity: user alice client-id app.
    """,
)
def read_effective_client_configs(cluster: Cluster, names: Names) -> Rows:
    """As describe-client-configs --resolve computes them, for every client named by a config or
    registration; client ID None is any other client of a user."""
    from kafka_shell.admin.client_configs import read as client_configs

    found = client_configs.describe(cluster)
    registered = client_configs.registrations(cluster, now=int(time.time() * 1000))
    for about, why in {**found.failures, **registered.failures}.items():
        yield ReadFailure(about, "unknown-format", why.message)
    entities = {each.entity for each in found} | {each.entity for each in registered}
    entities |= {ClientEntity(each.user) for each in entities}
    for entity in sorted(entities, key=lambda each: each.order):
        if entity.client_id is None:
            effective = {each.key: each for each in found if each.entity == entity}
        else:
            effective = resolve(found, entity.user, entity.client_id)
        for key, config in effective.items():
            level = "user" if config.entity.client_id is None else "client-id"
            yield (
                entity.user, entity.client_id, key, config.value, level,
                str(config.entity),
            )  # fmt: skip
