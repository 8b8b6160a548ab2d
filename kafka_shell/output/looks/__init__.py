"""What each noun looks like, a module a family of nouns: loaded when one is first drawn.

A module here may declare, by a noun's type: COLUMNS (its row in a table), PAGES (a page of its
own), SEQUENCES (rows of it that make more than one table), ROWS (what CSV prints of its page).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from ..tables import Column
from ..text import Text

SequencePage = Callable[[Sequence[Any], int | None], Iterator[Text]]

# Where a noun is defined -> the module of this package that draws it.
_FAMILIES = {
    "nouns.topics": "topics",
    "nouns.configs": "configs",
    "nouns.config_table": "configs",
    "nouns.cluster": "cluster",
    "nouns.brokers": "brokers",
    "nouns.outcome": "program",
    "nouns.sandbox": "program",
    "output.theme": "program",
    "nouns.clients": "clients",
    "nouns.users": "users",
    "nouns.client_configs": "client_configs",
    "nouns.access": "access",
    "nouns.delegation_tokens": "access",
    "nouns.reassignment": "reassignment",
    "nouns.partitions": "partitions",
    "nouns.groups": "groups",
    "nouns.quorum": "quorum",
    "nouns.transactions": "transactions",
    "nouns.audits": "audits",
}
_PROGRAM = __name__.split(".")[0]


def columns_declared(kind: type) -> tuple[Column, ...] | None:
    """The columns of this noun; None where none are declared."""
    found: tuple[Column, ...] | None = _declared("COLUMNS", kind)
    return found


def page_of(kind: type) -> Callable[[Any, int | None], Iterator[Text]] | None:
    """What draws this noun as a page of its own."""
    found: Callable[[Any, int | None], Iterator[Text]] | None = _declared("PAGES", kind)
    return found


def sequence_of(kind: type) -> SequencePage | None:
    """What draws many of this noun, where they make more than one table."""
    found: SequencePage | None = _declared("SEQUENCES", kind)
    return found


def rows_of(kind: type) -> Callable[[Any], Iterable[object]] | None:
    """What gives the rows that CSV prints of this noun."""
    found: Callable[[Any], Iterable[object]] | None = _declared("ROWS", kind)
    return found


def _declared(table: str, kind: type) -> Any:
    program, _, module = kind.__module__.partition(".")
    family = _FAMILIES.get(module) if program == _PROGRAM else None
    if family is None:
        return None
    return getattr(import_module(f"{__name__}.{family}"), table, {}).get(kind)
