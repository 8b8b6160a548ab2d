"""`config-command` for users, clients and IPs: quotas, SCRAM credentials, dynamic configs."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import Any

from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.keys import KEYS
from kafka_shell.admin.client_configs.model import (
    ClientConfigFilter,
    ClientEntity,
)
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import (
    ANY_NAME,
    CLIENT_QUOTAS,
    DEFAULT,
    ENTITY_FIELDS,
    IP_QUOTAS,
    Default,
    Quota,
    QuotaAlteration,
    QuotaEntity,
    QuotaFilter,
)
from kafka_shell.admin.users import scram
from kafka_shell.base.errors import ShellError, UsageError, did_you_mean, pointing_at
from kafka_shell.base.plans import Order, Plan, Resource, merge_plans
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.commands.client_configs.run import plan_configs
from kafka_shell.commands.client_configs.spec import has_dynamic
from kafka_shell.commands.configs.kinds import DEFAULTS, NAMED, unnamed
from kafka_shell.commands.configs.render import ConfigLine
from kafka_shell.commands.configs.run import span_of_key
from kafka_shell.commands.quotas.run import read_limits
from kafka_shell.commands.users import run as scram_options
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.tokens import Span
from kafka_shell.wire.cluster import Cluster

Lines = Results[Resource, tuple[ConfigLine, ...]]
_PAIRS = list[tuple[str, str]]


def run(invocation: Invocation, context: Context, pairs: _PAIRS) -> Plan | Lines:
    """Describe or alter the entities. `pairs` are the configs to add."""
    parts = _parts(invocation)
    if invocation["describe"]:
        return _lines(context, parts)
    entity = _entity(invocation, parts)
    deleted = list(invocation["delete-config"] or ())
    plan = _plan(invocation, context, entity, pairs, deleted)
    keys = {*deleted, *(key for key, _ in pairs)}
    return replace(plan, fresh=lambda _: _lines(context, parts).map(partial(_only, keys)))


def _only(keys: Container[str], lines: tuple[ConfigLine, ...]) -> tuple[ConfigLine, ...]:
    """The lines without other keys than these."""
    return tuple(
        replace(line, configs={key: line.configs[key] for key in chosen})
        for line in lines
        if (chosen := [key for key in line.configs if key in keys])
    )


# -- entities --------------------------------------------------------------------------------------


def _parts(invocation: Invocation) -> dict[str, str | Default | None]:
    """Entity type (`user`, `client_id`, `ip`) -> name, DEFAULT, or None for all of that type.

    As in kafka-configs, names are matched to types in the order given.
    """
    types = list(invocation["entity-type"])
    names = _names(invocation)
    for option, plural in NAMED.items():
        if (name := invocation[option]) is not None:
            types, names = [*types, plural], [*names, name or _default()]
    for option, plural in DEFAULTS.items():
        if invocation[option]:
            types, names = [*types, plural], [*names, _default()]
    _check(invocation, types, names)
    filled = [*names, *[None] * (len(types) - len(names))]
    return {ENTITY_FIELDS[kind]: name for kind, name in zip(types, filled, strict=True)}


def _names(invocation: Invocation) -> list[str | Default]:
    """The names and defaults in the order given."""
    placed: list[tuple[tuple[int, int], str | Default]] = []
    for number, name in enumerate(invocation["entity-name"]):
        placed.append((invocation.span("entity-name", number) or (number, 0), name or _default()))
    if invocation["entity-default"]:
        spans = invocation.spans.get("entity-default") or ((1 << 30, 0),)
        placed += [(span, _default()) for span in spans]
    return [name for _, name in sorted(placed, key=lambda pair: pair[0])]


def _default() -> Default:
    return DEFAULT


def _check(invocation: Invocation, types: Sequence[str], names: Sequence[object]) -> None:
    span = invocation.span("entity-type", max(0, len(invocation["entity-type"]) - 1))
    problem = ""
    if any(kind not in ENTITY_FIELDS for kind in types) or len(set(types)) < len(types):
        problem = f"--entity-type {' and '.join(types)} cannot be combined"
    elif len(types) > 1 and "ips" in types:
        problem = "--entity-type ips cannot be combined with users or clients"
    elif len(names) > len(types):
        problem = "more entity names than entity types"
    if problem:
        hint = "Only users and clients can be combined, one --entity-type for each --entity-name."
        raise UsageError(problem, hint=hint, span=span)


def _entity(invocation: Invocation, parts: Mapping[str, str | Default | None]) -> QuotaEntity:
    """The entity to alter."""
    if None in parts.values():
        raise unnamed(invocation, [kind for kind, part in ENTITY_FIELDS.items() if part in parts])
    return QuotaEntity(**parts)


# -- describe --------------------------------------------------------------------------------------


def _lines(context: Context, parts: Mapping[str, str | Default | None]) -> Lines:
    """One line per entity; with SCRAM credentials if only users (not their default) are
    described."""
    cluster = context.cluster
    names: dict[str, Any] = {kind: ANY_NAME if n is None else n for kind, n in parts.items()}
    assigned = quotas.describe(cluster, QuotaFilter(**names, strict=True))
    lines = {line.entity.resource: (line,) for line in _quota_lines(assigned)}
    failures: dict[Resource, Failure] = {}
    user = parts.get("user")
    if list(parts) == ["user"] and (user is None or isinstance(user, str)):
        credentials, failures = _credential_lines(cluster, user)
        for line in credentials:
            about = line.entity.resource
            lines[about] = (*lines.get(about, ()), line)
    in_order = [line for entity_lines in lines.values() for line in entity_lines]
    dynamic = _dynamic_lines(context, parts)
    in_order += dynamic
    in_order.sort(key=lambda line: (_ORDER.index(line.what), line.entity.order))
    everything = {Resource("", ""): tuple(in_order)} if in_order else {}
    return Results(everything, {**failures, **dynamic.failures})


_ORDER = (
    "Quota configs", "Dynamic configs", "Supported dynamic configs", "SCRAM credential configs",
)  # fmt: skip


def _quota_lines(assigned: Sequence[Quota]) -> list[ConfigLine]:
    values_of: dict[QuotaEntity, dict[str, Any]] = {}
    for quota in assigned:
        values_of.setdefault(quota.entity, {})[quota.key] = quota.value
    return [ConfigLine("Quota configs", entity, values) for entity, values in values_of.items()]


def _credential_lines(
    cluster: Cluster, user: str | None
) -> tuple[list[ConfigLine], dict[Resource, Failure]]:
    users = scram.describe(cluster, None if user is None else [user])
    lines = [
        ConfigLine(
            "SCRAM credential configs",
            QuotaEntity(user=name),
            {each.mechanism.label: f"iterations={each.iterations}" for each in credentials},
        )
        for name, credentials in users.values.items()
    ]
    failures = {
        QuotaEntity(user=name).resource: failure
        for name, failure in users.failures.items()
        if failure.name != "RESOURCE_NOT_FOUND"
    }
    return lines, failures


# -- alter -----------------------------------------------------------------------------------------


def _plan(
    invocation: Invocation,
    context: Context,
    entity: QuotaEntity,
    pairs: _PAIRS,
    deleted: Sequence[str],
) -> Plan:
    keys = [*(key for key, _ in pairs), *deleted]
    mechanisms = [key for key in keys if scram_options.is_scram(key)]
    if not mechanisms:
        return _alter_configs(invocation, context, entity, pairs, deleted)
    if len(mechanisms) < len(keys):
        other = next(key for key in keys if key not in mechanisms)
        raise UsageError(
            f"SCRAM credentials cannot be altered together with {other}",
            hint="Use two commands.",
            code="INVALID_REQUEST",
            span=span_of_key(invocation, other),
        )
    if entity.client_id is not None or entity.ip is not None or not isinstance(entity.user, str):
        raise UsageError(
            f"{entity} cannot have SCRAM credentials: only a named user can",
            span=span_of_key(invocation, mechanisms[0]),
        )
    return _alter_credentials(invocation, context, entity.user, pairs, deleted)


def _alter_credentials(
    invocation: Invocation, context: Context, user: str, pairs: _PAIRS, deleted: Sequence[str]
) -> Plan:
    with pointing_at(invocation.span("add-config") or invocation.span("delete-config")):
        requested = [scram_options.read(key, value) for key, value in pairs]
        deleted_keys = [scram_options.mechanism_of(key) for key in deleted]
    both = [each.mechanism for each in requested if each.mechanism in deleted_keys]
    if both:
        raise UsageError(
            f"{both[0].label} is both added and deleted", span=invocation.span("delete-config")
        )
    password = None
    if not all(credential.password for credential in requested):
        password = scram_options.prompt_password(user, invocation, context)
    plans = []
    if requested:
        made = scram_options.complete(requested, user, password)
        plans.append(scram.plan_upsert(context.cluster, made))
    if deleted_keys:
        plans.append(scram.plan_delete(context.cluster, [(user, key) for key in deleted_keys]))
    # The user is never without a credential: the old one is deleted only after the new one is set.
    return replace(merge_plans(plans), order=Order.CHAINED if len(plans) > 1 else Order.SEPARATE)


def _alter_configs(
    invocation: Invocation,
    context: Context,
    entity: QuotaEntity,
    pairs: _PAIRS,
    deleted: Sequence[str],
) -> Plan:
    """One plan for quotas and, if they apply to the entity, dynamic configs (KIP-649)."""

    def dynamic(key: str) -> bool:
        return has_dynamic(entity) and is_dynamic(key)

    of_client = [pair for pair in pairs if dynamic(pair[0])]
    deleted_keys = [key for key in deleted if dynamic(key)]
    quotas = [pair for pair in pairs if pair not in of_client]
    removed = [key for key in deleted if key not in deleted_keys]
    plans = []
    if quotas or removed:
        plans.append(_alter_quotas(invocation, context.cluster, entity, quotas, removed))
    if of_client or deleted_keys:
        assert isinstance(entity.user, str) and not isinstance(entity.client_id, Default)
        of = ClientEntity(entity.user, entity.client_id)
        plans.append(plan_configs(context, [of], of_client, deleted_keys))
    return merge_plans(plans)


def _alter_quotas(
    invocation: Invocation,
    cluster: Cluster,
    entity: QuotaEntity,
    pairs: _PAIRS,
    deleted: Sequence[str],
) -> Plan:
    known = CLIENT_QUOTAS if entity.ip is None else IP_QUOTAS

    def check(key: str, span: Span | None) -> None:
        if key not in known and entity.ip is None and is_dynamic(key):
            raise _needs_user(invocation, entity, key)
        if key not in known:
            near = [*known, *keys_of(entity)]
            raise ShellError(
                f"{entity} has no config '{key}'",
                hint=did_you_mean(key, near, f"Use one of: {', '.join(near)}."),
                code="unknown-key",
                span=span,
            )

    texts: list[tuple[str, str | None]] = [*pairs, *((key, None) for key in deleted)]
    words = [(key, value, span_of_key(invocation, key)) for key, value in texts]
    limits = read_limits(words, check)
    requested = [QuotaAlteration(entity, key, limit) for key, limit in limits.items()]
    return quota_changes.plan_alter(cluster, requested)


def _needs_user(invocation: Invocation, entity: QuotaEntity, key: str) -> UsageError:
    """The error for a dynamic client config on an entity without a named user (KIP-649)."""
    if isinstance(entity.user, str):
        hint = "Set it on the user alone, as the default of all client IDs of that user."
    else:
        hint = "Add --entity-type users --entity-name USER."
    return UsageError(
        f"{key} is a dynamic client config, which requires a named user, got {entity}",
        hint=hint,
        span=span_of_key(invocation, key),
    )


def is_dynamic(key: str) -> bool:
    """Whether a key is a dynamic client config: these have dots, quotas have underscores."""
    return key in KEYS or "." in key


def keys_of(entity: QuotaEntity) -> tuple[str, ...]:
    """The keys of the dynamic configs that the entity can have."""
    return tuple(KEYS) if has_dynamic(entity) else ()


# -- dynamic client configs ------------------------------------------------------------------------


def _dynamic_lines(
    context: Context, parts: Mapping[str, str | Default | None]
) -> Results[Any, ConfigLine]:
    """One line per entity with its dynamic configs, then one with what its clients support."""
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
    for client in registrations:
        software = f"softwareName={client.software_name}, softwareVersion={client.software_version}"
        versions = supported.setdefault(client.entity, {})
        versions[f"ClientInformation({software})"] = ", ".join(client.supported)
    lines = [
        *(_line("Dynamic configs", entity, values) for entity, values in configured.items()),
        *(_line("Supported dynamic configs", entity, v) for entity, v in supported.items()),
    ]
    return Results(dict(enumerate(lines)), {**configs.failures, **registrations.failures})


def _line(what: str, entity: ClientEntity, values: Mapping[str, str]) -> ConfigLine:
    return ConfigLine(what, QuotaEntity(entity.user, entity.client_id), dict(values))


def _filter(parts: Mapping[str, str | Default | None]) -> ClientConfigFilter | None:
    """The filter for these entities; None if dynamic configs do not apply to them."""
    if "user" not in parts or any(isinstance(name, Default) for name in parts.values()):
        return None
    user, client_id = parts["user"], parts.get("client_id", DEFAULT)
    return ClientConfigFilter(
        ANY_NAME if user is None else user, ANY_NAME if client_id is None else client_id
    )
