"""Find the renderer of a model in `commands/<family>/render.py`, imported when first needed.

A render module may declare, by type of the model: COLUMNS (table columns), PAGES (a page for one
model), SEQUENCES (a page for several models), ROWS (the CSV rows of a model).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from .tables import Column
from .text import Text

SequencePage = Callable[[Sequence[Any], int | None], Iterator[Text]]

# Package of a model -> the family whose render module has its renderers.
_FAMILIES = {"audit": "spark", "plan": "program", "output": "program"}


def columns_declared(kind: type) -> tuple[Column, ...] | None:
    """The table columns declared for this model, or None."""
    found: tuple[Column, ...] | None = _declared("COLUMNS", kind)
    return found


def page_of(kind: type) -> Callable[[Any, int | None], Iterator[Text]] | None:
    """The function that renders this model as a page, or None."""
    found: Callable[[Any, int | None], Iterator[Text]] | None = _declared("PAGES", kind)
    return found


def sequence_of(kind: type) -> SequencePage | None:
    """The function that renders several of this model together, or None."""
    found: SequencePage | None = _declared("SEQUENCES", kind)
    return found


def rows_of(kind: type) -> Callable[[Any], Iterable[object]] | None:
    """The function that returns the CSV rows of this model, or None."""
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
