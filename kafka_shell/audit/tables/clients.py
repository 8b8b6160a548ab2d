"""What is set for clients: quotas and dynamic configs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_shell.admin.client_configs.model import ClientEntity
from kafka_shell.audit.table import Column, Slice, Table, Trouble
from kafka_shell.errors import ShellError
from kafka_shell.quoting import quote

if TYPE_CHECKING:
    from kafka_shell.admin.quotas.model import QuotaEntity
    from kafka_shell.admin.wire.connection import Cluster

Rows = Iterator[tuple[Any, ...] | Trouble]
_MOST_PAIRS = 50_000


def read_quotas(cluster: Cluster, part: Slice) -> Rows:
    """A row a limit (DescribeClientQuotas, API key 48)."""
    from kafka_shell.admin.quotas import read as quotas
    from kafka_shell.admin.quotas.model import Default

    for quota in quotas.describe(cluster):
        of = quota.entity
        names = (of.user, of.client_id, of.ip)
        yield (
            *(name if isinstance(name, str) else None for name in names),
            *(isinstance(name, Default) for name in names),
            quota.key,
            quota.value,
            str(of),
            " ".join(_flags(of)),
        )


def _flags(entity: QuotaEntity) -> Iterator[str]:
    from kafka_shell.admin.quotas.model import Default

    for kind, name in entity.parts:
        if isinstance(name, Default):
            yield f"--{kind}-default"
        else:
            yield f"--{kind}={quote(name)}"


def read_effective_quotas(cluster: Cluster, part: Slice) -> Rows:
    """A row a limit that holds for a client; the same code as resolve-quota.

    For each user that quotas or credentials name, and one that nothing names, with each client id
    that quotas name, and one that none names.
    """
    from kafka_shell.admin.quotas import read as quotas
    from kafka_shell.admin.quotas.resolution import ladder_of

    found = quotas.describe(cluster)
    users = {quota.entity.user for quota in found if isinstance(quota.entity.user, str)}
    users |= _scram_users(cluster)
    ids = {quota.entity.client_id for quota in found if isinstance(quota.entity.client_id, str)}
    pairs = (len(users) + 1) * (len(ids) + 1)
    if pairs > _MOST_PAIRS:
        yield Trouble("", "too-many", f"{pairs:,} pairs of user and client id: look at one with "
                                      "resolve-quota")  # fmt: skip
        return
    for user in (None, *sorted(users)):
        for client_id in (None, *sorted(ids)):
            for limit in ladder_of(found, user, client_id).resolutions:
                if limit.value is not None and limit.source is not None:
                    yield user, client_id, limit.key, limit.value, limit.source.label


def _scram_users(cluster: Cluster) -> set[str]:
    from kafka_shell.admin.users import scram

    try:
        return set(scram.describe(cluster).values)
    except ShellError:
        return set()  # a table of its own says so


def read_client_configs(cluster: Cluster, part: Slice) -> Rows:
    """A row a dynamic config of clients (KIP-649, over its topic)."""
    from kafka_shell.admin.client_configs import read as client_configs

    for config in client_configs.describe(cluster):
        of = config.entity
        yield of.user, of.client_id, config.key, config.value, _client_flags(of)


def _client_flags(entity: ClientEntity) -> str:
    of = "" if entity.client_id is None else f" --client-id={quote(entity.client_id)}"
    return f"--user={quote(entity.user)}{of}"


def read_effective_client_configs(cluster: Cluster, part: Slice) -> Rows:
    """A row a config that a client gets; the same code as describe-client-configs --resolve.

    For each client that configs or registrations name; a user's other clients have no client id.
    """
    from kafka_shell.admin.client_configs import read as client_configs
    from kafka_shell.admin.client_configs.resolve import resolve

    found = client_configs.describe(cluster)
    said = client_configs.registrations(cluster, now=int(time.time() * 1000))
    entities = {each.entity for each in found} | {each.entity for each in said}
    entities |= {ClientEntity(each.user) for each in entities}
    for entity in sorted(entities, key=lambda each: each.order):
        if entity.client_id is None:
            held = {each.key: each for each in found if each.entity == entity}
        else:
            held = resolve(found, entity.user, entity.client_id)
        for key, config in held.items():
            level = "user" if config.entity.client_id is None else "client-id"
            yield (
                entity.user, entity.client_id, key, config.value, level,
                _client_flags(config.entity), quote(f"{key}={config.value}"),
            )  # fmt: skip


TABLES = (
    Table(
        "quotas",
        "One row a limit of an entity.",
        (
            Column("user", "string", "The user by name.", required=False),
            Column("client_id", "string", "The client id by name.", required=False),
            Column("ip", "string", "The ip by name.", required=False),
            Column("user_default", "boolean", "Whether it is the default of users."),
            Column("client_id_default", "boolean", "Whether it is the default of client ids."),
            Column("ip_default", "boolean", "Whether it is the default of ips."),
            Column("key", "string", "producer_byte_rate ..."),
            Column("value", "double", "The limit."),
            Column("entity", "string", "Whose it is: user alice client-id reports."),
            Column("options", "string", "The same as options of alter-quotas."),
        ),
        read_quotas,
    ),
    Table(
        "effective_quotas",
        "One row a limit that holds for a client, out of all levels; null is one nobody names.",
        (
            Column("user", "string", "The user.", required=False),
            Column("client_id", "string", "The client id.", required=False),
            Column("key", "string", "producer_byte_rate ..."),
            Column("value", "double", "The limit, of each broker."),
            Column("source", "string", "The level that wins: User, Default user ..."),
        ),
        read_effective_quotas,
    ),
    Table(
        "client_configs",
        "One row a dynamic config of clients.",
        (
            Column("user", "string", "Whose clients."),
            Column("client_id", "string", "Which; null for all of the user's.", required=False),
            Column("key", "string", "acks ..."),
            Column("value", "string", "As text."),
            Column("options", "string", "Whose, as options of alter-client-configs."),
        ),
        read_client_configs,
    ),
    Table(
        "effective_client_configs",
        "One row a dynamic config that a client gets, out of both levels.",
        (
            Column("user", "string", "Whose client."),
            Column("client_id", "string", "Which; null for those no config names.",
                   required=False),
            Column("key", "string", "acks ..."),
            Column("value", "string", "As text."),
            Column("level", "string", "Which level sets it: client-id or user."),
            Column("options", "string", "That level, as options of alter-client-configs."),
            Column("pair", "string", "key=value as one word of a line."),
        ),
        read_effective_client_configs,
    ),
)  # fmt: skip
