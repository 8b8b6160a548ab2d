"""How each model is shown: `commands/<family>/render.py`, loaded when one of its models is shown.

A render module may declare, by the model's type: COLUMNS (its row in a table), PAGES (a page of its
own), SEQUENCES (rows of it that make more than one table), ROWS (what CSV prints of its page).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from .tables import Column
from .text import Text

SequencePage = Callable[[Sequence[Any], int | None], Iterator[Text]]

# The package where a model is defined -> the family of commands that draws it.
_FAMILIES = {"audit": "spark", "plan": "program", "output": "program"}


def columns_declared(kind: type) -> tuple[Column, ...] | None:
    """The columns of this model; None where none are declared."""
    found: tuple[Column, ...] | None = _declared("COLUMNS", kind)
    return found


def page_of(kind: type) -> Callable[[Any, int | None], Iterator[Text]] | None:
    """What draws this model as a page of its own."""
    found: Callable[[Any, int | None], Iterator[Text]] | None = _declared("PAGES", kind)
    return found


def sequence_of(kind: type) -> SequencePage | None:
    """What draws many of this model, where they make more than one table."""
    found: SequencePage | None = _declared("SEQUENCES", kind)
    return found


def rows_of(kind: type) -> Callable[[Any], Iterable[object]] | None:
    """What gives the rows that CSV prints of this model."""
    found: Callable[[Any], Iterable[object]] | None = _declared("ROWS", kind)
    return found


def _declared(table: str, kind: type) -> Any:
    program, _, module = kind.__module__.partition(".")
    if program != "kafka_shell":
        return None
    package, _, rest = module.partition(".")
    named = package in ("admin", "commands")
    family = rest.partition(".")[0] if named else _FAMILIES.get(package)
    if family is None:
        return None
    return getattr(import_module(f"kafka_shell.commands.{family}.render"), table, {}).get(kind)
