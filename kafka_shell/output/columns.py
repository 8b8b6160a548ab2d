"""The table columns of a model."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from kafka_shell.base.structs import fields
from kafka_shell.output.data import plain
from kafka_shell.output.tables import NO_RENDERERS, Cell, Column, Renderers
from kafka_shell.output.text import Text


def columns_of(row: object, renderers: Renderers = NO_RENDERERS) -> tuple[Column, ...]:
    """The columns of a row: the declared ones, or one per field."""
    declared = renderers.columns(type(row))
    if declared is not None:
        return declared
    if isinstance(row, Struct):
        return tuple(_field_column(name, getattr(row, name)) for name in fields(row))
    if isinstance(row, dict):
        return tuple(_key_column(str(key), key) for key in row)
    return (Column("VALUE", lambda value: _plain_cell(value)),)


def _field_column(name: str, sample: object) -> Column:
    number = isinstance(sample, int | float) and not isinstance(sample, bool | Enum)
    heading = name.replace("_", "-").upper()
    return Column(
        heading, lambda row: _plain_cell(getattr(row, name)), "right" if number else "left"
    )


def _key_column(heading: str, key: object) -> Column:
    return Column(heading.upper(), lambda row: _query_cell(row.get(key)))


def _query_cell(value: object) -> Cell:
    """A value of a query: false is not null, and a value with parts is JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    nested = isinstance(value, list) and any(
        item is None or isinstance(item, dict | list) for item in value
    )
    if nested or isinstance(value, dict):
        import json

        return json.dumps(plain(value), ensure_ascii=False)
    if isinstance(value, list):
        return ",".join(str(_query_cell(item)) for item in value)
    return _plain_cell(value)


def _plain_cell(value: object) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else None
    if value is None or isinstance(value, str | Text):
        return value
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, int):
        return value
    if isinstance(value, tuple | list | set | frozenset):
        return ",".join(str(_plain_cell(item)) for item in value)
    if type(value).__name__ == "Secret":
        raise TypeError("a Secret cannot be printed")
    return str(value)
