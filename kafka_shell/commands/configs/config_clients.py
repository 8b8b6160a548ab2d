"""`config-command` on users, clients and ips: quotas, credentials, dynamic configs of clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafka_shell.commands.users import scram_options as scram_words
from kafka_shell.errors import ShellError, UsageError, did_you_mean
from kafka_shell.language.command import Invocation
from kafka_shell.plan.model import Plan, Resource, merge_plans
from kafka_shell.plan.results import Failure, Results

from . import config_dynamic

if TYPE_CHECKING:
    from kafka_shell.admin.quotas.model import Default, Quota, QuotaEntity
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.commands.configs.model import ConfigLine
    from kafka_shell.context import Context

    Lines = Results[Resource, tuple[ConfigLine, ...]]

# Kafka's own shorthands: --user NAME is --entity-type users --entity-name NAME.
NAMED = {"user": "users", "client": "clients", "ip": "ips"}
DEFAULTS = {f"{kind}-defaults": plural for kind, plural in NAMED.items()}
TYPES = {"users": "user", "clients": "client_id", "ips": "ip"}
_LITERAL_DEFAULT = "<default>"
_PAIRS = list[tuple[str, str]]


def is_ours(invocation: Invocation) -> bool:
    """Whether the line is about users, clients or ips."""
    named = any(invocation[option] is not None for option in NAMED)
    default = any(invocation[option] for option in DEFAULTS)
    return bool({*invocation["entity-type"]} & {*TYPES}) or named or default


def unnamed(invocation: Invocation, types: Sequence[str], *, default: bool = True) -> UsageError:
    """The error of an --alter that does not name what it is about."""
    options = "--entity-name or --entity-default" if default else "--entity-name"
    return UsageError(
        f"--alter of {' and '.join(types)} requires {options}" + (" for each" * (len(types) > 1)),
        span=invocation.span("alter"),
        text=invocation.text,
    )


def refuse_literal_default(invocation: Invocation) -> None:
    """Refuse `<default>`, which Kafka's tools print for the default entity and never read."""
    for option in ("entity-name", *NAMED):
        given = invocation[option] or ()
        for number, name in enumerate((given,) if isinstance(given, str) else given):
            if name == _LITERAL_DEFAULT:
                raise UsageError(
                    f"'{name}' is not the name of an entity",
                    hint="The default entity: --entity-default, or --entity-name ''.",
                    span=invocation.span(option, number),
                    text=invocation.text,
                )


def run(invocation: Invocation, context: Context, pairs: _PAIRS) -> Plan | Lines:
    """Describe or alter. `pairs` are the configs that the line adds."""
    parts = _parts(invocation)
    if invocation["describe"]:
        return _lines(context, parts)
    entity = _entity(invocation, parts)
    deleted = list(invocation["delete-config"] or ())
    plan = _plan(invocation, context, entity, pairs, deleted)
    return replace(plan, fresh=lambda _: _lines(context, parts))


# -- who is meant ----------------------------------------------------------------------------------


def _parts(invocation: Invocation) -> dict[str, str | Default | None]:
    """Each entity type that is asked about (`user`, `client_id`, `ip`) -> its name, its default, or
    None for every one. As in Kafka's tool the first name is of the first type."""
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
    """Names and defaults in the order of the line."""
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
    said = ""
    if any(kind not in TYPES for kind in types) or len(set(types)) < len(types):
        said = f"--entity-type {' and '.join(types)} cannot stand together"
    elif len(types) > 1 and "ips" in types:
        said = "ips have quotas of their own, not together with users or clients"
    elif len(names) > len(types):
        said = "more entities are named than there are entity types"
    if said:
        hint = "Together go users and clients: one --entity-type each, in the order of the names."
        raise UsageError(said, hint=hint, span=span, text=invocation.text)


def _entity(invocation: Invocation, parts: Mapping[str, str | Default | None]) -> QuotaEntity:
    """The one entity that is altered."""
    from kafka_shell.admin.quotas.model import QuotaEntity

    if None in parts.values():
        raise unnamed(invocation, [kind for kind, part in TYPES.items() if part in parts])
    return QuotaEntity(**parts)


# -- describe --------------------------------------------------------------------------------------


def _lines(context: Context, parts: Mapping[str, str | Default | None]) -> Lines:
    """A line an entity. Credentials where users, and not their default, are asked about alone."""
    from kafka_shell.admin.quotas import read as quotas
    from kafka_shell.admin.quotas.model import ANY_NAME, QuotaFilter

    cluster = context.cluster
    asked: dict[str, Any] = {kind: ANY_NAME if n is None else n for kind, n in parts.items()}
    found = quotas.describe(cluster, QuotaFilter(**asked, strict=True))
    lines = {line.entity.resource: (line,) for line in _quota_lines(found)}
    failures: dict[Resource, Failure] = {}
    user = parts.get("user")
    if list(parts) == ["user"] and (user is None or isinstance(user, str)):
        credentials, failures = _credential_lines(cluster, user)
        for line in credentials:
            about = line.entity.resource
            lines[about] = (*lines.get(about, ()), line)
    in_order = [line for held in lines.values() for line in held]
    in_order += config_dynamic.lines(context, parts)
    in_order.sort(key=lambda line: (_ORDER.index(line.what), line.entity.order))
    everything = {Resource("", ""): tuple(in_order)} if in_order else {}
    return Results(everything, failures)


_ORDER = (
    "Quota configs", "Dynamic configs", "Supported dynamic configs", "SCRAM credential configs",
)  # fmt: skip


def _quota_lines(found: Sequence[Quota]) -> list[ConfigLine]:
    from kafka_shell.commands.configs.model import ConfigLine

    held: dict[QuotaEntity, dict[str, Any]] = {}
    for quota in found:
        held.setdefault(quota.entity, {})[quota.key] = quota.value
    return [ConfigLine("Quota configs", entity, values) for entity, values in held.items()]


def _credential_lines(
    cluster: Cluster, user: str | None
) -> tuple[list[ConfigLine], dict[Resource, Failure]]:
    from kafka_shell.admin.quotas.model import QuotaEntity
    from kafka_shell.admin.users import scram
    from kafka_shell.commands.configs.model import ConfigLine

    found = scram.describe(cluster, None if user is None else [user])
    lines = [
        ConfigLine(
            "SCRAM credential configs",
            QuotaEntity(user=name),
            {each.mechanism.label: f"iterations={each.iterations}" for each in held},
        )
        for name, held in found.values.items()
    ]
    failures = {
        QuotaEntity(user=name).resource: why
        for name, why in found.failures.items()
        if why.name != "RESOURCE_NOT_FOUND"
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
    mechanisms = [key for key in keys if scram_words.is_scram(key)]
    if not mechanisms:
        return _alter_configs(invocation, context, entity, pairs, deleted)
    if len(mechanisms) < len(keys):
        other = next(key for key in keys if key not in mechanisms)
        raise UsageError(
            f"SCRAM credentials are never altered together with anything else: {other}",
            hint="Alter them in two commands.",
            code="INVALID_REQUEST",
            span=_span(invocation, other),
            text=invocation.text,
        )
    if entity.client_id is not None or entity.ip is not None or not isinstance(entity.user, str):
        raise UsageError(
            f"only a user has SCRAM credentials, and {entity} is none",
            span=_span(invocation, mechanisms[0]),
            text=invocation.text,
        )
    return _alter_credentials(invocation, context, entity.user, pairs, deleted)


def _alter_credentials(
    invocation: Invocation, context: Context, user: str, pairs: _PAIRS, deleted: Sequence[str]
) -> Plan:
    from kafka_shell.admin.users import scram

    try:
        wanted = [scram_words.read(key, value) for key, value in pairs]
        gone = [scram_words.mechanism_of(key) for key in deleted]
    except UsageError as error:
        error.span = invocation.span("add-config") or invocation.span("delete-config")
        raise
    both = [each.mechanism for each in wanted if each.mechanism in gone]
    if both:
        raise UsageError(
            f"{both[0].label} stands twice in one alteration",
            hint="Say once what it is to be.",
            span=invocation.span("delete-config"),
            text=invocation.text,
        )
    password = None
    if not all(each.password for each in wanted):
        password = scram_words.asked_password(user, invocation, context)
    plans = []
    if gone:
        plans.append(scram.plan_delete(context.cluster, [(user, each) for each in gone]))
    if wanted:
        made = scram_words.complete(wanted, user, password)
        plans.append(scram.plan_upsert(context.cluster, made))
    return merge_plans(plans)


def _alter_configs(
    invocation: Invocation,
    context: Context,
    entity: QuotaEntity,
    pairs: _PAIRS,
    deleted: Sequence[str],
) -> Plan:
    """Quotas, and dynamic configs where such bind the entity: both in one plan (KIP-649)."""

    def dynamic(key: str) -> bool:
        return config_dynamic.has_dynamic(entity) and config_dynamic.is_dynamic(key)

    of_client = [pair for pair in pairs if dynamic(pair[0])]
    gone = [key for key in deleted if dynamic(key)]
    quotas = [pair for pair in pairs if pair not in of_client]
    lifted = [key for key in deleted if key not in gone]
    plans = []
    if quotas or lifted:
        plans.append(_alter_quotas(invocation, context.cluster, entity, quotas, lifted))
    if of_client or gone:
        plans.append(config_dynamic.plan(context, entity, of_client, gone))
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
    from kafka_shell.quota_units import parse_quota

    known = CLIENT_QUOTAS if entity.ip is None else IP_QUOTAS
    limits: dict[str, float | None] = {}
    texts: list[tuple[str, str | None]] = [*pairs, *((key, None) for key in deleted)]
    for key, value in texts:
        if key not in known and entity.ip is None and config_dynamic.is_dynamic(key):
            raise _needs_user(invocation, entity, key)
        if key not in known:
            near = [*known, *config_dynamic.keys_of(entity)]
            raise ShellError(
                f"there is no config called {key} of {entity}",
                hint=did_you_mean(key, near, f"Known: {', '.join(near)}."),
                code="unknown-key",
                span=_span(invocation, key),
            )
        if key in limits:
            raise UsageError(
                f"{key} stands twice in one alteration",
                hint="Say once what it is to be.",
                span=_span(invocation, key),
                text=invocation.text,
            )
        try:
            limits[key] = None if value is None else parse_quota(key, value)
        except ShellError as error:
            error.span = _span(invocation, key)
            raise
    wanted = [QuotaAlteration(entity, key, limit) for key, limit in limits.items()]
    return quota_changes.plan_alter(cluster, wanted)


def _needs_user(invocation: Invocation, entity: QuotaEntity, key: str) -> UsageError:
    """The error of a dynamic client config of an entity that has none (KIP-649)."""
    if isinstance(entity.user, str):
        hint = "Set it on the user alone: that is the default of all the user's client ids."
    else:
        hint = "Add --entity-type users --entity-name USER."
    return UsageError(
        f"{key} is a dynamic client config and requires a user by name: {entity} has none",
        hint=hint,
        span=_span(invocation, key),
        text=invocation.text,
    )


def _span(invocation: Invocation, key: str) -> tuple[int, int] | None:
    from .commands import span_of_key

    return span_of_key(invocation, key)
