"""`config-command` for users, clients and IPs: quotas, SCRAM credentials, dynamic configs."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kafka_shell.base.errors import MistakeCollector, ShellError, UsageError, did_you_mean
from kafka_shell.base.plans import Order, Plan, Resource, merge_plans
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.commands.configs import config_dynamic
from kafka_shell.commands.users import commands as scram_options
from kafka_shell.language.command import Invocation

if TYPE_CHECKING:
    from kafka_shell.admin.quotas.model import Default, Quota, QuotaEntity
    from kafka_shell.commands.configs.render import ConfigLine
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster

    Lines = Results[Resource, tuple[ConfigLine, ...]]

# Shorthands of kafka-configs: --user NAME is --entity-type users --entity-name NAME.
NAMED = {"user": "users", "client": "clients", "ip": "ips"}
DEFAULTS = {f"{kind}-defaults": plural for kind, plural in NAMED.items()}
TYPES = {"users": "user", "clients": "client_id", "ips": "ip"}
_LITERAL_DEFAULT = "<default>"
_PAIRS = list[tuple[str, str]]


def is_client_entity(invocation: Invocation) -> bool:
    """Whether the command is about users, clients or IPs."""
    named = any(invocation[option] is not None for option in NAMED)
    default = any(invocation[option] for option in DEFAULTS)
    return bool({*invocation["entity-type"]} & {*TYPES}) or named or default


def unnamed(invocation: Invocation, types: Sequence[str], *, default: bool = True) -> UsageError:
    """The error for --alter without an entity name."""
    options = "--entity-name or --entity-default" if default else "--entity-name"
    return UsageError(
        f"--alter of {' and '.join(types)} requires {options}" + (" for each" * (len(types) > 1)),
        span=invocation.span("alter"),
        text=invocation.text,
    )


def refuse_literal_default(invocation: Invocation) -> None:
    """Refuse `<default>`, which Kafka's tools print for the default entity but do not accept."""
    for option in ("entity-name", *NAMED):
        given = invocation[option] or ()
        for number, name in enumerate((given,) if isinstance(given, str) else given):
            if name == _LITERAL_DEFAULT:
                raise UsageError(
                    f"'{name}' is not the name of an entity",
                    hint="For the default entity, use --entity-default or --entity-name ''.",
                    span=invocation.span(option, number),
                    text=invocation.text,
                )


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
    return {TYPES[kind]: name for kind, name in zip(types, filled, strict=True)}


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
    from kafka_shell.admin.quotas.model import DEFAULT

    return DEFAULT


def _check(invocation: Invocation, types: Sequence[str], names: Sequence[object]) -> None:
    span = invocation.span("entity-type", max(0, len(invocation["entity-type"]) - 1))
    problem = ""
    if any(kind not in TYPES for kind in types) or len(set(types)) < len(types):
        problem = f"--entity-type {' and '.join(types)} cannot be combined"
    elif len(types) > 1 and "ips" in types:
        problem = "--entity-type ips cannot be combined with users or clients"
    elif len(names) > len(types):
        problem = "more entity names than entity types"
    if problem:
        hint = "Only users and clients can be combined, one --entity-type for each --entity-name."
        raise UsageError(problem, hint=hint, span=span, text=invocation.text)


def _entity(invocation: Invocation, parts: Mapping[str, str | Default | None]) -> QuotaEntity:
    """The entity to alter."""
    from kafka_shell.admin.quotas.model import QuotaEntity

    if None in parts.values():
        raise unnamed(invocation, [kind for kind, part in TYPES.items() if part in parts])
    return QuotaEntity(**parts)


# -- describe --------------------------------------------------------------------------------------


def _lines(context: Context, parts: Mapping[str, str | Default | None]) -> Lines:
    """One line per entity; with SCRAM credentials if only users (not their default) are
    described."""
    from kafka_shell.admin.quotas import read as quotas
    from kafka_shell.admin.quotas.model import ANY_NAME, QuotaFilter

    cluster = context.cluster
    names: dict[str, Any] = {kind: ANY_NAME if n is None else n for kind, n in parts.items()}
    found = quotas.describe(cluster, QuotaFilter(**names, strict=True))
    lines = {line.entity.resource: (line,) for line in _quota_lines(found)}
    failures: dict[Resource, Failure] = {}
    user = parts.get("user")
    if list(parts) == ["user"] and (user is None or isinstance(user, str)):
        credentials, failures = _credential_lines(cluster, user)
        for line in credentials:
            about = line.entity.resource
            lines[about] = (*lines.get(about, ()), line)
    in_order = [line for entity_lines in lines.values() for line in entity_lines]
    dynamic = config_dynamic.lines(context, parts)
    in_order += dynamic
    in_order.sort(key=lambda line: (_ORDER.index(line.what), line.entity.order))
    everything = {Resource("", ""): tuple(in_order)} if in_order else {}
    return Results(everything, {**failures, **dynamic.failures})


_ORDER = (
    "Quota configs", "Dynamic configs", "Supported dynamic configs", "SCRAM credential configs",
)  # fmt: skip


def _quota_lines(found: Sequence[Quota]) -> list[ConfigLine]:
    from kafka_shell.commands.configs.render import ConfigLine

    values_of: dict[QuotaEntity, dict[str, Any]] = {}
    for quota in found:
        values_of.setdefault(quota.entity, {})[quota.key] = quota.value
    return [ConfigLine("Quota configs", entity, values) for entity, values in values_of.items()]


def _credential_lines(
    cluster: Cluster, user: str | None
) -> tuple[list[ConfigLine], dict[Resource, Failure]]:
    from kafka_shell.admin.quotas.model import QuotaEntity
    from kafka_shell.admin.users import scram
    from kafka_shell.commands.configs.render import ConfigLine

    found = scram.describe(cluster, None if user is None else [user])
    lines = [
        ConfigLine(
            "SCRAM credential configs",
            QuotaEntity(user=name),
            {each.mechanism.label: f"iterations={each.iterations}" for each in credentials},
        )
        for name, credentials in found.values.items()
    ]
    failures = {
        QuotaEntity(user=name).resource: failure
        for name, failure in found.failures.items()
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
            span=_span(invocation, other),
            text=invocation.text,
        )
    if entity.client_id is not None or entity.ip is not None or not isinstance(entity.user, str):
        raise UsageError(
            f"{entity} cannot have SCRAM credentials: only a named user can",
            span=_span(invocation, mechanisms[0]),
            text=invocation.text,
        )
    return _alter_credentials(invocation, context, entity.user, pairs, deleted)


def _alter_credentials(
    invocation: Invocation, context: Context, user: str, pairs: _PAIRS, deleted: Sequence[str]
) -> Plan:
    from kafka_shell.admin.users import scram

    try:
        requested = [scram_options.read(key, value) for key, value in pairs]
        deleted_keys = [scram_options.mechanism_of(key) for key in deleted]
    except UsageError as error:
        error.span = invocation.span("add-config") or invocation.span("delete-config")
        raise
    both = [each.mechanism for each in requested if each.mechanism in deleted_keys]
    if both:
        raise UsageError(
            f"{both[0].label} is both added and deleted",
            span=invocation.span("delete-config"),
            text=invocation.text,
        )
    password = None
    if not all(each.password for each in requested):
        password = scram_options.prompt_password(user, invocation, context)
    plans = []
    if requested:
        made = scram_options.complete(requested, user, password)
        plans.append(scram.plan_upsert(context.cluster, made))
    if deleted_keys:
        plans.append(scram.plan_delete(context.cluster, [(user, each) for each in deleted_keys]))
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
        return config_dynamic.has_dynamic(entity) and config_dynamic.is_dynamic(key)

    of_client = [pair for pair in pairs if dynamic(pair[0])]
    deleted_keys = [key for key in deleted if dynamic(key)]
    quotas = [pair for pair in pairs if pair not in of_client]
    removed = [key for key in deleted if key not in deleted_keys]
    plans = []
    if quotas or removed:
        plans.append(_alter_quotas(invocation, context.cluster, entity, quotas, removed))
    if of_client or deleted_keys:
        plans.append(config_dynamic.plan(context, entity, of_client, deleted_keys))
    return merge_plans(plans)


def _alter_quotas(
    invocation: Invocation,
    cluster: Cluster,
    entity: QuotaEntity,
    pairs: _PAIRS,
    deleted: Sequence[str],
) -> Plan:
    from kafka_shell.admin.quotas import change as quota_changes
    from kafka_shell.admin.quotas.model import CLIENT_QUOTAS, IP_QUOTAS, QuotaAlteration
    from kafka_shell.base.units import parse_quota

    known = CLIENT_QUOTAS if entity.ip is None else IP_QUOTAS
    limits: dict[str, float | None] = {}
    texts: list[tuple[str, str | None]] = [*pairs, *((key, None) for key in deleted)]
    mistakes = MistakeCollector()
    for key, value in texts:
        with mistakes.collecting():
            if key not in known and entity.ip is None and config_dynamic.is_dynamic(key):
                raise _needs_user(invocation, entity, key)
            if key not in known:
                near = [*known, *config_dynamic.keys_of(entity)]
                raise ShellError(
                    f"{entity} has no config '{key}'",
                    hint=did_you_mean(key, near, f"Known configs: {', '.join(near)}."),
                    code="unknown-key",
                    span=_span(invocation, key),
                )
            if key in limits:
                raise UsageError(
                    f"{key} is set twice",
                    span=_span(invocation, key),
                    text=invocation.text,
                )
            try:
                limits[key] = None if value is None else parse_quota(key, value)
            except ShellError as error:
                error.span = _span(invocation, key)
                raise
    mistakes.check()
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
        span=_span(invocation, key),
        text=invocation.text,
    )


def _span(invocation: Invocation, key: str) -> tuple[int, int] | None:
    from kafka_shell.commands.configs.commands import span_of_key

    return span_of_key(invocation, key)
