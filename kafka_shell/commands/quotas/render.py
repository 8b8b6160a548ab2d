"""Tables and pages of client quotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kafka_shell.admin.quotas.model import (
    DEFAULT,
    IP_QUOTAS,
    EffectiveQuotas,
    Quota,
    QuotaEntity,
    QuotaHolder,
    QuotaLevel,
    QuotaResolution,
)
from kafka_shell.base.structs import fields
from kafka_shell.base.units import format_quota
from kafka_shell.output.columns import summary
from kafka_shell.output.tables import Column, Page, Rows, draw_table
from kafka_shell.output.text import Text, text

HEADINGS = {
    "producer_byte_rate": "PRODUCER",
    "consumer_byte_rate": "CONSUMER",
    "request_percentage": "REQUEST",
    "controller_mutation_rate": "MUTATION",
    "connection_creation_rate": "CONNECTION",
}
_ENTITY = Column("ENTITY", lambda row: str(row.entity), role="name")

COLUMNS: dict[type, tuple[Column, ...]] = {
    Quota: (
        _ENTITY,
        Column("QUOTA", lambda q: q.key, role="key"),
        Column("VALUE", lambda q: format_quota(q.key, q.value), "right", "value"),
        Column("SOURCE", lambda q: q.source.value, overflow="drop"),
    ),
    QuotaHolder: (
        _ENTITY,
        Column("CHILDREN", lambda h: h.children or None, "right"),
        Column("QUOTAS", lambda h: ",".join(h.keys), role="key", overflow="wrap"),
    ),
}


# -- effective quotas ------------------------------------------------------------------------------


def effective_quotas_page(client: EffectiveQuotas, width: int | None) -> Iterator[Text]:
    """The client, the quotas of each level (`*` is the one that applies), and the result."""
    yield from summary(width, *_client(client))
    clients = [resolution for resolution in client.resolutions if resolution.key not in IP_QUOTAS]
    connections = [resolution for resolution in client.resolutions if resolution.key in IP_QUOTAS]
    for resolutions in filter(None, (clients, connections)):
        yield Text()
        yield from _levels(resolutions, width)
    yield Text()
    yield from draw_table(_LIMITS, client.resolutions, width=width)


def _client(client: EffectiveQuotas) -> Iterator[Text]:
    keys = [resolution.key for resolution in client.resolutions]
    if any(key not in IP_QUOTAS for key in keys):
        user = "any other user" if client.user is None else f"user {client.user}"
        yield text(user, "heading")
        named = "no client ID" if client.client_id == "" else f"client-id {client.client_id}"
        yield text(named if client.client_id is not None else "any other client ID", "heading")
    if client.ip is not None:
        yield text(f"ip {client.ip}", "heading")


def _levels(resolutions: Sequence[QuotaResolution], width: int | None) -> Iterator[Text]:
    """One row per level, one column per quota."""
    rows = list(zip(*(resolution.levels for resolution in resolutions), strict=True))
    columns = [
        Column("LEVEL", lambda row: row[0].source.value),
        Column("ENTITY", lambda row: str(row[0].entity), role="name", overflow="drop"),
        *(_limit(each, number) for number, each in enumerate(resolutions)),
    ]
    yield from draw_table(columns, rows, width=width, keep_empty=True)


def _limit(resolution: QuotaResolution, number: int) -> Column:
    def cell(row: Sequence[QuotaLevel]) -> Text | None:
        level = row[number]
        if level.value is None:
            return None
        value = format_quota(resolution.key, level.value)
        applies = level.entity == resolution.entity
        return text(f"{value} *", "override") if applies else text(f"{value}  ", "dim")

    return Column(HEADINGS.get(resolution.key, resolution.key.upper()), cell, "right")


def _effective(resolution: QuotaResolution) -> Text:
    if resolution.value is None:
        return text("unlimited", "dim")
    return text(format_quota(resolution.key, resolution.value), "override")


_LIMITS = (
    Column("QUOTA", lambda r: r.key, role="key"),
    Column("EFFECTIVE", _effective, "right"),
    Column("LEVEL", lambda r: r.source.value if r.source else None),
    Column("ENTITY", lambda r: str(r.entity) if r.entity else None, role="name", overflow="drop"),
)


def _effective_quotas_rows(client: EffectiveQuotas) -> Iterable[dict[str, Any]]:
    """The rows for CSV: one per quota and level."""
    for resolution in client.resolutions:
        for level in resolution.levels:
            yield {
                "key": resolution.key,
                "source": level.source,
                "entity": str(level.entity),
                "value": level.value,
                "effective": level.entity == resolution.entity,
            }


def _entity_rows(quotas: Quota | QuotaHolder) -> Iterable[dict[str, Any]]:
    """The row for CSV, with the same columns for each entity: names, and whether it is a
    default."""
    row: dict[str, Any] = {}
    for part in fields(QuotaEntity):
        name = getattr(quotas.entity, part)
        row[f"entity.{part}"] = None if name is DEFAULT else name
        row[f"entity.{part}.default"] = True if name is DEFAULT else None
    others = {name: getattr(quotas, name) for name in fields(type(quotas))}
    del others["entity"]
    yield row | others


PAGES: dict[type, Page] = {
    EffectiveQuotas: effective_quotas_page,
}
ROWS: dict[type, Rows] = {
    EffectiveQuotas: _effective_quotas_rows,
    Quota: _entity_rows,
    QuotaHolder: _entity_rows,
}
