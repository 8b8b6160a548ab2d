"""Commands on client quotas (KIP-248, 546, 612)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import (
    ANY_NAME,
    CLIENT_QUOTAS,
    DEFAULT,
    ENTITY_FIELDS,
    IP_QUOTAS,
    EffectiveQuotas,
    Quota,
    QuotaAlteration,
    QuotaEntity,
    QuotaFilter,
)
from kafka_shell.base.command_results import Listing, NoRows
from kafka_shell.base.errors import (
    MistakeCollector,
    ShellError,
    UsageError,
    did_you_mean,
    pointing_at,
)
from kafka_shell.base.plans import Change, Plan
from kafka_shell.base.text import entity_parts
from kafka_shell.base.units import parse_quota
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.tokens import Span

# -- entities --------------------------------------------------------------------------------------


def _named(invocation: Invocation, kind: str) -> tuple[Any, ...]:
    """The names given for one type of entity, and DEFAULT if its default was given."""
    names = tuple(dict.fromkeys(invocation.get(kind, ())))
    return (*names, DEFAULT) if invocation.get(f"{kind}-default") else names


def _entities(invocation: Invocation) -> list[QuotaEntity]:
    """The entities that the options name: each user combined with each client ID."""
    ips = _named(invocation, "ip")
    if ips:
        return [QuotaEntity(ip=ip) for ip in ips]
    users, clients = _named(invocation, "user"), _named(invocation, "client-id")
    return [
        QuotaEntity(user=user, client_id=client)
        for user, client in product(users or (None,), clients or (None,))
        if user is not None or client is not None
    ]


# -- list ------------------------------------------------------------------------------------------


def list_quotas(invocation: Invocation, context: Context) -> Listing | NoRows:
    """The entities with quotas: all, one type, or the children of a user or client ID."""
    parents = _entities(invocation)
    if parents:
        which = [QuotaFilter(each.user or ANY_NAME, each.client_id or ANY_NAME) for each in parents]
        rows = quotas.entities(quotas.describe_many(context.cluster, which))
        entities = " or ".join(map(str, parents))
        return _listing(invocation, rows, f"{entities} has no client IDs or users with quotas")
    if invocation["kind"]:
        kind = ENTITY_FIELDS[invocation["kind"]]
        names: dict[str, Any] = {kind: ANY_NAME}
        listed = quotas.describe(context.cluster, QuotaFilter(**names))
        rows = quotas.holders(listed, kind)
        return _listing(invocation, rows, f"no quotas are set for {invocation['kind']}")
    rows = quotas.entities(quotas.describe(context.cluster))
    return _listing(invocation, rows, "no quotas are set")


def _listing(invocation: Invocation, rows: Sequence[object], nothing: str) -> Listing | NoRows:
    return Listing(tuple(rows), "entity", invocation["long"]) if rows else NoRows(nothing)


# -- describe --------------------------------------------------------------------------------------


def describe_quotas(invocation: Invocation, context: Context) -> tuple[Quota, ...] | NoRows:
    """The quotas that are set, each with KIP-248's source."""
    keys: Sequence[str] = invocation["key"]
    mistakes = MistakeCollector()
    for number, key in enumerate(keys):
        with mistakes.collecting():
            _check_known(key, invocation.span("key", number))
    mistakes.check()
    entities = _entities(invocation)
    strict = bool(invocation["strict"])
    which = [QuotaFilter(entity.user, entity.client_id, entity.ip, strict) for entity in entities]
    described = quotas.describe_many(context.cluster, which or [QuotaFilter()])
    matching = tuple(quota for quota in described if not keys or quota.key in keys)
    return matching or NoRows(_none_set(entities, keys))


def _none_set(entities: Sequence[QuotaEntity], keys: Sequence[str]) -> str:
    target = f" for {' or '.join(map(str, entities))}" if entities else ""
    what = " or ".join(keys) if keys else "quota"
    note = f"no {what} is set{target}"
    named = entities and all(isinstance(entity.user, str) for entity in entities)
    return f"{note}; use resolve-quota to see the effective quotas" if named else note


# -- alter -----------------------------------------------------------------------------------------


def alter_quotas(invocation: Invocation, context: Context) -> Plan:
    """Set and remove quotas of each named entity; other quotas are unchanged."""
    entities = _entities(invocation)
    limits = _limits(invocation, ip=entities[0].ip is not None)
    alterations = [
        QuotaAlteration(entity, key, value) for entity in entities for key, value in limits.items()
    ]
    return quota_changes.plan_alter(context.cluster, alterations)


def _limits(invocation: Invocation, *, ip: bool) -> dict[str, float | None]:
    """Quota key -> new value; None removes the quota."""
    words = [
        *((*word, invocation.span("quota", at)) for at, word in enumerate(invocation["quota"])),
        *(
            (key, None, invocation.span("delete-config", at))
            for at, keys in enumerate(invocation["delete-config"])
            for key in keys.split(",")
        ),
    ]
    return read_limits(words, lambda key, span: _check_known(key, span, ip=ip))


def read_limits(
    words: Iterable[tuple[str, str | None, Span | None]],
    check: Callable[[str, Span | None], None],
) -> dict[str, float | None]:
    """Quota key -> new value, of keys, values and their places in the line; None removes the quota.
    `check` raises ShellError for a key that is not a quota of the entity."""
    limits: dict[str, float | None] = {}
    mistakes = MistakeCollector()
    for key, text, span in words:
        with mistakes.collecting():
            check(key, span)
            if key in limits:
                raise UsageError(f"{key} is set twice", span=span)
            with pointing_at(span):
                limits[key] = None if text is None else parse_quota(key, text)
    mistakes.check()
    return limits


def _check_known(key: str, span: Span | None, *, ip: bool | None = None) -> None:
    """Raise ShellError if the entity cannot have such a quota."""
    known = (*CLIENT_QUOTAS, *IP_QUOTAS) if ip is None else IP_QUOTAS if ip else CLIENT_QUOTAS
    if key in known:
        return
    of = "" if ip is None else " of IP addresses" if ip else " of users and client IDs"
    raise ShellError(
        f"unknown quota{of}: '{key}'",
        hint=did_you_mean(key, known, f"Use one of: {', '.join(known)}."),
        code="unknown-key",
        span=span,
    )


# -- resolve ---------------------------------------------------------------------------------------


def resolve_quota(invocation: Invocation, context: Context) -> EffectiveQuotas:
    """The effective quotas of a client, and the level each comes from."""
    user, client_id, ip = (invocation[name] for name in ("user", "client-id", "ip"))
    effective_quotas = quotas.resolve(context.cluster, user, client_id, ip)
    try:
        callback = quotas.callback(context.cluster)
    except ShellError as error:
        context.note(f"client.quota.callback.class was not checked: {error.message}")
        callback = ""
    if callback:
        context.note(f"brokers use a custom quota callback ({callback}); showing Kafka's own rules")
    return effective_quotas


# -- undo and apply --------------------------------------------------------------------------------


def plan_changes(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that makes these changes of quotas."""
    alterations = []
    for change in changes:
        parts = entity_parts(str(change.resource))
        named = {kind.removesuffix("-default").replace("-", "_"): name for kind, name in parts}
        entity = QuotaEntity(**{k: DEFAULT if name is None else name for k, name in named.items()})
        value = None if change.after is None else float(change.after)
        alterations.append(QuotaAlteration(entity, change.field, value))
    return quota_changes.plan_alter(context.cluster, alterations)
