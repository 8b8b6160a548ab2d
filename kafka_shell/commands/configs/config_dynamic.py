"""Dynamic client configs (KIP-649) in `config-command`, next to quotas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Plan, merge_plans
from kafka_shell.base.results import Results

if TYPE_CHECKING:
    from kafka_shell.admin.client_configs.model import ClientConfigFilter, ClientEntity
    from kafka_shell.admin.quotas.model import Default, QuotaEntity
    from kafka_shell.commands.configs.render import ConfigLine
    from kafka_shell.context import Context

SUPPORTED = "supported.configs"  # KIP-649's name for what clients registered


def is_dynamic(key: str) -> bool:
    """Whether a key is a dynamic client config: these have dots, quotas have underscores."""
    from kafka_shell.admin.client_configs.keys import KEYS

    return key in KEYS or "." in key


def keys_of(entity: QuotaEntity) -> tuple[str, ...]:
    """The keys of the dynamic configs that the entity can have."""
    from kafka_shell.admin.client_configs.keys import KEYS

    return tuple(KEYS) if has_dynamic(entity) else ()


def has_dynamic(entity: QuotaEntity) -> bool:
    """Whether dynamic configs apply to the entity: a named user, or a client ID of one."""
    return (
        isinstance(entity.user, str)
        and entity.ip is None
        and (entity.client_id is None or isinstance(entity.client_id, str))
    )


# -- describe --------------------------------------------------------------------------------------


def lines(context: Context, parts: Mapping[str, str | Default | None]) -> Results[Any, ConfigLine]:
    """One line per entity with its dynamic configs, then one with what its clients support."""
    from kafka_shell.admin.client_configs import read as client_configs
    from kafka_shell.base.results import as_failure

    which = _filter(parts)
    if which is None:
        return Results()
    now = int(context.clock() * 1000)
    try:
        configs = client_configs.describe(context.cluster, which)
        registrations = client_configs.registrations(context.cluster, which, now=now)
    except ShellError as error:
        return Results({}, {"dynamic client configs": as_failure(error)})
    configured: dict[ClientEntity, dict[str, str]] = {}
    for config in configs:
        configured.setdefault(config.entity, {})[config.key] = config.value
    supported: dict[ClientEntity, dict[str, str]] = {}
    for each in registrations:
        software = f"softwareName={each.software_name}, softwareVersion={each.software_version}"
        versions = supported.setdefault(each.entity, {})
        versions[f"ClientInformation({software})"] = ", ".join(each.supported)
    lines = [
        *(_line("Dynamic configs", entity, values) for entity, values in configured.items()),
        *(_line("Supported dynamic configs", entity, v) for entity, v in supported.items()),
    ]
    return Results(dict(enumerate(lines)), {**configs.failures, **registrations.failures})


def _line(what: str, entity: ClientEntity, values: Mapping[str, str]) -> ConfigLine:
    from kafka_shell.admin.quotas.model import QuotaEntity
    from kafka_shell.commands.configs.render import ConfigLine

    return ConfigLine(what, QuotaEntity(entity.user, entity.client_id), dict(values))


def _filter(parts: Mapping[str, str | Default | None]) -> ClientConfigFilter | None:
    """The filter for these entities; None if dynamic configs do not apply to them."""
    from kafka_shell.admin.client_configs.model import ClientConfigFilter
    from kafka_shell.admin.quotas.model import ANY_NAME, DEFAULT, Default

    if "user" not in parts or any(isinstance(name, Default) for name in parts.values()):
        return None
    user, client_id = parts["user"], parts.get("client_id", DEFAULT)
    return ClientConfigFilter(
        ANY_NAME if user is None else user, ANY_NAME if client_id is None else client_id
    )


# -- alter -----------------------------------------------------------------------------------------


def with_acl_commands(plan: Plan) -> Plan:
    """The plan; if it creates the two topics, with a warning that gives the ACLs clients need."""
    if not plan.advice.confirm:
        return plan
    from kafka_shell.admin.client_configs.store import ACLS
    from kafka_shell.base.plans import Advice
    from kafka_shell.base.text import with_option

    rules = [with_option("--add", binding.resource.name) for binding in ACLS]
    command = " ".join(["alter-acls", *rules])
    warning = f"with an authorizer, clients need ACLs: {command}"
    return plan.advised(Advice(warnings=(warning,)))


def plan(
    context: Context,
    entity: QuotaEntity,
    pairs: Sequence[tuple[str, str]],
    deleted: Sequence[str],
) -> Plan:
    """The plan that sets and deletes dynamic configs of an entity (KIP-649).

    Deleting `supported.configs` deletes the registrations of its clients.
    """
    from kafka_shell.admin.client_configs import change as client_config_changes
    from kafka_shell.admin.client_configs.model import ClientConfigAlteration, ClientEntity

    assert isinstance(entity.user, str) and not (entity.client_id and entity.ip)
    client_id = entity.client_id if isinstance(entity.client_id, str) else None
    of = ClientEntity(entity.user, client_id)
    texts: list[tuple[str, str | None]] = [
        *pairs, *((key, None) for key in deleted if key != SUPPORTED)
    ]  # fmt: skip
    alterations = [ClientConfigAlteration(of, key, value) for key, value in texts]
    plans = []
    if alterations:
        plans.append(
            with_acl_commands(client_config_changes.plan_alter(context.cluster, alterations))
        )
    if SUPPORTED in deleted:
        now = int(context.clock() * 1000)
        plans.append(client_config_changes.plan_forget(context.cluster, [of], now=now))
    return merge_plans(plans)
