"""`config-command` on dynamic configs of clients (KIP-649), beside quotas in the same lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Plan, merge_plans

if TYPE_CHECKING:
    from kafka_shell.admin.client_configs.model import ClientConfigFilter, ClientEntity
    from kafka_shell.admin.quotas.model import Default, QuotaEntity
    from kafka_shell.commands.configs.model import ConfigLine
    from kafka_shell.context import Context

SUPPORTED = "supported.configs"  # KIP-649's name for what clients registered


def is_dynamic(key: str) -> bool:
    """Whether a config is one of clients: those have dots, quotas have underscores."""
    from kafka_shell.admin.client_configs.keys import KEYS

    return key in KEYS or "." in key


def keys_of(entity: QuotaEntity) -> tuple[str, ...]:
    """The dynamic configs such an entity can have."""
    from kafka_shell.admin.client_configs.keys import KEYS

    return tuple(KEYS) if has_dynamic(entity) else ()


def has_dynamic(entity: QuotaEntity) -> bool:
    """Whether dynamic configs bind such an entity: a user by name, or a client id of one."""
    return (
        isinstance(entity.user, str)
        and entity.ip is None
        and (entity.client_id is None or isinstance(entity.client_id, str))
    )


# -- describe --------------------------------------------------------------------------------------


def lines(context: Context, parts: Mapping[str, str | Default | None]) -> list[ConfigLine]:
    """A line an entity for what is set, then for what clients support.

    What may not be read is a note: quotas are told all the same.
    """
    from kafka_shell.admin.client_configs import (
        read as client_configs,
    )

    which = _filter(parts)
    if which is None:
        return []
    now = int(context.clock() * 1000)
    try:
        configs = client_configs.describe(context.cluster, which)
        said = client_configs.registrations(context.cluster, which, now=now)
    except ShellError as error:
        context.note(f"dynamic client configs could not be read: {error.message}")
        return []
    held: dict[ClientEntity, dict[str, str]] = {}
    for config in configs:
        held.setdefault(config.entity, {})[config.key] = config.value
    supported: dict[ClientEntity, dict[str, str]] = {}
    for each in said:
        software = f"softwareName={each.software_name}, softwareVersion={each.software_version}"
        versions = supported.setdefault(each.entity, {})
        versions[f"ClientInformation({software})"] = ", ".join(each.supported)
    return [
        *(_line("Dynamic configs", entity, values) for entity, values in held.items()),
        *(_line("Supported dynamic configs", entity, v) for entity, v in supported.items()),
    ]


def _line(what: str, entity: ClientEntity, values: Mapping[str, str]) -> ConfigLine:
    from kafka_shell.admin.quotas.model import QuotaEntity
    from kafka_shell.commands.configs.model import ConfigLine

    return ConfigLine(what, QuotaEntity(entity.user, entity.client_id), dict(values))


def _filter(parts: Mapping[str, str | Default | None]) -> ClientConfigFilter | None:
    """Those asked about; None where dynamic configs bind no such entities."""
    from kafka_shell.admin.client_configs.model import ClientConfigFilter
    from kafka_shell.admin.quotas.model import ANY_NAME, DEFAULT, Default

    if "user" not in parts or any(isinstance(name, Default) for name in parts.values()):
        return None
    user, client_id = parts["user"], parts.get("client_id", DEFAULT)
    return ClientConfigFilter(
        ANY_NAME if user is None else user, ANY_NAME if client_id is None else client_id
    )


# -- alter -----------------------------------------------------------------------------------------


def plan(
    context: Context,
    entity: QuotaEntity,
    pairs: Sequence[tuple[str, str]],
    deleted: Sequence[str],
) -> Plan:
    """Set and delete dynamic configs of one entity; deleting `supported.configs` refreshes it."""
    from kafka_shell.admin.client_configs import (
        change as client_config_changes,
    )
    from kafka_shell.admin.client_configs.model import ClientConfigAlteration, ClientEntity

    assert isinstance(entity.user, str) and not (entity.client_id and entity.ip)
    client_id = entity.client_id if isinstance(entity.client_id, str) else None
    of = ClientEntity(entity.user, client_id)
    texts: list[tuple[str, str | None]] = [*pairs, *((key, None) for key in deleted)]
    alterations = [
        ClientConfigAlteration(of, key, value) for key, value in texts if key != SUPPORTED
    ]
    plans = []
    if alterations:
        plans.append(client_config_changes.plan_alter(context.cluster, alterations))
    if SUPPORTED in deleted:
        now = int(context.clock() * 1000)
        plans.append(client_config_changes.plan_forget(context.cluster, [of], now=now))
    return merge_plans(plans)
